import { addDays, type CalendarDate, type DateSpan } from '#time/calendar.ts';
import type { Database, Reader } from './database.ts';
import {
  flag,
  insertRow,
  integer,
  orNull,
  query,
  reads,
  real,
  text,
  type RowOf,
  type ShapedRow,
} from './rows.ts';
import { nextWrite } from './price-writes.ts';
import type { RevisedTable } from '#database/schema/price-tables.ts';
import {
  adjustedSourcesInSql,
  closedSourcesInSql,
  sourcesWithDividendsInSql,
} from '#database/schema/price-conditions.ts';

const COVERAGE = { symbol: text, startDate: text, endDate: text };

/** A span in which something of a symbol is known, both ends included. */
export type Coverage = ShapedRow<typeof COVERAGE>;

/** Where something comes from, and when it was stored. */
export interface Stamp {
  source: string;
  recordedAt: string;
}

/** The parts of a span without some dates. */
export function spanWithout(
  { symbol, startDate, endDate }: Coverage,
  dates: Iterable<CalendarDate>,
): Coverage[] {
  const ends = [...new Set(dates)].filter((date) => startDate <= date && date <= endDate).sort();
  const starts = [startDate, ...ends.map((date) => addDays(date, 1))];
  return starts.flatMap((start, index) => {
    const next = ends[index];
    const end = next === undefined ? endDate : addDays(next, -1);
    return start <= end ? [{ symbol, startDate: start, endDate: end }] : [];
  });
}

/**
 * Removes the rows within some spans that a list does not name, by symbol and date; of one source,
 * if that is given. Returns how many.
 */
export function removeUnnamed(
  database: Database,
  { name, date }: RevisedTable,
  {
    spans,
    named,
    source = null,
  }: { spans: readonly Coverage[]; named: Iterable<string>; source?: string | null },
): number {
  // One statement for all spans reads the list once.
  const remove = database.statement(
    `DELETE FROM ${name} WHERE (symbol, ${date}) IN (
       SELECT own.symbol, own.${date} FROM json_each(?1) AS span CROSS JOIN ${name} AS own
         ON own.symbol = span.value ->> 'symbol' AND own.${date} BETWEEN span.value ->> 'startDate' AND span.value ->> 'endDate')
       AND symbol || ' ' || ${date} NOT IN (SELECT value FROM json_each(?2)) AND source = coalesce(?3, source)`,
  );
  const { changes } = remove.run(JSON.stringify(spans), JSON.stringify([...named]), source);
  return Number(changes);
}

/** What is known from where, by symbol: the tables of spans have the same columns. */
function spanTable(table: string) {
  const deleteAdjacentSpans = query(
    `DELETE FROM ${table}
     WHERE symbol = ?1 AND source = ?2 AND start_date <= date(?4, '+1 day') AND end_date >= date(?3, '-1 day')
     RETURNING start_date, end_date`,
    [text, text],
  );
  const within = query(
    `SELECT {} FROM ${table}
     WHERE symbol IN (SELECT value FROM json_each(?1)) AND end_date >= ?2 AND start_date <= ?3 ORDER BY symbol, start_date`,
    COVERAGE,
  );
  return {
    /**
     * Records within the caller's transaction that a source's values are known in a span; adjoining
     * spans are merged.
     */
    add(
      database: Database,
      { symbol, startDate, endDate }: Coverage,
      { source, recordedAt }: Stamp,
    ) {
      const adjacent = deleteAdjacentSpans.all(database, symbol, source, startDate, endDate);
      const start = adjacent.reduce((least, [first]) => (first < least ? first : least), startDate);
      const end = adjacent.reduce((most, [, last]) => (last > most ? last : most), endDate);
      insertRow(database, table, { symbol, source, startDate: start, endDate: end, recordedAt });
    },
    /** The spans of some symbols between two dates, from any source, by symbol and start. */
    between: (reader: Reader, symbols: readonly string[], { from, to }: DateSpan): Coverage[] =>
      within.all(reader, symbols, from, to),
  };
}

/** The spans in which a source's dividends are known: an ex-date without a row has none. */
export const dividendSpans = spanTable('dividend_coverage');
/** The spans in which a source's splits are known: a date without a row has none. */
export const splitSpans = spanTable('stock_split_spans');

/** One day of one symbol in dollars, as it traded. Unknown values are null, never 0. */
export interface Bar extends Omit<StoredBar, 'adjusted'> {
  symbol: string;
}

