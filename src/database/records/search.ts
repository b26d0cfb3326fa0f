import { messageRoles } from '../../basics/domain.ts';
import { type Excerpt, excerptOf, type Phrase } from '../../database/search-text.ts';
import { boundsOf } from '../session-filters.ts';
import type { Reader } from '../database.ts';
import { blockStart, expressionFor, newestRow, searchedTexts } from '../log-words.ts';
import { integer, oneOf, orNull, query, type RowOf, text } from '../rows.ts';
import type { FeedFilters } from './decisions.ts';

/**
 * How long a search may take; then it returns what it has found, and where the next one continues.
 */
const LONGEST_SEARCH_MS = 3_000;
/** What one statement returns at most: bounds how long other requests wait for it. */
const HITS_PER_STEP = 200;

const HITS = query(
  `SELECT log_id AS row, session_id AS sessionId, job_id AS jobId, model, date, status, message_index AS messageIndex, role,
     tool_name AS toolName, timestamp
   FROM log_words CROSS JOIN reasoning_logs ON log_id = log_words.rowid CROSS JOIN trading_sessions USING (session_id)
   WHERE log_words MATCH ?1 AND log_words.rowid BETWEEN ?2 AND ?3 AND status <> 'opening'
   ORDER BY log_words.rowid DESC LIMIT ${HITS_PER_STEP}`,
  {
    row: integer,
    sessionId: integer,
    jobId: text,
    model: text,
    date: text,
    status: text,
    messageIndex: integer,
    role: oneOf(messageRoles),
    toolName: orNull(text),
    timestamp: text,
  },
);
type Hit = RowOf<typeof HITS>;

const IS_OVER = query(
  `SELECT 1 FROM trading_sessions WHERE model = ? AND date = ? AND status = 'active'
   UNION ALL SELECT 1 FROM jobs WHERE job_id = ? AND status = 'discarded'`,
  [integer],
);

/** A message that contains every phrase, with the excerpt that shows them. */
export type FoundMessage = Hit & Excerpt;

/** A page of a search. */
export interface SearchResult {
  /** Newest first; fewer than the limit where the search took too long. */
  messages: FoundMessage[];
  /** The `before` of the next search; null when there is nothing more. */
  nextBefore: number | null;
}

/** What to search for, and in which model-days. */
export interface Search {
  phrases: readonly Phrase[];
  filters: FeedFilters;
  limit: number;
  /** Only messages before this row. */
  before: number | undefined;
}

/** The messages that contain every phrase, newest first, of the sessions that /reasoning shows. */
export function searchLogs(
  database: Reader,
  search: Search,
  longestMs = LONGEST_SEARCH_MS,
): SearchResult {
  const end = performance.now() + longestMs;
  const messages: FoundMessage[] = [];
  let place = Math.min(search.before ?? Infinity, newestRow(database) + 1);
  while (place > 1) {
    const top = place - 1;
    const low = blockStart(top);
    const hits = HITS.all(database, expressionFor(search.phrases, top), low, top);
    for (const hit of hits) {
      if (!isChosen(database, hit, search.filters)) continue;
      const message = foundIn(database, hit, search.phrases);
      if (message === null) continue;
      if (messages.length === search.limit)
        return { messages, nextBefore: messages.at(-1)?.row ?? null };
      messages.push(message);
    }
    place = hits[HITS_PER_STEP - 1]?.row ?? low;
    // Only after a step, so that the next search is closer to the end however slow the machine is.
    if (performance.now() > end && place > 1) return { messages, nextBefore: place };
  }
  return { messages, nextBefore: null };
}

/**
 * Null for a message that does not contain them: another program has changed it since it was
 * indexed.
 */
function foundIn(database: Reader, hit: Hit, phrases: readonly Phrase[]): FoundMessage | null {
  const excerpt = excerptOf(searchedTexts(database, hit.row), phrases);
  return excerpt === null ? null : { ...hit, ...excerpt };
}

function isChosen(
  database: Reader,
  { jobId, model, date, status }: Hit,
  filters: Search['filters'],
): boolean {
  if (filters.jobId !== undefined && jobId !== filters.jobId) return false;
  if (filters.models !== undefined && !filters.models.includes(model)) return false;
  const [start, end] = boundsOf(filters);
  if (date < start || date > end) return false;
  return (
    status === 'active' || (status !== 'superseded' && !IS_OVER.has(database, model, date, jobId))
  );
}
