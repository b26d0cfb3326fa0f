import type { CalendarDate } from '../calendar.ts';
import { count } from '../sentences.ts';
import type { Steps } from '../turns.ts';

/** A date on which a model has a return, and the date that it started from; null for the model's initial cash. */
export interface ReturnDay {
  date: CalendarDate;
  startDate: CalendarDate | null;
}

/** The days on which a model has a return, in order. */
export interface DaysOfModel {
  model: string;
  days: readonly ReturnDay[];
}

/** A model that is not ranked over the common dates, and why. */
export interface LeftOutModel {
  model: string;
  reason: string;
}

/** A date that only some ranked models share: how many do not, and the first of their names. */
export interface LeftOutDay {
  date: CalendarDate;
  missing: number;
  models: string[];
}

/** The names per left-out day; a response must not grow with the product of days and models. */
const MAX_NAMED = 5;

/** What the ranked models have in common. */
export interface CommonDates {
  dates: ReadonlySet<CalendarDate>;
  /** In order. */
  leftOutDays: LeftOutDay[];
  /** Those that are ranked. */
  models: string[];
  leftOut: LeftOutModel[];
}

/**
 * The dates on which every ranked model has a return, and all of them from the same close. After a day that a model missed, its
 * next return covers both, so that date is not common either: the models would be compared over different times. A model with
 * fewer than half of the median number of days is not ranked: it would cost the others too many. In steps: of one model, of one date.
 */
export function* commonDatesOf(all: readonly DaysOfModel[]): Steps<CommonDates> {
  const median = medianOf(all.map(({ days }) => days.length));
  const ranked = all.filter(({ days }) => days.length >= median / 2);
  const leftOut = all.filter(({ days }) => days.length < median / 2);
  const dates = new Set<CalendarDate>();
  const leftOutDays: LeftOutDay[] = [];
  for (const [date, sharing] of [...(yield* mostSharedDays(ranked))].sort(([one], [other]) => (one < other ? -1 : 1))) {
    if (sharing.size === ranked.length) {
      dates.add(date);
      continue;
    }
    const without = ranked.filter(({ model }) => !sharing.has(model)).map(({ model }) => model);
    leftOutDays.push({ date, missing: without.length, models: without.slice(0, MAX_NAMED) });
    yield null;
  }
  return {
    dates,
    leftOutDays,
    models: ranked.map(({ model }) => model),
    leftOut: leftOut.map(({ model, days }) => ({
      model,
      reason: `It has ${count(days.length, 'day')} with a return, fewer than half of the median of ${count(median, 'day')}`,
    })),
  };
}

/** By date: the largest group of models with a return from the same start; of equally large ones, the first. */
function* mostSharedDays(all: readonly DaysOfModel[]): Steps<Map<CalendarDate, ReadonlySet<string>>> {
  const groups = new Map<CalendarDate, Map<CalendarDate | null, Set<string>>>();
  for (const { model, days } of all) {
    for (const { date, startDate } of days) {
      const byStart = groups.get(date) ?? new Map<CalendarDate | null, Set<string>>();
      groups.set(date, byStart.set(startDate, (byStart.get(startDate) ?? new Set()).add(model)));
    }
    yield null;
  }
  const largest = (sets: Iterable<Set<string>>) => [...sets].reduce((most, own) => (own.size > most.size ? own : most));
  return new Map([...groups].map(([date, byStart]) => [date, largest(byStart.values())]));
}

/** The middle number, or the mean of the two in the middle; 0 of none. */
function medianOf(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const [low, high] = [sorted[(sorted.length - 1) >> 1] ?? 0, sorted[sorted.length >> 1] ?? 0];
  return (low + high) / 2;
}
