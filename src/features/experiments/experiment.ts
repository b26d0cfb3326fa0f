import assert from 'node:assert/strict';
import type { CalendarDate } from '#time/calendar.ts';
import type { JobWindow } from '#database/session-filters.ts';
import type { Database } from '#database/database.ts';
import { createSuspicionSearch, nameSuspicion } from '#prices/suspected.ts';
import { runsInWindow } from '../performance/queries.ts';
import { createCleanFilter, toModelReturns } from './counted-days.ts';
import {
  familyDays,
  earliestDay,
  type Family,
  latestDay,
  readFamilies,
  unusableReason,
} from './family.ts';
import type { BenchmarkReturn } from '../comparison/answer.ts';
import { compareModels } from '../comparison/comparison.ts';
import { type Looks, MIN_CONFIDENCE_DAILY } from '../comparison/looks.ts';
import { type Cutoff, MAX_CURVE_MODELS, MIN_CURVE_MODELS } from '../comparison/models.ts';
import type { ModelReturns, DayKey } from '../comparison/participants.ts';
import { invalidFilter } from '#domain/service-error.ts';
import { chooseBenchmark, reportBenchmark, daySpan } from '../performance/choose-benchmark.ts';
import type { Incomparability } from '../performance/comparability.ts';
import { compareRuns } from '../performance/model-reports.ts';
import { compareStudies, type TermDifference } from './study-terms.ts';
import { numberDates, type Numbering, type Numberings } from './numbering.ts';
import { type ChosenModel, selectModels, type WantedModels } from './selection.ts';

/** Feature: which runs and days of an experiment are compared. */

/** Which models to compare over which of their days. */
interface ExperimentRequest extends WantedModels {
  window: JobWindow;
  /** `clean`: only days after the latest knowledge cutoff of those compared. */
  days: 'all' | 'clean';
  /** Whether the days of two models meet by date, or by their number in the market of each. */
  align: 'date' | 'number';
  /** Above 0 and below 1; with `daily` at least MIN_CONFIDENCE_DAILY. */
  confidence: number;
  looks: Looks;
  /** Whether each pair has the curve of its difference: of two to four models. */
  curves: boolean;
  /** The name of a benchmark; undefined for the default. */
  benchmark?: string | undefined;
  /** The terms in which studies may differ that are compared. */
  differ: readonly TermDifference[];
}

export type Experiment = ReturnType<typeof runExperiment>;

/**
 * Reads the returns and compares them, as of one moment. Throws a `ServiceError` as `selectModels`
 * does, and for curves of too few or too many models.
 */
export function runExperiment(database: Database, request: ExperimentRequest) {
  const { window, against = null, confidence, looks } = request;
  const { startDate, endDate } = window;
  const runs = runsInWindow(database, window);
  const { models, leftOut, study, ...counts } = selectModels(runs, request);
  checkRequest(request, models.length);
  const all = readFamilies(database, models, window);
  const numberings: Numberings | null =
    request.align === 'number'
      ? new Map(all.map((own) => [own.model, numberDates(database, own, window)]))
      : null;
  const isClean = request.days === 'clean';
  const { cleanAfter, clean } = createCleanFilter(all, { isClean, areCompared: true, numberings });
  const compared: ModelReturns[] = [];
  const suspected = new Map<string, string[]>();
  const days = [...all.values().flatMap(familyDays)];
  const findSuspected = createSuspicionSearch(database, daySpan(days));
  for (const family of all) {
    const numbers = numberings?.get(family.model);
    const own = clean(family);
    const named = own.runs.flatMap(({ days: some }) => findSuspected(some).map(nameSuspicion));
    if (named.length > 0) suspected.set(family.model, named);
    compared.push(toModelReturns(own, (date) => numbers?.get(date) ?? date));
  }
  const { usualJobs, ...marks } = findIncomparableEntries(database, all, { leftOut, request });
  const comparison = compareModels({
    models: compared,
    against,
    window: { start: startDate ?? '', end: endDate ?? '' },
    confidence,
    looks,
    curves: request.curves,
    ...counts,
    suspected,
    ...marks,
    benchmarkOver: (days) =>
      benchmarkReturn(database, all, { days, usualJobs, wanted: request.benchmark }),
    cutoffOf(model, days) {
      const family = all.find((own) => own.model === model);
      assert(family, 'every model that is compared has a family');
      return measureCutoff(family, days, numberings?.get(model));
    },
  });
  return {
    /**
     * The window; where the request leaves an end open, the first or last model-day of those
     * compared; null without any.
     */
    startDate: startDate ?? earliestDay(days)?.date ?? null,
    endDate: endDate ?? latestDay(days)?.date ?? null,
    /** The latest knowledge cutoff, where only clean days are compared and there is one. */
    cleanAfter,
    /** Entries with too few model-days. */
    leftOutModels: leftOut.map(({ model }) => model),
    study,
    comparison,
  };
}

