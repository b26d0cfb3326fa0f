import assert from 'node:assert/strict';
import {
  type ChosenSession,
  jsonIds,
  runningSessions,
  type SessionFilters,
  sessionsNow,
  type SessionsThen,
  visibleSessions,
} from '../session-filters.ts';
import type { Database } from '../database.ts';
import { integer, orNull, type Query, query, text } from '../rows.ts';
import { finite } from '../usage.ts';
import { jsonObject } from './status.ts';
import { holdingsJson, portionsOf } from './results.ts';

/** Messages are read in batches of about this many bytes; a longer one is read by itself. */
const MESSAGE_BYTES_PER_STEP = 64 * 1024;

const MESSAGE_COUNT = `
  CASE status WHEN 'running'
    THEN (SELECT count(*) FROM reasoning_logs WHERE reasoning_logs.session_id = trading_sessions.session_id)
    ELSE total_messages END AS total_messages`;
/**
 * The dates of the model's days before and after that were active at a change; an index has them in
 * order.
 */
const neighbour = (order: 'max(date)' | 'min(date)', condition: string) => `
  (SELECT ${order} FROM trading_sessions AS other INDEXED BY sessions_by_model
    WHERE other.model = trading_sessions.model AND other.date ${condition} trading_sessions.date
      AND other.active_from <= ?4 AND (other.active_to IS NULL OR other.active_to > ?4))`;
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
      WHERE before.session_id = trading_sessions.started_from_session_id ORDER BY action_id DESC LIMIT 1) END`;
/** What the model-day used in its job, over all attempts; and why the session failed. */
const USAGE = `
  (SELECT ${jsonObject([
    ...[
      'trading_sessions.error AS error',
      'duration_seconds',
      'steps',
      'requests',
      'prompt_tokens',
      'completion_tokens',
    ],
    ...['cached_tokens', 'reasoning_tokens', `${finite('cost_usd')} AS cost_usd`],
  ])} FROM job_details
    WHERE (job_details.job_id, job_details.date, job_details.model) =
      (trading_sessions.job_id, trading_sessions.date, trading_sessions.model))`;
const SESSION_COLUMNS = [
  'session_id',
  'job_id',
  'date',
  'model',
  'session_summary',
  'note',
  'started_at',
  'completed_at',
];
const NEIGHBOURS = [
  `${neighbour('max(date)', '<')} AS previous_date`,
  `${neighbour('min(date)', '>')} AS next_date`,
];
const POSITION = jsonObject([
  ...[
    'action_id',
    'action_type',
    'symbol',
    'amount',
    'price_e4 / 10000.0 AS price',
    'cash_e4 / 10000.0 AS cash_after',
  ],
  'portfolio_value_e4 / 10000.0 AS portfolio_value',
]);

const sessions = (more: readonly string[]) =>
  query(
    `SELECT ${jsonObject([...SESSION_COLUMNS, MESSAGE_COUNT, ...NEIGHBOURS, ...more])},
     (SELECT json_group_array(${POSITION} ORDER BY action_id)
       FROM positions WHERE positions.session_id = trading_sessions.session_id
         AND action_id BETWEEN ?2 AND ?3), ${MESSAGE_COUNT}
   FROM json_each(?1) AS chosen CROSS JOIN trading_sessions ON trading_sessions.session_id = chosen.value
   ORDER BY chosen.key`,
    [text, text, orNull(integer)],
  );
const SESSIONS = sessions(['NULL AS opening', 'NULL AS usage']);
const WHOLE_SESSIONS = sessions([`${OPENING} AS opening`, `${USAGE} AS usage`]);

type Session = [head: string, positions: string, messages: number | null];

/**
 * The matching trading sessions as pieces of JSON text that together form a list without its
 * brackets, all as they are at the first step. Each piece has at most RECORDS_PER_STEP positions or
 * MESSAGE_BYTES_PER_STEP of conversation. Null between steps, where other work may run. With
 * `conversation` each session is whole: with its conversation, the portfolio that it started from,
 * and what it used. What has ended never changes, and what runs is read at once but for its
 * messages, which are only added to: so no state of the database need be held, however slowly the
 * client reads.
 */
export function* sessionPieces(
  database: Database,
  filters: SessionFilters,
  { conversation, onSession }: { conversation: boolean; onSession: () => void },
): Generator<string | null> {
  const read = conversation ? WHOLE_SESSIONS : SESSIONS;
  const then = sessionsNow(database);
  const running = readRunning(database, read, { filters, then });
  database.settle?.();
  let separator = '';
  const begin = (head: string) => {
    onSession();
    const piece = `${separator}${head.slice(0, -1)},"positions":[`;
    separator = ',';
    return piece;
  };
  for (const batch of visibleSessions(database, filters, then)) {
    yield null;
    for (const group of apartFromRunning(batch, running)) {
      const [id = 0] = group.map(({ sessionId }) => sessionId);
      const known = running.get(id);
      if (known !== undefined) {
        yield begin(known[0]);
        yield* endOfSession(database, id, { conversation, messages: known[2] });
        yield null;
        continue;
      }
      for (const { sessionIds, values, isFirst, isLast } of portionsOf(database, group)) {
        const rows = read.all(database, ...values, then.at);
        assert.equal(rows.length, sessionIds.length, 'a session that was chosen is still there');
        for (const [index, sessionId] of sessionIds.entries()) {
          const [head = '', positions = ''] = rows[index] ?? [];
          yield isFirst ? begin(head) : ',';
          yield positions.slice(1, -1);
          if (isLast) yield* endOfSession(database, sessionId, { conversation, messages: null });
        }
        yield null;
      }
    }
  }
}

/** The sessions that run, by id: they have no positions, and so many messages. */
function readRunning(
  database: Database,
  read: Query<Session>,
  { filters, then }: { filters: SessionFilters; then: SessionsThen },
): Map<number, Session> {
  const sessions = runningSessions(database, filters);
  const rows = read.all(database, jsonIds(sessions), 1, 0, then.at);
  return new Map(rows.map((row, index) => [sessions[index]?.sessionId ?? 0, row]));
}

/** Sessions in their order, in groups: each that runs by itself. */
function* apartFromRunning(
  sessions: readonly ChosenSession[],
  running: ReadonlyMap<number, unknown>,
): Generator<ChosenSession[]> {
  let group: ChosenSession[] = [];
  for (const session of sessions) {
    if (!running.has(session.sessionId)) {
      group.push(session);
      continue;
    }
    yield group;
    yield [session];
    group = [];
  }
  yield group;
}

function* endOfSession(
  database: Database,
  sessionId: number,
  { conversation, messages }: { conversation: boolean; messages: number | null },
): Generator<string | null> {
  yield '],"conversation":';
  if (conversation) yield* conversationPieces(database, sessionId, messages);
  else yield 'null';
  yield '}';
}

const MESSAGE_SIZES = query(
  `SELECT message_index, octet_length(content) + coalesce(octet_length(summary), 0) + coalesce(octet_length(tool_input), 0)
   FROM reasoning_logs WHERE session_id = ?1 AND (?2 IS NULL OR message_index < ?2) ORDER BY message_index`,
  [integer, integer],
);

const MESSAGE = jsonObject([
  ...[
    'message_index',
    'role',
    'content',
    'summary',
    'tool_name',
    'tool_input',
    'timestamp',
    'json(served) AS served',
  ],
]);
const MESSAGES = query(
  `SELECT json_group_array(${MESSAGE} ORDER BY message_index)
   FROM reasoning_logs WHERE session_id = ? AND message_index BETWEEN ? AND ?`,
  [text],
);

/** The first messages of a conversation, or all, as a JSON list; in batches of messages. */
function* conversationPieces(
  database: Database,
  sessionId: number,
  count: number | null,
): Generator<string | null> {
  let separator = '[';
  for (const [first, last] of spansOf(MESSAGE_SIZES.all(database, sessionId, count))) {
    const [messages] = MESSAGES.one(database, sessionId, first, last);
    yield separator + messages.slice(1, -1);
    yield null;
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

/** The first and last index of messages that are read together. */
function* spansOf(
  sizes: readonly [index: number, bytes: number][],
): Generator<[first: number, last: number]> {
  let span: [first: number, last: number] | null = null;
  let bytes = 0;
  for (const [index, size] of sizes) {
    bytes += size;
    if (span === null || bytes > MESSAGE_BYTES_PER_STEP) {
      if (span !== null) yield span;
      [span, bytes] = [[index, index], size];
    } else span[1] = index;
  }
  if (span !== null) yield span;
}
