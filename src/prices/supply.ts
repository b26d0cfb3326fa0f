import assert from 'node:assert/strict';
import { type CalendarDate, type Clock, addDays, dateOf } from '../calendar.ts';
import type { Database } from '../database/database.ts';
import { storedPrices, symbolsWithAdjustedPrices } from '../database/prices.ts';
import { heldBefore } from '../database/sessions.ts';
import type { Log } from '../log.ts';
import type { Settings } from '../settings.ts';
import { createAlphaVantage } from './alpha-vantage.ts';
import { type DatePrices, examineDates } from './coverage.ts';
import { type DownloadContext, type DownloadReport, type SymbolNeed, downloadPrices } from './download.ts';
import { downloadOrder } from './download-order.ts';
import { createPatience } from './patience.ts';
import { SPLIT_HISTORY_DAYS, askForSplits, findJumps } from './splits.ts';
import { makeSyntheticPrices } from './synthetic.ts';
import { downloadWarnings, gapWarnings, jumpWarnings } from './warnings.ts';

export interface PriceContext {
  database: Database;
  clock: Clock;
  log: Log;
  settings: Settings;
}

export interface PriceRequest {
  /** In order; none in the future. */
  dates: readonly CalendarDate[];
  universe: readonly string[];
  /** The models whose holdings are supplied with prices too, where possible. */
  models: readonly string[];
  signal: AbortSignal;
  /** How many downloads the provider still allows, where that is known. */
  downloadsLeft?: number | null;
  onProgress?: DownloadContext['onProgress'];
}

export interface PriceSupply {
  dates: DatePrices[];
  warnings: string[];
  /** Null when the provider was not needed. */
  report: DownloadReport | null;
}

/** Supplies the missing prices as far as mode and provider allow, and reports what is still missing. */
export async function supplyPrices(context: PriceContext, request: PriceRequest): Promise<PriceSupply> {
  const { database, settings } = context;
  const [firstDate, lastDate] = [request.dates[0], request.dates.at(-1)];
  if (firstDate === undefined || lastDate === undefined) return { dates: [], warnings: [], report: null };
  const held = heldBefore(database, request.models, firstDate);
  const outside = held.symbols.filter((symbol) => !request.universe.includes(symbol));
  const needs = symbolNeeds(context, request, outside);
  const warnings: string[] = [];
  let report: DownloadReport | null = null;
  const reason = reasonForNoDownload(settings);
  const download = reason === null ? connect(context, request) : null;
  if (needs.length > 0) {
    if (usesSyntheticPrices(settings)) await makeSyntheticPrices(context, examine(context, request));
    else if (download !== null) report = await downloadPrices(download, needs);
    else warnings.push(`Price data is not downloaded: ${reason}`);
  }
  const from = addDays(held.since < firstDate ? held.since : firstDate, -SPLIT_HISTORY_DAYS);
  const symbols = [...request.universe, ...outside];
  const jumps = () => findJumps(database, symbols, { from, to: lastDate });
  if (download !== null && report?.stop == null) await askForSplits(download, await jumps());
  const dates = examine(context, request, requiredSymbols(context, request.universe, report));
  if (report !== null) {
    warnings.push(...downloadWarnings(report, { dates, waitedMs: download?.patience.waitedMs ?? 0 }));
    logReport(context.log, report);
  }
  warnings.push(...gapWarnings(dates, request.universe), ...jumpWarnings(await jumps()));
  return { dates, warnings, report };
}

/** In DEV without a provider's key, prices are made up. */
function usesSyntheticPrices({ deploymentMode, alphaVantageApiKey }: Settings): boolean {
  return deploymentMode === 'DEV' && alphaVantageApiKey === null;
}

function reasonForNoDownload({ autoDownloadPriceData, alphaVantageApiKey }: Settings): string | null {
  if (alphaVantageApiKey === null) return 'ALPHAADVANTAGE_API_KEY is not set';
  return autoDownloadPriceData ? null : 'AUTO_DOWNLOAD_PRICE_DATA is false';
}

function connect({ database, clock, settings }: PriceContext, { signal, onProgress }: PriceRequest): DownloadContext {
  const { alphaVantageBaseUrl: baseUrl, alphaVantageApiKey: apiKey } = settings;
  assert(apiKey !== null, 'nothing is downloaded without a key');
  const provider = createAlphaVantage({
    baseUrl,
    apiKey,
    today: () => dateOf(clock()),
  });
  const patience = createPatience({ maxLimitWaitMs: settings.maxRateLimitWaitMs, signal });
  return { database, clock, provider, patience, signal, onProgress };
}

/** Which dates the stored prices allow. Without `required` symbols any known price is enough. */
function examine(
  { database, settings }: PriceContext,
  { dates, universe }: { dates: readonly CalendarDate[]; universe: readonly string[] },
  required: ReadonlySet<string> = new Set(),
): DatePrices[] {
  const [startDate, endDate] = [dates.at(0), dates.at(-1)];
  assert(startDate !== undefined && endDate !== undefined, 'a request for prices has dates');
  const stored = storedPrices(database, universe, { startDate, endDate, synthetic: usesSyntheticPrices(settings) });
  return examineDates(dates, { universe, stored, required });
}

/**
 * What to download, the most useful first: symbols that dates require, then those with partial bars, then holdings outside
 * the universe.
 */
function symbolNeeds(context: PriceContext, request: PriceRequest, outside: readonly string[]): SymbolNeed[] {
  const today = dateOf(context.clock());
  const inUniverse = examine(context, request);
  const ofHeld = outside.length > 0 ? examine(context, { ...request, universe: outside }) : [];
  const spans = new Map<string, SymbolNeed>();
  for (const { date, missing, partial } of [...inUniverse, ...ofHeld]) {
    for (const symbol of date < today ? [...missing, ...partial] : missing)
      spans.set(symbol, { symbol, first: spans.get(symbol)?.first ?? date, last: date });
  }
  const order = new Set([...downloadOrder(inUniverse, request.downloadsLeft ?? null), ...spans.keys()]);
  const adjusted = symbolsWithAdjustedPrices(context.database, [...order]);
  return [...order]
    .filter((symbol) => !adjusted.has(symbol))
    .slice(0, request.downloadsLeft ?? undefined)
    .flatMap((symbol) => spans.get(symbol) ?? []);
}

/**
 * The symbols without which a date is not run: all that the provider can still supply; none when nothing can be downloaded.
 * Symbols with adjusted prices from another source are never required.
 */
function requiredSymbols(
  { database, settings }: PriceContext,
  universe: readonly string[],
  report: DownloadReport | null,
): Set<string> {
  if (reasonForNoDownload(settings) !== null) return new Set();
  const isUseless = report?.stop && report.stop.problem !== 'short_limit' && report.stop.problem !== 'daily_quota';
  if (isUseless) return new Set();
  const adjusted = symbolsWithAdjustedPrices(database, universe);
  return new Set(universe.filter((symbol) => !adjusted.has(symbol) && !report?.unreadable.has(symbol)));
}

function logReport(log: Log, { wanted, downloaded, stop, unreadable }: DownloadReport): void {
  log.info('price data downloaded', { downloaded: downloaded.length, wanted, ...(stop && { stop: stop.message }) });
  for (const [symbol, problem] of unreadable) log.warning('price data of a symbol cannot be read', { symbol, problem });
}
