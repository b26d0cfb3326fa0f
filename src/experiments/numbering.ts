import type { CalendarDate } from '../calendar.ts';
import type { JobWindow } from '../database/chosen.ts';
import type { Database } from '../database/database.ts';
import { firstTriedDate, marketDates } from '../database/records/returns.ts';
import { type Family, daysOf, earliestOf, latestOf } from './family.ts';

/**
 * The number of each date in a family's own market; from 1, the first date in the window that the
 * family tried.
 */
export type Numbering = ReadonlyMap<CalendarDate, number>;

/**
 * Numbers the dates on which the universe of a family has prices, and its model-days, from the
 * family's first one in the window, be it completed or failed. So a failed model-day leaves a gap,
 * and the days of two markets that began on different dates meet.
 */
export function numberDates(database: Database, family: Family, window: JobWindow): Numbering {
  const [earliest, latest] = [earliestOf(daysOf(family)), latestOf(daysOf(family))];
  if (earliest === undefined || latest === undefined) return new Map();
  let first = earliest.date;
  for (const { run } of family.runs) {
    const tried = firstTriedDate(database, run, window);
    if (tried !== null && tried < first) first = tried;
  }
  const dates = marketDates(database, latest.asked.universe, {
    startDate: first,
    endDate: latest.date,
  });
  for (const { date } of daysOf(family)) dates.add(date);
  return new Map([...dates].sort().map((date, index) => [date, index + 1]));
}

/** The last number in a market up to a date; 0 before its first one. */
export function numberUpTo(numbering: Numbering | undefined, date: CalendarDate): number {
  let last = 0;
  for (const [own, number] of numbering ?? []) if (own <= date) last = number;
  return last;
}

/** The last date in a market up to a number; null before its first one. */
export function dateUpTo(numbering: Numbering | undefined, number: number): CalendarDate | null {
  let last: CalendarDate | null = null;
  for (const [date, own] of numbering ?? []) if (own <= number) last = date;
  return last;
}
