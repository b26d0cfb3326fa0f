import { type SessionFilters, committedSessions, jsonIds, lastChange } from '../chosen.ts';
import type { Database } from '../database.ts';
import { type Column, type Query, integer, orNull, query, real, text } from '../rows.ts';
import { jsonObject } from './json-object.ts';

/** Positions that one statement reads: bounds the memory of a long response, and how long other requests wait for it. */
export const RECORDS_PER_STEP = 100;

/** A part of a session's positions: those from one action to another, out of so many. */
export type Part = readonly [sessionId: number, firstAction: number, lastAction: number, actions: number];

const RECORD_COUNTS = query(
  `SELECT value, coalesce((SELECT max(action_id) FROM positions WHERE positions.session_id = value), 0)
   FROM json_each(?) ORDER BY key`,
  [integer, integer],
);

/** The positions of some sessions in portions of at most RECORDS_PER_STEP. A session without positions has an empty part. */
export function* portionsOf(database: Database, sessions: readonly { sessionId: number }[]): Generator<Part[]> {
  let portion: Part[] = [];
  let space = RECORDS_PER_STEP;
  for (const [sessionId, count] of RECORD_COUNTS.all(database, jsonIds(sessions))) {
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

type Cell = string | number | null;

/** The fields of a record without its holdings. */
const FIELDS: readonly (readonly [sql: string, column: Column<Cell>])[] = [
  ['position_id AS id', integer],
  ['job_id', text],
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
  ['created_at', text],
];
const COLUMNS = FIELDS.map(([sql]) => sql);
const holdings = (list: string) => `(SELECT ${list} FROM holdings WHERE holdings.position_id = positions.position_id) AS holdings`;
const HOLDINGS = holdings(`json_group_array(json_object('symbol', symbol, 'quantity', quantity) ORDER BY symbol)`);
/** As `AAPL:10 MSFT:2`. */
const HOLDINGS_TEXT = holdings(`group_concat(symbol || ':' || quantity, ' ' ORDER BY symbol)`);

const RECORDS = query(`SELECT ${jsonObject([...COLUMNS, HOLDINGS])} ${PARTS}`, [text]);
const ROWS = query(`SELECT ${[...COLUMNS, HOLDINGS_TEXT].join(', ')} ${PARTS}`, [
  ...FIELDS.map(([, column]) => column),
  orNull(text),
]);

/** The columns of `resultRows`. */
export const resultColumns = [...COLUMNS, HOLDINGS_TEXT].map((sql) => sql.replace(/.* AS /s, ''));

/** The matching records as JSON texts, as they are at the first step. Null between steps, where other work may run. */
export function* resultRecords(database: Database, filters: SessionFilters): Generator<string | null> {
  for (const record of stepByStep(database, RECORDS, filters)) yield record && record[0];
}

/** As `resultRecords`, but as table rows, with holdings as `AAPL:10 MSFT:2`. */
export function resultRows(database: Database, filters: SessionFilters): Generator<readonly Cell[] | null> {
  return stepByStep(database, ROWS, filters);
}

/** The rows of a query over PARTS, read at most RECORDS_PER_STEP at a time; null between steps. */
function* stepByStep<Row>(database: Database, records: Query<Row>, filters: SessionFilters): Generator<Row | null> {
  for (const sessions of committedSessions(database, filters, lastChange(database))) {
    yield null;
    for (const portion of portionsOf(database, sessions)) {
      yield null;
      yield* records.all(database, JSON.stringify(portion));
    }
  }
}
