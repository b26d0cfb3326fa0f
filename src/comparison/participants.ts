import type { CalendarDate } from '../basics/calendar.ts';
import { mean, sampleVariance } from '../statistics/moments.ts';
import { measureUncertainty, type RunSpread, type Uncertainty } from './difference.ts';
import type { Looks } from './looks.ts';
import { count } from '../basics/sentences.ts';

/**
 * A date, or the number of a date in a chain's own market; one comparison uses only one of the two.
 */
export type Day = CalendarDate | number;

/** Fewer days do not show how much days differ. */
export const MIN_DAYS = 20;

/** One run of a configured model. */
export interface Run<OfDay extends Day> {
  run: string;
  /**
   * Daily returns as fractions, with the day at whose close each started, null for initial cash;
   * each day once and in any order. Read once.
   */
  returns: Iterable<readonly [OfDay, dailyReturn: number, start: OfDay | null]>;
}

/** A configured model with its runs, at least one. */
export interface ComparedModel<OfDay extends Day> {
  model: string;
  runs: readonly Run<OfDay>[];
  /** Whether all its runs would be identical, as with most baselines, so that one run is enough. */
  isDeterministic: boolean;
  /**
   * Why it has no figures regardless of its returns: a stale chain, or requests that differ between
   * its runs.
   */
  unusable: string | null;
}

export interface ComparisonInput<OfDay extends Day> {
  /** With distinct names; `against` is one of them. */
  models: readonly ComparedModel<OfDay>[];
  /** The second model of every pair; null for all pairs. */
  against: string | null;
  /** The requested window; only the seed of the random numbers depends on it. */
  window: { start: CalendarDate; end: CalendarDate };
  /** Above 0 and below 1. */
  confidence: number;
  looks: Looks;
  /** Whether each pair has the curve of its difference. */
  curves: boolean;
  /**
   * How many models have active model-days in the window, compared or not: the number of trials.
   */
  trials: number;
}

/** All days on which any run has a return or started, numbered in the order in which they were read. */
export type DayNumbers<OfDay extends Day> = Map<OfDay, number>;

/**
 * A run's ln(1 + daily return) by day number; NaN where it has none; days beyond its end have none
 * either.
 */
export interface RunRecord {
  run: string;
  logReturns: Float64Array;
  /** By day number: that of the day at whose close its return started; only where it has one. */
  starts: Int32Array;
}

/** The number of initial cash, and of what runs do not share. */
const [INITIAL_CASH, UNSHARED] = [-1, -2];

/** The returns of a model. */
export interface TrackRecord {
  model: string;
  runs: readonly RunRecord[];
  /** By day number: the start of the return that all its runs have; UNSHARED where they have none. */
  starts: Int32Array;
  isDeterministic: boolean;
  /** Why the model cannot be compared; null when it can. */
  unusable: string | null;
}

/**
 * Reads the returns of all models in the order of their names, so that the order in which they came
 * does not matter.
 */
export function readRecords<OfDay extends Day>(
  models: readonly ComparedModel<OfDay>[],
  days: DayNumbers<OfDay>,
): TrackRecord[] {
  const records: TrackRecord[] = [];
  for (const model of models.toSorted((one, other) => (one.model < other.model ? -1 : 1)))
    records.push(readRecord(model, days));
  return records;
}

/** Reads the returns of one model, and numbers the days that are new. */
export function readRecord<OfDay extends Day>(
  { model, runs, isDeterministic, unusable }: ComparedModel<OfDay>,
  days: DayNumbers<OfDay>,
): TrackRecord {
  const read: RunRecord[] = [];
  let reason = unusable;
  for (const run of runs) {
    const { record, ruin } = readRun(run, days);
    read.push(record);
    reason ??=
      ruin === null
        ? null
        : `${run.run} lost everything on ${ruin}; such a return has no logarithm`;
  }
  return {
    model,
    runs: read,
    starts: sharedStarts(read, days.size),
    isDeterministic,
    unusable: reason,
  };
}

/** One run's returns, and the day on which it lost everything; null when there is none. */
function readRun<OfDay extends Day>({ run, returns }: Run<OfDay>, days: DayNumbers<OfDay>) {
  const read: [number: number, logReturn: number, start: number][] = [];
  const numberOf = (day: OfDay) => {
    const number = days.get(day) ?? days.size;
    days.set(day, number);
    return number;
  };
  let ruin: OfDay | null = null;
  for (const [day, dailyReturn, start] of returns) {
    const from = start === null ? INITIAL_CASH : numberOf(start);
    read.push([numberOf(day), Math.log1p(dailyReturn), from]);
    if (!(dailyReturn > -1)) ruin ??= day;
  }
  const logReturns = new Float64Array(days.size).fill(NaN);
  const starts = new Int32Array(days.size).fill(UNSHARED);
  for (const [number, logReturn, start] of read) {
    logReturns[number] = logReturn;
    starts[number] = start;
  }
  return { record: { run, logReturns, starts } satisfies RunRecord, ruin };
}

