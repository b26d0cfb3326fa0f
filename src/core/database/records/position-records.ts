import type { Cell } from '#text/csv.ts';
import { overSessions, type SessionFilters } from '#database/session-filters.ts';
import type { Reader } from '#database/database.ts';
import { integer, orNull, query, text } from '#database/rows.ts';
import { jsonObject } from './job-records.ts';
import { currenciesOfJobs, studySql } from './model-records.ts';

/** The fields of a record without its holdings. */
const FIELDS = [
  'position_id AS id',
  'job_id',
  'date',
  'model',
  'action_id',
  'action_type',
  'symbol',
  'amount',
  'price_e4 / 10000.0 AS price',
  'cash_e4 / 10000.0 AS cash',
  'portfolio_value_e4 / 10000.0 AS portfolio_value',
  'daily_profit_e4 / 10000.0 AS daily_profit',
  'daily_return_pct',
  `coalesce(completed_at, '') AS created_at`, // a session's positions are all written when it is committed
];

/** The columns of a record's cells. */
export const resultColumns = [
  ...FIELDS.map((sql) => sql.replace(/.* AS /s, '')),
  'holdings',
  'currency',
  'study',
];

/**
 * A column with the holdings that a query lists in their order: an aggregate that orders by itself
 * would sort once more.
 */
export const holdingsJson = (list: string) =>
  `(SELECT json_group_array(json_object('symbol', symbol, 'quantity', quantity)) FROM (${list})) AS holdings`;

/**
 * The positions of the sessions that count, each with what it changed, and the first of a session
 * with what that held at its close.
 */
const POSITIONS = overSessions((sessions, order) =>
  query(
    `SELECT own.session_id, symbol,
       CASE WHEN action_type IN ('sell', 'exchange') THEN -amount WHEN action_type IN ('buy', 'split', 'received') THEN amount ELSE 0 END,
       CASE action_id WHEN 1 THEN (SELECT json_group_object(symbol, quantity)
         FROM holdings WHERE holdings.session_id = own.session_id) END,
       ${jsonObject(FIELDS)}, json_quote(${studySql()})
     FROM ${sessions('CROSS JOIN positions USING (session_id)')} AND own.status = 'active'
     ORDER BY ${order}, action_id`,
    [integer, orNull(text), orNull(integer), orNull(text), text, text],
  ),
);
type Position = [
  session: number,
  symbol: string | null,
  added: number | null,
  atClose: string | null,
  json: string,
  study: string,
];

const ROWS = overSessions((sessions) => {
  const rows = (table: string) =>
    `SELECT 1 FROM ${sessions(`CROSS JOIN ${table} USING (session_id)`)} AND own.status = 'active'`;
  return query(`${rows('positions')} UNION ALL ${rows('holdings')}`, [integer]);
});

/** How many records match the filters. */
export const countResults = POSITIONS.count;

/** Whether the records are made of more positions and holdings; reads no more than so many. */
export function hasMoreRows(reader: Reader, filters: SessionFilters, count: number): boolean {
  let left = count;
  for (const _row of ROWS(reader, filters)) if (left-- === 0) return true;
  return false;
}

/** A position and what is held after it. */
interface ResultRecord {
  /** Without the holdings and the study. */
  json: string;
  /** As JSON. */
  study: string;
  /** By symbol. */
  held: readonly (readonly [symbol: string, quantity: number])[];
}

/** The records that match the filters, by date, model and action. */
export function* resultRecords(reader: Reader, filters: SessionFilters): Generator<ResultRecord> {
  let group: Position[] = [];
  for (const position of POSITIONS(reader, filters)) {
    if (group[0] !== undefined && group[0][0] !== position[0]) {
      yield* withHoldings(group);
      group = [];
    }
    group.push(position);
  }
  yield* withHoldings(group);
}

/** Walks back from what a session holds at its close. */
function withHoldings(positions: readonly Position[]): ResultRecord[] {
  const atClose: Record<string, number> = JSON.parse(positions[0]?.[3] ?? '{}');
  const symbols = positions.flatMap(([, symbol]) => symbol ?? []);
  const book = new Map(
    [...new Set([...Object.keys(atClose), ...symbols])]
      .sort()
      .map((symbol) => [symbol, atClose[symbol] ?? 0]),
  );
  const records: ResultRecord[] = [];
  for (const [, symbol, added, , json, study] of positions.toReversed()) {
    records.push({ json, study, held: [...book].filter(([, quantity]) => quantity > 0) });
    if (symbol !== null) book.set(symbol, (book.get(symbol) ?? 0) - (added ?? 0));
  }
  return records.reverse();
}

/** A record as JSON text. */
export function recordJson({ json, study, held }: ResultRecord): string {
  const holdings = held.map(
    ([symbol, quantity]) => `{"symbol":${JSON.stringify(symbol)},"quantity":${quantity}}`,
  );
  return `${json.slice(0, -1)},"holdings":[${holdings.join(',')}],"study":${study}}`;
}

/** Makes records the cells of a table, with holdings as `AAPL:10 MSFT:2`. */
export function createCellReader(reader: Reader): (record: ResultRecord) => Cell[] {
  const currencies = currenciesOfJobs(reader);
  return ({ json, study, held }) => {
    const fields: Record<string, Cell> = JSON.parse(json);
    const currency = currencies.get(`${fields['job_id']}`) ?? null;
    const holdings = held.map(([symbol, quantity]) => `${symbol}:${quantity}`).join(' ');
    return [...Object.values(fields), holdings || null, currency, JSON.parse(study)];
  };
}
