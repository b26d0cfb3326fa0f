import { type SessionFilters, committedSessions, lastChange } from '../chosen.ts';
import type { Database } from '../database.ts';

/** Positions that one statement reads: bounds the memory of a long answer, and how long other requests wait for it. */
export const RECORDS_PER_STEP = 100;

/** Some of the positions of a session: those from one action to another, of so many. */
export type Part = readonly [sessionId: number, firstAction: number, lastAction: number, actions: number];

const RECORD_COUNTS = `
  SELECT value, coalesce((SELECT max(action_id) FROM positions WHERE positions.session_id = value), 0)
  FROM json_each(?) ORDER BY key`;

/** The positions of some sessions in portions of at most RECORDS_PER_STEP. A session without a position has an empty part. */
export function* portionsOf(database: Database, sessionIds: readonly number[]): Generator<Part[]> {
  const counts = rowsOf(database, RECORD_COUNTS).all(JSON.stringify(sessionIds));
  let portion: Part[] = [];
  let space = RECORDS_PER_STEP;
  for (const [sessionId, count] of counts as unknown as [number, number][]) {
    let first = 1;
    do {
      const last = Math.min(count, first + space - 1);
      portion.push([sessionId, first, last, count]);
      space -= Math.max(1, last - first + 1);
      first = last + 1;
      if (space > 0) continue;
      yield portion;
      [portion, space] = [[], RECORDS_PER_STEP];
    } while (first <= count);
  }
  if (portion.length > 0) yield portion;
}

/** Joins the parts of a portion, given as JSON, with their sessions and positions. */
export const PARTS = `
  FROM json_each(?) AS part
    CROSS JOIN trading_sessions ON trading_sessions.session_id = part.value ->> 0
    CROSS JOIN positions ON positions.session_id = trading_sessions.session_id
      AND action_id BETWEEN part.value ->> 1 AND part.value ->> 2
  ORDER BY part.key, action_id`;

const RESULTS = `
  SELECT json_object(
    'id', position_id, 'job_id', job_id, 'date', date, 'model', model, 'action_id', action_id, 'action_type', action_type,
    'symbol', symbol, 'amount', amount, 'price', price_e4 / 10000.0, 'cash', cash_e4 / 10000.0,
    'portfolio_value', portfolio_value_e4 / 10000.0, 'daily_profit', daily_profit_e4 / 10000.0,
    'daily_return_pct', daily_return_pct, 'created_at', created_at,
    'holdings', (SELECT json_group_array(json_object('symbol', symbol, 'quantity', quantity) ORDER BY symbol)
      FROM holdings WHERE holdings.position_id = positions.position_id)) ${PARTS}`;

/**
 * The records that the filters let through as JSON texts, as they are at the first step. Null between two steps, where
 * others may have their turn.
 */
export function* resultRecords(database: Database, filters: SessionFilters): Generator<string | null> {
  for (const rows of steps(database, RESULTS, filters)) {
    yield null;
    for (const [json] of rows) yield json as string;
  }
}

/** The columns of `resultRows`: the fields of a record, the holdings as `AAPL:10 MSFT:2`. */
export const resultColumns = [
  'id',
  'job_id',
  'date',
  'model',
  'action_id',
  'action_type',
  'symbol',
  'amount',
  'price',
  'cash',
  'portfolio_value',
  'daily_profit',
  'daily_return_pct',
  'created_at',
  'holdings',
] as const;

const RESULT_ROWS = `
  SELECT position_id, job_id, date, model, action_id, action_type, symbol, amount, price_e4 / 10000.0, cash_e4 / 10000.0,
    portfolio_value_e4 / 10000.0, daily_profit_e4 / 10000.0, daily_return_pct, created_at,
    (SELECT group_concat(symbol || ':' || quantity, ' ' ORDER BY symbol)
      FROM holdings WHERE holdings.position_id = positions.position_id) ${PARTS}`;

/** As `resultRecords`, as rows of a table. */
export function* resultRows(
  database: Database,
  filters: SessionFilters,
): Generator<readonly (string | number | null)[] | null> {
  for (const rows of steps(database, RESULT_ROWS, filters)) {
    yield null;
    yield* rows;
  }
}

type Row = (string | number | null)[];

/** The rows of a query over PARTS; at most RECORDS_PER_STEP at a time, and at times none. */
function* steps(database: Database, query: string, filters: SessionFilters): Generator<Row[]> {
  for (const sessions of committedSessions(database, filters, lastChange(database))) {
    yield [];
    for (const portion of portionsOf(database, sessions.map(({ sessionId }) => sessionId)))
      yield rowsOf(database, query).all(JSON.stringify(portion)) as unknown as Row[];
  }
}

/** A statement whose rows are arrays: a third less time than objects, where rows are many. */
export function rowsOf(database: Database, sql: string) {
  const statement = database.statement(sql);
  statement.setReturnArrays(true);
  return statement;
}
