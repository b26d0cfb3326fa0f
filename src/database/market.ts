import { type CalendarDate, EARLIEST_DATE } from '../calendar.ts';
import type { Database, Reader } from './database.ts';
import { type RowOf, type RowOfShape, flag, integer, orNull, query, real, text } from './rows.ts';

/**
 * Prices as a model may see them. Every query for a model takes the session date and clamps to it, whatever the caller asks
 * for: whole bars of earlier days, only the open of the session date, nothing later. Bars before EARLIEST_DATE, which other
 * programs may have stored, are never returned.
 */

const NOT_TOO_EARLY = `date >= '${EARLIEST_DATE}'`;

const QUOTES = query(
  `SELECT chosen.value AS symbol, today.open AS open, previous.date AS previousDate, previous.close AS previousClose
   FROM json_each(?1) AS chosen
   LEFT JOIN price_data AS today ON today.symbol = chosen.value AND today.date = ?2
   LEFT JOIN price_data AS previous ON previous.symbol = chosen.value AND previous.date =
     (SELECT max(date) FROM price_data WHERE symbol = chosen.value AND date < ?2 AND ${NOT_TOO_EARLY} AND close IS NOT NULL)`,
  { symbol: text, open: orNull(real), previousDate: orNull(text), previousClose: orNull(real) },
);

/** A symbol's prices on the morning of the session date, in raw dollars; `previous` is the last earlier bar with a close. */
export type QuoteRow = RowOf<typeof QUOTES>;

export function quotesOn(database: Database, sessionDate: CalendarDate, symbols: readonly string[]): QuoteRow[] {
  return QUOTES.all(database, JSON.stringify(symbols), sessionDate);
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

/** The bar of one day up to the session date; undefined when the symbol did not trade or its bar is unknown. */
export function barOn(
  database: Database,
  sessionDate: CalendarDate,
  { symbol, date }: { symbol: string; date: CalendarDate },
): MarketBar | undefined {
  return BAR_ON.get(database, sessionDate, symbol, date);
}

const LAST_BARS = query(`${CLAMPED_BAR} ORDER BY date DESC LIMIT ?3`, BAR);

/** The last `count` bars up to the session date (of that date only the open), oldest first. */
export function lastBars(
  database: Database,
  sessionDate: CalendarDate,
  { symbol, count }: { symbol: string; count: number },
): MarketBar[] {
  return LAST_BARS.all(database, sessionDate, symbol, count).reverse();
}

const LAST_BAR_BEFORE = query(`${WHOLE_BAR} AND date < ?2 AND ${NOT_TOO_EARLY} ORDER BY date DESC LIMIT 1`, BAR);

/** The last bar of a symbol before a date, used when nothing newer is known. */
export function lastBarBefore(database: Database, date: CalendarDate, symbol: string): MarketBar | undefined {
  return LAST_BAR_BEFORE.get(database, symbol, date);
}

const CLOSING_BAR = query(`${WHOLE_BAR} AND date = ?2`, BAR);

/** The bar of the session date with its close: for marking records in the parent, never for a model. */
export function closingBar(database: Database, sessionDate: CalendarDate, symbol: string): MarketBar | undefined {
  return CLOSING_BAR.get(database, symbol, sessionDate);
}

const SPLITS = query(
  `SELECT symbol, date, numerator, denominator FROM stock_splits
   WHERE symbol IN (SELECT value FROM json_each(?1)) AND date > ?2 AND date <= ?3
     AND NOT EXISTS (SELECT 1 FROM price_data WHERE price_data.symbol = stock_splits.symbol AND adjusted)
   ORDER BY date, symbol`,
  { symbol: text, date: text, numerator: integer, denominator: integer },
);

export type Split = RowOf<typeof SPLITS>;

/** The splits of some symbols after one date up to another, in order, without those of series free of split jumps. */
export function splitsBetween(
  reader: Reader,
  symbols: readonly string[],
  { after, upTo }: { after: CalendarDate; upTo: CalendarDate },
): Split[] {
  return SPLITS.all(reader, JSON.stringify(symbols), after, upTo);
}
