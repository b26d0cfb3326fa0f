import { type CalendarDate, EARLIEST_DATE, type DateSpan } from '#time/calendar.ts';
import type { Database } from './database.ts';
import { barsAt, inWindow, readsAt, splitsAt } from './price-writes.ts';
import { type PriceSource, BAR_COLUMNS, type Stamp } from './prices.ts';
import { adjustedSourcesInSql, hasBarsSql } from '#database/schema/price-conditions.ts';
import { flag, integer, orNull, reads, real, text, type ShapedRow } from './rows.ts';

/** Records within the caller's transaction that a provider returned the bars of a day. */
export function storeMarketDay(
  database: Database,
  date: CalendarDate,
  { source, recordedAt }: Stamp,
): void {
  database
    .statement(
      `INSERT INTO market_days (source, date, recorded_at) VALUES (?, ?, ?)
       ON CONFLICT (source, date) DO UPDATE SET recorded_at = excluded.recorded_at`,
    )
    .run(source, date, recordedAt);
}

/**
 * The days between two dates that were last downloaded from a provider less than `settledAfterDays`
 * after they were.
 */
export const daysStoredEarly = reads(
  'column',
  `SELECT date FROM market_days
   WHERE source = ?1 AND date BETWEEN ?2 AND ?3 AND recorded_at < date(date, '+' || ?4 || ' days') ORDER BY date`,
  [text],
  (
    source: PriceSource,
    { from, to, settledAfterDays }: DateSpan & { settledAfterDays: number },
  ) => [source, from, to, settledAfterDays],
);

const ofProvider = (
  date: CalendarDate,
  { symbols, source }: { symbols: readonly string[]; source: PriceSource },
) => [symbols, date, source];

/**
 * Whether a provider returned a day after this one with bars, or some symbol has a real bar after
 * it.
 */
export const hasLaterBars = reads(
  'has',
  `SELECT date FROM price_data WHERE symbol IN (SELECT value FROM json_each(?1)) AND date > ?2 AND source <> 'synthetic'
   UNION ALL SELECT date FROM market_days WHERE date > ?2 AND source = ?3 LIMIT 1`,
  [text],
  ofProvider,
);

/**
 * Those of these symbols that have a whole bar of another source on a date: a provider of whole
 * days leaves it.
 */
export const symbolsWithBarsOfOthers = reads(
  'set',
  `SELECT symbol FROM price_data WHERE symbol IN (SELECT value FROM json_each(?1)) AND date = ?2
     AND close IS NOT NULL AND source NOT IN (?3, 'synthetic')`,
  [text],
  ofProvider,
);

/**
 * The dates on which a symbol has a whole bar from another provider: the first that supplied a day
 * is kept.
 */
export const datesOfOtherProviders = reads(
  'set',
  `SELECT date FROM price_data WHERE symbol = ?1 AND source IN ('massive', 'alpha-vantage') AND source <> ?2 AND close IS NOT NULL`,
  [text],
  (symbol: string, source: PriceSource) => [symbol, source],
);

/** Those of these symbols that have no real bar on any date. */
export const symbolsWithoutBars = reads(
  'column',
  `SELECT value FROM json_each(?)
   WHERE NOT EXISTS (SELECT 1 FROM price_data WHERE symbol = value AND source <> 'synthetic')`,
  [text],
  (symbols: readonly string[]) => [symbols],
);

/**
 * Prices as a model may see them. Every query for a model takes the session date and clamps to it,
 * whatever the caller asks for: whole bars of earlier days, only the open of the session date,
 * nothing later. Bars before EARLIEST_DATE, which other programs may have stored, are never
 * returned.
 */

const NOT_TOO_EARLY = `date >= '${EARLIEST_DATE}'`;
const IS_ADJUSTED = `source IN (${adjustedSourcesInSql}) AS adjusted`;

/**
 * The prices of symbols on the morning of the session date, in raw dollars; `previous` is the last
 * earlier bar with a close. Written as look-ups of single rows, so that the revisions are searched
 * too, and never read as a whole.
 */
export const quotesOn = readsAt(
  'all',
  `WITH named AS MATERIALIZED (
     SELECT value AS symbol, (SELECT date FROM ${barsAt}
       WHERE symbol = value AND date < ?2 AND ${NOT_TOO_EARLY} AND close IS NOT NULL ORDER BY date DESC LIMIT 1) AS previousDate
     FROM json_each(?3))
   SELECT symbol, (SELECT open FROM ${barsAt} WHERE symbol = named.symbol AND date = ?2) AS open, previousDate,
     (SELECT close FROM ${barsAt} WHERE symbol = named.symbol AND date = previousDate) AS previousClose,
     (SELECT ${IS_ADJUSTED} FROM ${barsAt} WHERE symbol = named.symbol AND date = previousDate) AS isAdjusted FROM named`,
  {
    symbol: text,
    open: orNull(real),
    previousDate: orNull(text),
    previousClose: orNull(real),
    isAdjusted: orNull(flag),
  },
  (sessionDate: CalendarDate, symbols: readonly string[]) => [sessionDate, symbols],
);

const BAR = { symbol: text, ...BAR_COLUMNS };

export type MarketBar = ShapedRow<typeof BAR>;

const ifOver = (column: string) => `CASE WHEN date < ?2 THEN ${column} END AS ${column}`;
const CLAMPED_BAR = `
  SELECT {}, ${['high', 'low', 'close', 'volume'].map(ifOver).join(', ')}, ${IS_ADJUSTED}
  FROM ${barsAt} WHERE symbol = ?3 AND date <= ?2 AND ${NOT_TOO_EARLY}`;

/**
 * The bar of one day up to the session date; undefined when the symbol did not trade or its bar is
 * unknown.
 */
export const barOn = readsAt(
  'get',
  `${CLAMPED_BAR} AND date = ?4`,
  BAR,
  (sessionDate: CalendarDate, { symbol, date }: { symbol: string; date: CalendarDate }) => [
    sessionDate,
    symbol,
    date,
  ],
);

/** The last `count` bars up to the session date (of that date only the open), newest first. */
export const lastBars = readsAt(
  'all',
  `${CLAMPED_BAR} ORDER BY date DESC LIMIT ?4`,
  BAR,
  (sessionDate: CalendarDate, { symbol, count }: { symbol: string; count: number }) => [
    sessionDate,
    symbol,
    count,
  ],
);

export const SPLIT_COLUMNS = {
  symbol: text,
  date: text,
  numerator: integer,
  denominator: integer,
};

/**
 * The splits of some symbols after one date up to another, in order, without those of series free
 * of split jumps.
 */
export const splitsBetween = readsAt(
  'all',
  `SELECT {} FROM ${splitsAt} AS split
   WHERE symbol IN (SELECT value FROM json_each(?2)) AND date > ?3 AND date <= ?4
     AND NOT ${hasBarsSql(adjustedSourcesInSql, 'split.symbol', barsAt)}
   ORDER BY date, symbol`,
  SPLIT_COLUMNS,
  inWindow,
);

export type Split = ShapedRow<typeof SPLIT_COLUMNS>;
