import { setImmediate } from 'node:timers/promises';
import { type CalendarDate, type Clock, addDays, dateOf, timestamp, weekdays } from '../calendar.ts';
import type { Database } from '../database/database.ts';
import { addCoverage, storeBars, storedPrices, symbolsWithRealPrices } from '../database/prices.ts';
import type { Settings } from '../settings.ts';
import { type DatePrices, examineDates } from './coverage.ts';
import { syntheticBars } from './synthetic.ts';

/** Synthetic bars reach this far before a job's first date, so that models have a history to look at. */
const SYNTHETIC_HISTORY_DAYS = 120;

export interface PriceContext {
  database: Database;
  clock: Clock;
  settings: Settings;
}

export interface PriceSupply {
  dates: DatePrices[];
  warnings: string[];
}

/** Looks at what is stored for the dates of a job, without fetching or making anything. */
export function examineStoredPrices(
  { database, settings }: PriceContext,
  dates: readonly CalendarDate[],
  universe: readonly string[],
): DatePrices[] {
  const [startDate, endDate] = [dates[0], dates.at(-1)];
  if (startDate === undefined || endDate === undefined) return [];
  const stored = storedPrices(database, universe, { startDate, endDate, synthetic: usesSyntheticPrices(settings) });
  return examineDates(dates, { universe, stored, oneBarIsEnough: true });
}

/** Supplies what is missing as far as the mode allows, and says what is still missing then. */
export async function supplyPrices(
  context: PriceContext,
  dates: readonly CalendarDate[],
  universe: readonly string[],
): Promise<PriceSupply> {
  const before = examineStoredPrices(context, dates, universe);
  if (before.every(({ missing }) => missing.length === 0)) return { dates: before, warnings: [] };
  const warnings: string[] = [];
  if (usesSyntheticPrices(context.settings)) await makeSyntheticPrices(context, before);
  else warnings.push(`Price data is not downloaded: ${reasonForNoDownload(context.settings)}`);
  const after = examineStoredPrices(context, dates, universe);
  return { dates: after, warnings: [...warnings, ...gapWarnings(after, universe)] };
}

/** DEV without a provider's key: prices are made, not fetched. */
function usesSyntheticPrices({ deploymentMode, alphaVantageApiKey }: Settings): boolean {
  return deploymentMode === 'DEV' && alphaVantageApiKey === null;
}

function reasonForNoDownload({ autoDownloadPriceData, alphaVantageApiKey }: Settings): string {
  if (!autoDownloadPriceData) return 'AUTO_DOWNLOAD_PRICE_DATA is false';
  return alphaVantageApiKey === null ? 'ALPHAADVANTAGE_API_KEY is not set' : 'this version has no price provider';
}

function gapWarnings(dates: readonly DatePrices[], universe: readonly string[]): string[] {
  const missing = new Set(
    dates.filter(({ availability }) => availability === 'available').flatMap((date) => date.missing),
  );
  return missing.size === 0
    ? []
    : [`${missing.size} of ${universe.length} symbols have no price data on some of the dates`];
}

/** Symbols that have real prices keep to them: a series is never real here and made there. */
async function makeSyntheticPrices({ database, clock }: PriceContext, dates: readonly DatePrices[]): Promise<void> {
  const incomplete = dates.filter(({ missing }) => missing.length > 0).map(({ date }) => date);
  const [first, last] = [incomplete[0], incomplete.at(-1)];
  if (first === undefined || last === undefined) return;
  const symbols = [...new Set(dates.flatMap(({ missing }) => missing))];
  const real = symbolsWithRealPrices(database, symbols);
  const startDate = addDays(first, -SYNTHETIC_HISTORY_DAYS);
  const today = dateOf(clock());
  const days = weekdays(startDate, last);
  const stamp = { source: 'synthetic', recordedAt: timestamp(clock()) } as const;
  for (const symbol of symbols.filter((name) => !real.has(name))) {
    const bars = syntheticBars(symbol, days, today);
    const endDate = last < today ? last : addDays(today, -1);
    database.transaction(() => {
      storeBars(database, bars, stamp);
      addCoverage(database, { symbol, startDate, endDate }, stamp);
    });
    await setImmediate(); // requests are answered between symbols
  }
}
