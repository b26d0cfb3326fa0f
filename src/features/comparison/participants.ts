import type { CalendarDate } from '#time/calendar.ts';
import { count } from '#text/sentences.ts';
import { mean, sampleVariance } from '../statistics/moments.ts';
import { measureUncertainty } from './difference.ts';
import { MIN_DAYS } from './looks.ts';

/**
 * A date, or the number of a date in a chain's own market; one comparison uses only one of the two.
 */
export type DayKey = CalendarDate | number;

/** One run of a configured model. */
interface Run {
  run: string;
  /**
   * Daily returns as fractions, with the day at whose close each started, null for initial cash;
   * each day once and in any order.
   */
  returns: readonly (readonly [DayKey, dailyReturn: number, start: DayKey | null])[];
}

/** A configured model with its runs, at least one. */
export interface ModelReturns {
  model: string;
  runs: readonly Run[];
  /** Whether all its runs would be identical, as with most baselines, so that one run is enough. */
  isDeterministic: boolean;
  /**
   * Why it has no figures regardless of its returns: a stale chain, or requests that differ between
   * its runs.
   */
  unusable: string | null;
}

/**
 * A run's ln(1 + daily return) by the place of the day in the calendar; NaN where it has none.
 */
interface RunRecord {
  run: string;
  logReturns: Float64Array;
  /** By day: the place of the day at whose close its return started. */
  starts: Int32Array;
}

/** In place of a start: initial cash, and no return or none that the runs share. */
const [INITIAL_CASH, UNSHARED] = [-1, -2];

/** The returns of a model. */
export interface TrackRecord extends Omit<ModelReturns, 'runs'> {
  runs: readonly RunRecord[];
  /** By day: the start of the return that all its runs have; UNSHARED where they have none. */
  starts: Int32Array;
}

/**
 * The returns of models, whose order does not matter: all days on which any run has a return or
 * started, in order, and the models by name.
 */
export function readRecords(models: readonly ModelReturns[]) {
  const days = new Set<DayKey>();
  for (const { returns } of models.flatMap(({ runs }) => runs))
    for (const [day, , start] of returns) days.add(day).add(start ?? day);
  const calendar = [...days].sort((one, other) => (one < other ? -1 : 1));
  const places = new Map(calendar.map((day, place) => [day, place]));
  const records = models.map((model) => readRecord(model, places));
  return { calendar, records: records.sort((one, other) => (one.model < other.model ? -1 : 1)) };
}

function readRecord(
  { unusable, ...model }: ModelReturns,
  places: ReadonlyMap<DayKey, number>,
): TrackRecord {
  const calendarPlace = (day: DayKey) => places.get(day) ?? NaN;
  let reason = unusable;
  const runs = model.runs.map(({ run, returns }): RunRecord => {
    const logReturns = new Float64Array(places.size).fill(NaN);
    const starts = new Int32Array(places.size).fill(UNSHARED);
    for (const [day, dailyReturn, start] of returns) {
      logReturns[calendarPlace(day)] = Math.log1p(dailyReturn);
      starts[calendarPlace(day)] = start === null ? INITIAL_CASH : calendarPlace(start);
    }
    const [ruin] = returns.find(([, dailyReturn]) => !(dailyReturn > -1)) ?? [];
    if (ruin !== undefined)
      reason ??= `${run} lost everything on ${ruin}; such a return has no logarithm`;
    return { run, logReturns, starts };
  });
  const [first, ...others] = runs;
  const starts = Int32Array.from(first?.starts ?? [], (start, day) =>
    others.every((own) => own.starts[day] === start) ? start : UNSHARED,
  );
  return { ...model, runs, starts, unusable: reason };
}

/** Deviations of daily log returns up to this are rounding. */
export const LEAST_DEVIATION = 1e-15;

/** A model over the days compared. */
export type Series = ReturnType<typeof buildSeries>;

