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

/** What is read of an order and of its result: ours are shorter. */
const MAX_TEXT_LENGTH = 10_000;
const CALLS = query(
  `SELECT message_index, timestamp, iif(tool_name = 'buy', 'buy', 'sell') AS side,
     substr(coalesce(tool_input, ''), 1, ${MAX_TEXT_LENGTH}) AS input, substr(content, 1, ${MAX_TEXT_LENGTH}) AS result
   FROM reasoning_logs WHERE session_id = ? AND role = 'tool' AND tool_name IN ('buy', 'sell') ORDER BY message_index`,
  { message_index: integer, timestamp: text, side: oneOf(sides), input: text, result: text },
);

const NO_ORDER = { symbol: null, side: null, amount: null, price: null };

/**
 * The decisions of a committed session as values of their columns, the last first: the executed
 * orders as its positions have them, the refused ones from its log, or a day without a trade.
 */
export function decisionsOf(reader: Reader, sessionId: number): SQLInputValue[][] {
  const session = SESSION.one(reader, sessionId);
  const trades = TRADES.all(reader, sessionId);
  const rows: Omit<DecisionRow, 'place'>[] = [];
  if (trades.length === 0) {
    const [reason, index] = lastWords(reader, sessionId);
    const day = { ...session, ...NO_ORDER, reason, detail: null, message_index: index };
    rows.push({ ...day, id: String(sessionId), kind: 'no_trade' });
  }
  const orders: typeof rows = [];
  for (const { input, result, ...call } of CALLS.all(reader, sessionId)) {
    const { error, executed } = asObject(tryParse(result)) ?? {};
    const [trade] = trades;
    const id = idOf(sessionId, call.message_index, trade);
    const reason = wordsBefore(reader, sessionId, call.message_index)[0];
    const order = { ...session, ...call, id, reason };
    if (typeof error === 'string') {
      const wanted = { ...wantedIn(input), price: null };
      orders.push({ ...order, ...wanted, kind: 'refusal', detail: cutWords(error) });
    } else if (executed !== undefined && trade !== undefined) {
      orders.push({ ...order, ...trade, kind: 'trade', detail: null });
      trades.shift();
    }
  }
  // The last answer's calls are not in the log when its model-day ended before all had returned.
  const [length] = LENGTH.one(reader, sessionId);
  for (const trade of trades) {
    const unlogged = { id: idOf(sessionId, length, trade), reason: null, message_index: null };
    orders.push({ ...session, ...trade, ...unlogged, kind: 'trade', detail: null });
  }
  return [...rows, ...orders.reverse()].map((row, index) => valuesOf({ ...row, place: index + 1 }));
}

/** Of an order: its session, its message, and the next action, which of a trade is its own. */
function idOf(sessionId: number, index: number, next: { action_id: number } | undefined): string {
  return [sessionId, index, ...(next === undefined ? [] : [next.action_id])].join(':');
}

/** What the model asked for, as far as it can be read. */
function wantedIn(input: string): Pick<DecisionRow, 'symbol' | 'amount'> {
  const { symbol, amount: wanted } = asObject(tryParse(input)) ?? {};
  return {
    symbol: typeof symbol === 'string' ? normaliseSymbol(symbol) : null,
    amount: typeof wanted === 'number' && Number.isFinite(wanted) ? wanted : null,
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
   WHERE job_id = ?1 AND date BETWEEN ?2 AND ?3 AND model = coalesce(?4, model) AND status = 'failed' AND NOT EXISTS (
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
 * Stores the failure of each failed model-day of a job between two dates, of one model or of all,
 * within the transaction that ends them.
 */
export function storeFailures(
  database: Reader,
  {
    jobId,
    from,
    to,
    model = null,
  }: { jobId: string; from: string; to: string; model?: string | null },
): void {
  for (const day of FAILED.all(database, jobId, from, to, model)) {
    const { session_id: session, detail } = day;
    const [reason, index] = session === null ? [null, null] : lastWords(database, session);
    const words = { reason, detail: cutWords(detail), message_index: index };
    const id = `failure:${day.date}:${jobId}:${day.model}`;
    const row = valuesOf({ ...day, ...NO_ORDER, ...words, id, kind: 'failure', place: 1 });
    database.statement(INSERT).run(...row);
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
/** Where a message has no text, its thoughts. */
const WORDS = query(
  `SELECT iif(${SAID('content')} <> '', ${SAID('content')}, ${SAID('summary')}) AS words, message_index FROM reasoning_logs
   WHERE session_id = ?1 AND message_index BETWEEN ?2 - ${WORDS_WITHIN} AND ?2 - 1 AND role = 'assistant'
     AND (${SAID('content')} <> '' OR ${SAID('summary')} <> '')
   ORDER BY message_index DESC LIMIT 1`,
  [text, integer],
);
const LENGTH = query(
  'SELECT coalesce(max(message_index), -1) + 1 FROM reasoning_logs WHERE session_id = ?',
  [integer],
);

type Words = [words: string, index: number] | [null, null];

/** What the model said shortly before a message, and in which; nulls where it said nothing. */
function wordsBefore(reader: Reader, sessionId: number, messageIndex: number): Words {
  const [words, index] = WORDS.get(reader, sessionId, messageIndex) ?? [null, null];
  return words === null ? [null, null] : [cutWords(words), index];
}

function lastWords(reader: Reader, sessionId: number): Words {
  return wordsBefore(reader, sessionId, LENGTH.one(reader, sessionId)[0]);
}
