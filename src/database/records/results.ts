import { committedSessions, jsonIds, lastChange, type SessionFilters } from '../session-filters.ts';
import type { Database, Reader } from '../database.ts';
import {
  amount,
  type Column,
  integer,
  oneOf,
  orNull,
  type Query,
  query,
  real,
  type RowOf,
  text,
} from '../rows.ts';
import { jsonObject } from './status.ts';
import { actionTypes } from '../../basics/domain.ts';

/**
 * Positions that one statement reads: bounds the memory of a long response, and how long other
 * requests wait for it.
 */
export const RECORDS_PER_STEP = 50;

/**
 * Positions that one statement reads: all those of some sessions, or some of those of one session.
 */
export interface Portion {
  sessionIds: readonly number[];
  /** For a statement with PORTION: the ids as JSON, and from which action to which it reads. */
  values: readonly [sessionIds: string, firstAction: number, lastAction: number];
  /** Whether it begins its sessions, and whether it ends them. */
  isFirst: boolean;
  isLast: boolean;
}

const RECORD_COUNTS = query(
  `SELECT value, coalesce((SELECT max(action_id) FROM positions WHERE positions.session_id = value), 0)
   FROM json_each(?) ORDER BY key`,
  [integer, integer],
);

/**
 * The positions of some sessions in portions of at most RECORDS_PER_STEP. A session without
 * positions, which has failed, has an empty portion.
 */
export function* portionsOf(
  database: Reader,
  sessions: readonly { sessionId: number }[],
): Generator<Portion> {
  let whole: number[] = [];
  let space = RECORDS_PER_STEP;
  for (const [sessionId, count] of RECORD_COUNTS.all(database, jsonIds(sessions))) {
    if (count > space || count === 0) {
      if (whole.length > 0) yield portionOf(whole);
      [whole, space] = [[], RECORDS_PER_STEP];
    }
    if (count > RECORDS_PER_STEP || count === 0) yield* portionsOfSession(sessionId, count);
    else {
      whole.push(sessionId);
      space -= count;
    }
  }
  if (whole.length > 0) yield portionOf(whole);
}

function* portionsOfSession(sessionId: number, count: number): Generator<Portion> {
  for (let first = 1; first === 1 || first <= count; first += RECORDS_PER_STEP)
    yield portionOf([sessionId], { first, count });
}

/** A portion of sessions with at most `count` positions each, from an action on. */
function portionOf(
  sessionIds: readonly number[],
  { first, count } = { first: 1, count: RECORDS_PER_STEP },
): Portion {
  const last = Math.min(count, first + RECORDS_PER_STEP - 1);
  return {
    sessionIds,
    values: [JSON.stringify(sessionIds), first, last],
    isFirst: first === 1,
    isLast: last === count,
  };
}

/** Joins the sessions of a portion with its positions. */
export const PORTION = `
  FROM json_each(?1) AS chosen
    CROSS JOIN trading_sessions ON trading_sessions.session_id = chosen.value
    CROSS JOIN positions ON positions.session_id = trading_sessions.session_id AND action_id BETWEEN ?2 AND ?3
  ORDER BY chosen.key, action_id`;

type Cell = string | number | null;

/** The fields of a record without its holdings. */
const FIELDS: readonly (readonly [sql: string, column: Column<Cell>])[] = [
  ['position_id AS id', integer],
  ['job_id', orNull(text)],
  ['date', text],
  ['model', text],
  ['action_id', integer],
  ['action_type', text],
  ['symbol', orNull(text)],
  ['amount', orNull(integer)],
  ['price_e4 / 10000.0 AS price', orNull(real)],
  ['cash_e4 / 10000.0 AS cash', real],
  ['portfolio_value_e4 / 10000.0 AS portfolio_value', real],
  ['daily_profit_e4 / 10000.0 AS daily_profit', real],
  ['daily_return_pct', orNull(real)],
  [`coalesce(completed_at, '') AS created_at`, text], // a session's positions are all written when it is committed
];
const COLUMNS = FIELDS.map(([sql]) => sql);

/**
 * A column with the holdings that a query lists in their order: an aggregate that orders by itself
 * would sort once more.
 */
export const holdingsJson = (list: string) =>
  `(SELECT json_group_array(json_object('symbol', symbol, 'quantity', quantity)) FROM (${list})) AS holdings`;

/**
 * What sessions held after an action: what they held at the close, without what later ones added.
 * Every symbol that they ever held is there, so that walking back adds none.
 */
const HELD = query(
  `SELECT value, symbol, sum(quantity) FROM (
     SELECT value, symbol, iif(action_id <= ?2, 0, iif(action_type = 'sell', amount, -amount)) AS quantity
     FROM json_each(?1) CROSS JOIN positions ON session_id = value
     WHERE action_type IN ('buy', 'sell', 'split')
     UNION ALL
     SELECT value, symbol, quantity FROM json_each(?1) CROSS JOIN holdings ON session_id = value)
   GROUP BY value, symbol ORDER BY value, symbol`,
  [integer, text, integer],
);
/** What an action changed; what the response has of it follows. */
const CHANGED =
  "positions.session_id, symbol, iif(action_type = 'sell', -amount, iif(action_type IN ('buy', 'split'), amount, 0))";
