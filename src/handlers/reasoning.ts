import * as v from 'valibot';
import { isCalendarDate } from '../calendar.ts';
import type { SessionFilters } from '../database/chosen.ts';
import type { Database } from '../database/database.ts';
import { sessionPieces } from '../database/reasoning.ts';
import { ServiceError, actionTypes, messageRoles } from '../domain.ts';
import { dateRangeEntries, datesOf } from './date-filters.ts';
import { type Answer, type Context, type Input, deploymentFields } from './handler.ts';
import { dateText, deploymentEntries, invalidDate, timestampText } from './schemas.ts';

const TRUE_WORDS = ['true', '1', 'yes', 'on', 't', 'y'];
const FALSE_WORDS = ['false', '0', 'no', 'off', 'f', 'n'];

export const reasoningQuery = v.object({
  job_id: v.optional(v.string()),
  date: v.optional(v.string()),
  model: v.optional(v.string()),
  ...dateRangeEntries,
  include_full_conversation: v.optional(
    v.pipe(
      v.string(),
      v.toLowerCase(),
      v.picklist([...TRUE_WORDS, ...FALSE_WORDS], 'expected true or false'),
      v.transform((word) => TRUE_WORDS.includes(word)),
    ),
    'false',
  ),
});

export const reasoningResponse = v.object({
  sessions: v.array(
    v.object({
      session_id: v.pipe(v.number(), v.integer()),
      job_id: v.string(),
      date: dateText,
      model: v.string(),
      session_summary: v.nullable(v.string()),
      started_at: timestampText,
      completed_at: v.nullable(timestampText),
      total_messages: v.nullable(v.pipe(v.number(), v.integer())),
      positions: v.array(
        v.object({
          action_id: v.pipe(v.number(), v.integer()),
          action_type: v.nullable(v.picklist(actionTypes)),
          symbol: v.nullable(v.string()),
          amount: v.nullable(v.pipe(v.number(), v.integer())),
          price: v.nullable(v.number()),
          cash_after: v.number(),
          portfolio_value: v.number(),
        }),
      ),
      conversation: v.nullable(
        v.array(
          v.object({
            message_index: v.pipe(v.number(), v.integer()),
            role: v.picklist(messageRoles),
            content: v.string(),
            summary: v.nullable(v.string()),
            tool_name: v.nullable(v.string()),
            tool_input: v.nullable(v.string()),
            timestamp: timestampText,
          }),
        ),
      ),
    }),
  ),
  count: v.pipe(v.number(), v.integer()),
  ...deploymentEntries,
});

/** The trading sessions that the filters let through, with their conversations when asked for. */
export function reasoning(
  { database, settings }: Context,
  { query }: Input<v.InferOutput<typeof reasoningQuery>>,
): Answer {
  if (query.date !== undefined && !isCalendarDate(query.date))
    throw new ServiceError('bad_request', invalidDate(query.date));
  const filters = { jobId: query.job_id, model: query.model, ...datesOf(query) };
  return stream(database, filters, { conversation: query.include_full_conversation, rest: deploymentFields(settings) });
}

/** Throws a `ServiceError` (`not_found`) before the first piece where nothing matches. */
function* stream(
  database: Database,
  filters: SessionFilters,
  { conversation, rest }: { conversation: boolean; rest: object },
): Generator<string> {
  let count = 0;
  let start = '{"sessions":[';
  for (const piece of sessionPieces(database, filters, { conversation, onSession: () => (count += 1) })) {
    yield piece === null ? '' : start + piece;
    if (piece !== null) start = '';
  }
  if (count === 0) throw new ServiceError('not_found', 'No trading sessions found matching the provided filters');
  yield `],${JSON.stringify({ count, ...rest }).slice(1)}`;
}
