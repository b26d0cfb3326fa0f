import * as v from 'valibot';
import { isCalendarDate } from '#time/calendar.ts';
import { countSessions, sessionPieces, searchLogs } from '#database/records/session-records.ts';
import { answerFaults } from '#domain/vocabulary.ts';
import { invalidFilter, ServiceError } from '#domain/service-error.ts';
import { servedSchema } from '#wire/protocol.ts';
import { dateRangeEntries, feedEntries, sessionFilters } from './filters.ts';
import { deploymentFields } from '#settings/settings.ts';
import { jsonBody, until } from './handler.ts';
import {
  actionEntries,
  dateText,
  namedResponse,
  describedAsDate,
  figure,
  flagFilter,
  holdingSchema,
  integerSchema,
  invalidDate,
  jobFilter,
  messageRole,
  modelFilter,
  studyField,
  studyFilter,
  named,
  timestampText,
  usageEntries,
  countSchema,
  limitFilter,
  wholeNumberSchema,
  nullableDate,
  nullableText,
} from './schemas.ts';
import { parsePhrases } from '#database/search-text.ts';
import { BUSY, MODEL_DAY_ERRORS, route } from './route.ts';

/** An invalid date is a 400 here, so the handler checks it. */
const dateFilter = v.pipe(
  v.string(),
  describedAsDate,
  v.description('One date; cannot be combined with start_date and end_date.'),
);

export const reasoningQuery = v.object({
  job_id: jobFilter,
  date: v.optional(dateFilter),
  model: modelFilter,
  study: studyFilter,
  ...dateRangeEntries,
  include_full_conversation: flagFilter(
    'Whether each session comes with its conversation, opening portfolio, usage and documents; else these are null.',
  ),
});

export const reasoningResponse = namedResponse('ReasoningResponse', {
  sessions: v.array(
    named('TradingSession', {
      session_id: integerSchema,
      job_id: v.string(),
      date: dateText,
      model: v.string(),
      study: studyField,
      currency: v.string(),
      session_summary: nullableText,
      confidence: figure,
      note: nullableText,
      started_at: timestampText,
      completed_at: v.nullable(timestampText),
      total_messages: v.nullable(integerSchema),
      previous_date: nullableDate,
      next_date: nullableDate,
      opening: v.nullable(
        named('OpeningPortfolio', {
          date: nullableDate,
          cash: v.number(),
          portfolio_value: v.number(),
          holdings: v.array(holdingSchema),
        }),
      ),
      usage: v.nullable(
        named('SessionUsage', {
          error: nullableText,
          duration_seconds: figure,
          ...usageEntries,
          cost_usd: figure,
        }),
      ),
      documents: v.nullable(
        v.array(
          named('ShownDocument', {
            id: v.string(),
            title: v.string(),
            version: v.string(),
            latest_version: v.string(),
          }),
        ),
      ),
      positions: v.array(
        named('PositionSummary', {
          ...actionEntries,
          cash_after: v.number(),
          portfolio_value: v.number(),
        }),
      ),
      conversation: v.nullable(
        v.array(
          named('ReasoningMessage', {
            message_index: integerSchema,
            role: messageRole,
            content: v.string(),
            summary: nullableText,
            tool_name: nullableText,
            tool_input: nullableText,
            timestamp: timestampText,
            served: v.nullable(servedSchema),
            fault: v.nullable(v.picklist(answerFaults)),
          }),
        ),
      ),
    }),
  ),
  count: integerSchema,
});

const DEFAULT_MESSAGES = 20;
const MAX_MESSAGES = 100;
const MAX_SEARCH_LENGTH = 200;

const searchQuery = v.object({
  q: v.pipe(
    v.string('expected words to search for'),
    v.maxLength(MAX_SEARCH_LENGTH, `expected at most ${MAX_SEARCH_LENGTH} characters`),
    v.regex(/[\p{L}\p{N}]/u, 'expected at least one letter or digit'),
    v.description(
      'Whole words that a message must all contain, in any order. Case, accents and punctuation make no difference.',
    ),
  ),
  ...feedEntries,
  limit: limitFilter(MAX_MESSAGES, DEFAULT_MESSAGES),
  before: v.optional(
    v.pipe(
      wholeNumberSchema(10 ** 15 - 1, 'expected the next_before of a search'),
      v.description('The next_before of the page before.'),
    ),
  ),
});

export const searchResponse = namedResponse('SearchResponse', {
  messages: v.array(
    named('FoundMessage', {
      session_id: integerSchema,
      job_id: v.string(),
      model: v.string(),
      date: dateText,
      message_index: integerSchema,
      role: messageRole,
      tool_name: nullableText,
      excerpt: v.string(),
      matches: v.array(v.array(countSchema)),
      timestamp: timestampText,
      study: studyField,
    }),
  ),
  count: countSchema,
  next_before: nullableText,
});

export const reasoningRoute = route({
  method: 'GET',
  path: '/reasoning',
  tool: 'reasoning',
  tag: 'results',
  summary: 'The trading sessions, and on request their whole conversations.',
  query: reasoningQuery,
  response: reasoningResponse,
  errors: { 400: 'The date is not YYYY-MM-DD.', 404: 'No session matches the filters.', ...BUSY },
  list: 'sessions',
  rest: 'ask for fewer by model, job_id, date, or start_date and end_date',
  count: (context, { query }) => countSessions(context.database, sessionFilters(context, query)),
  /** Throws a `ServiceError` (`no_sessions`) before the first piece when nothing matches. */
  *handle(context, { query, isFull }) {
    const { database, settings } = context;
    if (query.date !== undefined && !isCalendarDate(query.date))
      throw new ServiceError('invalid_dates', invalidDate(query.date));
    const conversation = query.include_full_conversation;
    const filters = sessionFilters(context, query);
    let count = 0;
    for (const pieces of until(sessionPieces(database, filters, { conversation }), isFull)) {
      yield count === 0 ? '{"sessions":[' : ',';
      yield* pieces;
      count += 1;
    }
    if (count === 0)
      throw new ServiceError(
        'no_sessions',
        'No trading sessions found matching the provided filters',
      );
    yield `],${JSON.stringify({ count, ...deploymentFields(settings) }).slice(1)}`;
  },
});

export const searchRoute = route({
  method: 'GET',
  path: '/search',
  tag: 'results',
  summary:
    'The messages of conversations that contain all of some words, newest first; a page at a time.',
  query: searchQuery,
  response: searchResponse,
  errors: MODEL_DAY_ERRORS,
  /** Fewer messages than asked for where the search took too long. */
  handle(context, { query }) {
    const { database, settings } = context;
    const phrases = parsePhrases(query.q);
    if (phrases.length === 0) throw invalidFilter('q', 'expected at least one letter or digit');
    const { limit, before } = query;
    const filters = sessionFilters(context, query, { mustExist: true });
    const { messages, nextBefore } = searchLogs(database, { phrases, filters, limit, before });
    return jsonBody(settings, {
      messages: messages.map(({ row: _, status: _status, study, timestamp, ...message }) => ({
        ...message,
        timestamp,
        study,
      })),
      count: messages.length,
      next_before: nextBefore?.toString() ?? null,
    });
  },
});
