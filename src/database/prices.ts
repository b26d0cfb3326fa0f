import type { CalendarDate } from '../calendar.ts';
import type { Database } from './database.ts';

/** One day of one symbol in dollars, as it traded. What is not known is null, never 0. */
export interface Bar {
  symbol: string;
  date: CalendarDate;
  open: number;
  high: number | null;
  low: number | null;
  close: number | null;
  volume: number | null;
}

/** Which series a bar belongs to; yahoo's and stooq's are adjusted for splits. */
export type PriceSource = 'alpha-vantage' | 'ai-trader' | 'csv' | 'yahoo' | 'stooq' | 'synthetic';

export interface Coverage {
  symbol: string;
  startDate: CalendarDate;
  endDate: CalendarDate;
}

const UPSERT_BAR = `
  INSERT INTO price_data (symbol, date, open, high, low, close, volume, source, recorded_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (symbol, date) DO UPDATE SET
    open = excluded.open, high = coalesce(excluded.high, high), low = coalesce(excluded.low, low),
    close = coalesce(excluded.close, close), volume = coalesce(excluded.volume, volume),
    source = excluded.source, recorded_at = excluded.recorded_at
  WHERE open IS NOT excluded.open OR high IS NOT coalesce(excluded.high, high) OR low IS NOT coalesce(excluded.low, low)
    OR close IS NOT coalesce(excluded.close, close) OR volume IS NOT coalesce(excluded.volume, volume)`;

/**
 * Stores bars within the caller's transaction. A bar that is there already is filled where it was partial and revised
 * where it differs (the old one goes to the revision log by trigger); a known value is never erased by an absent one.
 * Returns how many bars were new or changed.
 */
export function storeBars(
  database: Database,
  bars: Iterable<Bar>,
  { source, recordedAt }: { source: PriceSource; recordedAt: string },
): number {
  const upsert = database.statement(UPSERT_BAR);
  let changed = 0;
  for (const { symbol, date, open, high, low, close, volume } of bars) {
    changed += Number(upsert.run(symbol, date, open, high, low, close, volume, source, recordedAt).changes);
  }
  return changed;
}

/** Removes a symbol's synthetic bars and coverage, because real ones arrive. Returns whether there were any. */
export function dropSyntheticPrices(database: Database, symbol: string): boolean {
  database.statement(`DELETE FROM price_data_coverage WHERE symbol = ? AND source = 'synthetic'`).run(symbol);
  return database.statement(`DELETE FROM price_data WHERE symbol = ? AND source = 'synthetic'`).run(symbol).changes > 0;
}

/** The source of a symbol's series and whether it is adjusted for splits; null when it has no bars but synthetic ones. */
export function seriesOf(database: Database, symbol: string): { source: string; adjusted: boolean } | null {
  const row = database
    .statement(`SELECT source, adjusted FROM price_data WHERE symbol = ? AND source <> 'synthetic' LIMIT 1`)
    .get(symbol);
  return row ? { source: String(row['source']), adjusted: row['adjusted'] === 1 } : null;
}

/** Notes that a source's series of a symbol is known from start to end; spans that touch become one. */
export function addCoverage(
  database: Database,
  { symbol, startDate, endDate }: Coverage,
  { source, recordedAt }: { source: PriceSource; recordedAt: string },
): void {
  const merged = database
    .statement(
      `DELETE FROM price_data_coverage
       WHERE symbol = ?1 AND source = ?2 AND start_date <= date(?4, '+1 day') AND end_date >= date(?3, '-1 day')
       RETURNING start_date, end_date`,
    )
    .all(symbol, source, startDate, endDate) as { start_date: string; end_date: string }[];
  const start = merged.reduce((least, span) => (span.start_date < least ? span.start_date : least), startDate);
  const end = merged.reduce((most, span) => (span.end_date > most ? span.end_date : most), endDate);
  database
    .statement(
      'INSERT INTO price_data_coverage (symbol, source, start_date, end_date, recorded_at) VALUES (?, ?, ?, ?, ?)',
    )
    .run(symbol, source, start, end, recordedAt);
}

/** Whether synthetic prices count as known prices: they do in DEV without a provider, and never elsewhere. */
export interface Trust {
  synthetic: boolean;
}

/** What is stored of some symbols between two dates: the days with a bar (whole or open alone), and the known spans. */
export function storedPrices(
  database: Database,
  symbols: readonly string[],
  { startDate, endDate, synthetic }: Trust & { startDate: CalendarDate; endDate: CalendarDate },
): { bars: { symbol: string; date: CalendarDate; isPartial: 0 | 1 }[]; coverage: Coverage[] } {
  const chosen = JSON.stringify(symbols);
  const bars = database
    .statement(
      `SELECT symbol, date, close IS NULL AS isPartial FROM price_data
       WHERE symbol IN (SELECT value FROM json_each(?1)) AND date BETWEEN ?2 AND ?3 AND (?4 OR source <> 'synthetic')`,
    )
    .all(chosen, startDate, endDate, synthetic ? 1 : 0);
  const coverage = database
    .statement(
      `SELECT symbol, start_date AS startDate, end_date AS endDate FROM price_data_coverage
       WHERE symbol IN (SELECT value FROM json_each(?1)) AND end_date >= ?2 AND start_date <= ?3 AND (?4 OR source <> 'synthetic')`,
    )
    .all(chosen, startDate, endDate, synthetic ? 1 : 0);
  return { bars: bars as never, coverage: coverage as never };
}

/** Of these symbols, those that have a real bar or real coverage, whatever the date. */
export function symbolsWithRealPrices(database: Database, symbols: readonly string[]): Set<string> {
  const rows = database
    .statement(
      `SELECT value AS symbol FROM json_each(?)
       WHERE EXISTS (SELECT 1 FROM price_data WHERE symbol = value AND source <> 'synthetic')
          OR EXISTS (SELECT 1 FROM price_data_coverage WHERE symbol = value AND source <> 'synthetic')`,
    )
    .all(JSON.stringify(symbols));
  return new Set(rows.map((row) => String(row['symbol'])));
}

/** How many of a symbol's bars took other values than they had, with a stamp of `recordedAt`; filling a gap is none. */
export function countRevisions(
  database: Database,
  { symbol, recordedAt }: { symbol: string; recordedAt: string },
): number {
  const row = database
    .statement(
      `SELECT count(*) AS count FROM price_revisions AS old JOIN price_data AS new USING (symbol, date)
       WHERE symbol = ? AND old.replaced_at = ? AND (old.open <> new.open OR old.high <> new.high OR old.low <> new.low
         OR old.close <> new.close OR old.volume <> new.volume)`,
    )
    .get(symbol, recordedAt);
  return row?.['count'] as number;
}

/** Of these symbols, those whose series is free of split jumps: raw bars must not be added to it. */
export function symbolsWithAdjustedPrices(database: Database, symbols: readonly string[]): Set<string> {
  const rows = database
    .statement(
      `SELECT value AS symbol FROM json_each(?)
       WHERE EXISTS (SELECT 1 FROM price_data WHERE symbol = value AND adjusted AND source <> 'synthetic')`,
    )
    .all(JSON.stringify(symbols));
  return new Set(rows.map((row) => String(row['symbol'])));
}
