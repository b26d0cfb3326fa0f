import { addDays, type CalendarDate } from '#time/calendar.ts';
import type { Database, Reader } from '#database/database.ts';
import {
  modelsOfJob,
  readWarnings,
  type StoredWarnings,
  warnedSubjects,
} from '#database/job-queries.ts';
import { symbolsWithAdjustedPrices } from '#database/prices.ts';
import { staleModelDays } from '#database/stale.ts';
import { findBoard } from '#domain/market-rules.ts';
import type { Warning } from '#domain/vocabulary.ts';
import type { AgentConfiguration } from '#settings/configuration-schema.ts';
import type { ContradictedSplit } from '#database/splits-and-dividends.ts';
import { suspectedKinds, type Suspicion } from '#database/suspicion-queries.ts';
import { count, compact, list } from '#text/sentences.ts';
import type { DatePrices } from './needs.ts';
import { describeContradictions } from './split-nights.ts';
import { kinds, MAX_NAMED, suspicionKey, suspicionWarnings } from './suspected.ts';
import type { Problem, RefusedBar } from './provider.ts';
import type { DownloadReport, PriceRequest } from './download.ts';

/** The warnings of a job about prices. */

const RETRY_ADVICE: Partial<Record<Problem, string>> = {
  daily_quota: "try again tomorrow, when the provider's daily quota is reset",
  short_limit: 'try again in a few minutes',
};

/** Splits and dividends, and symbols with implausible bars, that one warning names. */
const MAX_NAMED_ACTIONS = 5;

/**
 * Symbols that cannot be traded on some of the available dates, because their prices are unknown;
 * members of a universe by name, also where a provider does not have them.
 */
export function gapWarnings(
  dates: readonly DatePrices[],
  { universe, members }: Pick<PriceRequest, 'universe' | 'members'>,
): string[] {
  const available = dates.filter(({ availability }) => availability === 'available');
  const missing = new Set(available.flatMap((date) => (members ? date.unpriced : date.missing)));
  return missing.size === 0
    ? []
    : [
        `${haveOf(missing.size, universe.length)} no prices on some dates and cannot be traded then: ` +
          list([...missing].sort()),
      ];
}

/** "1 of 4 symbols has", "2 of 4 symbols have". */
function haveOf(some: number, all: number): string {
  return `${some} of ${count(all, 'symbol')} ${some === 1 ? 'has' : 'have'}`;
}

/** Of a universe in which some symbols have real prices and the others made-up ones. */
export function mixWarnings(real: ReadonlySet<string>, universe: readonly string[]): Warning[] {
  const synthetic = universe.length - real.size;
  if (real.size === 0 || synthetic === 0) return [];
  const message =
    `Only ${haveOf(real.size, universe.length)} real prices (${list([...real].sort())}); the others have synthetic ones. ` +
    'To trade only real prices, cancel the job and name only these symbols in stock_symbols or the universe';
  return [{ code: 'mixed_prices', message }];
}

/** Of a market with price limits, which prices that are adjusted for splits do not show. */
export function limitWarnings(
  reader: Reader,
  { market, stock_symbols: symbols }: Pick<AgentConfiguration, 'market' | 'stock_symbols'>,
): string[] {
  const limited = symbols.filter((symbol) => findBoard(market, symbol).price_limit !== null);
  const free = symbolsWithAdjustedPrices(reader, limited);
  if (free.size === 0) return [];
  return [
    `${haveOf(free.size, symbols.length)} no price limit, because the prices are adjusted for splits: ` +
      `${list([...free], { most: MAX_NAMED_ACTIONS })}. Import raw prices instead (import-prices FILE --as raw)`,
  ];
}

/** The wait at the limits of all providers. */
export function waitWarnings(waitedMs: number): string[] {
  return waitedMs > 0
    ? [`Waited ${count(Math.round(waitedMs / 1000), 'second')} at the price provider's rate limit`]
    : [];
}

/**
 * The warnings about downloads from one provider: of prices for some dates, or for null of
 * dividends.
 */
