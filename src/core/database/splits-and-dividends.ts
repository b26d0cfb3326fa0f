import type { CalendarDate } from '#time/calendar.ts';
import {
  adjustedSourcesInSql,
  hasBarsSql,
  type Meaning,
  priceMeaning,
  sourcesWithDividendsInSql,
  splitsOfDividend,
} from '#database/schema/price-conditions.ts';
import { dividends as dividendTable, splits as splitTable } from '#database/schema/price-tables.ts';
import type { Database } from './database.ts';
import { millionths, oneOf, query, reads, real, text, type RowOf } from './rows.ts';
import { type Coverage, dividendSpans, removeUnnamed, splitSpans, type Stamp } from './prices.ts';
import { type Split, SPLIT_COLUMNS } from './market-queries.ts';
import {
  barsAt,
  dividendsAt,
  inWindow,
  nextWrite,
  readsAt,
  splitsAt,
  upsertSql,
} from './price-writes.ts';

/**
 * What a source means by its amounts: cash per share as it was paid then, or divided by all later
 * splits.
 */
export const dividendBases = ['as_paid', 'split_adjusted'] as const;
export type DividendBasis = (typeof dividendBases)[number];

/** Cash that one share pays, in 1/1,000,000 dollar. */
export interface Dividend {
  symbol: string;
  exDate: CalendarDate;
  cash: number;
  /** Whether its amount is right, however large, 1 or 0; null or undefined where that is not said. */
  confirmed?: number | null;
}

/** One response or file: its dividends, and the spans for which it names all of them. */
export interface DividendList {
  dividends: readonly Dividend[];
  spans: readonly Coverage[];
  basis: DividendBasis;
}

const DIVIDEND_COLUMNS = {
  symbol: text,
  exDate: text,
  cash: millionths, // as its source tells it
  basis: oneOf(dividendBases),
};

/** With the splits that convert it to the shares of its series. */
export const STORED_DIVIDEND = { ...DIVIDEND_COLUMNS, splits: text };

const UPSERT_DIVIDEND = upsertSql(dividendTable, ', confirmed = FALSE');
/** Without a revision, because no model-day reads it; null leaves it. */
const CONFIRM_DIVIDEND =
  'UPDATE dividends SET confirmed = ?3 WHERE symbol = ?1 AND ex_date = ?2 AND confirmed <> ?3';

/**
 * Stores a list of dividends within the caller's transaction. Several payments of one ex-date add
 * up; the list replaces what was stored: within its spans, a dividend that it does not name is
 * removed. What was confirmed stays so while its amount is the same. Returns how many rows are new, changed or gone.
 */
export function storeDividends(
  database: Database,
  { dividends, spans, basis }: DividendList,
  stamp: Stamp,
): number {
  const sums = new Map<string, Dividend>();
  for (const dividend of dividends) {
    const key = `${dividend.symbol} ${dividend.exDate}`;
    sums.set(key, { ...dividend, cash: dividend.cash + (sums.get(key)?.cash ?? 0) });
  }
  let changed = removeUnnamed(database, dividendTable, { spans, named: sums.keys() });
  const upsert = database.statement(UPSERT_DIVIDEND);
  const number = nextWrite(database);
  const confirm = database.statement(CONFIRM_DIVIDEND);
  for (const { symbol, exDate, cash, confirmed = null } of sums.values()) {
    const stored = upsert.run(symbol, exDate, cash, basis, stamp.source, number).changes;
    const settled = confirm.run(symbol, exDate, confirmed).changes;
    changed += stored || settled ? 1 : 0;
  }
  for (const span of spans) dividendSpans.add(database, span, stamp);
  return changed;
}

/** SQL: whether the series of a row of `payer` had bars of some sources. */
const payerHas = (sources: string) => hasBarsSql(sources, 'payer.symbol', barsAt);

/**
 * The dividends of some symbols after one date up to another, in order, without those that prices
 * contain. Looks through the bars of each symbol once, not once for each of its dividends.
 */
