import type { CalendarDate } from '../basics/calendar.ts';
import type { Database, Reader } from './database.ts';
import { integer, query } from './rows.ts';
import type { ModelDay } from './sessions.ts';

/**
 * The order of writes to bars, splits and dividends. It is told by number, because clocks differ
 * from machine to machine, and are set.
 */

/** Prices, splits and dividends as they were after a write; null: as they are now. */
export interface PricesAt {
  reader: Reader;
  write: number | null;
}

/** As they are now, with what other programs have written that has no number yet. */
export function pricesNow(reader: Reader): PricesAt {
  return { reader, write: null };
}

const NEXT = query('UPDATE price_writes SET number = number + 1 RETURNING number', [integer]);
const LAST = query('SELECT number FROM price_writes', [integer]);

/** Takes the number of a write, within the transaction that writes. */
export function nextWrite(database: Database): number {
  return NEXT.one(database)[0];
}

const TABLES = ['price_data', 'stock_splits', 'dividends'] as const;
const UNNUMBERED = query(
  TABLES.map((table) => `SELECT 1 FROM ${table} WHERE written IS NULL`).join(' UNION ALL '),
  [integer],
);

/**
 * The number of the last write, within the caller's transaction. What other programs have written
 * is numbered first.
 */
export function numberedWrite(database: Database): number {
  if (UNNUMBERED.has(database)) {
    const number = nextWrite(database);
    for (const table of TABLES)
      database.statement(`UPDATE ${table} SET written = ? WHERE written IS NULL`).run(number);
  }
  return LAST.one(database)[0];
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
  { jobId, date }: Pick<ModelDay, 'jobId' | 'date'>,
): number {
  return MORNING.get(database, jobId, date)?.[0] ?? numberedWrite(database);
}

/** SQL: the rows of a table as of the write that a parameter is; all as they are now if it is null. */
function rowsAt(table: string, revisions: string, columns: string): (write: string) => string {
  return (write) => `(SELECT ${columns} FROM ${table} WHERE written <= ${write} OR ${write} IS NULL
      UNION ALL SELECT ${columns} FROM ${revisions} WHERE written <= ${write} AND replaced > ${write})`;
}

/** Some symbols, up to a date. */
export interface Places {
  symbols: readonly string[];
  upTo: CalendarDate;
}

const lostIn = ([table, revisions, date]: readonly [string, string, string]) => `
  EXISTS (SELECT 1 FROM ${table} AS own WHERE symbol IN (SELECT value FROM json_each(?1)) AND ${date} <= ?2
    AND coalesce(written > ?3, TRUE) AND NOT EXISTS (SELECT 1 FROM ${revisions} AS known
      WHERE known.symbol = own.symbol AND known.${date} = own.${date} AND known.written <= ?3))`;
const LOST = query(
  `SELECT ${(
    [
      ['price_data', 'price_revisions', 'date'],
      ['stock_splits', 'stock_split_revisions', 'date'],
      ['dividends', 'dividend_revisions', 'ex_date'],
    ] as const
  )
    .map(lostIn)
    .join(' OR ')}`,
  [integer],
);

/**
 * Whether the first version that is known of a price, a split or a dividend came after a write: an
 * earlier one may be lost, because a program replaced it without a trace (`INSERT OR REPLACE`).
 */
export function isLostAt(reader: Reader, { symbols, upTo }: Places, write: number): boolean {
  return LOST.one(reader, JSON.stringify(symbols), upTo, write)[0] === 1;
}

export const barsAt = rowsAt(
  'price_data',
  'price_revisions',
  'symbol, date, open, high, low, close, volume, source',
);
export const splitsAt = rowsAt(
  'stock_splits',
  'stock_split_revisions',
  'symbol, date, numerator, denominator',
);
export const dividendsAt = rowsAt(
  'dividends',
  'dividend_revisions',
  'symbol, ex_date, cash_e6, basis',
);