export function downloadWarnings(
  report: DownloadReport,
  dates: readonly DatePrices[] | null,
): (string | Warning)[] {
  return [
    ...stopWarnings(report, dates),
    ...reachWarnings(report, dates ?? []),
    ...contentWarnings(report),
  ];
}

/** What the provider or the customer's plan does not have. */
function reachWarnings(report: DownloadReport, dates: readonly DatePrices[]): (string | Warning)[] {
  const { isFullRefused, beyond, withoutActions, unpublished, history, unknown, unit } = report;
  const missing = missingDates(dates);
  const left = missing.filter((date) => beyond.dates.includes(date));
  const pending = missing.filter((date) => unpublished.includes(date));
  const [lacks, where] =
    unit === 'symbol' ? ['does not know', ''] : ['has no prices of', ' on these dates'];
  return compact<string | Warning>([
    isFullRefused &&
      "The price provider's free plan covers only the last 100 trading days. Older dates have no prices: " +
        'import them from a file (import-prices), or use another plan',
    left.length > 0 &&
      `The price provider's plan does not include ${count(left.length, 'date')} (${beyond.message}): ${list(left)}`,
    ...[...withoutActions].map(
      ([kind, message]) =>
        `The price provider's plan does not include ${kind}, so none are known (${message})`,
    ),
    pending.length > 0 && {
      code: 'not_out_yet',
      message:
        `The price provider has not published all prices of ${count(pending.length, 'date')} yet; ` +
        `the next job requests them again: ${list(pending)}`,
    },
    history !== null && historyWarning(history),
    unknown.length > 0 &&
      `The price provider ${lacks} ${count(unknown.length, 'symbol')}${where}: ${list(unknown)}`,
  ]);
}

function historyWarning({ before, wanted, found }: NonNullable<DownloadReport['history']>): string {
  const which = found === 0 ? 'None' : `Only ${found}`;
  const have = found < 2 ? 'has' : 'have';
  const days = count(wanted, 'trading day');
  return `${which} of the ${days} before ${before} ${have} prices, so models see a shorter price history`;
}

/** Warnings about the content of the provider's responses. */
function contentWarnings(report: DownloadReport): string[] {
  const { unreadable, revisions, refusedBars, refusedActions, skippedActions, syntheticReplaced } =
    report;
  const revised = revisions.values().reduce((total, number) => total + number, 0);
  const symbolList = (counts: ReadonlyMap<string, unknown>) => list([...counts.keys()].sort());
  const [firstUnreadable] = unreadable.values();
  return compact([
    unreadable.size > 0 &&
      `The price provider sent unusable responses for ${symbolList(unreadable)}: ${firstUnreadable}`,
    revisions.size > 0 &&
      `The price provider corrected ${count(revised, 'daily price')} (${symbolList(revisions)}). ` +
        'The old values are kept in price_revisions; model-days that used them become stale',
    refusedBars.length > 0 && refusedBarsWarning(refusedBars),
    refusedActions.length > 0 &&
      `Rejected ${refusedActions.length} of the price provider's splits and dividends: ${describeReasons(refusedActions)}`,
    skippedActions > 0 &&
      `Skipped ${skippedActions} of the price provider's splits and dividends: unreadable, and outside the dates of the job`,
    syntheticReplaced.length > 0 &&
      `Real prices replaced the synthetic prices of ${count(syntheticReplaced.length, 'symbol')}: ${list(syntheticReplaced)}`,
  ]);
}

/** Some symbols, each with the reason why something of it was refused. */
function describeReasons(refused: readonly RefusedBar[]): string {
  const named = refused.map(({ symbol, reason }) => `${symbol} (${reason})`);
  return list(named, { most: MAX_NAMED_ACTIONS });
}

