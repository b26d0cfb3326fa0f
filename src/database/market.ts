import { type CalendarDate, EARLIEST_DATE } from '../calendar.ts';
import type { Reader } from './database.ts';
import { type RowOf, type RowOfShape, flag, integer, orNull, query, real, text } from './rows.ts';

/**
 * Prices as a model may see them. Every query for a model takes the session date and clamps to it,
 * whatever the caller asks for: whole bars of earlier days, only the open of the session date,
 * nothing later. Bars before EARLIEST_DATE, which other programs may have stored, are never
 * returned.
 */

const NOT_TOO_EARLY = `date >= '${EARLIEST_DATE}'`;

/** Written as look-ups of single rows, so that it stays fast over the views of past.ts too. */
const QUOTES = query(
  `WITH named AS MATERIALIZED (
     SELECT value AS symbol, (SELECT date FROM price_data
       WHERE symbol = value AND date < ?2 AND ${NOT_TOO_EARLY} AND close IS NOT NULL ORDER BY date DESC LIMIT 1) AS previousDate
     FROM json_each(?1))
   SELECT symbol, (SELECT open FROM price_data WHERE symbol = named.symbol AND date = ?2) AS open, previousDate,
     (SELECT close FROM price_data WHERE symbol = named.symbol AND date = previousDate) AS previousClose FROM named`,
  { symbol: text, open: orNull(real), previousDate: orNull(text), previousClose: orNull(real) },
);

/**
 * A symbol's prices on the morning of the session date, in raw dollars; `previous` is the last
 * earlier bar with a close.
 */
export type QuoteRow = RowOf<typeof QUOTES>;

export function quotesOn(
  reader: Reader,
  sessionDate: CalendarDate,
  symbols: readonly string[],
): QuoteRow[] {
  return QUOTES.all(reader, JSON.stringify(symbols), sessionDate);
}

const BAR = {
  symbol: text,
  date: text,
  open: real,
  high: orNull(real),
  low: orNull(real),
  close: orNull(real),
  volume: orNull(real),
  /** Whether its series is adjusted, so that splits must not be applied again. */
  adjusted: flag,
};
export type MarketBar = RowOfShape<typeof BAR>;

const CLAMPED_BAR = `
  SELECT symbol, date, open,
    CASE WHEN date < ?1 THEN high END AS high, CASE WHEN date < ?1 THEN low END AS low,
    CASE WHEN date < ?1 THEN close END AS close, CASE WHEN date < ?1 THEN volume END AS volume, adjusted
  FROM price_data WHERE symbol = ?2 AND date <= ?1 AND ${NOT_TOO_EARLY}`;
const WHOLE_BAR = `SELECT symbol, date, open, high, low, close, volume, adjusted FROM price_data WHERE symbol = ?1`;

const BAR_ON = query(`${CLAMPED_BAR} AND date = ?3`, BAR);

/**
 * The bar of one day up to the session date; undefined when the symbol did not trade or its bar is
 * unknown.
 */
export function barOn(
  reader: Reader,
  sessionDate: CalendarDate,
  { symbol, date }: { symbol: string; date: CalendarDate },
): MarketBar | undefined {
  return BAR_ON.get(reader, sessionDate, symbol, date);
}

const LAST_BARS = query(`${CLAMPED_BAR} ORDER BY date DESC LIMIT ?3`, BAR);

/** The last `count` bars up to the session date (of that date only the open), oldest first. */
export function lastBars(
  reader: Reader,
  sessionDate: CalendarDate,
  { symbol, count }: { symbol: string; count: number },
): MarketBar[] {
  return LAST_BARS.all(reader, sessionDate, symbol, count).reverse();
}

const LAST_BAR_BEFORE = query(
  `${WHOLE_BAR} AND date < ?2 AND ${NOT_TOO_EARLY} ORDER BY date DESC LIMIT 1`,
  BAR,
);

/** The last bar of a symbol before a date, used when nothing newer is known. */
export function lastBarBefore(
  reader: Reader,
  date: CalendarDate,
  symbol: string,
): MarketBar | undefined {
  return LAST_BAR_BEFORE.get(reader, symbol, date);
}

const CLOSING_BAR = query(`${WHOLE_BAR} AND date = ?2`, BAR);

/**
 * The bar of the session date with its close: for marking records in the parent, never for a model.
 */
export function closingBar(
  reader: Reader,
  sessionDate: CalendarDate,
  symbol: string,
): MarketBar | undefined {
  return CLOSING_BAR.get(reader, symbol, sessionDate);
}

const SPLITS = query(
  `SELECT symbol, date, numerator, denominator FROM stock_splits
   WHERE symbol IN (SELECT value FROM json_each(?1)) AND date > ?2 AND date <= ?3
     AND NOT EXISTS (SELECT 1 FROM price_data WHERE price_data.symbol = stock_splits.symbol AND adjusted)
   ORDER BY date, symbol`,
  { symbol: text, date: text, numerator: integer, denominator: integer },
);

export type Split = RowOf<typeof SPLITS>;

/**
 * The splits of some symbols after one date up to another, in order, without those of series free
 * of split jumps.
 */
export function splitsBetween(
  reader: Reader,
  symbols: readonly string[],
  { after, upTo }: { after: CalendarDate; upTo: CalendarDate },
): Split[] {
  return SPLITS.all(reader, JSON.stringify(symbols), after, upTo);
}
