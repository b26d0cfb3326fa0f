import type { SQLInputValue } from 'node:sqlite';
import { normaliseSymbol } from '../basics/domain.ts';
import { asObject, tryParse } from '../basics/json.ts';
import { cutText } from '../basics/text.ts';
import type { Reader } from './database.ts';
import { integer, oneOf, orNull, query, real, type RowOfShape, text } from './rows.ts';

/**
 * What models did and why, as rows. They are written in the transaction that ends a model-day, from
 * its positions and its log, and never change. Which of them count follows from the sessions and
 * the jobs as they are (records/decisions.ts).
 */

/**
 * What a decision can be: an executed order, a refused one, a model-day that failed, and one
 * without a trade.
 */
export const decisionKinds = ['trade', 'refusal', 'failure', 'no_trade'] as const;
export const sides = ['buy', 'sell'] as const;

/** What is shown of a decision. */
export const decisionColumns = {
  id: text,
  kind: oneOf(decisionKinds),
  model: text,
  date: text,
  job_id: text,
  session_id: orNull(integer),
  timestamp: text,
  symbol: orNull(text),
  side: orNull(oneOf(sides)),
  amount: orNull(real),
  price: orNull(real),
  reason: orNull(text),
  detail: orNull(text),
  message_index: orNull(integer),
};
const COLUMNS = { ...decisionColumns, place: integer };
type DecisionRow = RowOfShape<typeof COLUMNS>;

const NAMES = Object.keys(COLUMNS) as (keyof DecisionRow)[];
const INSERT = `INSERT INTO decisions (${NAMES.join(', ')}) VALUES (${NAMES.map(() => '?').join(', ')})`;

function valuesOf(row: DecisionRow): SQLInputValue[] {
  return NAMES.map((name) => row[name]);
}

const SESSION = query(
  `SELECT model, date, job_id, session_id, coalesce(completed_at, '') AS timestamp FROM trading_sessions
   WHERE session_id = ? AND status <> 'opening'`,
  { model: text, date: text, job_id: text, session_id: integer, timestamp: text },
);
const TRADES = query(
  `SELECT action_id, symbol, action_type AS side, amount, price_e4 / 10000.0 AS price FROM positions
   WHERE session_id = ? AND action_type IN ('buy', 'sell') ORDER BY action_id`,
  {
    action_id: integer,
    symbol: orNull(text),
    side: oneOf(sides),
    amount: orNull(integer),
    price: orNull(real),
  },
);

const CALLS = query(
  `SELECT message_index, timestamp, iif(tool_name = 'buy', 'buy', 'sell') AS side, coalesce(tool_input, '') AS input, content
   FROM reasoning_logs WHERE session_id = ? AND role = 'tool' AND tool_name IN ('buy', 'sell') ORDER BY message_index`,
  { message_index: integer, timestamp: text, side: oneOf(sides), input: text, content: text },
);

const NO_ORDER = { symbol: null, side: null, amount: null, price: null };

/**
 * The decisions of a committed session as values of their columns, the last first: orders, or a day
 * without a trade. A trade is in the log before it is in the positions.
 */
export function decisionsOf(reader: Reader, sessionId: number): SQLInputValue[][] {
  const session = SESSION.one(reader, sessionId);
  const rows: Omit<DecisionRow, 'place'>[] = [];
  const trades = TRADES.all(reader, sessionId);
  let done = 0;
  for (const { input, content, ...call } of CALLS.all(reader, sessionId)) {
    const { error, executed } = asObject(tryParse(content)) ?? {};
    const trade = trades[done];
    // The next action, which of a trade is its own, is in the id of each order.
    const id = [sessionId, call.message_index, trade?.action_id ?? []].flat().join(':');
    const words = wordsBefore(reader, sessionId, call.message_index);
    const order = { ...session, ...words, ...call, id };
    if (typeof error === 'string')
      rows.push({ ...order, ...wantedIn(input), kind: 'refusal', detail: cutWords(error) });
    else if (executed !== undefined && trade !== undefined) {
      rows.push({ ...order, ...trade, kind: 'trade', detail: null });
      done += 1;
    }
  }
  if (trades.length === 0) {
    const id = String(sessionId);
    const words = wordsBefore(reader, sessionId, null);
    rows.push({ ...session, ...NO_ORDER, ...words, id, kind: 'no_trade', detail: null });
  }
  return rows.reverse().map((row, index) => valuesOf({ ...row, place: index + 1 }));
}

