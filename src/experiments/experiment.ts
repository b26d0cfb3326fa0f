import assert from 'node:assert/strict';
import type { CalendarDate } from '../basics/calendar.ts';
import type { JobWindow } from '../database/session-filters.ts';
import type { Database } from '../database/database.ts';
import { suspectedSplits } from '../database/records/holdings.ts';
import { firstTriedDate, marketDates } from '../database/records/performance.ts';
import {
  daysAfter,
  daysOf,
  earliestOf,
  type Family,
  latestOf,
  readFamilies,
  whyUnusable,
} from './family.ts';
import type { BenchmarkReturn } from '../comparison/answer.ts';
import { compareModels } from '../comparison/comparison.ts';
import { type Looks, MIN_CONFIDENCE_DAILY } from '../comparison/looks.ts';
import { type Cutoff, MAX_CURVE_MODELS, MIN_CURVE_MODELS } from '../comparison/models.ts';
import { type ComparedModel, type Day, whyWithoutFigures } from '../comparison/participants.ts';
import { invalidFilter } from '../basics/domain.ts';
import { chooseBenchmark, reportBenchmark } from '../performance/choose-benchmark.ts';
import { selectModels, type WantedModels } from './selection.ts';

/**
 * The number of each date in a family's own market: 1 for the first date in the window that the
 * family tried, up to 0 for those before it at whose close a day in the window started.
 */
type Numbering = ReadonlyMap<CalendarDate, number>;

/**
 * Numbers the dates on which the universe of a family has prices, and its model-days, from the
 * family's first one in the window, be it completed or failed. So a failed model-day leaves a gap,
 * and the days of two markets that began on different dates meet.
 */
function numberDates(database: Database, family: Family, window: JobWindow): Numbering {
  const [earliest, latest] = [earliestOf(daysOf(family)), latestOf(daysOf(family))];
  if (earliest === undefined || latest === undefined) return new Map();
  let first = earliest.date;
  for (const { run } of family.runs) {
    const tried = firstTriedDate(database, run, window);
    if (tried !== null && tried < first) first = tried;
  }
  const own = [...daysOf(family).flatMap(({ date, startDate }) => [date, startDate ?? date])];
  const dates = marketDates(database, latest.asked.universe, {
    startDate: [first, ...own].sort()[0],
    endDate: latest.date,
  });
  for (const date of own) dates.add(date);
  const ordered = [...dates].sort();
  const before = ordered.filter((date) => date < first).length;
  return new Map(ordered.map((date, index) => [date, index + 1 - before]));
}

/** The last number in a market up to a date; 0 before its first one. */
function numberUpTo(numbering: Numbering = new Map(), date: CalendarDate): number {
  return [...numbering].findLast(([own]) => own <= date)?.[1] ?? 0;
}

/** The last date in a market up to a number; null before its first one. */
function dateUpTo(numbering: Numbering = new Map(), number: number): CalendarDate | null {
  return [...numbering].findLast(([, own]) => own <= number)?.[0] ?? null;
}

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
}

export type Experiment = ReturnType<typeof runExperiment>;

/**
 * Reads the returns and compares them, as of one moment. Throws a `ServiceError` as `selectModels`
 * does, and for curves of too few or too many models.
 */
export function runExperiment(database: Database, request: ExperimentRequest) {
  const { window, against = null, confidence, looks } = request;
  const { startDate, endDate } = window;
  const { models, leftOut, trials } = selectModels(database, request, window);
  checkRequest(request, models.length);
  const all = readFamilies(database, models, window);
  const numberings: Numberings | null =
    request.align === 'number'
      ? new Map(all.map((own) => [own.model, numberDates(database, own, window)]))
      : null;
  const { cleanAfter, clean } = cleaner(all, request.days === 'clean', numberings);
  const compared: ComparedModel[] = [];
  const suspected = new Map<string, string[]>();
  const splits = Map.groupBy(suspectedSplits(database), ({ sessionId }) => sessionId);
  for (const family of all) {
    const numbers = numberings?.get(family.model);
    const own = clean(family);
    const jumps = [...daysOf(own)].flatMap(({ sessionId }) => splits.get(sessionId) ?? []);
    const named = jumps.map(({ jump }) => `${jump.symbol} on ${jump.date}`);
    if (named.length > 0) suspected.set(family.model, named);
    compared.push(comparedModel(own, (date) => numbers?.get(date) ?? date));
  }
  const comparison = compareModels({
    models: compared,
    against,
    window: { start: startDate ?? '', end: endDate ?? '' },
    confidence,
    looks,
    curves: request.curves,
    trials,
    suspected,
    benchmarkOver: (days) => benchmarkOver(database, all, { days, wanted: request.benchmark }),
    cutoffOf(model, days) {
      const family = all.find((own) => own.model === model);
      assert(family, 'every model that is compared has a family');
      return cutoffOf(family, days, numberings?.get(model));
    },
  });
  return {
    /**
     * The window; where the request leaves an end open, the first or last model-day of those
     * compared; null without any.
     */
    startDate: startDate ?? earliestOf(all.values().flatMap(daysOf))?.date ?? null,
    endDate: endDate ?? latestOf(all.values().flatMap(daysOf))?.date ?? null,
    /** The latest knowledge cutoff, where only clean days are compared and there is one. */
    cleanAfter,
    /** Entries with too few model-days. */
    leftOutModels: leftOut.map(({ model }) => model),
    comparison,
  };
}