/** At least two days, by number; every run must have a return on each. */
export function buildSeries(record: TrackRecord, days: readonly number[]) {
  const runs = record.runs.map(({ logReturns: own }) =>
    Float64Array.from(days, (day) => own[day] ?? NaN),
  );
  const runMeans = runs.map(mean);
  const logReturns = Float64Array.from(
    days,
    (_, day) => runs.reduce((sum, own) => sum + (own[day] ?? NaN), 0) / runs.length,
  );
  const spread = { runs: runs.length, variance: sampleVariance(runMeans) };
  return {
    record,
    /** The mean of the runs' log returns, day by day. */
    logReturns,
    /** The mean daily log return of each run. */
    runMeans,
    spread,
    /** The mean of the mean run's daily log returns. */
    mean: mean(logReturns),
    /** The uncertainty of that mean; null when nothing varies, as in a portfolio of cash. */
    uncertainty: measureUncertainty(logReturns, [spread]),
  };
}

/**
 * The days, by place, that every run of these models has started from the same close: a return over
 * two days is not compared with one over one of them.
 */
export function commonDays(records: readonly TrackRecord[]): number[] {
  const [first, ...others] = records;
  return [...(first?.starts ?? [])].flatMap((start, day) =>
    start !== UNSHARED && others.every(({ starts }) => starts[day] === start) ? [day] : [],
  );
}

/**
 * The days on which at least one run of these models has a return, but not every one from the same
 * close; in order. `runs` are those that have no return on it, or one from another close than most.
 * Of several closes the one that most runs started from counts; of equally many the latest.
 */
export function leftOutDays(records: readonly TrackRecord[], calendar: readonly DayKey[]) {
  const common = new Set(commonDays(records));
  const runs = records.flatMap((record) => record.runs);
  return calendar.flatMap((day, place) => {
    if (common.has(place)) return [];
    const byStart = Map.groupBy(runs, ({ starts }) => starts[place] ?? UNSHARED);
    const missing = byStart.get(UNSHARED) ?? [];
    byStart.delete(UNSHARED);
    const [usual, ...others] = [...byStart]
      .sort(([one, its], [other, theirs]) => theirs.length - its.length || other - one)
      .map(([, own]) => own);
    if (usual === undefined) return [];
    const left = new Set([...missing, ...others.flat()]);
    const reason = leftOutReason(missing.length > 0, others.length > 0);
    return [{ day, runs: runs.filter((run) => left.has(run)).map(({ run }) => run), reason }];
  });
}

function leftOutReason(isMissing: boolean, isFromElsewhere: boolean): string {
  if (!isFromElsewhere) return 'No return on this day';
  return isMissing
    ? 'No return on this day, or a return that covers other days'
    : 'Its previous model-day differs from that of the others, so its return covers other days';
}

/**
 * Decides which models are compared, over which days. A model without figures must not cost the
 * others any days, so each model is first checked over its own days. Where none is left, the days
 * are those that all models share.
 */
export function findParticipants(all: readonly TrackRecord[]) {
  const reasons = new Map<string, string>();
  for (const record of all) {
    const reason = singleModelReason(record);
    if (reason !== null) reasons.set(record.model, reason);
  }
  const able = all.filter(({ model }) => !reasons.has(model));
  const records = able.length === 0 ? all : able;
  const days = commonDays(records);
  if (days.length < MIN_DAYS)
    for (const { model } of able)
      reasons.set(
        model,
        `Needs ${count(MIN_DAYS, 'day')} that all runs compared completed without a gap; ` +
          `there ${days.length === 1 ? 'is' : 'are'} ${days.length}`,
      );
  return {
    /** By place: the days that every run of these models has started from the same close. */
    days,
    /** The models that determine the days, ordered by name. */
    records,
    /** Why a model has no figures, by model. */
    reasons,
  };
}

/** Why a model has no figures even over its own days; null when it has some. */
export function noFiguresReason(model: ModelReturns): string | null {
  return readRecords([model]).records.map(singleModelReason)[0] ?? null;
}

function singleModelReason(record: TrackRecord): string | null {
  if (record.unusable !== null) return record.unusable;
  const own = commonDays([record]);
  if (own.length >= MIN_DAYS) return null;
  const has = record.runs.length === 1 ? 'it has' : 'its runs share';
  return `Needs ${count(MIN_DAYS, 'day')} with a return; ${has} ${own.length}`;
}
