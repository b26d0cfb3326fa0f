import assert from 'node:assert/strict';
import type { CalendarDate } from '../basics/calendar.ts';
import type { Database } from './database.ts';
import type { Split } from './market.ts';
import type { Bar } from './prices.ts';
import { type Dividend, MAX_NIGHT_DAYS, type SplitNight } from './splits-and-dividends.ts';

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
   * of another. Afterwards, other rows of one symbol and date are one.
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
  /** What the rows of a symbol say together. */
  factsOf(symbol: string): StagedFacts;
  dividendsOf(symbol: string): Dividend[];
  /** Those of 1:1, which say that there was none, only from rows without prices. */
  splitsOf(symbol: string): Split[];
  /** How many dates the rows have. */
  dates(): number;
  close(): void;
}

export interface StagedRow extends Omit<Bar, 'open'> {
  line: number;
  /** Null, as all prices are, in a file without prices. */
  open: number | null;
  /** Cash per share in 1/1,000,000 dollar; null where the row does not say. */
  dividend: number | null;
  /**
   * New shares for old ones, 1 for 1 where the row says that there was no split; null where it does
   * not say.
   */
  numerator: number | null;
  denominator: number | null;
}

export interface StagedFacts {
  /** The first and the last date of a whole bar; null without one. */
  firstComplete: CalendarDate | null;
  lastComplete: CalendarDate | null;
  firstDate: CalendarDate;
  lastDate: CalendarDate;
  /** Whether some row says nothing about dividends, or splits. */
  hasDividendGaps: boolean;
  hasSplitGaps: boolean;
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

const COLUMNS = `symbol TEXT NOT NULL, date TEXT NOT NULL, id INTEGER NOT NULL, line INTEGER NOT NULL, open REAL, high REAL,
  low REAL, close REAL, volume REAL, dividend INTEGER, numerator INTEGER, denominator INTEGER`;
/** As much as SQLite sorts in memory before it continues in a file. */
const CACHE_MB = 16;

/** Prices that are only in one of the rows contradict nothing. */
const REPEATED = `
  INSERT INTO repeated
  SELECT symbol, date, min(open) IS NOT max(open) OR min(high) IS NOT max(high) OR min(low) IS NOT max(low) OR min(close) IS NOT max(close)
  FROM staged GROUP BY symbol, date HAVING count(*) > 1`;
const ROWS_OF_CONFLICTS = `
  SELECT symbol, date, line, (SELECT other.line FROM staged AS other
    WHERE other.symbol = staged.symbol AND other.date = staged.date AND other.id <> staged.id LIMIT 1) AS otherLine
  FROM staged JOIN repeated USING (symbol, date) WHERE differs ORDER BY id`;
const REPEATED_ROWS = `
  SELECT staged.* FROM repeated JOIN staged USING (symbol, date) WHERE NOT differs ORDER BY symbol, date, id`;
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

const IS_COMPLETE = 'high IS NOT NULL AND low IS NOT NULL AND close IS NOT NULL';
const FACTS = `
  SELECT min(iif(${IS_COMPLETE}, date, NULL)) AS firstComplete, max(iif(${IS_COMPLETE}, date, NULL)) AS lastComplete,
    min(date) AS firstDate, max(date) AS lastDate, max(dividend IS NULL) AS hasDividendGaps,
    max(numerator IS NULL OR denominator IS NULL) AS hasSplitGaps
  FROM staged WHERE symbol = ?`;
const INSERT = 'VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';

const SETUP = [
  `ATTACH '' AS staging`,
  'PRAGMA staging.journal_mode = OFF',
  'PRAGMA staging.synchronous = OFF',
  `PRAGMA staging.cache_size = ${-1024 * CACHE_MB}`,
  `CREATE TABLE staging.unsorted (${COLUMNS}) STRICT`,
  `CREATE TABLE staging.staged (${COLUMNS}, PRIMARY KEY (symbol, date, id)) STRICT, WITHOUT ROWID`,
  `CREATE TABLE staging.repeated (symbol TEXT, date TEXT, differs INTEGER, PRIMARY KEY (symbol, date)) STRICT, WITHOUT ROWID`,
  'BEGIN',
];

/**
 * Empty staging tables, attached to the connection, so that one statement moves a symbol's rows to
 * where they belong. A transaction is open until they are sorted.
 */
export function createStaging(database: Database): Staging {
  const run = (sql: string, ...values: string[]) => database.statement(sql).run(...values);
  const read = <Row>(sql: string, ...values: string[]) =>
    database.statement(sql).all(...values) as unknown[] as Row[];
  for (const sql of SETUP) database.statement(sql).all();
  let isOpen = true;
  const insert = database.statement(`INSERT INTO unsorted ${INSERT}`);
  let added = 0;
  return {
    add({ symbol, date, line, open, high, low, close, volume, dividend, numerator, denominator }) {
      const prices = [open, high, low, close, volume] as const;
      insert.run(symbol, date, (added += 1), line, ...prices, dividend, numerator, denominator);
    },
    sort() {
      run('INSERT INTO staged SELECT * FROM unsorted ORDER BY symbol, date, id');
      run('COMMIT');
      isOpen = false;
      run('DROP TABLE unsorted');
    },
    *takeConflicts() {
      run(REPEATED);
      yield* read<Conflict>(ROWS_OF_CONFLICTS);
      run(
        'DELETE FROM staged WHERE (symbol, date) IN (SELECT symbol, date FROM repeated WHERE differs)',
      );
      mergeRepeated(database);
    },
    symbols: () => read<StagedSymbol>(SYMBOLS),
    remove: (symbol) => void run('DELETE FROM staged WHERE symbol = ?', symbol),
    has: (symbol, date) =>
      read('SELECT 1 FROM staged WHERE symbol = ? AND date = ?', symbol, date).length > 0,
    splits: () =>
      read<Split>(
        'SELECT DISTINCT symbol, date, numerator, denominator FROM staged WHERE numerator <> denominator',
      ),
    night(split) {
      const [closes] = read<Omit<SplitNight, keyof Split>>(NIGHT, split.symbol, split.date);
      return closes === undefined ? null : { ...split, ...closes };
    },
    factsOf(symbol) {
      const [facts] = read<StagedFacts>(FACTS, symbol);
      assert(facts !== undefined, 'an aggregate has a row');
      const { hasDividendGaps, hasSplitGaps } = facts;
      return {
        ...facts,
        hasDividendGaps: Boolean(hasDividendGaps),
        hasSplitGaps: Boolean(hasSplitGaps),
      };
    },
    dividendsOf: (symbol) =>
      read<Dividend>(
        'SELECT symbol, date AS exDate, dividend AS cash FROM staged WHERE symbol = ? AND dividend > 0 ORDER BY date',
        symbol,
      ),
    splitsOf: (symbol) =>
      read<Split>(
        `SELECT symbol, date, numerator, denominator FROM staged
         WHERE symbol = ? AND (numerator <> denominator OR open IS NULL AND numerator IS NOT NULL) ORDER BY date`,
        symbol,
      ),
    dates: () =>
      Number(read<{ dates: number }>('SELECT count(DISTINCT date) AS dates FROM staged')[0]?.dates),
    close() {
      if (isOpen) run('ROLLBACK');
      run('DETACH staging');
    },
  };
}

/** What a later row of the same symbol and date does not say, an earlier one may. */
function mergeRepeated(database: Database): void {
  const rows = database.statement(REPEATED_ROWS).all();
  const insert = database.statement(`INSERT INTO staged ${INSERT}`);
  const remove = database.statement('DELETE FROM staged WHERE symbol = ? AND date = ?');
  const merged = Map.groupBy(rows, ({ symbol, date }) => `${symbol} ${date}`);
  for (const same of merged.values()) {
    const said = same.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)),
    );
    const row: (typeof same)[number] = Object.assign({ ...same[0] }, ...said);
    remove.run(String(row['symbol']), String(row['date']));
    insert.run(...Object.values(row));
  }
}
