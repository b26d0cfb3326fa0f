import type { CalendarDate } from '../calendar.ts';
import type { Database } from './database.ts';

/** A span in which a source's series of a symbol is known, both ends included. */
export interface CoverageSpan {
  source: string;
  startDate: CalendarDate;
  endDate: CalendarDate;
  recordedAt: string;
}

/** What is stored of a symbol's prices; without a bar the first three are null. */
export interface SymbolPrices {
  symbol: string;
  firstDate: CalendarDate | null;
  lastDate: CalendarDate | null;
  /** Of the last bar. */
  source: string | null;
}

/** From one symbol to the next by the primary key: what stands between is not read. */
const SYMBOLS = `
  WITH RECURSIVE priced (symbol) AS (
    SELECT min(symbol) FROM price_data
    UNION ALL SELECT (SELECT min(symbol) FROM price_data WHERE price_data.symbol > priced.symbol) FROM priced WHERE symbol IS NOT NULL)
  SELECT symbol FROM priced WHERE symbol IS NOT NULL UNION SELECT symbol FROM price_data_coverage`;

const SYMBOL_PRICES = `
  SELECT known.symbol,
    (SELECT min(date) FROM price_data WHERE price_data.symbol = known.symbol) AS firstDate,
    (SELECT max(date) FROM price_data WHERE price_data.symbol = known.symbol) AS lastDate,
    (SELECT source FROM price_data WHERE price_data.symbol = known.symbol ORDER BY date DESC LIMIT 1) AS source
  FROM (${SYMBOLS}) AS known WHERE ?1 IS NULL OR known.symbol = ?1 ORDER BY known.symbol`;

/** The symbols of which anything is stored or known, or the given one alone, by name. It takes a few seeks per symbol. */
export function symbolPrices(database: Database, symbol: string | null): SymbolPrices[] {
  return database.statement(SYMBOL_PRICES).all(symbol) as never;
}

/** The covered spans of all symbols, or of the given one, by start within each symbol. */
export function coverageSpans(database: Database, symbol: string | null): (CoverageSpan & { symbol: string })[] {
  return database
    .statement(
      `SELECT symbol, source, start_date AS startDate, end_date AS endDate, recorded_at AS recordedAt
       FROM price_data_coverage WHERE ?1 IS NULL OR symbol = ?1 ORDER BY symbol, start_date, source`,
    )
    .all(symbol) as never;
}

/** How many bars a symbol has. This reads every one of them. */
export function countBars(database: Database, symbol: string): number {
  return database.statement('SELECT count(*) AS count FROM price_data WHERE symbol = ?').get(symbol)?.[
    'count'
  ] as number;
}
