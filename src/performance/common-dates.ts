import type { CalendarDate } from '../calendar.ts';
import { count } from '../sentences.ts';

/**
 * The returns that models share: half a million model-days are as many small numbers, not texts.
 */
export interface SharedReturns {
  models: readonly string[];
  /**
   * By date, and by the date that the return starts from (null for initial cash): the places in
   * `models` of those that have it.
   */
  byDate: ReadonlyMap<CalendarDate, ReadonlyMap<CalendarDate | null, readonly number[]>>;
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
 * The dates on which every ranked model has a return, and all of them from the same close. After a
 * day that a model missed, its next return covers both, so that date is not common either: the
 * models would be compared over different times. A model with fewer than half of the median number
 * of days is not ranked: it would cost the others too many. Of several starts of a date, the one
 * that most models share counts; of equally many, the first. In steps: of one date.
 */
export function commonDatesOf({ models, byDate }: SharedReturns): CommonDates {
  const days = models.map(() => 0);
  for (const byStart of byDate.values()) {
    for (const places of byStart.values())
      for (const place of places) days[place] = (days[place] ?? 0) + 1;
  }
  const median = medianOf(days);
  const isRanked = days.map((own) => own >= median / 2);
  const nameOf = (place: number) => models[place] ?? '';
  const byName = [...models.keys()].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  const ranked = byName.filter((place) => isRanked[place]);
  const dates = new Set<CalendarDate>();
  const leftOutDays: LeftOutDay[] = [];
  for (const date of [...byDate.keys()].sort()) {
    const groups = byDate.get(date)?.values() ?? [];
    let sharing: number[] = [];
    for (const places of groups) {
      const own = places.filter((place) => isRanked[place]);
      if (own.length > sharing.length) sharing = own;
    }
    if (sharing.length === ranked.length) dates.add(date);
    else if (sharing.length > 0) {
      const found = new Set(sharing);
      const without = ranked.filter((place) => !found.has(place));
      leftOutDays.push({
        date,
        missing: without.length,
        models: without.slice(0, MAX_NAMED).map(nameOf),
      });
    }
  }
  const reasonOf = (place: number) =>
    `It has ${count(days[place] ?? 0, 'day')} with a return, fewer than half of the median of ${count(median, 'day')}`;
  const leftOut = byName
    .filter((place) => !isRanked[place])
    .map((place) => ({ model: nameOf(place), reason: reasonOf(place) }));
  return { dates, leftOutDays, models: ranked.map(nameOf), leftOut };
}

/** The middle number, or the mean of the two in the middle; 0 of none. */
function medianOf(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const [low, high] = [sorted[(sorted.length - 1) >> 1] ?? 0, sorted[sorted.length >> 1] ?? 0];
  return (low + high) / 2;
}
