import { DatabaseSync } from 'node:sqlite';
import type { CalendarDate } from '../basics/calendar.ts';
import type { Split } from './market.ts';
import type { Bar } from './prices.ts';
import { MAX_NIGHT_DAYS, type SplitNight } from './splits-and-dividends.ts';

/**
 * The rows of one file, outside the database and outside memory until all of them have been read:
 * only the whole file says whether two rows contradict each other, and what its prices are. SQLite
 * keeps them in an unnamed temporary file, which ends with the process.
 */
export interface Staging {
  add(row: StagedRow): void;
  /**
   * Orders the rows by symbol and date: called once, after the last row and before everything
   * below.
   */
  sort(): void;
  /**
   * Removes all rows of a symbol and date that have different prices, and yields each with the line
   * of another.
   */
  takeConflicts(): Generator<Conflict>;
  /** The symbols that have rows. */
  symbols(): StagedSymbol[];
  /** Removes a symbol's rows. */
  remove(symbol: string): void;
  has(symbol: string, date: CalendarDate): boolean;
  /** The splits that the rows name. */
  splits(): Split[];
  /** The closes around a split; null where there are none. */
  night(split: Split): SplitNight | null;
  /** The rows of a symbol by date, several of one date joined into one. */
  rowsOf(symbol: string): Generator<StagedRow>;
  close(): void;
}

export interface StagedRow extends Bar {
  line: number;
  /** Cash per share in 1/1,000,000 dollar; null where the row does not say. */
  dividend: number | null;
  /**
   * New shares for old ones, 1 for 1 where the row says that there was no split; null where it does
   * not say.
   */
  numerator: number | null;
  denominator: number | null;
}

export interface Conflict {
  symbol: string;
  date: CalendarDate;
  line: number;
  otherLine: number;
}

export interface StagedSymbol {
  symbol: string;
  firstLine: number;
  firstDate: CalendarDate;
  lastDate: CalendarDate;
  rows: number;
}

const COLUMNS = `symbol TEXT NOT NULL, date TEXT NOT NULL, id INTEGER NOT NULL, line INTEGER NOT NULL, open REAL NOT NULL, high REAL,
  low REAL, close REAL, volume REAL, dividend INTEGER, numerator INTEGER, denominator INTEGER`;
/** As much as SQLite sorts in memory before it continues in a file. */
const CACHE_MB = 16;

/** Prices that are only in one of the rows contradict nothing. */
const CONFLICTS = `
  CREATE TABLE conflicts (symbol TEXT, date TEXT, PRIMARY KEY (symbol, date)) STRICT, WITHOUT ROWID;
  INSERT INTO conflicts SELECT symbol, date FROM staged GROUP BY symbol, date
  HAVING min(open) <> max(open) OR min(high) <> max(high) OR min(low) <> max(low) OR min(close) <> max(close)`;
const ROWS_OF_CONFLICTS = `
  SELECT symbol, date, line, (SELECT other.line FROM staged AS other
    WHERE other.symbol = staged.symbol AND other.date = staged.date AND other.id <> staged.id LIMIT 1) AS otherLine
  FROM staged JOIN conflicts USING (symbol, date) ORDER BY id`;
const SYMBOLS = `
  SELECT symbol, min(line) AS firstLine, min(date) AS firstDate, max(date) AS lastDate, count(*) AS rows
  FROM staged GROUP BY symbol ORDER BY symbol`;
const NIGHT = `
  SELECT before.date AS previousDate, before.close AS previousClose, after.date AS nextDate, after.close AS nextClose
  FROM staged AS before JOIN staged AS after USING (symbol)
  WHERE before.symbol = ?1 AND before.date < ?2 AND before.close IS NOT NULL AND after.date >= ?2 AND after.close IS NOT NULL
    AND julianday(after.date) - julianday(before.date) <= ${MAX_NIGHT_DAYS}
    AND before.date >= date(?2, '-${MAX_NIGHT_DAYS} days') AND after.date <= date(?2, '+${MAX_NIGHT_DAYS} days')
  ORDER BY before.date DESC, after.date LIMIT 1`;

