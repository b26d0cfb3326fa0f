import type { CalendarDate } from '#time/calendar.ts';
import type { Database } from '#database/database.ts';
import { firstTriedDate, marketDates } from '../performance/queries.ts';
import type { JobWindow } from '#database/session-filters.ts';
import { familyDays, earliestDay, type Family, latestDay } from './family.ts';

/**
 * The number of each date in a family's own market: 1 for the first date in the window that the
 * family tried, up to 0 for those before it at whose close a day in the window started.
 */
export type Numbering = ReadonlyMap<CalendarDate, number>;

/**
 * Numbers the dates on which the universe of a family has prices, and its model-days, from the
 * family's first one in the window, be it completed or failed. So a failed model-day leaves a gap,
 * and the days of two markets that began on different dates meet.
 */
export function numberDates(database: Database, family: Family, window: JobWindow): Numbering {
  const [earliest, latest] = [earliestDay(familyDays(family)), latestDay(familyDays(family))];
  if (earliest === undefined || latest === undefined) return new Map();
  let first = earliest.date;
  for (const { run } of family.runs) {
    const tried = firstTriedDate(database, run, window);
    if (tried !== null && tried < first) first = tried;
  }
  const own = [...familyDays(family).flatMap(({ date, startDate }) => [date, startDate ?? date])];
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
export function numberUpTo(numbering: Numbering = new Map(), date: CalendarDate): number {
  return [...numbering].findLast(([own]) => own <= date)?.[1] ?? 0;
}

/** The last date in a market up to a number; null before its first one. */
export function dateUpTo(numbering: Numbering = new Map(), number: number): CalendarDate | null {
  return [...numbering].findLast(([, own]) => own <= number)?.[0] ?? null;
}

/** Numberings by model. */
export type Numberings = ReadonlyMap<string, Numbering>;
