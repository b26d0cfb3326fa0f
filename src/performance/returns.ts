import { type CalendarDate, addDays, countWeekdays } from '../calendar.ts';
import { count } from '../sentences.ts';
import {
  LEAST_RETURN,
  MIN_DAYS_FOR_ANNUAL_RETURN,
  MIN_SHARE_OF_WEEKDAYS,
  TRADING_DAYS_PER_YEAR,
} from './conventions.ts';
import type { Figure } from './figure.ts';

/**
 * The return of one day, as a fraction: profit over the closing value of the day that it started
 * from.
 */
export interface DailyReturn {
  date: CalendarDate;
  dailyReturn: number;
}

/**
 * The days of a curve, in order, and how many weekdays they cover, including those between them.
 */
export interface ReturnSeries {
  days: readonly DailyReturn[];
  weekdays: number;
  /**
   * The smallest return that is not rounding: amounts are in 1/10000 dollar, which causes smaller
   * deviations.
   */
  leastReturn: number;
}

/**
 * A day of a curve: the date whose close it started from (null: it started at its own open), and
 * its return.
 */
export interface DayOfCurve {
  date: CalendarDate;
  startDate: CalendarDate | null;
  /** Null when it started from a value of 0, where a return is undefined. */
  dailyReturn: number | null;
}

const NO_RETURN = 'There is no daily return';

export function seriesOf(curve: readonly DayOfCurve[], leastReturn = LEAST_RETURN): ReturnSeries {
  const [first] = curve;
  const last = curve.at(-1);
  if (first === undefined || last === undefined) return { days: [], weekdays: 0, leastReturn };
  const start = first.startDate === null ? first.date : addDays(first.startDate, 1);
  return {
    days: curve.flatMap(({ date, dailyReturn }) =>
      dailyReturn === null ? [] : [{ date, dailyReturn }],
    ),
    weekdays: countWeekdays(start, last.date),
    leastReturn,
  };
}

export function returnsOf({ days }: ReturnSeries): number[] {
  return days.map(({ dailyReturn }) => dailyReturn);
}

/**
 * The daily returns linked: the product of (1 + r), minus 1 (Bacon, Practical Portfolio Performance
 * Measurement and Attribution, 2008, "time-weighted returns"). Without gaps this is end value over
 * start value, minus 1.
 */
export function totalReturn({ days }: ReturnSeries): Figure {
  if (days.length === 0) return { reason: NO_RETURN };
  return days.reduce((growth, { dailyReturn }) => growth * (1 + dailyReturn), 1) - 1;
}

/**
 * Why a figure over these days cannot be scaled to a year, which takes at least `least` days; null
 * when it can.
 */
export function whyNotAnnualised({ days, weekdays }: ReturnSeries, least: number): string | null {
  if (days.length < least) return tooFew(days.length, least);
  if (days.length >= weekdays * MIN_SHARE_OF_WEEKDAYS) return null;
  return `Annualising needs a day with a return on two of three weekdays; there are ${days.length} on ${weekdays} weekdays`;
}

export function tooFew(days: number, least: number): string {
  return `Needs ${count(least, 'day')} with a return, has ${days}`;
}

/**
 * The yearly return that compounds to the total: (1 + R)^(252/n) - 1 (Bacon 2008); none for less
 * than a year (GIPS).
 */
export function annualisedReturn(series: ReturnSeries): Figure {
  const reason = whyNotAnnualised(series, MIN_DAYS_FOR_ANNUAL_RETURN);
  if (reason !== null) return { reason };
  const total = totalReturn(series);
  return typeof total === 'number'
    ? (1 + total) ** (TRADING_DAYS_PER_YEAR / series.days.length) - 1
    : total;
}

/**
 * The day with the highest return (`sign` 1) or the lowest (-1), the earliest of several, or null.
 */
export function extremeDay({ days }: ReturnSeries, sign: 1 | -1): DailyReturn | null {
  return days.reduce<DailyReturn | null>(
    (found, day) =>
      found === null || sign * (day.dailyReturn - found.dailyReturn) > 0 ? day : found,
    null,
  );
}

/** Days with a return above 0, as a fraction of all. */
export function winningDaysShare({ days }: ReturnSeries): Figure {
  if (days.length === 0) return { reason: NO_RETURN };
  return days.filter(({ dailyReturn }) => dailyReturn > 0).length / days.length;
}

/**
 * The most days in a row with a return above 0 (`sign` 1) or below 0 (-1); a day with a return of 0
 * ends both.
 */
export function longestRun({ days }: ReturnSeries, sign: 1 | -1): number {
  let [longest, length] = [0, 0];
  for (const { dailyReturn } of days) {
    length = sign * dailyReturn > 0 ? length + 1 : 0;
    longest = Math.max(longest, length);
  }
  return longest;
}
