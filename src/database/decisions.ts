import type { SQLInputValue } from 'node:sqlite';
import { normaliseSymbol } from '../basics/domain.ts';
import { asObject, type Json, objectsIn, tryParse } from '../basics/json.ts';
import { cutText } from '../basics/text.ts';
import type { Reader } from './database.ts';
import { integer, oneOf, orNull, query, real, type RowOf, type RowOfShape, text } from './rows.ts';

/**
 * What models did on the model-days that they completed, as rows, which never change. They are
 * written in the transaction that commits a model-day, and keep only what its session, its
 * positions and its log do not say. Which of them count follows from the sessions as they are; so
 * do failures (records/decisions.ts).
 */

/**
 * What a decision can be: an executed order, a refused one, a model-day that failed, and one
 * without a trade.
 */
export const decisionKinds = ['trade', 'refusal', 'failure', 'no_trade'] as const;
export const sides = ['buy', 'sell'] as const;

const COLUMNS = {
  date: text,
  model: text,
  place: integer,
  session_id: integer,
  message_index: orNull(integer),
  words_index: orNull(integer),
  action_id: orNull(integer),
  side: orNull(oneOf(sides)),
  symbol: orNull(text),
  amount: orNull(real),
  detail: orNull(text),
};
type DecisionRow = RowOfShape<typeof COLUMNS>;
type Unplaced = Omit<DecisionRow, 'place'>;

const NAMES = Object.keys(COLUMNS) as (keyof DecisionRow)[];
const INSERT = `INSERT INTO decisions (${NAMES.join(', ')}) VALUES (${NAMES.map(() => '?').join(', ')})`;

/** How much of a model's words, of a refusal or of an error a decision repeats. */
const MAX_WORDS_LENGTH = 500;

export function cutWords(words: string): string {
  return cutText(words, MAX_WORDS_LENGTH);
}

/** How many messages before an order the model's words may be: it may call tools without a word. */
const WORDS_WITHIN = 20;
const SPACE = `' ' || char(9, 10, 13)`;
const trimmed = (column: string) =>
  `trim(substr(coalesce(${column}, ''), 1, ${2 * MAX_WORDS_LENGTH}), ${SPACE})`;

/** In SQL, the words of a message: its text, or its thoughts where it has none. */
export function wordsOf(message: string): string {
  return `coalesce(nullif(${trimmed(`${message}.content`)}, ''), ${trimmed(`${message}.summary`)})`;
}

/**
 * In SQL, the index of the message with what the model said shortly before another message, or
 * before the end; null where it said nothing.
 */
export function wordsBefore(
  sessionId: string,
  end = `(SELECT max(message_index) + 1 FROM reasoning_logs WHERE session_id = ${sessionId})`,
): string {
  return `(SELECT message_index FROM reasoning_logs AS said
    WHERE said.session_id = ${sessionId} AND message_index BETWEEN ${end} - ${WORDS_WITHIN} AND ${end} - 1
      AND role = 'assistant' AND ${wordsOf('said')} <> '' ORDER BY message_index DESC LIMIT 1)`;
}

const SESSION = query(
  `SELECT date, model, session_id, ${wordsBefore('own.session_id')} AS words_index, coalesce(unfilled, '[]') AS unfilled
   FROM trading_sessions AS own WHERE session_id = ?`,
  { date: text, model: text, session_id: integer, words_index: orNull(integer), unfilled: text },
);
const TRADES = query(
  `SELECT action_id, symbol, amount, action_type AS side FROM positions
   WHERE session_id = ? AND action_type IN ('buy', 'sell') ORDER BY action_id`,
  { action_id: integer, symbol: orNull(text), amount: orNull(integer), side: oneOf(sides) },
);
const CALLS = query(
  `SELECT message_index, ${wordsBefore('own.session_id', 'own.message_index')} AS words_index,
     coalesce(tool_input, '') AS input, content, coalesce(tool_name, '') AS tool
   FROM reasoning_logs AS own
   WHERE session_id = ? AND role = 'tool' AND tool_name IN ('buy', 'sell', 'rebalance')
   ORDER BY message_index`,
  { message_index: integer, words_index: orNull(integer), input: text, content: text, tool: text },
);

const NO_ORDER = {
  message_index: null,
  action_id: null,
  side: null,
  symbol: null,
  amount: null,
  detail: null,
};

/**
 * The decisions of a committed session as values of their columns, the last first: orders, or a day
 * without a trade. A trade is in the log before it is in the positions.
 */