/** Names each symbol, with the reason of its first bar. */
function refusedBarsWarning(refusedBars: readonly RefusedBar[]): string {
  const first = new Map(refusedBars.toReversed().map((bar) => [bar.symbol, bar]));
  const bars = [...first.values()].sort((one, other) => (one.symbol < other.symbol ? -1 : 1));
  return `Rejected ${count(refusedBars.length, 'implausible daily price')}: ${describeReasons(bars)}`;
}

function missingDates(dates: readonly DatePrices[]): string[] {
  return dates.filter(({ availability }) => availability === 'missing').map(({ date }) => date);
}

function stopWarnings(
  { stop, downloaded, wanted, unit, keyVariable }: DownloadReport,
  dates: readonly DatePrices[] | null,
): string[] {
  if (stop === null) return [];
  const progress = `${downloaded.length} of ${wanted} ${unit}s downloaded`;
  const reasons: Partial<Record<Problem, string>> = {
    bad_key: `rejects the key in ${keyVariable}`,
    premium: 'limits daily prices to paying customers',
    unreachable: 'cannot be reached',
  };
  const again = RETRY_ADVICE[stop.problem];
  if (again === undefined) {
    const reason = reasons[stop.problem] ?? 'returned nothing';
    return [`The price provider ${reason} (${stop.message}): ${progress}`];
  }
  if (dates === null) return [`Rate limit reached: ${progress}; ${again}`];
  const left = missingDates(dates);
  const consequence =
    left.length === 0
      ? 'No date is left out'
      : `${count(left.length, 'date')} left out: ${list(left)}`;
  return [`Rate limit reached: ${progress}`, `${consequence}; ${again}`];
}

/** Splits and what prices are stored as, where they contradict each other. */
export function contradictionWarnings(contradicted: readonly ContradictedSplit[]): string[] {
  const sentences = describeContradictions(contradicted);
  const rest = sentences.splice(MAX_NAMED).length;
  if (rest > 0)
    sentences.push(
      `${count(rest, 'more split contradicts', 'more splits contradict')} the stored prices`,
    );
  return sentences;
}

/**
 * The warnings of a job as they are now: what is settled is no longer asked about. With the job's
 * id the sentence on it says what of the job is stale, which takes a while for each model;
 * undefined without any.
 */
export function currentWarnings(reader: Reader, stored: StoredWarnings, jobId?: string) {
  return readWarnings(stored)?.flatMap((warning): Warning[] => {
    const { code, about = [] } = warning;
    const kind = suspectedKinds.find((own) => code === `possible_${own}`);
    // Of more it has only counted some.
    if (kind === undefined || about.length === MAX_NAMED) return [warning];
    const { find, noun } = kinds[kind];
    const settled: string[] = [];
    const left = about.flatMap((key) => {
      const [symbol = '', date = ''] = key.split(' ');
      const [found] = find(reader, [symbol], { from: addDays(date, -1), to: date });
      if (found === undefined) settled.push(`${symbol} on ${date}`);
      return found === undefined ? [] : { ...found, date };
    });
    if (settled.length === 0) return [warning];
    const message = `Settled since: ${noun.toLowerCase()} of ${list(settled)}${staleClause(reader, jobId)}`;
    return [...suspicionWarnings(left), { code: null, message }];
  });
}

/** The stale model-days of a job as a clause; '' without any, and without a job. */
function staleClause(reader: Reader, jobId?: string): string {
  const models = jobId === undefined ? [] : modelsOfJob(reader, jobId);
  const { total, remedy } = staleModelDays(reader, models, { most: 0, jobId });
  return total === 0 ? '' : `; stale now: ${count(total, 'model-day')} of this job; ${remedy}`;
}

/**
 * Of the jumps that are news to the readers of a job: those on its own dates, which are in its
 * results, and the earlier ones that no job has warned of.
 */
export function jumpWarnings(
  database: Database,
  jumps: readonly Suspicion[],
  firstDate: CalendarDate,
): Warning[] {
  const said = warnedSubjects(database, 'possible_split');
  const isNews = (jump: Suspicion) => jump.date >= firstDate || !said.has(suspicionKey(jump));
  return suspicionWarnings(jumps.filter(isNews));
}
