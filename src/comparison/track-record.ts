import type { ComparedModel, Day, Run } from './input.ts';

/** All days on which any run has a return, numbered in the order in which they were first read. */
export type DayNumbers<OfDay extends Day> = Map<OfDay, number>;

/**
 * A run's ln(1 + daily return) by day number; NaN where it has none; days beyond its end have none
 * either.
 */
export interface RunRecord {
  run: string;
  logReturns: Float64Array;
}

/** The returns of a model. */
export interface TrackRecord {
  model: string;
  runs: readonly RunRecord[];
  /** By day number: how many of its runs have a return. */
  presence: Uint16Array;
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
      ruin === null ? null : `${run.run} lost everything on ${ruin}, which has no logarithm`;
  }
  const presence = new Uint16Array(days.size);
  for (const { logReturns } of read) {
    countPresent(logReturns, presence);
  }
  return { model, runs: read, presence, isDeterministic, unusable: reason };
}

/** One run's returns, and the day on which it lost everything; null when there is none. */
function readRun<OfDay extends Day>({ run, returns }: Run<OfDay>, days: DayNumbers<OfDay>) {
  const numbers: number[] = [];
  const values: number[] = [];
  let ruin: OfDay | null = null;
  for (const [day, dailyReturn] of returns) {
    const number = days.get(day) ?? days.size;
    days.set(day, number);
    numbers.push(number);
    values.push(Math.log1p(dailyReturn));
    if (!(dailyReturn > -1)) ruin ??= day;
  }
  const logReturns = new Float64Array(days.size).fill(NaN);
  for (const [index, number] of numbers.entries()) logReturns[number] = values[index] ?? NaN;
  return { record: { run, logReturns } satisfies RunRecord, ruin };
}

function countPresent(logReturns: Float64Array, presence: Uint16Array): void {
  for (let number = 0; number < logReturns.length; number += 1)
    if (!Number.isNaN(logReturns[number])) presence[number] = (presence[number] ?? 0) + 1;
}
