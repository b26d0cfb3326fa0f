import { messageRoles } from '../../domain.ts';
import { type Excerpt, type Phrase, excerptOf } from '../../search-text.ts';
import { SLICE_MS, nextTurn } from '../../turns.ts';
import { boundsOf } from '../chosen.ts';
import type { Reader } from '../database.ts';
import {
  IS_SEARCHED,
  blockStart,
  expressionFor,
  firstIndexed,
  firstNotIndexed,
  isMisplaced,
  newestRow,
  searchedTexts,
} from '../log-words.ts';
import { type RowOf, integer, oneOf, orNull, query, text } from '../rows.ts';
import type { DecisionFilters } from './decision-days.ts';

/**
 * How long a search may take; then it returns what it has found, and where the next one continues.
 */
const LONGEST_SEARCH_MS = 3_000;
/** What one statement returns at most: bounds how long other requests wait for it. */
const HITS_PER_STEP = 200;

const MESSAGE_COLUMNS = `log.rowid AS row, session_id AS sessionId, job_id AS jobId, model, date, status,
     message_index AS messageIndex, role, tool_name AS toolName, timestamp`;
const MESSAGE_SHAPE = {
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
} as const;

const HITS = query(
  `SELECT ${MESSAGE_COLUMNS}
   FROM log_words CROSS JOIN reasoning_logs AS log ON log.rowid = log_words.rowid CROSS JOIN trading_sessions USING (session_id)
   WHERE log_words MATCH ?1 AND log_words.rowid BETWEEN ?2 AND ?3 AND status <> 'opening'
   ORDER BY log_words.rowid DESC LIMIT ${HITS_PER_STEP}`,
  MESSAGE_SHAPE,
);
type Hit = RowOf<typeof HITS>;

/** Messages that may or may not contain anything, where there is no index. */
const MESSAGES = query(
  `SELECT ${MESSAGE_COLUMNS} FROM reasoning_logs AS log CROSS JOIN trading_sessions USING (session_id)
   WHERE log.rowid BETWEEN ?1 AND ?2 AND ${IS_SEARCHED} AND status <> 'opening'
   ORDER BY log.rowid DESC LIMIT ${HITS_PER_STEP}`,
  MESSAGE_SHAPE,
);

const COMPLETED = query(
  `SELECT 1 FROM trading_sessions WHERE model = ? AND date = ? AND status = 'active'`,
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
  filters: Omit<DecisionFilters, 'symbol' | 'kind'>;
  limit: number;
  /** Only messages before this row. */
  before: number | undefined;
}

/**
 * The messages that contain every phrase, newest first, of the sessions that /reasoning shows.
 * Works in slices. Only reads: messages that are not in the index are looked at one by one. Rejects
 * with the signal's reason once that is aborted.
 */
export async function searchLogs(
  database: Reader,
  search: Search,
  { signal, longestMs = LONGEST_SEARCH_MS }: { signal: AbortSignal; longestMs?: number },
): Promise<SearchResult> {
  const hasIndex = !isMisplaced(database);
  const pause = pauses(signal);
  const end = performance.now() + longestMs;
  const messages: FoundMessage[] = [];
  let place = Math.min(search.before ?? Infinity, newestRow(database) + 1);
  while (place > 1) {
    await pause();
    const top = place - 1;
    const first = hasIndex ? firstIndexed(database, top) : null;
    const low =
      first === null
        ? hasIndex
          ? firstNotIndexed(database, top)
          : 1
        : Math.max(first, blockStart(top));
    const hits =
      first === null
        ? MESSAGES.all(database, low, top)
        : HITS.all(database, expressionFor(search.phrases, top), low, top);
    for (const hit of hits) {
      if (!isChosen(database, hit, search.filters)) continue;
      await pause();
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

/** Lets other work run when a slice of time is over. */
function pauses(signal: AbortSignal): () => Promise<void> {
  let end = 0;
  return async () => {
    if (performance.now() < end) return;
    await nextTurn({ isFirst: end === 0 });
    signal.throwIfAborted();
    end = performance.now() + SLICE_MS;
  };
}

/**
 * Null for a message that does not contain them: one without an index, or that another program has
 * changed since it was indexed.
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
  return status === 'active' || (status !== 'superseded' && !COMPLETED.has(database, model, date));
}