export const dividendsBetween = readsAt(
  'all',
  `WITH due AS MATERIALIZED (
     SELECT symbol, ex_date, cash_e6, basis FROM ${dividendsAt}
     WHERE symbol IN (SELECT value FROM json_each(?2)) AND ex_date > ?3 AND ex_date <= ?4),
   series AS MATERIALIZED (
     SELECT symbol, ${payerHas(adjustedSourcesInSql)} AS adjusted
     FROM (SELECT DISTINCT symbol FROM due) AS payer WHERE NOT ${payerHas(sourcesWithDividendsInSql)})
   SELECT {}, ${splitsOfDividend('adjusted', splitsAt)} AS splits
   FROM due AS dividends JOIN series USING (symbol) ORDER BY ex_date, symbol`,
  STORED_DIVIDEND,
  inWindow,
);

/** A dividend as stored. */
export type StoredDividend = RowOf<typeof dividendsBetween>;

/**
 * The spans between two dates for which the dividends of some symbols are known, from any source.
 */
export const dividendCoverage = dividendSpans.between;

/** A longer time between two closes says little about a split between them. */
export const MAX_NIGHT_DAYS = 14;
/** The closes around each split, but for prices that are raw because they were requested so. */
const NIGHTS = query(
  `SELECT {split}, before.date AS previousDate, coalesce(before.close, 0) AS previousClose,
     after.date AS nextDate, coalesce(after.close, 0) AS nextClose, after.source AS source
   FROM stock_splits AS split
   JOIN price_data AS before ON before.symbol = split.symbol AND before.date = (
     SELECT max(date) FROM price_data WHERE symbol = split.symbol AND date < split.date AND close IS NOT NULL)
   JOIN price_data AS after ON after.symbol = split.symbol AND after.date = (
     SELECT min(date) FROM price_data WHERE symbol = split.symbol AND date >= split.date AND close IS NOT NULL)
   WHERE split.symbol IN (SELECT value FROM json_each(?1)) AND before.source <> 'synthetic' AND after.source NOT IN ('synthetic', 'massive')
     AND julianday(after.date) - julianday(before.date) <= ${MAX_NIGHT_DAYS}
   ORDER BY split.symbol, split.date`,
  {
    ...SPLIT_COLUMNS,
    previousDate: text,
    previousClose: real,
    nextDate: text,
    nextClose: real,
    source: text,
  },
);

/** A split, and the closes of the last day before it and the first from it on. */
export type SplitNight = Omit<RowOf<typeof NIGHTS>, 'source'>;

/** A smaller split is hard to tell from an ordinary day. */
const LEAST_CHANGE = Math.log(1.2);

/**
 * Whether prices show a split, close to close: its ratio, or none of it; null where they are as far
 * from both.
 */
export function isSplitSeen({
  numerator,
  denominator,
  previousClose,
  nextClose,
}: SplitNight): boolean | null {
  const expected = Math.log(denominator / numerator);
  if (Math.abs(expected) < LEAST_CHANGE) return null;
  const change = Math.log(nextClose / previousClose);
  const tolerance = Math.abs(expected) / 3;
  if (Math.abs(change) <= tolerance) return false;
  return Math.abs(change - expected) <= tolerance ? true : null;
}

/** A split that the stored prices around it contradict, and what they are stored as. */
export type ContradictedSplit = SplitNight & { meaning: Meaning };

/**
 * The splits of some symbols that their series contradict: seen in prices that are stored as
 * adjusted, or not seen in raw ones.
 */
export function contradictedSplits(
  database: Database,
  symbols: readonly string[],
): ContradictedSplit[] {
  return NIGHTS.all(database, symbols)
    .map(({ source, ...night }) => ({ ...night, meaning: priceMeaning(source) }))
    .filter((night) => contradicts(night, night.meaning));
}

