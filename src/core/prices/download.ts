import assert from 'node:assert/strict';
import {
  addDays,
  type CalendarDate,
  type Clock,
  utcDate,
  timestamp,
  weekdays,
  weekdaysBefore,
} from '#time/calendar.ts';
import {
  COMPACT_BARS,
  type OutputSize,
  type Failed,
  type Patience,
  type PatienceOptions,
  type PriceProvider,
  type RefusedBar,
  type SymbolProvider,
} from './provider.ts';
import type { Database } from '#database/database.ts';
import { datesOfOtherProviders } from '#database/market-queries.ts';
import { addCoverage, type Bar, replaceBars, revisedBars } from '#database/prices.ts';
import type { Member } from '#settings/configuration-schema.ts';
import type { Log } from '#process/log.ts';
import type { Settings } from '#settings/settings.ts';

/** What the downloads from one provider came to. */
export type DownloadReport = ReturnType<typeof emptyReport>;

/** The report before the first download. */
export function emptyReport(unit: 'symbol' | 'day', keyVariable: string, wanted = 0) {
  return {
    /** What one download supplies. */
    unit,
    /** The setting that holds the provider's key. */
    keyVariable,
    wanted,
    /** Symbols, or dates: those that were wanted. */
    downloaded: [] as string[],
    /** Why the downloads ended before the last one. */
    stop: null as Pick<Failed, 'problem' | 'message'> | null,
    /** Symbols that the provider does not know. */
    unknown: [] as string[],
    /**
     * Symbols, dates or lists (of splits, of dividends) whose response could not be read, with the
     * reason.
     */
    unreadable: new Map<string, string>(),
    /** Whether the provider limits more than the last 100 bars to paying customers. */
    isFullRefused: false,
    /** Bars that differ from those stored, by symbol. */
    revisions: new Map<string, number>(),
    /** Implausible bars, which were not stored. */
    refusedBars: [] as RefusedBar[],
    /** Bars of symbols that were not asked for. */
    others: 0,
    /** Symbols whose synthetic prices were replaced. */
    syntheticReplaced: [] as string[],
    /** Dates that the customer's plan does not include, and the provider's words for it. */
    beyond: { dates: [] as CalendarDate[], message: '' },
    /** Dates of which bars may still be published. */
    unpublished: [] as CalendarDate[],
    /** Lists that the customer's plan does not include, with the provider's words. */
    withoutActions: new Map<'splits' | 'dividends', string>(),
    /** Splits and dividends that cannot be used, with the reason. */
    refusedActions: [] as { symbol: string; reason: string }[],
    /** How many others cannot be read, outside the dates asked for. */
    skippedActions: 0,
    /**
     * The trading days before a date: how many are wanted, and how many have prices. Null where
     * nothing was asked for them.
     */
    history: null as { before: CalendarDate; wanted: number; found: number } | null,
  };
}

/**
 * The downloads end at a response: a provider that sends nothing readable counts as unreachable.
 */
export function stopAt(report: DownloadReport, { problem, message }: Failed): void {
  report.stop = { problem: problem === 'unreadable' ? 'unreachable' : problem, message };
}

/** Where what is stored comes from, and when it came. */
export function newStamp({ source }: PriceProvider, clock: Clock) {
  return { source, recordedAt: timestamp(clock()) };
}

/**
 * After this many days a provider has certainly published a day; a bar still missing then will
 * never come.
 */
const SETTLED_AFTER_DAYS = 3;
/** After this many unreadable responses in a row, the provider counts as unreachable. */
export const MAX_UNREADABLE_IN_A_ROW = 3;

/** A symbol to download, with the first and last date that lack its price. */
export interface SymbolNeed {
  symbol: string;
  first: CalendarDate;
  last: CalendarDate;
}

export interface DownloadContext<Provider extends PriceProvider = PriceProvider> {
  database: Database;
  clock: Clock;
  provider: Provider;
  /** The setting that holds the provider's key. */
  keyVariable: string;
  patience: Patience;
  signal: AbortSignal;
  /** `item`: a symbol or a date. */
  onProgress?: ((progress: { done: number; total: number; item: string }) => void) | undefined;
}

/**
 * Downloads symbols one after another in the given order, until all are stored or the provider
 * stops it. Each symbol is stored as soon as it arrives, with its coverage, so a symbol that the
 * provider does not know, or a day without trading, is not requested again.
 */
export async function downloadPrices(
  context: DownloadContext<SymbolProvider>,
  needs: readonly SymbolNeed[],
): Promise<DownloadReport> {
  const report = emptyReport('symbol', context.keyVariable, needs.length);
  const lastBars = new Map<string, CalendarDate>();
  let unreadableInARow = 0;
  for (const [index, need] of needs.entries()) {
    context.onProgress?.({ done: index, total: needs.length, item: need.symbol });
    const asked = await requestBars(context, need, report);
    if (context.signal.aborted) break;
    if (asked === null) continue;
    const { response, size } = asked;
    unreadableInARow = response.problem === 'unreadable' ? unreadableInARow + 1 : 0;
    if (response.problem === undefined) {
      const last = await storeSymbol(context, { ...need, ...response.value, size }, report);
      if (last !== undefined) lastBars.set(need.symbol, last);
    } else if (response.problem === 'unknown_symbol') await coverUnknown(context, need, report);
    else if (response.problem === 'unreadable' && unreadableInARow < MAX_UNREADABLE_IN_A_ROW)
      report.unreadable.set(need.symbol, response.message);
    else {
      stopAt(report, response);
      break;
    }
  }
  await coverPublished(context, lastBars);
  if (report.stop === null) report.unpublished = unpublishedDates(needs, lastBars);
  return report;
}

