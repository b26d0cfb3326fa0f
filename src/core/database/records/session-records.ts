import {
  IS_SHOWN,
  overSessions,
  type SessionFilters,
  dateBounds,
} from '#database/session-filters.ts';
import type { Reader } from '#database/database.ts';
import { SHOWN_IN_SESSION } from '#database/document-queries.ts';
import { integer, query, text, oneOf, orNull, type RowOf } from '#database/rows.ts';
import { jsonObject, USAGE_COLUMNS } from './job-records.ts';
import { CURRENCY, studySql } from './model-records.ts';
import { holdingsJson } from './position-records.ts';
import { messageRoles } from '#domain/vocabulary.ts';
import { type Excerpt, findExcerpt, type Phrase } from '#database/search-text.ts';
import { blockStart, messageExpression, newestRow, searchedTexts } from '#database/log-words.ts';

const MESSAGE_COUNT = `
  CASE own.status WHEN 'running'
    THEN (SELECT count(*) FROM reasoning_logs WHERE reasoning_logs.session_id = own.session_id)
    ELSE total_messages END AS total_messages`;
/** The dates of the model's days before and after that count; an index has them in order. */
const neighbour = (order: 'max(date)' | 'min(date)', condition: string) => `
  (SELECT ${order} FROM trading_sessions AS other INDEXED BY one_active_generation
    WHERE other.model = own.model AND other.date ${condition} own.date AND other.status = 'active')`;
/**
 * The portfolio that the session started from: the close of the day that it continues, else the
 * initial cash.
 */
const INITIAL = [
  'NULL AS date',
  'initial_cash_e4 / 10000.0 AS cash',
  'initial_cash_e4 / 10000.0 AS portfolio_value',
];
const CLOSE = [
  'before.date AS date',
  'cash_e4 / 10000.0 AS cash',
  'portfolio_value_e4 / 10000.0 AS portfolio_value',
];
const HOLDINGS = holdingsJson(
  'SELECT symbol, quantity FROM holdings WHERE holdings.session_id = before.session_id ORDER BY symbol',
);
const OPENING = `
  CASE WHEN started_from_session_id IS NULL THEN ${jsonObject([...INITIAL, 'json_array() AS holdings'])}
    ELSE (SELECT ${jsonObject([...CLOSE, HOLDINGS])} FROM trading_sessions AS before JOIN positions USING (session_id)
      WHERE before.session_id = own.started_from_session_id ORDER BY action_id DESC LIMIT 1) END`;
/** What the model-day used in its job, over all attempts; and why the session failed. */
const USAGE = `
  (SELECT ${jsonObject(['own.error AS error', ...USAGE_COLUMNS])} FROM job_details
    WHERE (job_details.job_id, job_details.date, job_details.model) =
      (own.job_id, own.date, own.model))`;
const SESSION_COLUMNS = [
  'session_id',
  'job_id',
  'date',
  'model',
  `${studySql()} AS study`,
  `(SELECT ${CURRENCY} FROM jobs WHERE jobs.job_id = own.job_id) AS currency`,
  'session_summary',
  'confidence',
  'note',
  'started_at',
  'completed_at',
];
const NEIGHBOURS = [
  `${neighbour('max(date)', '<')} AS previous_date`,
  `${neighbour('min(date)', '>')} AS next_date`,
];
const POSITION = jsonObject([
  'action_id',
  'action_type',
  'symbol',
  'amount',
  'price_e4 / 10000.0 AS price',
  'cash_e4 / 10000.0 AS cash_after',
  'portfolio_value_e4 / 10000.0 AS portfolio_value',
]);

const sessionsQuery = (more: readonly string[]) =>
  overSessions((sessions, order) =>
    query(
      `SELECT session_id, ${jsonObject([...SESSION_COLUMNS, MESSAGE_COUNT, ...NEIGHBOURS, ...more])},
         (SELECT json_group_array(${POSITION} ORDER BY action_id) FROM positions WHERE positions.session_id = own.session_id)
       FROM ${sessions()} AND ${IS_SHOWN} ORDER BY ${order}`,
      [integer, text, text],
    ),
  );
const SESSIONS = sessionsQuery(['NULL AS opening', 'NULL AS usage', 'NULL AS documents']);
/** How many sessions match the filters. */
export const countSessions = SESSIONS.count;

const WHOLE_SESSIONS = sessionsQuery([
  `${OPENING} AS opening`,
  `${USAGE} AS usage`,
  `${SHOWN_IN_SESSION} AS documents`,
]);

