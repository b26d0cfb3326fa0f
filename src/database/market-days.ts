import type { CalendarDate } from '../calendar.ts';
import type { Database, Reader } from './database.ts';
import type { PriceSource } from './prices.ts';
import { query, text } from './rows.ts';

/** Days of the whole market from a provider. */

/** Records within the caller's transaction that a provider returned a day with bars. */
export function storeMarketDay(
  database: Database,
  date: CalendarDate,
  { source, recordedAt }: { source: PriceSource; recordedAt: string },
): void {
  database
    .statement(
      `INSERT INTO market_days (source, date, recorded_at) VALUES (?, ?, ?)
       ON CONFLICT (source, date) DO UPDATE SET recorded_at = excluded.recorded_at`,
    )
    .run(source, date, recordedAt);
}

const EARLY_DAYS = query(
  `SELECT date FROM market_days
   WHERE source = ?1 AND date BETWEEN ?2 AND ?3 AND recorded_at < date(date, '+' || ?4 || ' days') ORDER BY date`,
  [text],
);

/**
 * The days between two dates that were last downloaded from a provider less than `settledAfterDays`
 * after they were.
 */
export function daysStoredEarly(
  reader: Reader,
  source: PriceSource,
  {
    from,
    to,
    settledAfterDays,
  }: { from: CalendarDate; to: CalendarDate; settledAfterDays: number },
): CalendarDate[] {
  return EARLY_DAYS.all(reader, source, from, to, settledAfterDays).flat();
}

const BARS_AFTER = query(
  `SELECT date FROM price_data WHERE symbol IN (SELECT value FROM json_each(?1)) AND date > ?2 AND source <> 'synthetic'
   UNION ALL SELECT date FROM market_days WHERE date > ?2 AND source = ?3 LIMIT 1`,
  [text],
);

/**
 * Whether a provider returned a day after this one with bars, or some symbol has a real bar after
 * it.
 */
export function hasLaterBars(
  reader: Reader,
  date: CalendarDate,
  { symbols, source }: { symbols: readonly string[]; source: PriceSource },
): boolean {
  return BARS_AFTER.has(reader, JSON.stringify(symbols), date, source);
}

const KEPT = query(
  `SELECT symbol FROM price_data WHERE symbol IN (SELECT value FROM json_each(?1)) AND date = ?2
     AND close IS NOT NULL AND source NOT IN (?3, 'synthetic')`,
  [text],
);

/**
 * Those of these symbols that have a whole bar of another source on a date: a provider of whole
 * days leaves it.
 */
export function symbolsWithBarsOfOthers(
  reader: Reader,
  date: CalendarDate,
  { symbols, source }: { symbols: readonly string[]; source: PriceSource },
): Set<string> {
  return new Set(KEPT.all(reader, JSON.stringify(symbols), date, source).flat());
}

const DATES_OF_PROVIDERS = query(
  `SELECT date FROM price_data WHERE symbol = ?1 AND source IN ('massive', 'alpha-vantage') AND source <> ?2 AND close IS NOT NULL`,
  [text],
);

/**
 * The dates on which a symbol has a whole bar from another provider: the first that supplied a day
 * is kept.
 */
export function datesOfOtherProviders(
  reader: Reader,
  symbol: string,
  source: PriceSource,
): Set<CalendarDate> {
  return new Set(DATES_OF_PROVIDERS.all(reader, symbol, source).flat());
}

const REVISED = query(
  `SELECT symbol FROM price_revisions AS old JOIN price_data AS new USING (symbol, date)
   WHERE symbol IN (SELECT value FROM json_each(?1)) AND date = ?2 AND old.replaced_at = ?3
     AND (old.open <> new.open OR old.high <> new.high OR old.low <> new.low OR old.close <> new.close OR old.volume <> new.volume)`,
  [text],
);

/**
 * The symbols whose bars of a date were given different values at `recordedAt`; filling a gap does
 * not count.
 */
export function symbolsRevisedOn(
  reader: Reader,
  date: CalendarDate,
  { symbols, recordedAt }: { symbols: readonly string[]; recordedAt: string },
): string[] {
  return REVISED.all(reader, JSON.stringify(symbols), date, recordedAt).flat();
}

const WITHOUT_BARS = query(
  `SELECT value FROM json_each(?)
   WHERE NOT EXISTS (SELECT 1 FROM price_data WHERE symbol = value AND source <> 'synthetic')`,
  [text],
);

/** Those of these symbols that have no real bar on any date. */
export function symbolsWithoutBars(reader: Reader, symbols: readonly string[]): string[] {
  return WITHOUT_BARS.all(reader, JSON.stringify(symbols)).flat();
}
