import * as v from 'valibot';
import { type FoundMessage, searchLogs } from '../database/records/search.ts';
import { ServiceError } from '../basics/domain.ts';
import { phrasesOf } from '../database/search-text.ts';
import { feedEntries, feedFilters } from './filters.ts';
import { type Context, deploymentFields, type Input, type ResponseBody } from './handler.ts';
import {
  countSchema,
  dateText,
  deploymentEntries,
  integer,
  limitFilter,
  messageRole,
  named,
  timestampText,
} from './schemas.ts';

const DEFAULT_MESSAGES = 20;
const MAX_MESSAGES = 100;
const MAX_SEARCH_LENGTH = 200;
const BEFORE_MESSAGE = 'expected the next_before of a search';

export const searchQuery = v.object({
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
      v.string(),
      v.regex(/^\d{1,15}$/, BEFORE_MESSAGE),
      v.transform(Number),
      v.number(),
      v.integer(),
      v.minValue(1, BEFORE_MESSAGE),
      v.maxValue(10 ** 15 - 1, BEFORE_MESSAGE),
      v.description('The next_before of the page before.'),
    ),
  ),
});

export const searchResponse = named('SearchResponse', {
  messages: v.array(
    named('FoundMessage', {
      session_id: integer,
      job_id: v.string(),
      model: v.string(),
      date: dateText,
      message_index: integer,
      role: messageRole,
      tool_name: v.nullable(v.string()),
      /** Part of the message, of its tool call or of its thoughts. */
      excerpt: v.string(),
      /** Where the words are in the excerpt: start and length in Unicode characters. */
      matches: v.array(v.array(countSchema)),
      timestamp: timestampText,
    }),
  ),
  count: countSchema,
  /** The `before` of the next page; null when everything has been searched. */
  next_before: v.nullable(v.string()),
  ...deploymentEntries,
});

/**
 * A page of the messages that contain all words, newest first; fewer than asked where the search
 * took too long.
 */
export function search(
  { database, settings }: Context,
  { query }: Input<v.InferOutput<typeof searchQuery>>,
): ResponseBody {
  const phrases = phrasesOf(query.q);
  if (phrases.length === 0)
    throw new ServiceError('invalid_filter', 'q: expected at least one letter or digit');
  const { limit, before } = query;
  const filters = feedFilters(database, query);
  const { messages, nextBefore } = searchLogs(database, { phrases, filters, limit, before });
  return JSON.stringify({
    messages: messages.map(itemOf),
    count: messages.length,
    next_before: nextBefore?.toString() ?? null,
    ...deploymentFields(settings),
  });
}

function itemOf(message: FoundMessage): v.InferOutput<typeof searchResponse>['messages'][number] {
  const {
    sessionId,
    jobId,
    model,
    date,
    messageIndex,
    role,
    toolName,
    excerpt,
    matches,
    timestamp,
  } = message;
  return {
    session_id: sessionId,
    job_id: jobId,
    model,
    date,
    message_index: messageIndex,
    role,
    tool_name: toolName,
    excerpt,
    matches,
    timestamp,
  };
}
