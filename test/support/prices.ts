import type { CommandDatabase } from '../../src/core/database/database.ts';
import {
  addCoverage,
  type Bar,
  type PriceSource,
  storeBars,
} from '../../src/core/database/prices.ts';

/**
 * Reads a table of prices: a line per bar, `SYMBOL DATE OPEN CLOSE`; `-` for a close that is not
 * known. High, low and volume follow from these.
 */
export function readPrices(table: string): Bar[] {
  return rowsOf(table).map(([symbol, date, open, close]) => ({
    symbol: symbol as string,
    date: date as string,
    open: Number(open),
    high: close === '-' ? null : Math.max(Number(open), Number(close)),
    low: close === '-' ? null : Math.min(Number(open), Number(close)),
    close: close === '-' ? null : Number(close),
    volume: close === '-' ? null : 1000,
  }));
}

/**
 * Stores a table of prices as an import would: bars, and coverage from each symbol's first bar to
 * its last complete one.
 */
export function storePrices(
  database: CommandDatabase,
  table: string,
  source: PriceSource = 'csv',
): void {
  const bars = readPrices(table);
  const stamp = { source, recordedAt: '2025-01-01T00:00:00.000Z' };
  database.transaction(() => {
    storeBars(database, bars, stamp);
    for (const [symbol, series] of Map.groupBy(bars, (bar) => bar.symbol)) {
      const dates = series
        .filter(({ close }) => close !== null)
        .map(({ date }) => date)
        .sort();
      const [startDate, endDate] = [dates[0], dates.at(-1)];
      if (startDate && endDate) addCoverage(database, { symbol, startDate, endDate }, stamp);
    }
  });
}

/** The words of a text table, line by line. */
export function rowsOf(table: string): string[][] {
  return table
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(/\s+/));
}