/**
 * Which series a bar belongs to; `meaningOf` says what its prices are. Files that do not tell are
 * raw as `csv`.
 */
export type PriceSource =
  | 'massive'
  | 'alpha-vantage'
  | 'ai-trader'
  | 'csv'
  | 'tushare'
  | 'yahoo'
  | 'stooq'
  | 'synthetic'
  | 'disguise'
  | 'file-split-adjusted'
  | 'file-total-return';

const PRICES = ['open', 'high', 'low', 'close', 'volume'];
const differsSql = (sources: string) =>
  `(source IN (${sources})) <> (excluded.source IN (${sources}))`;
const known = (column: string) => `coalesce(excluded.${column}, ${column})`;
const UPSERT = `
  ON CONFLICT (symbol, date) DO UPDATE SET
    ${PRICES.map((column) => `${column} = ${known(column)}`).join()}, source = excluded.source, written = excluded.written
  WHERE ${PRICES.map((column) => `${column} IS NOT ${known(column)}`).join(' OR ')}
    OR ${differsSql(adjustedSourcesInSql)} OR ${differsSql(sourcesWithDividendsInSql)}`;
const INSERT = `INSERT INTO main.price_data (symbol, date, ${PRICES.join()}, source, written)`;
const UPSERT_BAR = `${INSERT} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ${UPSERT}`;
const UPSERT_STAGED = `${INSERT}
  SELECT symbol, date, ${PRICES.join()}, ?2, ?3 FROM staging.staged WHERE symbol = ?1 ORDER BY date ${UPSERT}`;

/**
 * Stores bars within the caller's transaction. Fills an existing bar where it was partial and
 * revises it where it differs, if only in what its prices are (a trigger moves the old one to the
 * revision log); a missing value never erases a known one. Returns the number of the write, and how
 * many bars were new or changed.
 */
export function storeBars(
  database: Database,
  bars: Iterable<Bar>,
  { source }: { source: PriceSource },
) {
  const number = nextWrite(database);
  const upsert = database.statement(UPSERT_BAR);
  let changed = 0;
  for (const { symbol, date, open, high, low, close, volume } of bars)
    changed += Number(
      upsert.run(symbol, date, open, high, low, close, volume, source, number).changes,
    );
  return { number, changed };
}

/** As `storeBars`, the rows of a symbol that an import has staged; returns how many changed. */
export function storeStagedBars(
  database: Database,
  symbol: string,
  { source }: { source: PriceSource },
): number {
  const stored = database.statement(UPSERT_STAGED).run(symbol, source, nextWrite(database));
  return Number(stored.changes);
}

/**
 * Removes a symbol's synthetic bars and coverage to make way for real ones, within the caller's
 * transaction. Returns whether there were any bars.
 */
export function dropSyntheticPrices(database: Database, symbol: string): boolean {
  const remove = (table: string) =>
    database
      .statement(`DELETE FROM ${table} WHERE symbol = ? AND source = 'synthetic'`)
      .run(symbol);
  remove('price_data_coverage');
  return Number(remove('price_data').changes) > 0;
}

/**
 * Stores bars as `storeBars` does, and first removes the synthetic prices of their symbols. Returns
 * the symbols that had any too.
 */
export function replaceBars(
  database: Database,
  bars: readonly Bar[],
  stamp: { source: PriceSource },
) {
  const symbols = [...new Set(bars.map((bar) => bar.symbol))];
  const replaced = symbols.filter((symbol) => dropSyntheticPrices(database, symbol));
  return { ...storeBars(database, bars, stamp), replaced };
}

/** The source of a symbol's series; null when it has only synthetic bars or none. */
export const seriesSource = reads(
  'value',
  `SELECT source FROM price_data WHERE symbol = ? AND source <> 'synthetic' LIMIT 1`,
  [text],
  (symbol: string) => [symbol],
);

/** Up to three symbols with prices, and their dates. */
export const somePrices = query(
  `SELECT group_concat(symbol, ', ') || ' (' || min(first) || ' to ' || max(last) || ')' FROM
     (SELECT symbol, min(date) AS first, max(date) AS last FROM price_data GROUP BY symbol LIMIT 3)`,
  [orNull(text)],
).value;

const REAL_DATES = query(`SELECT date FROM price_data WHERE symbol = ? AND source <> 'synthetic'`, [
  text,
]);

