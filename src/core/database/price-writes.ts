import type { CalendarDate } from '#time/calendar.ts';
import type { Database, Reader } from './database.ts';
import { integer, type Parameter, query, type QueryWay, reads, type RowShape } from './rows.ts';
import {
  bars,
  dividends,
  exchanges,
  type RevisedTable,
  splits,
} from '#database/schema/price-tables.ts';

/**
 * The order of writes to bars, splits and dividends: by number, because clocks differ
 * from machine to machine, and are set.
 */

/** Prices, splits and dividends as they were after a write; null: as they are now. */
export interface PricesAt {
  reader: Reader;
  write: number | null;
}

/** As they are now, with what other programs have written that has no number yet. */
export function latestPrices(reader: Reader): PricesAt {
  return { reader, write: null };
}

/** `reads` of prices as they were: the write is the first parameter of the statement. */
export function readsAt<
  Way extends QueryWay,
  const Columns extends RowShape,
  Own extends unknown[],
>(way: Way, sql: string, shape: Columns, parameters: (...own: Own) => readonly Parameter[]) {
  const read = reads(way, sql, shape, (write: number | null, ...own: Own) => [
    write,
    ...parameters(...own),
  ]);
  return ({ reader, write }: PricesAt, ...own: Own) => read(reader, write, ...own);
}

/** The parameters of what happens to some symbols after one date up to another. */
export const inWindow = (
  symbols: readonly string[],
  { after, upTo }: { after: CalendarDate; upTo: CalendarDate },
) => [symbols, after, upTo];

const NEXT = query('UPDATE price_writes SET number = number + 1 RETURNING number', [integer]);

/** Takes the number of a write, within the transaction that writes. */
export function nextWrite(database: Database): number {
  return NEXT.one(database)[0];
}

const TABLES = [bars, splits, dividends, exchanges];

/** The number of the last write. */
export const lastWrite = reads('cell', 'SELECT number FROM price_writes', [integer]);

const UNNUMBERED = query(
  TABLES.map(({ name }) => `SELECT 1 FROM ${name} WHERE written IS NULL`).join(' UNION ALL '),
  [integer],
);

/**
 * The number of the last write, within the caller's transaction. What other programs have written
 * is numbered first.
 */
export function numberedWrite(database: Database): number {
  if (UNNUMBERED.has(database)) {
    const number = nextWrite(database);
    for (const { name } of TABLES)
      database.statement(`UPDATE ${name} SET written = ? WHERE written IS NULL`).run(number);
  }
  return lastWrite(database);
}

const MORNING = query(
  `SELECT morning_write FROM trading_sessions WHERE job_id = ? AND date = ? LIMIT 1`,
  [integer],
);

/**
 * The write as of which all models of a job see prices on a date, within the caller's transaction:
 * the last one before the first of them began, also for those that begin after a restart.
 */
export function morningWrite(
  database: Database,
  { jobId, date }: { jobId: string; date: CalendarDate },
): number {
  return MORNING.get(database, jobId, date)?.[0] ?? numberedWrite(database);
}

/**
 * SQL: the rows of a table as of the write that the first parameter is; all as they are now if it
 * is null.
 */
function rowsAt({ name, revisions, date, key = [], values }: RevisedTable): string {
  const columns = ['symbol', date, ...key, ...values].join(', ');
  return `(SELECT ${columns} FROM ${name} WHERE written <= ?1 OR ?1 IS NULL
      UNION ALL SELECT ${columns} FROM ${revisions} WHERE written <= ?1 AND replaced > ?1)`;
}

export const barsAt = rowsAt(bars);
export const splitsAt = rowsAt(splits);
export const dividendsAt = rowsAt(dividends);
export const exchangesAt = rowsAt(exchanges);

/**
 * SQL: stores a row with its source and the number of its write, if it is new or one of its values
 * is. `alsoSet` is said of another value.
 */
export function upsertSql({ name, date, key = [], values }: RevisedTable, alsoSet = ''): string {
  const keys = ['symbol', date, ...key];
  const set = [...values, 'source', 'written'];
  return `INSERT INTO ${name} (${[...keys, ...set].join()}) VALUES (${[...keys, ...set].fill('?').join()})
    ON CONFLICT (${keys.join()}) DO UPDATE SET ${set.map((column) => `${column} = excluded.${column}`).join()} ${alsoSet}
    WHERE ${values.map((column) => `${column} IS NOT excluded.${column}`).join(' OR ')}`;
}

const overwrittenSql = ({ name, revisions, date, key = ['symbol'] }: RevisedTable) => {
  const versions = (table: string) =>
    `SELECT symbol, ${date} AS day, ${key} AS own, coalesce(written <= ?3, FALSE) AS is_known FROM ${table}
     WHERE symbol IN (SELECT value FROM json_each(?1)) AND ${date} <= ?2`;
  return `EXISTS (SELECT 1 FROM (${versions(name)} UNION ALL ${versions(revisions)})
     GROUP BY symbol, day, own HAVING NOT max(is_known))`;
};
const OVERWRITTEN = query(`SELECT ${TABLES.map(overwrittenSql).join(' OR ')}`, [integer]);

/**
 * Whether the first version that is known of a price, a split or a dividend came after a write: an
 * earlier one may be lost, because a program replaced it without a trace (`INSERT OR REPLACE`).
 */
export function pricesOverwrittenSince(
  reader: Reader,
  { symbols, upTo }: { symbols: readonly string[]; upTo: CalendarDate },
  write: number,
): boolean {
  return OVERWRITTEN.one(reader, symbols, upTo, write)[0] === 1;
}
