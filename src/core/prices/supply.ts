import { addDays, type CalendarDate } from '#time/calendar.ts';
import { symbolsWithAdjustedPrices } from '#database/prices.ts';
import { priorHoldings } from '#database/active-days.ts';
import type { Suspicion } from '#database/suspicion-queries.ts';
import type { Warning } from '#domain/vocabulary.ts';
import type { Log } from '#process/log.ts';
import type { Settings } from '#settings/settings.ts';
import {
  askForSplits,
  downloadSplits,
  findContradictions,
  findJumps,
  SPLIT_HISTORY_DAYS,
} from './corporate-actions.ts';
import { withExchanges } from './exchanged.ts';
import { type DatePrices, examine, symbolNeeds, wantedDays } from './needs.ts';
import {
  type DownloadContext,
  downloadPrices,
  type DownloadReport,
  emptyReport,
  type PriceContext,
  type PriceRequest,
} from './download.ts';
import { countHistory, downloadDates } from './download-dates.ts';
import { createPatience, type DateProvider } from './provider.ts';
import {
  connectProviders,
  hasPriceProvider,
  NO_PRICE_PROVIDER,
  usesSyntheticPrices,
} from './providers.ts';
import { makeSyntheticPrices } from './synthetic.ts';
import {
  contradictionWarnings,
  downloadWarnings,
  gapWarnings,
  jumpWarnings,
  waitWarnings,
} from './warnings.ts';

export interface PriceSupply {
  dates: DatePrices[];
  warnings: (string | Warning)[];
  /** One for each provider that was needed. */
  reports: DownloadReport[];
}

/**
 * Supplies the missing prices as far as mode and providers allow, and reports what is still
 * missing.
 */
export async function supplyPrices(
  context: PriceContext,
  asked: PriceRequest,
): Promise<PriceSupply> {
  const { database, settings } = context;
  const [firstDate, lastDate] = [asked.dates[0], asked.dates.at(-1)];
  if (firstDate === undefined || lastDate === undefined)
    return { dates: [], warnings: [], reports: [] };
  const held = priorHoldings(database, asked.models, firstDate);
  const outside = held.symbols.filter((symbol) => !asked.universe.includes(symbol));
  const request = withExchanges(database, asked, { outside, after: held.since, upTo: lastDate });
  const symbols = [...request.universe, ...outside];
  const warnings: PriceSupply['warnings'] = [];
  const reason = noDownloadReason(settings);
  const everything = { ...request, universe: symbols };
  if (usesSyntheticPrices(settings))
    await makeSyntheticPrices(context, examine(context, everything));
  else if (reason !== null && symbolNeeds(context, request, outside).length > 0)
    warnings.push(`Prices are not downloaded: ${reason}`);
  // Jumps matter since the models' holdings are known, and as far back as models look.
  const since = held.since < firstDate ? held.since : firstDate;
  const span = { from: addDays(since, -SPLIT_HISTORY_DAYS), to: lastDate };
  const jumps = () => findJumps(database, symbols, span);
  const providers = reason === null ? connectProviders(settings, context.clock) : [];
  const missing = { providers, outside, heldSince: held.since, jumps };
  const { reports, waitedMs, unsupplied } = await downloadMissing(context, request, missing);
  const dates = examineSupplied(context, request, { reports, unsupplied });
  for (const report of reports) {
    warnings.push(...downloadWarnings(report, dates));
    logReport(context.log, report);
  }
  warnings.push(
    ...waitWarnings(waitedMs),
    ...gapWarnings(dates, request),
    ...jumpWarnings(database, await jumps(), firstDate),
    ...contradictionWarnings(await findContradictions(database, symbols)),
  );
  return { dates, warnings, reports };
}

/** Why no price is downloaded; null when prices are. */
export function noDownloadReason(settings: Settings): string | null {
  if (!hasPriceProvider(settings)) return NO_PRICE_PROVIDER;
  return settings.autoDownloadPriceData ? null : 'AUTO_DOWNLOAD_PRICE_DATA is false';
}

interface DownloadPlan {
  providers: ReturnType<typeof connectProviders>;
  outside: readonly string[];
  heldSince: CalendarDate;
  jumps: () => Promise<Suspicion[]>;
}

interface DownloadResult {
  reports: DownloadReport[];
  waitedMs: number;
  /** Dates that no provider supplies: what is stored has to do. */
  unsupplied: ReadonlySet<CalendarDate>;
}

/**
 * The first provider supplies what it reaches, each further one the dates that are beyond those
 * before it.
 */