/** The dates of a symbol's series. */
export function* realDates(database: Database, symbol: string): Generator<CalendarDate> {
  for (const [date] of REAL_DATES.iterate(database, symbol)) yield date;
}

/**
 * Records that a source's series of a symbol is known from start to end: a missing bar then means
 * that the symbol did not trade. Adjoining spans are merged.
 */
export const addCoverage = spanTable('price_data_coverage').add;

const IN_RANGE = `symbol IN (SELECT value FROM json_each(?1)) AND (?4 OR source <> 'synthetic')`;
const STORED_BARS = query(
  `SELECT {}, close IS NULL AS isPartial FROM price_data WHERE ${IN_RANGE} AND date BETWEEN ?2 AND ?3`,
  { symbol: text, date: text, isPartial: flag },
);
const STORED_COVERAGE = query(
  `SELECT {} FROM price_data_coverage
   WHERE ${IN_RANGE} AND end_date >= ?2 AND start_date <= ?3`,
  COVERAGE,
);

/**
 * The stored days (with a whole bar or only its open) and known spans of some symbols between two
 * dates. `synthetic`: whether synthetic prices count as known, only in DEV without a provider.
 */
export function storedPrices(
  database: Database,
  symbols: readonly string[],
  { startDate, endDate, synthetic }: Omit<Coverage, 'symbol'> & { synthetic: boolean },
) {
  const values = [symbols, startDate, endDate, Number(synthetic)] as const;
  return {
    bars: STORED_BARS.all(database, ...values),
    coverage: STORED_COVERAGE.all(database, ...values),
  };
}

/** A function that returns those of some symbols for which a statement finds a row. */
function symbolsQuery(sql: string) {
  const { has } = query(sql, [integer]);
  return (reader: Reader, symbols: readonly string[]) =>
    new Set(symbols.filter((symbol) => has(reader, symbol)));
}

/** Those of some symbols that have a real bar or real coverage on any date. */
export const symbolsWithRealPrices = symbolsQuery(
  `SELECT 1 FROM (SELECT ? AS name)
   WHERE EXISTS (SELECT 1 FROM price_data WHERE symbol = name AND source <> 'synthetic')
      OR EXISTS (SELECT 1 FROM price_data_coverage WHERE symbol = name AND source <> 'synthetic')`,
);

/**
 * The symbols of the bars of some symbols that a write gave different values, one for each; filling
 * a gap does not count.
 */
export const revisedBars = reads(
  'column',
  `SELECT symbol FROM price_revisions AS old JOIN price_data AS new USING (symbol, date)
   WHERE symbol IN (SELECT value FROM json_each(?)) AND old.replaced = ? AND (old.open <> new.open OR old.high <> new.high
     OR old.low <> new.low OR old.close <> new.close OR old.volume <> new.volume)`,
  [text],
  (symbols: readonly string[], write: number) => [symbols, write],
);

/** Those of some symbols whose series is free of split jumps: raw bars must not be added to it. */
export const symbolsWithAdjustedPrices = symbolsQuery(
  `SELECT 1 FROM price_data WHERE symbol = ? AND source IN (${adjustedSourcesInSql}) AND source <> 'synthetic'`,
);

/**
 * Those of some symbols whose splits and dividends no provider is asked for. A provider does not
 * know the codes of a control market: its response would say that there are none, and replace those
 * from the control market's file.
 */
export const symbolsWithClosedSource = symbolsQuery(
  `SELECT 1 FROM price_data WHERE symbol = ? AND source IN (${closedSourcesInSql})`,
);

/** A bar as stored, whatever its symbol. */
export const BAR_COLUMNS = {
  date: text,
  open: real,
  high: orNull(real),
  low: orNull(real),
  close: orNull(real),
  volume: orNull(real),
  /** Whether its series is adjusted, so that splits must not be applied again. */
  adjusted: flag,
};

/** A bar of a symbol that is known. */
export type StoredBar = RowOf<typeof storedBars>;

/** The bars of a symbol between two dates, as stored and in order. */
export const storedBars = reads(
  'all',
  `SELECT {}, source IN (${adjustedSourcesInSql}) AS adjusted FROM price_data
   WHERE symbol = ?1 AND date BETWEEN ?2 AND ?3 ORDER BY date`,
  BAR_COLUMNS,
  (symbol: string, { from = '', to }: { from?: CalendarDate; to: CalendarDate }) => [
    symbol,
    from,
    to,
  ],
);
