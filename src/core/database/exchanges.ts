import type { CalendarDate } from '#time/calendar.ts';
import { exchanges as exchangeTable } from '#database/schema/price-tables.ts';
import { splitsOfExchange } from '#database/schema/price-conditions.ts';
import type { Database } from './database.ts';
import { type Split, splitsBetween } from './market-queries.ts';
import { dividendsBetween, type StoredDividend } from './splits-and-dividends.ts';
import {
  barsAt,
  exchangesAt,
  inWindow,
  nextWrite,
  type PricesAt,
  readsAt,
  splitsAt,
  upsertSql,
} from './price-writes.ts';
import { flag, integer, millionths, orNull, reads, text, type ShapedRow } from './rows.ts';

/** What becomes of a share: cash, shares of another symbol, or both; one table for every end. */

const EXCHANGE_COLUMNS = {
  symbol: text,
  date: text,
  into: { ...text, suffix: '_symbol' }, // '' where no shares come
  cash: millionths, // per old share, as its source tells it
  numerator: orNull(integer), // new shares
  denominator: orNull(integer), // for old ones
  remains: flag,
};

/** With the splits that convert it to the shares of the old series, and to those of the new one. */
export const STORED_EXCHANGE = { ...EXCHANGE_COLUMNS, splits: text, intoSplits: text };

const AT = { bars: barsAt, splits: splitsAt };

/** Those whose old share is one of some symbols, and of the shares that these bring, in a window. */
const dueExchanges = readsAt(
  'all',
  `WITH RECURSIVE due AS MATERIALIZED (
     SELECT * FROM ${exchangesAt} WHERE date > ?3 AND date <= ?4),
   owned (symbol, since) AS (
     SELECT value, ?3 FROM json_each(?2)
     UNION SELECT into_symbol, date FROM owned JOIN due ON due.symbol = owned.symbol AND date >= since)
   SELECT {},
     ${splitsOfExchange('symbol', AT)} AS splits, ${splitsOfExchange('into_symbol', AT)} AS intoSplits
   FROM due AS exchanges
   WHERE EXISTS (SELECT 1 FROM owned WHERE owned.symbol = exchanges.symbol AND date >= since)
   ORDER BY date, symbol, into_symbol`,
  STORED_EXCHANGE,
  inWindow,
);

/** An exchange as stored, with the splits that convert it. */
export type StoredExchange = ShapedRow<typeof STORED_EXCHANGE>;

/**
 * The exchanges of some symbols, and of what they bring, after one date up to another: by date, and
 * on one date in the order in which shares arrive.
 */
export function exchangesBetween(...asked: Parameters<typeof dueExchanges>): StoredExchange[] {
  const found = dueExchanges(...asked);
  const ordered: StoredExchange[] = [];
  const seen = new Set<StoredExchange>();
  const add = (exchange: StoredExchange) => {
    if (seen.has(exchange)) return;
    seen.add(exchange);
    for (const other of found)
      if (other.date === exchange.date && other.into === exchange.symbol) add(other);
    ordered.push(exchange);
  };
  found.forEach(add);
  return ordered;
}

/** Since when symbols are held: those of the start since then, and what exchanges bring to them. */
export function arrivalDates(
  start: Iterable<string>,
  since: CalendarDate,
  exchanges: readonly StoredExchange[],
): Map<string, CalendarDate> {
  const dates = new Map(Iterator.from(start).map((symbol) => [symbol, since]));
  for (const { into, date } of exchanges)
    if (into !== '' && !dates.has(into)) dates.set(into, date);
  return dates;
}

/** What happens to some shares, as stored. */
export interface StoredEvents {
  splits: readonly Split[];
  dividends: readonly StoredDividend[];
  exchanges: readonly StoredExchange[];
}

/**
 * What happens to some shares, and to those that they become, after one date up to another; and
 * since when each symbol may be held: from the start, or from its arrival.
 */
export function eventsBetween(
  prices: PricesAt,
  initial: readonly string[],
  { paysDividends, ...since }: { after: CalendarDate; upTo: CalendarDate; paysDividends: boolean },
): { events: StoredEvents; heldSince: ReadonlyMap<string, CalendarDate> } {
  const exchanges = exchangesBetween(prices, initial, since);
  const heldSince = arrivalDates(initial, since.after, exchanges);
  const symbols = [...heldSince.keys()];
  // What arrives gets those of later dates only.
  const isSince = (symbol: string, date: CalendarDate) => date > (heldSince.get(symbol) ?? '');
  const splits = splitsBetween(prices, symbols, since);
  const dividends = paysDividends ? dividendsBetween(prices, symbols, since) : [];
  const events = {
    exchanges,
    splits: splits.filter(({ symbol, date }) => isSince(symbol, date)),
    dividends: dividends.filter(({ symbol, exDate }) => isSince(symbol, exDate)),
  };
  return { events, heldSince };
}

/** SQL: whether an exchange may only give a share another name. */
export const IS_RENAME = 'cash_e6 = 0 AND remains = 0 AND numerator = denominator';

/**
 * A symbol, and the names before it, the last one first, each with its last close before the date on
 * which it took the next. That is the only thing that became of the old share on the date, and the
 * only share that became the new one at 1:1.
 */
const allNames = readsAt(
  'all',
  `WITH RECURSIVE renames AS MATERIALIZED (
     SELECT * FROM (SELECT * FROM ${exchangesAt} GROUP BY symbol, date HAVING count(*) = 1)
     WHERE ${IS_RENAME} GROUP BY into_symbol, date HAVING count(*) = 1),
   names (symbol, up_to) AS (
     VALUES (?2, ?3)
     UNION SELECT renames.symbol, date FROM names JOIN renames ON into_symbol = names.symbol
       AND date = (SELECT max(date) FROM renames WHERE into_symbol = names.symbol AND date <= up_to))
   SELECT {}, coalesce((SELECT date FROM ${barsAt} WHERE symbol = names.symbol AND date < up_to AND close IS NOT NULL
     ORDER BY date DESC LIMIT 1), '') AS last FROM names`,
  { symbol: text, upTo: text, last: text },
  (symbol: string, date: CalendarDate) => [symbol, date],
);

/** The names of a share on a date, the last one first, down to that of its latest close before. */
export function namesSinceClose(...asked: Parameters<typeof allNames>) {
  const names = allNames(...asked);
  const latest = names.reduce((date, { last }) => (last > date ? last : date), '');
  return names.slice(0, names.findIndex(({ last }) => last === latest) + 1);
}

/** One to store. */
export type Exchange = Omit<StoredExchange, 'splits' | 'intoSplits'>;

/** The exchanges of a symbol on a date. */
export const exchangesOn = reads(
  'all',
  `SELECT {} FROM exchanges WHERE symbol = ? AND date = ?`,
  EXCHANGE_COLUMNS,
  (symbol: string, date: CalendarDate) => [symbol, date],
);

const UPSERT = upsertSql(exchangeTable);

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
