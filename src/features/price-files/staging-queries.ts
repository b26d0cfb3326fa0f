import type { CalendarDate } from '#time/calendar.ts';
import type { Database } from '#database/database.ts';
import type { Split } from '#database/market-queries.ts';
import type { StagedRow } from '#prices/row.ts';
import { type Dividend, MAX_NIGHT_DAYS, type SplitNight } from '#database/splits-and-dividends.ts';

/**
 * The rows of one file, outside the database and outside memory until all of them have been read:
 * only the whole file says whether two rows contradict each other, and what its prices are. SQLite
 * keeps them in an unnamed temporary file, which ends with the process.
 */
export type Staging = ReturnType<typeof createStaging>;

export interface StagedSymbol {
  symbol: string;
  firstLine: number;
  firstDate: CalendarDate;
  lastDate: CalendarDate;
  /** How many dates have a row. */
  rows: number;
  /** The first and the last date of a whole bar; null without one. */
  firstComplete: CalendarDate | null;
  lastComplete: CalendarDate | null;
  /** 1 where some row says nothing about dividends, or splits; otherwise 0. */
  hasDividendGaps: number;
  hasSplitGaps: number;
  /** 1 where some row names a dividend or a split; otherwise 0. */
  hasActions: number;
}

/**
 * As much as SQLite keeps in memory before it uses a file. The rows of a whole market's day
 * each touch another page.
 */
const CACHE_MB = 64;

/** What a row may say, in the order of the columns. */
const FIELDS = [
  'open',
  'high',
  'low',
  'close',
  'volume',
  'dividend',
  'numerator',
  'denominator',
  'confirmed',
] as const;
const TABLE = `CREATE TABLE staging.staged (
  symbol TEXT NOT NULL, date TEXT NOT NULL, line INTEGER NOT NULL, open REAL, high REAL, low REAL, close REAL, volume REAL,
  dividend INTEGER, numerator INTEGER, denominator INTEGER, confirmed INTEGER,
  differs INTEGER NOT NULL DEFAULT FALSE, -- whether prices of its rows do
  PRIMARY KEY (symbol, date)
) STRICT, WITHOUT ROWID`;
/** The lines of further rows of a symbol and date. */
const REPEATED = `CREATE TABLE staging.repeated (symbol TEXT NOT NULL, date TEXT NOT NULL, line INTEGER NOT NULL) STRICT`;
const ADD = `
  INSERT INTO staged VALUES (?, ?, ?, ${FIELDS.map(() => '?').join(', ')}, FALSE) ON CONFLICT (symbol, date) DO NOTHING`;
/** Prices that are only in one of the rows contradict nothing. */
const MERGE = `
  UPDATE staged SET
    differs = iif(open <> ?3 OR high <> ?4 OR low <> ?5 OR close <> ?6, TRUE, differs),
    ${FIELDS.map((name, index) => `${name} = coalesce(?${index + 3}, ${name})`).join(', ')}
  WHERE symbol = ?1 AND date = ?2`;
const REPEAT = 'INSERT INTO repeated VALUES (?, ?, ?)';
const CONFLICTS = `
  SELECT symbol, date, line FROM staged WHERE differs UNION ALL
  SELECT symbol, date, repeated.line FROM repeated CROSS JOIN staged USING (symbol, date) WHERE differs
  ORDER BY line`;
const IS_COMPLETE = 'high IS NOT NULL AND low IS NOT NULL AND close IS NOT NULL';
const SYMBOLS = `
  SELECT symbol, min(line) AS firstLine, min(date) AS firstDate, max(date) AS lastDate, count(*) AS rows,
    min(iif(${IS_COMPLETE}, date, NULL)) AS firstComplete, max(iif(${IS_COMPLETE}, date, NULL)) AS lastComplete,
    max(dividend IS NULL) AS hasDividendGaps, max(numerator IS NULL OR denominator IS NULL) AS hasSplitGaps,
    max(ifnull(dividend, 0) > 0 OR numerator IS NOT NULL) AS hasActions
  FROM staged GROUP BY symbol ORDER BY symbol`;