/** Whether the closes around a split show that prices are not what they are taken for. */
export function contradicts(night: SplitNight, meaning: Meaning): boolean {
  const isSeen = isSplitSeen(night);
  return isSeen !== null && isSeen !== (meaning === 'raw');
}

/** The stored splits of a symbol, whatever its series. */
export const storedSplits = reads(
  'all',
  `SELECT {} FROM stock_splits WHERE symbol = ? ORDER BY date`,
  SPLIT_COLUMNS,
  (symbol: string) => [symbol],
);

/** The stored dividends of some symbols, whatever their series, by symbol and ex-date. */
export const listDividends = reads(
  'all',
  `SELECT {} FROM dividends
   WHERE symbol IN (SELECT value FROM json_each(?)) ORDER BY symbol, ex_date`,
  DIVIDEND_COLUMNS,
  (symbols: readonly string[]) => [symbols],
);

/** The ex-dates of a symbol whose amounts a person has confirmed. */
export const confirmedDividends = reads(
  'set',
  'SELECT ex_date FROM dividends WHERE symbol = ? AND confirmed',
  [text],
  (symbol: string) => [symbol],
);

const UPSERT_SPLIT = upsertSql(splitTable);

/**
 * Stores a provider's splits of a symbol, and the date through which they are known, within the
 * caller's transaction.
 */
export function storeSplits(
  database: Database,
  { symbol, splits, endDate }: { symbol: string; splits: readonly Split[]; endDate: CalendarDate },
  stamp: Stamp,
): void {
  const own = splits.map((split) => ({ ...split, symbol }));
  upsert(database, own, stamp);
  database
    .statement(
      `INSERT INTO stock_split_coverage (symbol, end_date, source, recorded_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (symbol) DO UPDATE SET end_date = excluded.end_date, source = excluded.source, recorded_at = excluded.recorded_at
       WHERE end_date < excluded.end_date`,
    )
    .run(symbol, endDate, stamp.source, stamp.recordedAt);
}

const REMOVE_SPLIT = 'DELETE FROM stock_splits WHERE symbol = ? AND date = ?';

/**
 * Stores the splits that a provider names for some spans, within the caller's transaction. Within
 * its spans the list replaces the provider's earlier one: a split that it does not name any more is
 * removed. `knownThrough` ends what is known of them: later splits are announced, and may change.
 */
export function storeSplitSpans(
  database: Database,
  {
    splits,
    spans,
    knownThrough,
  }: { splits: readonly Split[]; spans: readonly Coverage[]; knownThrough: CalendarDate },
  stamp: Stamp,
): void {
  const named = splits.map(({ symbol, date }) => `${symbol} ${date}`);
  removeUnnamed(database, splitTable, { spans, named, source: stamp.source });
  upsert(database, splits, stamp);
  for (const { symbol, startDate, endDate } of spans) {
    const last = endDate < knownThrough ? endDate : knownThrough;
    if (startDate <= last) splitSpans.add(database, { symbol, startDate, endDate: last }, stamp);
  }
}

/** A split of 1:1 says that there was none on its date, whatever was known before. */
function upsert(database: Database, splits: readonly Split[], stamp: Stamp): void {
  const number = nextWrite(database);
  for (const { symbol, date, numerator, denominator } of splits) {
    if (numerator === denominator) {
      database.statement(REMOVE_SPLIT).run(symbol, date);
      splitSpans.add(database, { symbol, startDate: date, endDate: date }, stamp);
    } else {
      database
        .statement(UPSERT_SPLIT)
        .run(symbol, date, numerator, denominator, stamp.source, number);
    }
  }
}

/**
 * The symbols on which nothing is ever paid, because their prices contain their dividends or are
 * made up.
 */
export const nonPayingSymbols = reads(
  'set',
  `SELECT value FROM json_each(?) AS chosen WHERE ${hasBarsSql(sourcesWithDividendsInSql, 'chosen.value')}`,
  [text],
  (symbols: readonly string[]) => [symbols],
);
