import { type CalendarDate, EARLIEST_DATE } from '#time/calendar.ts';
import type { Database } from '#database/database.ts';
import { integer, orNull, query, type RowOf, text } from '#database/rows.ts';

/** Seeks from one symbol to the next by the primary key, without reading the rows in between. */
const SYMBOLS = query(
  `WITH RECURSIVE priced (symbol) AS (
     SELECT min(symbol) FROM price_data
     UNION ALL SELECT (SELECT min(symbol) FROM price_data WHERE price_data.symbol > priced.symbol) FROM priced
       WHERE symbol IS NOT NULL)
   SELECT symbol FROM priced WHERE symbol IS NOT NULL
   UNION SELECT symbol FROM price_data_coverage ORDER BY symbol`,
  [text],
);

/** All symbols with bars or coverage, by name, as a JSON array. */
export function knownSymbols(database: Database): string {
  return JSON.stringify(SYMBOLS.all(database).flat());
}

/** Other programs may have stored texts that are not dates, and dates too early to show. */
const isDateSql = (column: string) =>
  `${column} >= '${EARLIEST_DATE}' AND ${column} IS date(${column})`;
const BARS_OF_SYMBOL = `FROM price_data WHERE price_data.symbol = known.value AND ${isDateSql('date')}`;
const SYMBOL_PRICES = query(
  `SELECT known.value AS symbol,
     (SELECT min(date) ${BARS_OF_SYMBOL}) AS firstDate,
     (SELECT max(date) ${BARS_OF_SYMBOL}) AS lastDate,
     (SELECT source ${BARS_OF_SYMBOL} ORDER BY date DESC LIMIT 1) AS source
   FROM json_each(?1) AS known
   WHERE iif(?2 IS NULL,
     EXISTS (SELECT 1 FROM price_data WHERE price_data.symbol = known.value)
       OR EXISTS (SELECT 1 FROM price_data_coverage WHERE price_data_coverage.symbol = known.value),
     EXISTS (SELECT 1 FROM price_data WHERE price_data.symbol = known.value AND date = ?2))
   ORDER BY known.key`,
  {
    symbol: text,
    firstDate: orNull(text),
    lastDate: orNull(text),
    /** Of the last bar. */ source: orNull(text),
  },
);

/**
 * What is stored of the prices of some symbols, a JSON array, that have bars or coverage; with a
 * date, of those that have a bar on it. Without a bar only the symbol is not null. In the order of
 * the array: a few seeks per symbol.
 */
export function symbolPrices(database: Database, symbols: string, date: CalendarDate | null) {
  return SYMBOL_PRICES.all(database, symbols, date);
}

const spansQuery = (table: string) =>
  query(
    `SELECT max(start_date, '${EARLIEST_DATE}') AS startDate, {} FROM json_each(?) AS known CROSS JOIN ${table} ON symbol = known.value
     WHERE start_date IS date(start_date) AND ${isDateSql('end_date')}
     ORDER BY symbol, start_date, source`,
    { startDate: text, symbol: text, source: text, endDate: text, recordedAt: text },
  );
const SPANS = {
  prices: spansQuery('price_data_coverage'),
  dividends: spansQuery('dividend_coverage'),
};

/** A span in which a source's prices or dividends of a symbol are known, both ends included. */
export type CoverageSpan = RowOf<typeof SPANS.prices>;

/**
 * The covered spans of some symbols, a JSON array, in order of their starts, without those that
 * begin too early.
 */
export function coverageSpans(
  database: Database,
  symbols: string,
  kind: keyof typeof SPANS = 'prices',
): Map<string, CoverageSpan[]> {
  return Map.groupBy(SPANS[kind].all(database, symbols), (span) => span.symbol);
}

const STORED_DIVIDENDS = query(
  `SELECT symbol, count(*) AS count, max(ex_date) AS lastExDate
   FROM json_each(?) AS known CROSS JOIN dividends ON symbol = known.value
   WHERE ${isDateSql('ex_date')} GROUP BY symbol`,
  { symbol: text, count: integer, lastExDate: text },
);

/**
 * How many dividends of each of some symbols, a JSON array, that has any are stored, and the last
 * ex-date.
 */
export function storedDividends(database: Database, symbols: string) {
  return STORED_DIVIDENDS.all(database, symbols);
}

const BAR_COUNT = query(
  `SELECT count(*) FROM price_data WHERE symbol = ? AND ${isDateSql('date')}`,
  [integer],
);

/** How many bars a symbol has. Reads every one of them. */
export function countBars(database: Database, symbol: string): number {
  return BAR_COUNT.one(database, symbol)[0];
}