const NIGHT = `
  SELECT before.date AS previousDate, before.close AS previousClose, after.date AS nextDate, after.close AS nextClose
  FROM staged AS before JOIN staged AS after USING (symbol)
  WHERE before.symbol = ?1 AND before.date < ?2 AND before.close IS NOT NULL AND after.date >= ?2 AND after.close IS NOT NULL
    AND julianday(after.date) - julianday(before.date) <= ${MAX_NIGHT_DAYS}
    AND before.date >= date(?2, '-${MAX_NIGHT_DAYS} days') AND after.date <= date(?2, '+${MAX_NIGHT_DAYS} days')
  ORDER BY before.date DESC, after.date LIMIT 1`;

const SETUP = [
  `ATTACH '' AS staging`,
  'PRAGMA staging.journal_mode = OFF',
  'PRAGMA staging.synchronous = OFF',
  `PRAGMA staging.cache_size = ${-1024 * CACHE_MB}`,
  TABLE,
  REPEATED,
  'BEGIN',
];

/**
 * An empty staging table, attached to the connection, so that one statement moves a symbol's rows
 * to where they belong. A transaction is open until the conflicts are taken.
 */
export function createStaging(database: Database) {
  const run = (sql: string, ...values: string[]) => database.statement(sql).run(...values);
  const read = <Row>(sql: string, ...values: string[]) =>
    database.statement(sql).all(...values) as unknown[] as Row[];
  for (const sql of SETUP) database.statement(sql).all();
  let isOpen = true;
  const [insert, merge, repeat] = [ADD, MERGE, REPEAT].map((sql) => database.statement(sql));
  return {
    /** Adds a row: what it does not say, an earlier one of its symbol and date may. */
    add(row: StagedRow) {
      // Named, not mapped over: every bar passes here.
      const { symbol, date, line, open, high, low, close, volume } = row;
      const { dividend, numerator, denominator, confirmed } = row;
      const values = [open, high, low, close, volume, dividend, numerator, denominator, confirmed];
      if (insert?.run(symbol, date, line, ...values).changes !== 0) return;
      merge?.run(symbol, date, ...values);
      repeat?.run(symbol, date, line);
    },
    /**
     * Removes all rows of a symbol and date that have different prices, and returns each with the
     * line of another, in their order: called once, after the last row and before everything below.
     */
    takeConflicts() {
      const rows = read<Pick<StagedRow, 'symbol' | 'date' | 'line'>>(CONFLICTS);
      run('DELETE FROM staged WHERE differs');
      run('COMMIT');
      isOpen = false;
      const days = Map.groupBy(rows, ({ symbol, date }) => `${symbol} ${date}`);
      return rows.map((row) => {
        const [first = row, second = row] = days.get(`${row.symbol} ${row.date}`) ?? [];
        return { ...row, otherLine: row === first ? second.line : first.line };
      });
    },
    /** The symbols that have rows, and what these say together. */
    symbols: () => read<StagedSymbol>(SYMBOLS),
    /** Removes a symbol's rows. */
    remove: (symbol: string) => void run('DELETE FROM staged WHERE symbol = ?', symbol),
    has: (symbol: string, date: CalendarDate) =>
      read('SELECT 1 FROM staged WHERE symbol = ? AND date = ?', symbol, date).length > 0,
    /** The splits that the rows name. */
    splits: () =>
      read<Split>(
        'SELECT symbol, date, numerator, denominator FROM staged WHERE numerator <> denominator',
      ),
    /** The closes around a split; null where there are none. */
    night(split: Split): SplitNight | null {
      const [closes] = read<Omit<SplitNight, keyof Split>>(NIGHT, split.symbol, split.date);
      return closes === undefined ? null : { ...split, ...closes };
    },
    symbolDividends: (symbol: string) =>
      read<Dividend>(
        'SELECT symbol, date AS exDate, dividend AS cash, confirmed FROM staged WHERE symbol = ? AND dividend > 0 ORDER BY date',
        symbol,
      ),
    /** Those of 1:1, which say that there was none, only from rows without prices. */
    symbolSplits: (symbol: string) =>
      read<Split>(
        `SELECT symbol, date, numerator, denominator FROM staged
         WHERE symbol = ? AND (numerator <> denominator OR open IS NULL AND numerator IS NOT NULL) ORDER BY date`,
        symbol,
      ),
    /** How many dates the rows have. */
    dates: () =>
      Number(read<{ dates: number }>('SELECT count(DISTINCT date) AS dates FROM staged')[0]?.dates),
    close() {
      if (isOpen) run('ROLLBACK');
      run('DETACH staging');
    },
  };
}