function sharedStarts(runs: readonly RunRecord[], days: number): Int32Array {
  const [first, ...others] = runs;
  return Int32Array.from({ length: days }, (_, number) => {
    const start = first?.starts[number] ?? UNSHARED;
    return others.every(({ starts }) => starts[number] === start) ? start : UNSHARED;
  });
}

/** Deviations of daily log returns up to this are rounding. */
export const LEAST_DEVIATION = 1e-15;

/** A model over the days compared. */
export interface Series {
  record: TrackRecord;
  /** The mean of the runs' log returns, day by day. */
  logReturns: Float64Array;
  /** The mean daily log return of each run. */
  runMeans: Float64Array;
  spread: RunSpread;
  /** The mean of the mean run's daily log returns. */
  mean: number;
  /** The uncertainty of that mean; null when nothing varies, as in a portfolio of cash. */
  uncertainty: Uncertainty | null;
}

/** At least two days, by number; every run must have a return on each. */
export function seriesOf(record: TrackRecord, days: readonly number[]): Series {
  const sums = new Float64Array(days.length);
  const runMeans = new Float64Array(record.runs.length);
  for (const [run, own] of record.runs.entries()) {
    runMeans[run] = addUp(own.logReturns, days, sums) / days.length;
  }
  const logReturns = sums.map((sum) => sum / record.runs.length);
  const spread = { runs: record.runs.length, variance: sampleVariance(runMeans) };
  const uncertainty = measureUncertainty(logReturns, [spread]);
  return { record, logReturns, runMeans, spread, mean: mean(logReturns), uncertainty };
}

/** Adds a run's log returns on these days to the sums by day; returns the run's own sum. */
function addUp(logReturns: Float64Array, days: readonly number[], sums: Float64Array): number {
  let total = 0;
  for (const [index, day] of days.entries()) {
    const logReturn = logReturns[day] ?? NaN;
    sums[index] = (sums[index] ?? NaN) + logReturn;
    total += logReturn;
  }
  return total;
}

/** All days in their order, each with its number. */
export type Calendar<OfDay extends Day> = readonly (readonly [OfDay, number])[];

export function calendarOf<OfDay extends Day>(days: DayNumbers<OfDay>): Calendar<OfDay> {
  return [...days].sort(([one], [other]) => (one < other ? -1 : 1));
}

/**
 * The numbers of the days that every run of these models has started from the same close, in the
 * order of the days: a return over two days is not compared with one over one of them.
 */
export function commonDays(records: readonly TrackRecord[], calendar: Calendar<Day>): number[] {
  const [first, ...others] = records;
  return calendar
    .map(([, number]) => number)
    .filter((number) => {
      const start = first?.starts[number] ?? UNSHARED;
      return start !== UNSHARED && others.every(({ starts }) => starts[number] === start);
    });
}

/** A day that is left out because not every run has started it from the same close. */
export interface LeftOut<OfDay extends Day> {
  day: OfDay;
  /** Those that have no return on it, or one from another close than most. */
  runs: string[];
  reason: string;
}

/**
 * The days on which at least one run of these models has a return, but not every one from the same
 * close; in order. Of several closes the one that most runs started from counts; of equally many
 * the latest.
 */
export function leftOutDays<OfDay extends Day>(
  records: readonly TrackRecord[],
  calendar: Calendar<OfDay>,
): LeftOut<OfDay>[] {
  const common = new Set(commonDays(records, calendar));
  const places = new Map(calendar.map(([, number], place) => [number, place]));
  const placeOf = (start: number) => places.get(start) ?? -1;
  const runs = records.flatMap((record) => record.runs);
  return calendar.flatMap(([day, number]) => {
    if (common.has(number)) return [];
    const byStart = Map.groupBy(runs, ({ starts }) => starts[number] ?? UNSHARED);
    const missing = byStart.get(UNSHARED) ?? [];
    byStart.delete(UNSHARED);
    const [usual, ...others] = [...byStart]
      .sort(
        ([one, its], [other, theirs]) =>
          theirs.length - its.length || placeOf(other) - placeOf(one),
      )
      .map(([, own]) => own);
    if (usual === undefined) return [];
    const left = new Set([...missing, ...others.flat()]);
    const reason = whyLeftOut(missing.length > 0, others.length > 0);
    return [{ day, runs: runs.filter((run) => left.has(run)).map(({ run }) => run), reason }];
  });
}