async function downloadMissing(
  context: PriceContext,
  request: PriceRequest,
  { providers, outside, heldSince, jumps }: DownloadPlan,
): Promise<DownloadResult> {
  const { settings, clock, database, wait } = context;
  const { signal, onProgress } = request;
  const reports: DownloadReport[] = [];
  let waitedMs = 0;
  let open: readonly CalendarDate[] = request.dates;
  let downloadsLeft = request.downloadsLeft ?? null;
  const unreadable: CalendarDate[] = [];
  for (const { provider, keyVariable } of providers) {
    const maxLimitWaitMs = Math.max(0, settings.maxRateLimitWaitMs - waitedMs);
    const patience = createPatience({
      maxLimitWaitMs,
      signal,
      ...(wait && { wait }),
      onFailure: ({ problem, message: reason }) =>
        context.log.warning('price request failed', { source: provider.source, problem, reason }),
    });
    const base = { database, clock, keyVariable, patience, signal, onProgress };
    const rest = { ...request, dates: open, downloadsLeft };
    let report: DownloadReport | null = null;
    if (open.length > 0 && provider.by === 'date') {
      const wanted = wantedDays(context, rest, { outside, heldSince });
      report = await downloadDates({ ...base, provider }, wanted);
    } else if (open.length > 0 && provider.by === 'symbol') {
      const needs = symbolNeeds(context, rest, outside);
      if (needs.length > 0) report = await downloadPrices({ ...base, provider }, needs);
    }
    if (report !== null) reports.push(report);
    if (downloadsLeft !== null)
      downloadsLeft = Math.max(0, downloadsLeft - (report?.downloaded.length ?? 0));
    if (report?.stop == null && !report?.withoutActions.has('splits') && !signal.aborted)
      await (provider.by === 'date'
        ? downloadJumpSplits({ ...base, provider }, await jumps())
        : askForSplits({ ...base, provider }, await jumps()));
    waitedMs += patience.waitedMs;
    if (report?.unit === 'day')
      unreadable.push(...open.filter((date) => report.unreadable.has(date)));
    open = report === null ? [] : open.filter((date) => isOutOfReach(report, date));
  }
  // A further provider may have supplied what an earlier report says is missing.
  for (const report of reports.slice(0, -1)) {
    if (report.history === null) continue;
    const found = countHistory(wantedDays(context, request, { outside, heldSince }));
    report.history = found < report.history.wanted ? { ...report.history, found } : null;
  }
  return { reports, waitedMs, unsupplied: new Set([...open, ...unreadable]) };
}

/** True if asking again tomorrow cannot help. */
function isOutOfReach({ stop, beyond }: DownloadReport, date: CalendarDate): boolean {
  const isUseless =
    stop !== null && stop.problem !== 'short_limit' && stop.problem !== 'daily_quota';
  return isUseless || beyond.dates.includes(date);
}

/** Splits of jumps before the period of which the splits are known. */
async function downloadJumpSplits(
  context: DownloadContext<DateProvider>,
  jumps: readonly Suspicion[],
): Promise<void> {
  const dates = jumps.map(({ date }) => date).sort();
  const [from, to] = [dates[0], dates.at(-1)];
  if (from === undefined || to === undefined) return;
  const symbols = [...new Set(jumps.map(({ symbol }) => symbol))];
  // The jump warnings say what stays unexplained.
  await downloadSplits(
    context,
    { symbols, from: addDays(from, -SETTLED_SPLIT_DAYS), to },
    emptyReport('day', context.keyVariable),
  );
}

/** A split may be dated on a day without trading before the jump. */
const SETTLED_SPLIT_DAYS = 7;

/**
 * Which dates can be simulated with what is stored now: those that a provider can still supply only
 * with all symbols, apart from symbols with adjusted prices from another source and unreadable
 * ones; the others with any.
 */
function examineSupplied(
  context: PriceContext,
  request: PriceRequest,
  { reports, unsupplied }: Pick<DownloadResult, 'reports' | 'unsupplied'>,
): DatePrices[] {
  const { universe, members } = request;
  const free = symbolsWithAdjustedPrices(context.database, universe);
  for (const { unit, unreadable } of reports)
    if (unit === 'symbol') for (const symbol of unreadable.keys()) free.add(symbol);
  const isDownloaded = noDownloadReason(context.settings) === null;
  const isRequired = (symbol: string, date: CalendarDate) =>
    isDownloaded && !unsupplied.has(date) && !free.has(symbol);
  return examine(context, request, { isRequired, members });
}

function logReport(
  log: Log,
  { unit, wanted, downloaded, others, stop, unreadable }: DownloadReport,
): void {
  log.info('price data downloaded', {
    unit,
    downloaded: downloaded.length,
    wanted,
    ...(others > 0 && { others }),
    ...(stop && { stop: stop.message }),
  });
  for (const [item, problem] of unreadable)
    log.warning('a response of a price provider cannot be read', { [unit]: item, problem });
}
