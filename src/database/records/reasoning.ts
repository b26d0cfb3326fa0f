import { IS_SHOWN, overSessions, type SessionFilters } from '../session-filters.ts';
import type { Reader } from '../database.ts';
import { integer, query, text } from '../rows.ts';
import { jsonObject } from './status.ts';
import { holdingsJson } from './results.ts';

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
  (SELECT ${jsonObject([
    ...[
      'own.error AS error',
      'duration_seconds',
      'steps',
      'requests',
      'prompt_tokens',
      'completion_tokens',
    ],
    ...['cached_tokens', 'reasoning_tokens', 'cost_usd'],
  ])} FROM job_details
    WHERE (job_details.job_id, job_details.date, job_details.model) =
      (own.job_id, own.date, own.model))`;
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

const sessionsWith = (more: readonly string[]) =>
  overSessions((sessions, order) =>
    query(
      `SELECT session_id, ${jsonObject([...SESSION_COLUMNS, MESSAGE_COUNT, ...NEIGHBOURS, ...more])},
         (SELECT json_group_array(${POSITION} ORDER BY action_id) FROM positions WHERE positions.session_id = own.session_id)
       FROM ${sessions()} AND ${IS_SHOWN} ORDER BY ${order}`,
      [integer, text, text],
    ),
  );
const SESSIONS = sessionsWith(['NULL AS opening', 'NULL AS usage']);
const WHOLE_SESSIONS = sessionsWith([`${OPENING} AS opening`, `${USAGE} AS usage`]);

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
