import type { CalendarDate } from '#time/calendar.ts';
import { exchanges } from '#database/schema/price-tables.ts';
import { adjustedSourcesInSql, hasBarsSql } from '#database/schema/price-conditions.ts';
import type { Database } from './database.ts';
import { barsAt, exchangesAt, nextWrite, type PricesAt, splitsAt } from './price-writes.ts';
import { flag, integer, orNull, query, reads, text, type RowOf } from './rows.ts';

/** What becomes of a share: cash, shares of another symbol, or both; one table for every end. */

export const EXCHANGE_COLUMNS = {
  symbol: text,
  date: text,
  into: text, // '' where no shares come
  cash: integer, // per old share, in 1/1,000,000 dollar, as its source tells it
  numerator: orNull(integer), // new shares
  denominator: orNull(integer), // for old ones
  remains: flag,
};

/**
 * SQL: the splits of a symbol after the date of a row of `exchange`, if its series is adjusted; ''
 * otherwise.
 */
export function convertingSplits(
  symbol: 'symbol' | 'into_symbol',
  { bars = 'price_data', splits = 'stock_splits' } = {},
): string {
  return `CASE WHEN ${hasBarsSql(adjustedSourcesInSql, `exchange.${symbol}`, bars)} THEN coalesce((
    SELECT group_concat(date || ' ' || numerator || ':' || denominator, ', ') FROM (
      SELECT date, numerator, denominator FROM ${splits} AS split
      WHERE split.symbol = exchange.${symbol} AND split.date > exchange.date ORDER BY date)), '') ELSE '' END`;
}

const AT = { bars: barsAt('?4'), splits: splitsAt('?4') };

/** Those whose old share is one of some symbols, and of the shares that these bring, in a window. */
const EXCHANGES = query(
  `WITH RECURSIVE due AS MATERIALIZED (
     SELECT * FROM ${exchangesAt('?4')} WHERE date > ?2 AND date <= ?3),
   owned (symbol, since) AS (
     SELECT value, ?2 FROM json_each(?1)
     UNION SELECT due.into_symbol, due.date FROM owned JOIN due ON due.symbol = owned.symbol AND due.date >= owned.since
     WHERE due.into_symbol <> '')
   SELECT DISTINCT exchange.symbol, exchange.date, exchange.into_symbol AS "into", exchange.cash_e6 AS cash,
     exchange.numerator, exchange.denominator, exchange.remains,
     ${convertingSplits('symbol', AT)} AS splits, ${convertingSplits('into_symbol', AT)} AS intoSplits
   FROM owned JOIN due AS exchange ON exchange.symbol = owned.symbol AND exchange.date >= owned.since
   ORDER BY exchange.date, exchange.symbol, exchange.into_symbol`,
  {
    ...EXCHANGE_COLUMNS,
    splits: text, // those that convert it to the shares of the old series, as '2024-06-10 10:1'
    intoSplits: text, // to those of the new one
  },
);

/** An exchange as stored, with the splits that convert it. */
export type StoredExchange = RowOf<typeof EXCHANGES>;

/**
 * The exchanges of some symbols, and of what they bring, after one date up to another: by date, and
 * on one date in the order in which shares arrive.
 */
export function exchangesBetween(
  { reader, write }: PricesAt,
  symbols: readonly string[],
  { after, upTo }: { after: CalendarDate; upTo: CalendarDate },
): StoredExchange[] {
  const found = EXCHANGES.all(reader, symbols, after, upTo, write);
  return [...Map.groupBy(found, ({ date }) => date).values()].flatMap(inOrderOfArrival);
}

/** An exchange follows those of its date that bring its old share. A circle keeps its order. */
function inOrderOfArrival(sameDay: readonly StoredExchange[]): StoredExchange[] {
  const ordered = new Set<StoredExchange>();
  const add = (exchange: StoredExchange, path: readonly StoredExchange[]) => {
    if (ordered.has(exchange) || path.includes(exchange)) return;
    for (const before of sameDay)
      if (before.into === exchange.symbol) add(before, [...path, exchange]);
    ordered.add(exchange);
  };
  for (const exchange of sameDay) add(exchange, []);
  return [...ordered];
}

/** The symbols that only took another name on or before a date, the last one first. */
export const formerNames = reads(
  'column',
  `SELECT symbol FROM ${exchangesAt('?3')} AS exchange WHERE into_symbol = ?1 AND date <= ?2
     AND cash_e6 = 0 AND remains = 0 AND numerator = denominator
   ORDER BY date DESC, symbol`,
  [text],
  (symbol: string, date: CalendarDate, write: number | null) => [symbol, date, write],
);

/** One to store. */
export type Exchange = Omit<StoredExchange, 'splits' | 'intoSplits'>;

/** The exchanges of a symbol on a date. */
export const exchangesOn = reads(
  'all',
  `SELECT symbol, date, into_symbol AS "into", cash_e6 AS cash, numerator, denominator, remains
   FROM exchanges WHERE symbol = ? AND date = ?`,
  EXCHANGE_COLUMNS,
  (symbol: string, date: CalendarDate) => [symbol, date],
);

const AMOUNTS = exchanges.values.join(', ');
const NEW_AMOUNTS = exchanges.values.map((name) => `excluded.${name}`).join(', ');
const UPSERT = `
  INSERT INTO exchanges (symbol, date, into_symbol, ${AMOUNTS}, source, written)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (symbol, date, into_symbol) DO UPDATE SET source = excluded.source, written = excluded.written,
    (${AMOUNTS}) = (${NEW_AMOUNTS})
  WHERE (${AMOUNTS}) IS NOT (${NEW_AMOUNTS})`;

/**
 * Stores exchanges within the caller's transaction. One into the symbol itself says that there was
 * none on its date, whatever was known before. Returns how many rows are new, changed or gone.
 */
export function storeExchanges(
  database: Database,
  all: readonly Exchange[],
  source: string,
): number {
  const number = nextWrite(database);
  const remove = database.statement('DELETE FROM exchanges WHERE symbol = ? AND date = ?');
  const upsert = database.statement(UPSERT);
  let changed = 0;
  for (const { symbol, date, into, cash, numerator, denominator, remains } of all) {
    const values = [into, cash, numerator, denominator, remains, source, number];
    const { changes } =
      into === symbol ? remove.run(symbol, date) : upsert.run(symbol, date, ...values);
    changed += Number(changes);
  }
  return changed;
}
