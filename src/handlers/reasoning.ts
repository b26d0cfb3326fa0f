import * as v from 'valibot';
import { isCalendarDate } from '../calendar.ts';
import { sessionRecords, visibleSessionIds } from '../database/results.ts';
import { ServiceError, actionTypes, messageRoles } from '../domain.ts';
import { type Answer, type Context, type Input, deploymentFields } from './handler.ts';
import { dateText, deploymentEntries, invalidDate, timestampText } from './schemas.ts';

const TRUE_WORDS = ['true', '1', 'yes', 'on', 't', 'y'];
const FALSE_WORDS = ['false', '0', 'no', 'off', 'f', 'n'];

export const reasoningQuery = v.object({
  job_id: v.optional(v.string()),
  date: v.optional(v.string()),
  model: v.optional(v.string()),
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
  const sessionIds = visibleSessionIds(database, { jobId: query.job_id, date: query.date, model: query.model });
  if (sessionIds.length === 0) throw new ServiceError('not_found', 'No trading sessions match the filters');
  const sessions = sessionRecords(database, sessionIds, { conversation: query.include_full_conversation });
  return stream(sessions, JSON.stringify({ count: sessionIds.length, ...deploymentFields(settings) }));
}

function* stream(sessions: Iterable<string>, rest: string): Generator<string> {
  let separator = '{"sessions":[';
  for (const session of sessions) {
    yield separator + session;
    separator = ',';
  }
  yield `],${rest.slice(1)}`;
}