const ROWS_OF_SYMBOL = `
  SELECT date, line, open, high, low, close, volume, dividend, numerator, denominator FROM staged WHERE symbol = ? ORDER BY date, id`;
type Maybe = number | null;
/** A row as an array, which takes a third less time than an object. */
type Cells = [
  CalendarDate,
  line: number,
  open: number,
  high: Maybe,
  low: Maybe,
  close: Maybe,
  volume: Maybe,
  Maybe,
  Maybe,
  Maybe,
];

/** An empty staging table. */
export function createStaging(): Staging {
  const connection = new DatabaseSync('');
  connection.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = ${-1024 * CACHE_MB};
    CREATE TABLE unsorted (${COLUMNS}) STRICT;
    CREATE TABLE staged (${COLUMNS}, PRIMARY KEY (symbol, date, id)) STRICT, WITHOUT ROWID;
    BEGIN`);
  const insert = connection.prepare(
    'INSERT INTO unsorted VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const remove = connection.prepare('DELETE FROM staged WHERE symbol = ?');
  const find = connection.prepare('SELECT 1 FROM staged WHERE symbol = ? AND date = ?');
  const ofSymbol = connection.prepare(ROWS_OF_SYMBOL);
  ofSymbol.setReturnArrays(true);
  const night = connection.prepare(NIGHT);
  const read = <Row>(sql: string) =>
    connection.prepare(sql).iterate() as IterableIterator<unknown> as IterableIterator<Row>;
  let added = 0;
  return {
    add({ symbol, date, line, open, high, low, close, volume, dividend, numerator, denominator }) {
      insert.run(
        symbol,
        date,
        (added += 1),
        line,
        open,
        high,
        low,
        close,
        volume,
        dividend,
        numerator,
        denominator,
      );
    },
    sort: () =>
      connection.exec(
        'INSERT INTO staged SELECT * FROM unsorted ORDER BY symbol, date, id; DROP TABLE unsorted',
      ),
    *takeConflicts() {
      connection.exec(CONFLICTS);
      yield* read<Conflict>(ROWS_OF_CONFLICTS);
      connection.exec(
        'DELETE FROM staged WHERE (symbol, date) IN (SELECT symbol, date FROM conflicts)',
      );
    },
    symbols: () => [...read<StagedSymbol>(SYMBOLS)],
    remove: (symbol) => void remove.run(symbol),
    has: (symbol, date) => find.get(symbol, date) !== undefined,
    splits: () => [
      ...read<Split>(
        'SELECT DISTINCT symbol, date, numerator, denominator FROM staged WHERE numerator <> denominator',
      ),
    ],
    night(split) {
      const closes = night.get(split.symbol, split.date) as
        | Omit<SplitNight, keyof Split>
        | undefined;
      return closes === undefined ? null : { ...split, ...closes };
    },
    rowsOf: (symbol) =>
      joined(
        symbol,
        ofSymbol.iterate(symbol) as IterableIterator<unknown> as IterableIterator<Cells>,
      ),
    close: () => connection.close(),
  };
}

/** What a later row of the same symbol and date does not say, an earlier one may. */
function* joined(symbol: string, rows: Iterable<Cells>): Generator<StagedRow> {
  let last: StagedRow | undefined;
  for (const [
    date,
    line,
    open,
    high,
    low,
    close,
    volume,
    dividend,
    numerator,
    denominator,
  ] of rows) {
    const row = {
      symbol,
      date,
      line,
      open,
      high,
      low,
      close,
      volume,
      dividend,
      numerator,
      denominator,
    };
    const isSame = last?.date === row.date;
    if (last !== undefined && !isSame) yield last;
    last = last !== undefined && isSame ? mergeRows(last, row) : row;
  }
  if (last !== undefined) yield last;
}

function mergeRows(earlier: StagedRow, later: StagedRow): StagedRow {
  const said = Object.entries(later).filter(([, value]) => value !== null);
  return { ...earlier, ...Object.fromEntries(said) };
}
