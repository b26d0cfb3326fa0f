import type { Day } from './input.ts';
import type { DayNumbers, TrackRecord } from './track-record.ts';

/** All days in their order, each with its number. */
export type Calendar<OfDay extends Day> = readonly (readonly [OfDay, number])[];

export function calendarOf<OfDay extends Day>(days: DayNumbers<OfDay>): Calendar<OfDay> {
  return [...days].sort(([one], [other]) => (one < other ? -1 : 1));
}

/**
 * A day that is left out because only some runs have a return on it; these are the runs without
 * one.
 */
export interface LeftOut<OfDay extends Day> {
  day: OfDay;
  runs: string[];
}

/**
 * The numbers of the days on which every run of these models has a return, in the order of the
 * days.
 */
export function commonDays(records: readonly TrackRecord[], calendar: Calendar<Day>): number[] {
  return calendar
    .map(([, number]) => number)
    .filter((number) => records.every((record) => isComplete(record, number)));
}

/**
 * The days on which at least one run of these models has a return and at least one has none, in
 * order.
 */
export function leftOutDays<OfDay extends Day>(
  records: readonly TrackRecord[],
  calendar: Calendar<OfDay>,
): LeftOut<OfDay>[] {
  const leftOut: LeftOut<OfDay>[] = [];
  for (const [day, number] of calendar) {
    const isMet = records.some(({ presence }) => (presence[number] ?? 0) > 0);
    const runs = isMet ? records.flatMap((record) => missingRuns(record, number)) : [];
    if (runs.length > 0) leftOut.push({ day, runs });
  }
  return leftOut;
}

function isComplete({ runs, presence }: TrackRecord, number: number): boolean {
  return presence[number] === runs.length;
}

function missingRuns(record: TrackRecord, number: number): string[] {
  if (isComplete(record, number)) return [];
  return record.runs
    .filter(({ logReturns }) => Number.isNaN(logReturns[number] ?? NaN))
    .map(({ run }) => run);
}
