import { type CalendarDate, EARLIEST_DATE } from '../calendar.ts';
import type { Database } from './database.ts';
import type { Bar } from './prices.ts';

/**
 * Prices as they serve a model. Every query here takes the session date and clamps to it: of earlier days the whole
 * bar, of the session date itself the open alone, of later days nothing, whatever the caller asks for. Bars that are too
 * early to be told, which other programs may have stored, do not exist.
 */

const NOT_TOO_EARLY = `date >= '${EARLIEST_DATE}'`;

/** What is known of a symbol on the morning of the session date, in raw dollars. */
export interface QuoteRow {
  symbol: string;
  open: number | null;
  /** The last earlier bar with a close; null when there is none. */
  previousDate: CalendarDate | null;
  previousClose: number | null;
}

const QUOTES = `
  SELECT chosen.value AS symbol, today.open AS open, previous.date AS previousDate, previous.close AS previousClose
  FROM json_each(?1) AS chosen
  LEFT JOIN price_data AS today ON today.symbol = chosen.value AND today.date = ?2
  LEFT JOIN price_data AS previous ON previous.symbol = chosen.value AND previous.date =
    (SELECT max(date) FROM price_data WHERE symbol = chosen.value AND date < ?2 AND ${NOT_TOO_EARLY} AND close IS NOT NULL)`;

export function quotesOn(database: Database, sessionDate: CalendarDate, symbols: readonly string[]): QuoteRow[] {
  return database.statement(QUOTES).all(JSON.stringify(symbols), sessionDate) as never;
}

const CLAMPED_BAR = `
  SELECT symbol, date, open,
    CASE WHEN date < ?1 THEN high END AS high, CASE WHEN date < ?1 THEN low END AS low,
    CASE WHEN date < ?1 THEN close END AS close, CASE WHEN date < ?1 THEN volume END AS volume, adjusted
  FROM price_data WHERE symbol = ?2 AND date <= ?1 AND ${NOT_TOO_EARLY}`;

/** A bar with its series' kind: an adjusted one is never split again. */
export type MarketBar = Bar & { adjusted: 0 | 1 };

/** The bar of one day up to the session date, or undefined when the symbol did not trade or nothing is known. */
export function barOn(
  database: Database,
  sessionDate: CalendarDate,
  { symbol, date }: { symbol: string; date: CalendarDate },
): MarketBar | undefined {
  return database.statement(`${CLAMPED_BAR} AND date = ?3`).get(sessionDate, symbol, date) as never;
}

/** The last `count` bars up to the session date (its own with the open alone), oldest first. */
export function lastBars(
  database: Database,
  sessionDate: CalendarDate,
  { symbol, count }: { symbol: string; count: number },
): MarketBar[] {
  return database
    .statement(`${CLAMPED_BAR} ORDER BY date DESC LIMIT ?3`)
    .all(sessionDate, symbol, count)
    .reverse() as never;
}

/** The last bar that a symbol has before a date, for want of anything newer. */
export function lastBarBefore(database: Database, date: CalendarDate, symbol: string): MarketBar | undefined {
  return database
    .statement(`SELECT * FROM price_data WHERE symbol = ?1 AND date < ?2 AND ${NOT_TOO_EARLY} ORDER BY date DESC LIMIT 1`)
    .get(symbol, date) as never;
}

export function hasBarUpTo(database: Database, date: CalendarDate, symbol: string): boolean {
  const row = database
    .statement(`SELECT 1 FROM price_data WHERE symbol = ?1 AND date <= ?2 AND ${NOT_TOO_EARLY} LIMIT 1`)
    .get(symbol, date);
  return row !== undefined;
}

/** The bar of the session date with its close: for marking records in the parent, never for a model. */
export function closingBar(database: Database, sessionDate: CalendarDate, symbol: string): MarketBar | undefined {
  return database
    .statement('SELECT * FROM price_data WHERE symbol = ?1 AND date = ?2')
    .get(symbol, sessionDate) as never;
}

export interface Split {
  symbol: string;
  date: CalendarDate;
  numerator: number;
  denominator: number;
}

/** Splits of some symbols after one date up to another, in order; those of series without split jumps are left out. */
export function splitsBetween(
  database: Database,
  symbols: readonly string[],
  { after, upTo }: { after: CalendarDate; upTo: CalendarDate },
): Split[] {
  return database
    .statement(
      `SELECT symbol, date, numerator, denominator FROM stock_splits
       WHERE symbol IN (SELECT value FROM json_each(?1)) AND date > ?2 AND date <= ?3
         AND NOT EXISTS (SELECT 1 FROM price_data WHERE price_data.symbol = stock_splits.symbol AND adjusted)
       ORDER BY date, symbol`,
    )
    .all(JSON.stringify(symbols), after, upTo) as never;
}