/** Null when no response available to this customer would help. */
async function requestBars(
  { provider, patience, signal, clock }: DownloadContext<SymbolProvider>,
  { symbol, first, last }: SymbolNeed,
  report: DownloadReport,
) {
  const ask = async (size: OutputSize) => ({
    size,
    response: await patience.ask(() => provider.daily(symbol, size, signal)),
  });
  // The first date that the last 100 bars certainly include: holidays only make them reach further
  // back.
  const [compactStart] = weekdaysBefore(addDays(utcDate(clock()), 1), COMPACT_BARS);
  assert(compactStart !== undefined, 'there are weekdays before every date');
  if (first >= compactStart) return ask('compact');
  if (!report.isFullRefused) {
    const full = await ask('full');
    if (full.response.problem !== 'premium') return full;
    report.isFullRefused = true;
  }
  return last >= compactStart ? ask('compact') : null;
}

/**
 * Stores the bars of a symbol and what they cover. Resolves to the date of the last bar before
 * today.
 */
async function storeSymbol(
  { database, clock, provider }: DownloadContext,
  {
    symbol,
    first,
    bars,
    refused,
    size,
  }: SymbolNeed & { bars: Bar[]; refused: RefusedBar[]; size: OutputSize },
  report: DownloadReport,
): Promise<CalendarDate | undefined> {
  const stamp = newStamp(provider, clock);
  const today = utcDate(clock());
  report.refusedBars.push(...refused);
  const others = datesOfOtherProviders(database, symbol, provider.source);
  const own = bars.filter(({ date }) => !others.has(date));
  const { number, replaced } = await database.write(() => replaceBars(database, own, stamp));
  report.syntheticReplaced.push(...replaced);
  const revisions = revisedBars(database, [symbol], number).length;
  if (revisions > 0) report.revisions.set(symbol, revisions);
  report.downloaded.push(symbol);
  // The whole history, or fewer bars than requested, leaves nothing unknown before its first bar.
  const isWhole = size === 'full' || bars.length + refused.length < COMPACT_BARS;
  const firstBar = bars[0]?.date ?? first;
  const startDate = isWhole && first < firstBar ? first : firstBar;
  const lastBar = bars.findLast(({ date }) => date < today)?.date;
  const settled = addDays(today, -SETTLED_AFTER_DAYS);
  const endDate = lastBar !== undefined && lastBar > settled ? lastBar : settled;
  if (startDate <= endDate)
    await database.write(() => addCoverage(database, { symbol, startDate, endDate }, stamp));
  return lastBar;
}

/** Covers a symbol that the provider does not have: requesting it again would be pointless. */
async function coverUnknown(
  { database, clock, provider }: DownloadContext,
  { symbol, first: startDate }: SymbolNeed,
  { unknown }: DownloadReport,
): Promise<void> {
  unknown.push(symbol);
  const endDate = addDays(utcDate(clock()), -1);
  const stamp = newStamp(provider, clock);
  if (startDate <= endDate)
    await database.write(() => addCoverage(database, { symbol, startDate, endDate }, stamp));
}

/**
 * The last date on which at least half of the symbols have a bar, given the date of each one's last
 * bar.
 */
function publishedThrough(lastBars: ReadonlyMap<string, CalendarDate>): CalendarDate | undefined {
  return [...lastBars.values()].sort()[Math.floor(lastBars.size / 2)];
}

/**
 * The weekdays that were asked for and of which the provider may still publish prices, unless they
 * are covered by now.
 */
function unpublishedDates(
  needs: readonly SymbolNeed[],
  lastBars: ReadonlyMap<string, CalendarDate>,
): CalendarDate[] {
  const published = publishedThrough(lastBars);
  const last = needs
    .map((need) => need.last)
    .sort()
    .at(-1);
  return published === undefined || last === undefined ? [] : weekdays(addDays(published, 1), last);
}

/**
 * A day on which the provider has bars of at least half the symbols is published: the others did
 * not trade.
 */
async function coverPublished(
  { database, clock, provider }: DownloadContext,
  lastBars: Map<string, CalendarDate>,
): Promise<void> {
  const published = publishedThrough(lastBars);
  if (published === undefined) return;
  const stamp = newStamp(provider, clock);
  await database.write(() => {
    for (const [symbol, startDate] of lastBars)
      if (startDate < published)
        addCoverage(database, { symbol, startDate, endDate: published }, stamp);
  });
}

export interface PriceContext {
  database: Database;
  clock: Clock;
  log: Log;
  settings: Settings;
  /** Replaced in tests, which do not wait. */
  wait?: PatienceOptions['wait'];
}

export interface PriceRequest {
  /** In order; none in the future. */
  dates: readonly CalendarDate[];
  universe: readonly string[];
  /** Of a universe as of a date: on each, only its members decide whether it is available. */
  members?: readonly Member[] | undefined;
  /**
   * Whether prices of a symbol are to be asked for on a date, or count where it has a bar, as far as
   * exchanges tell; without it all are.
   */
  trades?: ((symbol: string, date: CalendarDate, hasBar: boolean) => boolean) | undefined;
  /** The models whose holdings are supplied with prices too, where possible. */
  models: readonly string[];
  signal: AbortSignal;
  /** How many downloads the provider still allows, where that is known. */
  downloadsLeft?: number | null;
  /**
   * Whether limits are waited out for the trading days before the first date too, though the dates
   * are complete.
   */
  waitsForHistory?: boolean;
  onProgress?: DownloadContext['onProgress'];
}