const changedColumns = [integer, orNull(text), orNull(integer)] as const;
const RECORDS = query(`SELECT ${CHANGED}, ${jsonObject(COLUMNS)} ${PORTION}`, [
  ...changedColumns,
  text,
]);
const ROWS = query(`SELECT ${[CHANGED, ...COLUMNS].join(', ')} ${PORTION}`, [
  ...changedColumns,
  ...FIELDS.map(([, column]) => column),
]);

/** The columns of `resultRows`. */
export const resultColumns = [...COLUMNS.map((sql) => sql.replace(/.* AS /s, '')), 'holdings'];

/**
 * The matching records as JSON texts, as they are at the first step. Null between steps, where
 * other work may run.
 */
export function* resultRecords(
  database: Database,
  filters: SessionFilters,
): Generator<string | null> {
  const json = ([symbol, quantity]: Held) =>
    `{"symbol":${JSON.stringify(symbol)},"quantity":${quantity}}`;
  for (const rows of stepByStep(database, RECORDS, filters)) {
    for (const { cells, held } of rows)
      yield `${String(cells[0]).slice(0, -1)},"holdings":[${held.map(json).join(',')}]}`;
    yield null;
  }
}

/** As `resultRecords`, but as table rows, with holdings as `AAPL:10 MSFT:2`. */
export function* resultRows(
  database: Database,
  filters: SessionFilters,
): Generator<readonly Cell[] | null> {
  for (const rows of stepByStep(database, ROWS, filters)) {
    for (const { cells, held } of rows) {
      const list = held.map(([symbol, quantity]) => `${symbol}:${quantity}`).join(' ');
      yield [...cells, list || null];
    }
    yield null;
  }
}

type Changed = readonly [session: number, symbol: string | null, added: number | null];
type Held = readonly [symbol: string, quantity: number];

/**
 * The rows of a query over PORTION, with what is held after each, at most RECORDS_PER_STEP at a
 * time; none after a step that only finds sessions.
 */
function* stepByStep(
  database: Database,
  records: Query<[...Changed, ...Cell[]]>,
  filters: SessionFilters,
): Generator<readonly { cells: readonly Cell[]; held: readonly Held[] }[]> {
  const at = lastChange(database);
  database.settle?.(); // what is committed never changes
  for (const sessions of committedSessions(database, filters, at)) {
    yield [];
    for (const portion of portionsOf(database, sessions)) {
      const rows = records.all(database, ...portion.values);
      const [ids, , last] = portion.values;
      yield withHoldings(rows, HELD.all(database, ids, last));
    }
  }
}

/** Walks back from what is held after the last row of each session. */
function withHoldings(
  rows: readonly [...Changed, ...Cell[]][],
  atEnd: readonly [session: number, symbol: string, quantity: number][],
) {
  const books = new Map<number, Map<string, number>>();
  const bookOf = (session: number) => {
    const book = books.get(session) ?? new Map<string, number>();
    books.set(session, book);
    return book;
  };
  for (const [session, symbol, quantity] of atEnd) bookOf(session).set(symbol, quantity);
  const results: { cells: readonly Cell[]; held: readonly Held[] }[] = [];
  for (const [session, symbol, added, ...cells] of rows.toReversed()) {
    const book = bookOf(session);
    results.push({ cells, held: [...book].filter(([, quantity]) => quantity > 0) });
    if (symbol !== null && added !== 0) book.set(symbol, (book.get(symbol) ?? 0) - (added ?? 0));
  }
  return results.toReversed();
}

/**
 * The cash before a day's first action is the cash at the close it started from, or the initial
 * cash.
 */
const ACTIONS = query(
  `SELECT model, date, action_type AS side, symbol, amount, price_e4 AS price, cash_e4 AS cash,
     coalesce(
       (SELECT cash_e4 FROM positions AS before
         WHERE before.session_id = positions.session_id AND before.action_id = positions.action_id - 1),
       (SELECT cash_e4 FROM positions AS past
         WHERE past.session_id = trading_sessions.started_from_session_id ORDER BY action_id DESC LIMIT 1),
       initial_cash_e4, 0) AS cashBefore ${PORTION}`,
  {
    model: text,
    date: text,
    side: oneOf(actionTypes),
    symbol: orNull(text),
    amount: orNull(integer),
    price: orNull(amount),
    cash: amount,
    cashBefore: amount,
  },
);

type Action = RowOf<typeof ACTIONS>;

/**
 * Whatever changed holdings or cash. The schema requires a symbol, and a price but for splits; a
 * split's amount is what it added.
 */
export type Change = Action & { symbol: string; amount: number } & (
    | { side: 'buy' | 'sell' | 'dividend'; price: NonNullable<Action['price']> }
    | { side: 'split' }
  );

function isChange(action: Action): action is Change {
  return action.side !== 'no_trade';
}

/**
 * The executed orders, splits and dividends of some committed sessions, by action. Null between
 * steps.
 */
export function* changesOf(
  database: Database,
  sessions: readonly { sessionId: number }[],
): Generator<Change | null> {
  for (const portion of portionsOf(database, sessions)) {
    yield* ACTIONS.all(database, ...portion.values).filter(isChange);
    yield null;
  }
}
