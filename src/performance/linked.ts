import type { CalendarDate } from '../calendar.ts';
import type { ReturnSeries } from './returns.ts';

/**
 * The return of a month or a year: the daily returns of its days linked (Bacon 2008), and how many
 * days these are.
 */
export interface PeriodReturn {
  /** `2025-10`, or `2025`. */
  period: string;
  totalReturn: number;
  days: number;
}

export function monthlyReturns(series: ReturnSeries): PeriodReturn[] {
  return returnsBy(series, (date) => date.slice(0, 'YYYY-MM'.length));
}

export function yearlyReturns(series: ReturnSeries): PeriodReturn[] {
  return returnsBy(series, (date) => date.slice(0, 'YYYY'.length));
}

/** In order, without periods in which no day has a return. */
function returnsBy(
  { days }: ReturnSeries,
  periodOf: (date: CalendarDate) => string,
): PeriodReturn[] {
  return [...Map.groupBy(days, ({ date }) => periodOf(date))].map(([period, own]) => ({
    period,
    totalReturn: own.reduce((growth, { dailyReturn }) => growth * (1 + dailyReturn), 1) - 1,
    days: own.length,
  }));
}