const MESSAGE = jsonObject([
  'message_index',
  'role',
  'content',
  'summary',
  'tool_name',
  'tool_input',
  'timestamp',
  'json(served) AS served',
  'fault',
]);
const MESSAGES = query(
  `SELECT ${MESSAGE} FROM reasoning_logs WHERE session_id = ? ORDER BY message_index`,
  [text],
);

/**
 * The matching trading sessions, each as pieces of JSON text. With `conversation` each is whole:
 * with its conversation, the portfolio that it started from, and what it used.
 */
export function* sessionPieces(
  reader: Reader,
  filters: SessionFilters,
  { conversation }: { conversation: boolean },
): Generator<Iterable<string>> {
  const read = conversation ? WHOLE_SESSIONS : SESSIONS;
  for (const [sessionId, head, positions] of read(reader, filters)) {
    const start = `${head.slice(0, -1)},"positions":${positions},"conversation":`;
    yield conversation ? withConversation(reader, sessionId, start) : [`${start}null}`];
  }
}

function* withConversation(reader: Reader, sessionId: number, start: string): Generator<string> {
  let before = `${start}[`;
  for (const [message] of MESSAGES.iterate(reader, sessionId)) {
    yield before + message;
    before = ',';
  }
  yield before === ',' ? ']}' : `${before}]}`;
}

/**
 * How long a search may take; then it returns what it has found, and where the next one continues.
 */
const LONGEST_SEARCH_MS = 3_000;
/** What one statement returns at most: bounds how long other requests wait for it. */
const HITS_PER_STEP = 200;

const HITS = query(
  `SELECT log_id AS row, {}, ${studySql('trading_sessions')} AS study
   FROM log_words CROSS JOIN reasoning_logs ON log_id = log_words.rowid CROSS JOIN trading_sessions USING (session_id)
   WHERE log_words MATCH ?1 AND log_words.rowid BETWEEN ?2 AND ?3 AND status <> 'opening'
   ORDER BY log_words.rowid DESC LIMIT ${HITS_PER_STEP}`,
  {
    row: integer,
    session_id: integer,
    job_id: text,
    model: text,
    date: text,
    status: text,
    message_index: integer,
    role: oneOf(messageRoles),
    tool_name: orNull(text),
    timestamp: text,
    study: orNull(text),
  },
);
type Hit = RowOf<typeof HITS>;

const IS_OVER = query(
  `SELECT 1 FROM trading_sessions WHERE model = ? AND date = ? AND status = 'active'
   UNION ALL SELECT 1 FROM jobs WHERE job_id = ? AND status = 'discarded'`,
  [integer],
);

/** A message that contains every phrase, with an excerpt, named as in the response. */
type FoundMessage = Hit & Excerpt;

/** What to search for, and in which model-days. */
interface Search {
  phrases: readonly Phrase[];
  filters: SessionFilters;
  limit: number;
  /** Only messages before this row. */
  before: number | undefined;
}

/**
 * The messages that contain every phrase, newest first, of the sessions that /reasoning shows;
 * fewer than the limit where the search took too long. `nextBefore` is the `before` of the next
 * search; null when there is nothing more.
 */
export function searchLogs(database: Reader, search: Search, longestMs = LONGEST_SEARCH_MS) {
  const end = performance.now() + longestMs;
  const messages: FoundMessage[] = [];
  let place = Math.min(search.before ?? Infinity, newestRow(database) + 1);
  while (place > 1) {
    const top = place - 1;
    const low = blockStart(top);
    const hits = HITS.all(database, messageExpression(search.phrases, top), low, top);
    for (const hit of hits) {
      if (!isChosen(database, hit, search.filters)) continue;
      const excerpt = findExcerpt(searchedTexts(database, hit.row), search.phrases);
      if (excerpt === null) continue; // another program has changed it since it was indexed
      if (messages.length === search.limit)
        return { messages, nextBefore: messages.at(-1)?.row ?? null };
      messages.push({ ...hit, ...excerpt });
    }
    place = hits[HITS_PER_STEP - 1]?.row ?? low;
    // Only after a step, so that the next search is closer to the end however slow the machine is.
    if (performance.now() > end && place > 1) return { messages, nextBefore: place };
  }
  return { messages, nextBefore: null };
}

function isChosen(
  database: Reader,
  { job_id: jobId, model, date, status }: Hit,
  filters: Search['filters'],
): boolean {
  if (filters.jobId !== undefined && jobId !== filters.jobId) return false;
  if (filters.models !== undefined && !filters.models.includes(model)) return false;
  const [start, end] = dateBounds(filters);
  if (date < start || date > end) return false;
  return (
    status === 'active' || (status !== 'superseded' && !IS_OVER.has(database, model, date, jobId))
  );
}