/** Respects in which a return is that of another market: one of them says who is not compared. */
const OTHER_MARKET: readonly Incomparability['kind'][] = ['universe', 'open'];

/**
 * In which respects entries traded on other terms than most, as the leaderboard marks them, and
 * which of them no sentence compares, with the entries that have too few model-days; the jobs in the
 * universe of most. By number, days of different markets are compared on purpose.
 */
function findIncomparableEntries(
  database: Database,
  families: readonly Family[],
  {
    leftOut: short,
    request: { align, differ },
  }: { leftOut: readonly ChosenModel[]; request: ExperimentRequest },
) {
  const runs = families.flatMap(({ model: family, runs: own }) =>
    own.flatMap(({ run, days }) => (days.length > 0 ? { family, model: run, days } : [])),
  );
  runs.sort((one, other) => (one.model < other.model ? -1 : 1)); // the first counts among equals
  const {
    incomparable: found,
    usualJobs,
    ...terms
  } = compareRuns(database, runs, { haveOwnDays: false });
  const { pairTerms, barred } = compareStudies(families, { ...terms, differ });
  // The first that has figures: in its universe is the benchmark, where there are several.
  const first = families.find((own) => [...familyDays(own)].length > 0 && !unusableReason(own));
  const isAcross = families.some(({ model }) => pairTerms(first?.model ?? '', model) !== null);
  const isOneMarket = align === 'date' && !isAcross;
  const incomparable = new Map<string, Incomparability[]>();
  const leftOut = new Map(short.map(({ model }) => [model, 'too few model-days']));
  for (const { family, model } of runs)
    for (const own of found.get(model) ?? []) {
      if (differ.some((kind) => kind === own.kind)) continue;
      const marks = incomparable.get(family) ?? [];
      if (marks.every(({ kind }) => kind !== own.kind)) incomparable.set(family, [...marks, own]);
      if (isOneMarket && OTHER_MARKET.includes(own.kind)) leftOut.set(family, own.reason);
    }
  const jobs =
    isAcross && first ? new Set([...familyDays(first)].map((day) => day.jobId)) : usualJobs;
  return { incomparable, leftOut, usualJobs: jobs, pairTerms, barred };
}

/** What the benchmark made over the days compared, as `GET /performance` has it. */
function benchmarkReturn(
  database: Database,
  families: readonly Family[],
  {
    days,
    usualJobs,
    wanted,
  }: { days: readonly DayKey[]; usualJobs: ReadonlySet<string>; wanted: string | undefined },
): BenchmarkReturn {
  if (typeof days[0] === 'number')
    return { reason: 'Days with the same number fall on different dates' };
  const compared = new Set(days);
  const own = families.flatMap((family) =>
    [...familyDays(family)].filter(({ date }) => compared.has(date)),
  );
  const report = reportBenchmark(chooseBenchmark(database, wanted, own, usualJobs), own, 0);
  const { name, total_return: totalReturn, incomplete, unavailable } = report;
  return totalReturn === null || incomplete !== null
    ? { reason: incomplete ?? unavailable.total_return ?? 'There is no day to compare' }
    : { name, totalReturn };
}

/**
 * Throws for curves of too few or too many models, and for a confidence that looks do not allow.
 */
function checkRequest({ curves, looks, confidence }: ExperimentRequest, models: number): void {
  const isWithin = models >= MIN_CURVE_MODELS && models <= MAX_CURVE_MODELS;
  const wanted = `expected ${MIN_CURVE_MODELS} to ${MAX_CURVE_MODELS} models, not ${models}`;
  if (curves && !isWithin)
    throw invalidFilter('curves', `${wanted}; name those to compare in models`);
  const least = `expected at least ${MIN_CONFIDENCE_DAILY} with looks=daily, not ${confidence}`;
  if (looks !== 'once' && confidence < MIN_CONFIDENCE_DAILY)
    throw invalidFilter('confidence', least);
}

/**
 * A model without figures may have no date for a number compared: such a day counts as after its
 * cutoff.
 */
function measureCutoff(
  { knowledgeCutoff, isAgent }: Family,
  days: readonly DayKey[],
  numbering: Numbering = new Map(),
): Cutoff {
  const dates = new Map<DayKey, CalendarDate>(
    numbering.entries().map(([date, day]) => [day, date]),
  );
  const isBefore = (day: DayKey) => {
    const date = typeof day === 'string' ? day : dates.get(day);
    return knowledgeCutoff !== null && date !== undefined && date <= knowledgeCutoff;
  };
  return { knowledgeCutoff, daysBefore: days.filter(isBefore).length, isAgent };
}
