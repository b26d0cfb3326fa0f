import type { CalendarDate } from '../calendar.ts';
import { count } from '../sentences.ts';

/** The dates on which a model has a daily return, in order. */
export interface DatesOfModel {
  model: string;
  dates: readonly CalendarDate[];
}

/** A model that is not ranked over the common dates, and why. */
export interface LeftOutModel {
  model: string;
  reason: string;
}

/** A date on which only some ranked models have a return: how many lack one, and the first of their names. */
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
 * The dates on which every ranked model has a return. A model with fewer than half of the median number of them is not ranked: it
 * would cost the others too many.
 */
export function commonDatesOf(all: readonly DatesOfModel[]): CommonDates {
  const median = medianOf(all.map(({ dates }) => dates.length));
  const ranked = all.filter(({ dates }) => dates.length >= median / 2);
  const leftOut = all.filter(({ dates }) => dates.length < median / 2);
  const met = new Map<CalendarDate, number>();
  for (const { dates } of ranked) for (const date of dates) met.set(date, (met.get(date) ?? 0) + 1);
  const partly = [...met].filter(([, models]) => models < ranked.length).map(([date]) => date);
  return {
    dates: new Set([...met].filter(([, models]) => models === ranked.length).map(([date]) => date)),
    leftOutDays: leftOutDaysOf(ranked, partly.sort()),
    models: ranked.map(({ model }) => model),
    leftOut: leftOut.map(({ model, dates }) => ({
      model,
      reason: `It has ${count(dates.length, 'day')} with a return, fewer than half of the median, ${median}`,
    })),
  };
}

function leftOutDaysOf(ranked: readonly DatesOfModel[], dates: readonly CalendarDate[]): LeftOutDay[] {
  const own = dates.length === 0 ? [] : ranked.map(({ model, dates }) => ({ model, dates: new Set(dates) }));
  return dates.map((date) => {
    const without = own.filter((one) => !one.dates.has(date));
    return { date, missing: without.length, models: without.slice(0, MAX_NAMED).map(({ model }) => model) };
  });
}

/** The middle number, or the mean of the two in the middle; 0 of none. */
function medianOf(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const [low, high] = [sorted[(sorted.length - 1) >> 1] ?? 0, sorted[sorted.length >> 1] ?? 0];
  return (low + high) / 2;
}