/** What the benchmark made over the days compared, as `GET /performance` has it. */
function benchmarkOver(
  database: Database,
  families: readonly Family[],
  { days, wanted }: { days: readonly Day[]; wanted: string | undefined },
): BenchmarkReturn {
  if (typeof days[0] === 'number')
    return { reason: 'Days with the same number fall on different dates' };
  const compared = new Set(days);
  const own = families.flatMap((family) =>
    [...daysOf(family)].filter(({ date }) => compared.has(date)),
  );
  const report = reportBenchmark(chooseBenchmark(database, wanted, own), own, 0);
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
 * The latest cutoff of the models that have figures over their own clean days: the others must not
 * cost these any days.
 */
function latestCutoff(families: readonly Family[]): CalendarDate | null {
  let latest: CalendarDate | null = null;
  for (const family of families) {
    const { knowledgeCutoff } = family;
    if (knowledgeCutoff === null || (latest !== null && knowledgeCutoff <= latest)) continue;
    const clean = comparedModel(daysAfter(family, knowledgeCutoff));
    if (whyWithoutFigures(clean) === null) latest = knowledgeCutoff;
  }
  return latest;
}

/**
 * The latest cutoff, and what keeps the clean days of a family; of all days it keeps all. By
 * number, the dates of a model without a cutoff say nothing, as in a control market: its clean days
 * are those that meet clean ones. Only a model without figures has a later cutoff than the latest;
 * its reason is about its own clean days.
 */
export function cleaner(
  families: readonly Family[],
  isClean: boolean,
  numberings: Numberings | null = null,
) {
  if (!isClean) return { cleanAfter: null, clean: (family: Family) => family };
  const after = latestCutoff(families);
  const latest =
    after === null ? [] : families.filter(({ knowledgeCutoff }) => knowledgeCutoff === after);
  const numbers = latest.map(({ model }) => numberUpTo(numberings?.get(model), after ?? ''));
  const last = Math.max(0, ...numbers);
  const clean = (family: Family): Family => {
    const { model, knowledgeCutoff } = family;
    if (numberings !== null && knowledgeCutoff === null)
      return daysAfter(family, dateUpTo(numberings.get(model), last));
    return daysAfter(daysAfter(family, after), knowledgeCutoff);
  };
  return { cleanAfter: after, clean };
}

/** By model. */
type Numberings = ReadonlyMap<string, Numbering>;

/** A family as it is compared: by date, or by the number of one. */
export function comparedModel(
  family: Family,
  dayOf: (date: CalendarDate) => Day = (date) => date,
): ComparedModel {
  return {
    model: family.model,
    isDeterministic: family.isDeterministic,
    unusable: whyUnusable(family),
    runs: family.runs.map(({ run, days }) => ({
      run,
      returns: days.flatMap(({ date, dailyReturn, startDate }) =>
        dailyReturn === null
          ? []
          : [[dayOf(date), dailyReturn, startDate === null ? null : dayOf(startDate)] as const],
      ),
    })),
  };
}

/**
 * A model without figures may have no date for a number compared: such a day counts as after its
 * cutoff.
 */
function cutoffOf(
  { knowledgeCutoff, isAgent }: Family,
  days: readonly Day[],
  numbering: Numbering = new Map(),
): Cutoff {
  const dates = new Map<Day, CalendarDate>(numbering.entries().map(([date, day]) => [day, date]));
  const isBefore = (day: Day) => {
    const date = typeof day === 'string' ? day : dates.get(day);
    return knowledgeCutoff !== null && date !== undefined && date <= knowledgeCutoff;
  };
  return { knowledgeCutoff, daysBefore: days.filter(isBefore).length, isAgent };
}
