import type { Jump } from '../database/splits.ts';
import { count, list } from '../sentences.ts';
import type { DatePrices } from './coverage.ts';
import type { DownloadReport } from './download.ts';
import type { Problem } from './provider.ts';

/** The warnings of a job about prices. */

const WHEN_TO_TRY_AGAIN: Partial<Record<Problem, string>> = {
  daily_quota: "try again tomorrow, when the provider's daily quota is reset",
  short_limit: 'try again in a few minutes',
};

/** Symbols that cannot be traded on some of the available dates, because their prices are unknown. */
export function gapWarnings(dates: readonly DatePrices[], universe: readonly string[]): string[] {
  const available = dates.filter(({ availability }) => availability === 'available');
  const missing = new Set(available.flatMap((date) => date.missing));
  return missing.size === 0
    ? []
    : [`${missing.size} of ${universe.length} symbols have no price data on some of the dates`];
}

/** The warnings about a job's downloads. */
export function downloadWarnings(
  report: DownloadReport,
  { dates, waitedMs }: { dates: readonly DatePrices[]; waitedMs: number },
): string[] {
  const { unknown, unreadable, revisions, refusedBars, syntheticReplaced, isFullRefused } = report;
  const sum = (counts: Map<string, number>) => [...counts.values()].reduce((total, number) => total + number, 0);
  const symbolsOf = (counts: ReadonlyMap<string, unknown>) => list([...counts.keys()].sort());
  const [firstUnreadable] = unreadable.values();
  return [
    ...stopWarnings(report, dates),
    ...(waitedMs > 0
      ? [`Waited ${count(Math.round(waitedMs / 1000), 'second')} at the price provider's rate limit`]
      : []),
    ...(isFullRefused
      ? ['The price provider limits more than the last 100 days to paying customers (premium): older dates stay without prices']
      : []),
    ...(unknown.length > 0
      ? [`The price provider does not know ${count(unknown.length, 'symbol')}: ${list(unknown)}`]
      : []),
    ...(unreadable.size > 0
      ? [`The price provider's responses for ${symbolsOf(unreadable)} could not be used: ${firstUnreadable}`]
      : []),
    ...(revisions.size > 0 ? [revisionWarning(sum(revisions), symbolsOf(revisions))] : []),
    ...(refusedBars.size > 0
      ? [`${count(sum(refusedBars), 'bar')} were not plausible and not stored: ${symbolsOf(refusedBars)}`]
      : []),
    ...(syntheticReplaced.length > 0
      ? [
          `Synthetic prices of ${count(syntheticReplaced.length, 'symbol')} were replaced by real ones: ${list(syntheticReplaced)}`,
        ]
      : []),
  ];
}

function revisionWarning(bars: number, symbols: string): string {
  return `${count(bars, 'bar')} differ from those stored before (${symbols}); the old values are kept in price_revisions`;
}

function stopWarnings({ stop, downloaded, wanted }: DownloadReport, dates: readonly DatePrices[]): string[] {
  if (stop === null) return [];
  const progress = `${downloaded.length} of ${wanted} symbols downloaded`;
  const again = WHEN_TO_TRY_AGAIN[stop.problem];
  if (again === undefined)
    return [`${REASONS[stop.problem] ?? 'The price provider returned nothing'} (${stop.message}): ${progress}`];
  const left = dates.filter(({ availability }) => availability === 'missing').map(({ date }) => date);
  const consequence =
    left.length === 0 ? 'No date is left out' : `${count(left.length, 'date')} left out: ${list(left)}`;
  return [`Rate limit reached: ${progress}`, `${consequence}; ${again}`];
}

const REASONS: Partial<Record<Problem, string>> = {
  bad_key: 'The price provider does not accept the key in ALPHAADVANTAGE_API_KEY',
  premium: 'The price provider limits daily prices to paying customers',
  unreachable: 'The price provider cannot be reached',
};

/** Jumps of raw prices that no provider has explained. */
export function jumpWarnings(jumps: readonly Jump[]): string[] {
  if (jumps.length === 0) return [];
  const named = jumps.map(
    ({ symbol, date, previousClose, open }) => `${symbol} on ${date} (${previousClose} to ${open})`,
  );
  return [`Possible ${jumps.length === 1 ? 'split' : 'splits'}, not confirmed by a provider: ${list(named, 10)}`];
}