export function decisionsOf(reader: Reader, sessionId: number): SQLInputValue[][] {
  const { unfilled, ...session } = SESSION.one(reader, sessionId);
  const rows: Unplaced[] = [];
  const trades = TRADES.all(reader, sessionId);
  const placed: Unplaced[] = [];
  let done = 0;
  for (const { result, wanted, ...call } of CALLS.all(reader, sessionId).flatMap(ordersIn)) {
    const { error, executed } = result;
    const trade = trades[done];
    const order = { ...session, ...NO_ORDER, ...call };
    const side = sideIn(result['placed']);
    if (side !== null) placed.push({ ...order, side, ...wantedIn(result) });
    if (typeof error === 'string') {
      const detail = cutWords(error);
      rows.push({ ...order, ...wantedIn(wanted), action_id: trade?.action_id ?? null, detail });
    } else if (executed !== undefined && trade !== undefined) {
      const { amount: _, ...own } = trade; // of a trade it is in the positions
      rows.push({ ...order, ...own });
      done += 1;
    }
  }
  if (placed.length > 0) rows.push(...fillsOf(placed, trades, JSON.parse(unfilled)));
  if (trades.length === 0) rows.push({ ...session, ...NO_ORDER });
  return rows.reverse().map((row, index) => {
    const placed = { ...row, place: index + 1 };
    return NAMES.map((name) => placed[name]);
  });
}

/** A call of a tool with its result, as the log has both. */
export type LoggedCall = Pick<RowOf<typeof CALLS>, 'tool' | 'input' | 'content'>;

/**
 * The orders of a call, with what became of each and what was wanted: those of a rebalance, or the
 * call itself.
 */
export function ordersIn<Call extends LoggedCall>({ input, content, tool, ...call }: Call) {
  const result = asObject(tryParse(content)) ?? {};
  if (tool === 'rebalance' && result['error'] === undefined)
    return objectsIn(result['orders']).map((own) => ({
      ...call,
      side: sideIn(own['side']),
      result: own,
      wanted: own,
    }));
  return [{ ...call, side: sideIn(tool), result, wanted: asObject(tryParse(input)) ?? {} }];
}

function sideIn(word: unknown) {
  return sides.find((side) => side === word) ?? null;
}

/** Orders that waited, as they fill: sales first. */
export function bySide<Order extends Pick<DecisionRow, 'side'>>(placed: readonly Order[]): Order[] {
  return placed.toSorted((one, other) => Number(one.side === 'buy') - Number(other.side === 'buy'));
}

/** The trades of orders that waited, and what of them did not fill. */
function fillsOf(
  placed: readonly Unplaced[],
  trades: readonly RowOf<typeof TRADES>[],
  unfilled: string[],
): Unplaced[] {
  const [filled, left] = [[...trades], [...unfilled]];
  return bySide(placed).flatMap(({ amount, ...order }) => {
    const { side, symbol } = order;
    const next = filled[0];
    const isOwn =
      next?.side === side && next.symbol === symbol && Number(next.amount) <= Number(amount);
    const { action_id = null, amount: shares } = (isOwn && filled.shift()) || {};
    const got = shares ?? 0;
    const done = { ...order, amount: null, action_id };
    const missed = { ...order, amount, action_id: filled[0]?.action_id ?? null };
    return [
      ...(got > 0 ? [done] : []),
      ...(got < Number(amount) ? [{ ...missed, detail: cutWords(left.shift() ?? '') }] : []),
    ];
  });
}

/** What the model asked for, as far as it can be read. */
function wantedIn({ symbol, amount }: Json): Pick<DecisionRow, 'symbol' | 'amount'> {
  return {
    symbol: typeof symbol === 'string' ? normaliseSymbol(symbol) : null,
    amount: Number.isFinite(amount) ? Number(amount) : null,
  };
}

/** Stores the decisions of a session within the transaction that commits it. */
export function storeDecisions(database: Reader, sessionId: number): void {
  for (const values of decisionsOf(database, sessionId)) database.statement(INSERT).run(...values);
}

const STORED = query(
  `SELECT ${NAMES.map((name) => `own.${name}`).join(', ')}
   FROM trading_sessions JOIN decisions AS own USING (date, model, session_id)
   WHERE trading_sessions.session_id = ? ORDER BY place`,
  Object.values(COLUMNS),
);

/** The decisions of a session as they are stored, in the form of `decisionsOf`. */
export function storedDecisions(reader: Reader, sessionId: number) {
  return STORED.all(reader, sessionId);
}