function whyLeftOut(isMissing: boolean, isFromElsewhere: boolean): string {
  const elsewhere = 'another close and so covers other days';
  if (!isFromElsewhere) return 'No return on this day';
  return isMissing
    ? `No return on this day, or one that starts from ${elsewhere}`
    : `Its return starts from ${elsewhere}`;
}

/** Which models are compared, and over which days. */
export interface Participants {
  /** By number, in order: the days that every run of these models has started from the same close. */
  days: number[];
  /** The models that determine the days, ordered by name. */
  records: TrackRecord[];
  /** These models over the days; empty when there are too few days. */
  series: Series[];
  /** Why a model has no figures, by model. */
  reasons: Map<string, string>;
}

/**
 * Decides which models are compared. A model without figures must not cost the others any days, so
 * each model is first checked over its own days. Where none is left, the days are those that all
 * models share.
 */
export function findParticipants(
  all: readonly TrackRecord[],
  calendar: Calendar<Day>,
): Participants {
  const reasons = new Map<string, string>();
  for (const record of all) {
    const reason = whyNotByItself(record, calendar);
    if (reason !== null) reasons.set(record.model, reason);
  }
  const records = all.filter(({ model }) => !reasons.has(model));
  if (records.length === 0)
    return { days: commonDays(all, calendar), records: [...all], series: [], reasons };
  const days = commonDays(records, calendar);
  if (days.length >= MIN_DAYS)
    return { days, records, series: records.map((record) => seriesOf(record, days)), reasons };
  for (const { model } of records) reasons.set(model, tooFewInCommon(days.length));
  return { days, records, series: [], reasons };
}

/** Which days models share. */
export interface SharedDays<OfDay extends Day> {
  /** The days compared, in order. */
  days: OfDay[];
  leftOut: LeftOut<OfDay>[];
  /** By model, the days that its runs share, in order. */
  own: ReadonlyMap<string, OfDay[]>;
  /** Why a model has no return that starts from the same close on all the days compared, by model. */
  reasons: ReadonlyMap<string, string>;
}

/** The days that `compareModels` would compare the first models over, of these and of others. */
export function sharedDays<OfDay extends Day>(
  compared: readonly ComparedModel<OfDay>[],
  others: readonly ComparedModel<OfDay>[],
): SharedDays<OfDay> {
  const numbers: DayNumbers<OfDay> = new Map();
  const [records, further] = [readRecords(compared, numbers), readRecords(others, numbers)];
  const calendar = calendarOf(numbers);
  const participants = findParticipants(records, calendar);
  const nameAll = (days: readonly number[]) => namesOf(days, calendar);
  const [first] = participants.records;
  const reasons = new Map<string, string>();
  for (const { model, starts } of [...records, ...further]) {
    const missing = participants.days.filter((day) => starts[day] !== first?.starts[day]).length;
    if (missing === 0) continue;
    const all = count(participants.days.length, 'day');
    const lacking = `On ${missing} of the ${all} compared it has no return that starts from the same close`;
    reasons.set(model, participants.reasons.get(model) ?? lacking);
  }
  return {
    days: nameAll(participants.days),
    leftOut: leftOutDays(participants.records, calendar),
    own: new Map(
      [...records, ...further].map((own) => [own.model, nameAll(commonDays([own], calendar))]),
    ),
    reasons,
  };
}

/** The days of these numbers, in order. */
export function namesOf<OfDay extends Day>(
  numbers: readonly number[],
  calendar: Calendar<OfDay>,
): OfDay[] {
  const chosen = new Set(numbers);
  return calendar.flatMap(([day, number]) => (chosen.has(number) ? [day] : []));
}

/**
 * Why a model has no figures even over its own days, regardless of what it is compared with; null
 * when it has some.
 */
export function whyWithoutFigures<OfDay extends Day>(model: ComparedModel<OfDay>): string | null {
  const numbers = new Map<OfDay, number>();
  const record = readRecord(model, numbers);
  return whyNotByItself(record, calendarOf(numbers));
}

function whyNotByItself(record: TrackRecord, calendar: Calendar<Day>): string | null {
  if (record.unusable !== null) return record.unusable;
  const own = commonDays([record], calendar);
  if (own.length >= MIN_DAYS) return null;
  const has = record.runs.length === 1 ? 'it has' : 'its runs share';
  return `Needs ${count(MIN_DAYS, 'day')} with a return; ${has} ${own.length}`;
}

function tooFewInCommon(days: number): string {
  return `Needs ${count(MIN_DAYS, 'day')} on which the returns of all runs compared start from the same close; there are ${days}`;
}