/** What the model asked for, as far as it can be read. */
function wantedIn(input: string): Pick<DecisionRow, 'symbol' | 'amount' | 'price'> {
  const { symbol, amount } = asObject(tryParse(input)) ?? {};
  return {
    symbol: typeof symbol === 'string' ? normaliseSymbol(symbol) : null,
    amount: Number.isFinite(amount) ? Number(amount) : null,
    price: null,
  };
}

/** Stores the decisions of a session within the transaction that commits it. */
export function storeDecisions(database: Reader, sessionId: number): void {
  for (const values of decisionsOf(database, sessionId)) database.statement(INSERT).run(...values);
}

const STORED = query(
  `SELECT ${NAMES.map((name) => `own.${name}`).join(', ')}
   FROM trading_sessions JOIN decisions AS own USING (date, model, job_id)
   WHERE trading_sessions.session_id = ? ORDER BY place`,
  Object.values(COLUMNS),
);

/** The decisions of a session as they are stored, in the form of `decisionsOf`. */
export function storedDecisions(reader: Reader, sessionId: number): unknown[] {
  return STORED.all(reader, sessionId);
}

/** It may have failed before its session began. */
const FAILED = query(
  `SELECT model, date, job_id, coalesce(completed_at, '') AS timestamp, coalesce(error, '') AS detail,
     (SELECT max(session_id) FROM trading_sessions AS failed
       WHERE failed.job_id = own.job_id AND failed.date = own.date AND failed.model = own.model AND status = 'failed') AS session_id
   FROM job_details AS own
   WHERE job_id = ?1 AND date = coalesce(?2, date) AND model = coalesce(?3, model) AND status = 'failed' AND NOT EXISTS (
     SELECT 1 FROM decisions WHERE decisions.date = own.date AND decisions.model = own.model AND decisions.job_id = own.job_id)`,
  {
    model: text,
    date: text,
    job_id: text,
    timestamp: text,
    detail: text,
    session_id: orNull(integer),
  },
);

/**
 * Stores the failure of each failed model-day of a job, of one date and model or of all, within the
 * transaction that ends them.
 */
export function storeFailures(
  database: Reader,
  {
    jobId,
    date = null,
    model = null,
  }: { jobId: string; date?: string | null; model?: string | null },
): void {
  for (const day of FAILED.all(database, jobId, date, model)) {
    const words = wordsBefore(database, day.session_id, null);
    const end = { ...words, detail: cutWords(day.detail), kind: 'failure', place: 1 } as const;
    const id = `failure:${day.date}:${jobId}:${day.model}`;
    database.statement(INSERT).run(...valuesOf({ ...day, ...NO_ORDER, ...end, id }));
  }
}

/** How much of a model's words, of a refusal or of an error a decision repeats. */
const MAX_WORDS_LENGTH = 500;

function cutWords(words: string): string {
  return cutText(words, MAX_WORDS_LENGTH);
}

/** How many messages before an order the model's words may be: it may call tools without a word. */
const WORDS_WITHIN = 20;
const SPACE = `' ' || char(9, 10, 13)`;
const SAID = (column: string) =>
  `trim(substr(coalesce(${column}, ''), 1, ${2 * MAX_WORDS_LENGTH}), ${SPACE})`;
const END = `coalesce(?2, (SELECT max(message_index) + 1 FROM reasoning_logs WHERE session_id = ?1))`;
/** Where a message has no text, its thoughts. */
const WORDS = query(
  `SELECT words AS reason, message_index FROM (
     SELECT coalesce(nullif(${SAID('content')}, ''), ${SAID('summary')}) AS words, message_index FROM reasoning_logs
     WHERE session_id = ?1 AND message_index BETWEEN ${END} - ${WORDS_WITHIN} AND ${END} - 1 AND role = 'assistant')
   WHERE words <> '' ORDER BY message_index DESC LIMIT 1`,
  { reason: text, message_index: integer },
);

/**
 * What the model said shortly before a message, or before the end, and in which message; nulls
 * where it said nothing.
 */
function wordsBefore(
  reader: Reader,
  sessionId: number | null,
  end: number | null,
): Pick<DecisionRow, 'reason' | 'message_index'> {
  const found = WORDS.get(reader, sessionId, end);
  if (found === undefined) return { reason: null, message_index: null };
  return { ...found, reason: cutWords(found.reason) };
}
