import { addDays, type CalendarDate, countWeekdays } from '#time/calendar.ts';
import { count } from '#text/sentences.ts';
import {
  type Figure,
  LEAST_RETURN,
  mapFigure,
  MIN_DAYS_FOR_ANNUAL_RETURN,
  MIN_DAYS_FOR_RISK,
  MIN_SHARE_OF_WEEKDAYS,
  ratio,
  ROUNDING,
  rounded,
  TRADING_DAYS_PER_YEAR,
} from '../statistics/figure.ts';
import { deviationsFrom, dot, mean } from '../statistics/moments.ts';

/**
 * The returns of months or years, named by the first letters of a date: the daily returns of its
 * days linked (Bacon 2008), and how many days these are. In order, without those in which no day
 * has a return.
 */
export function returnsBy({ days }: ReturnSeries, unit: 'YYYY-MM' | 'YYYY') {
  return [...Map.groupBy(days, ({ date }) => date.slice(0, unit.length))].map(([period, own]) => ({
    period,
    return: rounded(linkReturns(dailyReturns({ days: own }))),
    days: own.length,
  }));
}

/**
 * The return of one day, as a fraction: profit over the closing value of the day that it started
 * from.
 */
interface DailyReturn {
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
export interface CurveDay {
  date: CalendarDate;
  startDate: CalendarDate | null;
  /** Null when it started from a value of 0, where a return is undefined. */
  dailyReturn: number | null;
}

export const NO_RETURN = 'There is no daily return';
export const UNVARIED = 'The daily returns do not vary';

export function toReturnSeries(
  curve: readonly CurveDay[],
  leastReturn = LEAST_RETURN,
): ReturnSeries {
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

export function dailyReturns({ days }: Pick<ReturnSeries, 'days'>): number[] {
  return days.map(({ dailyReturn }) => dailyReturn);
}

/**
 * Returns linked: the product of (1 + r), minus 1 (Bacon, Practical Portfolio Performance
 * Measurement and Attribution, 2008, "time-weighted returns"). Without gaps this is end value over
 * start value, minus 1.
 */
export function linkReturns(returns: readonly number[]): number {
  return returns.reduce((growth, dailyReturn) => growth * (1 + dailyReturn), 1) - 1;
}

export function totalReturn(series: ReturnSeries): Figure {
  return series.days.length === 0 ? { reason: NO_RETURN } : linkReturns(dailyReturns(series));
}

/**
 * Why a figure over these days cannot be scaled to a year, which takes at least `least` days; null
 * when it can.
 */
export function notAnnualisedReason(
  { days, weekdays }: ReturnSeries,
  least: number,
): string | null {
  if (days.length < least) return tooFewDays(days.length, least);
  if (days.length >= weekdays * MIN_SHARE_OF_WEEKDAYS) return null;
  return `Annualising needs a day with a return on two of three weekdays; there are ${days.length} on ${weekdays} weekdays`;
}

export function tooFewDays(days: number, least: number): string {
  return `Needs ${count(least, 'day')} with a return, has ${days}`;
}

/**
 * The yearly return that compounds to the total: (1 + R)^(252/n) - 1 (Bacon 2008); none for less
 * than a year (GIPS).
 */
export function annualisedReturn(series: ReturnSeries): Figure {
  const reason = notAnnualisedReason(series, MIN_DAYS_FOR_ANNUAL_RETURN);
  if (reason !== null) return { reason };
  return (
    (1 + linkReturns(dailyReturns(series))) ** (TRADING_DAYS_PER_YEAR / series.days.length) - 1
  );
}

/** The deepest fall from a high, named as in the response. */
export interface DrawdownReport {
  /** The loss from the high to the low, as a fraction of the high; 0 when the value never fell. */
  depth: number;
  /** Null when the high is the value at the start of the first day, or when there was no fall. */
  peak_date: CalendarDate | null;
  trough_date: CalendarDate | null;
  /** The first day back at the high; null when it was never reached again. */
  recovery_date: CalendarDate | null;
  /** Days from the one after the high through the recovery, or through the last day. */
  length: number;
}

/**
 * The maximum drawdown of the linked daily returns, the start included as a possible high (Bacon
 * 2008).
 */
export function maxDrawdown(series: ReturnSeries): DrawdownReport {
  const [deepest] = deepestDrawdowns(series, 1);
  return (
    deepest ?? { depth: 0, peak_date: null, trough_date: null, recovery_date: null, length: 0 }
  );
}

/**
 * The deepest drawdowns, each from a high until that is reached again, so that no two share a day;
 * the deepest first. A later one counts as deeper only by more than rounding.
 */
export function deepestDrawdowns({ days }: ReturnSeries, most: number): DrawdownReport[] {
  const left = findDrawdowns(days);
  const found: DrawdownReport[] = [];
  while (found.length < most && left.length > 0) {
    const deepest = left.reduce((one, other) => (other.depth > one.depth + ROUNDING ? other : one));
    found.push(deepest);
    left.splice(left.indexOf(deepest), 1);
  }
  return found;
}

/** Every drawdown, in order; the last one may have no recovery. */
function findDrawdowns(days: readonly DailyReturn[]): DrawdownReport[] {
  const found: DrawdownReport[] = [];
  let current: DrawdownReport | null = null;
  let [growth, high, peak] = [1, 1, -1];
  for (const [index, { date, dailyReturn }] of days.entries()) {
    growth *= 1 + dailyReturn;
    const depth = 1 - growth / high;
    const length = index - peak;
    if (depth > ROUNDING) {
      if (current === null) {
        const peakDate = days[peak]?.date ?? null;
        current = { depth, peak_date: peakDate, trough_date: date, recovery_date: null, length };
        found.push(current);
      }
      current.length = length;
      if (depth > current.depth + ROUNDING) [current.depth, current.trough_date] = [depth, date];
      continue;
    }
    if (current !== null) [current.recovery_date, current.length] = [date, length];
    current = null;
    high = Math.max(high, growth);
    peak = index;
  }
  return found;
}

const YEAR_ROOT = Math.sqrt(TRADING_DAYS_PER_YEAR);

/** The sample covariance, over n - 1. Both lists have the same length, of at least 2. */
export function covariance(ones: readonly number[], others: readonly number[]): number {
  const { length: n } = ones;
  return dot(deviationsFrom(mean(ones), ones), deviationsFrom(mean(others), others), n) / (n - 1);
}

/**
 * The sample standard deviation, over n - 1; exactly 0 up to `least`, where only rounding varies.
 */
export function sampleDeviation(numbers: readonly number[], least: number): number {
  const deviation = Math.sqrt(covariance(numbers, numbers));
  return deviation > least ? deviation : 0;
}

/** The mean over a deviation, both per day, scaled to a year by the square root of 252. */
export function annualisedRatio(average: number, deviation: number, reason: string): Figure {
  return mapFigure(ratio(average, deviation, reason), (daily) => daily * YEAR_ROOT);
}

export function annualisedDeviation(numbers: readonly number[], least: number): number {
  return sampleDeviation(numbers, least) * YEAR_ROOT;
}

/** A figure of risk per year, of the daily returns of a series that can be scaled to one. */
function riskPerYear(
  series: ReturnSeries,
  figure: (returns: number[], leastReturn: number) => Figure,
): Figure {
  const reason = notAnnualisedReason(series, MIN_DAYS_FOR_RISK);
  return reason === null ? figure(dailyReturns(series), series.leastReturn) : { reason };
}

/** The sample deviation of the daily returns times the square root of 252 (Bacon 2008). */
export function annualisedVolatility(series: ReturnSeries): Figure {
  return riskPerYear(series, annualisedDeviation);
}

/**
 * The mean over the sample deviation of the returns in excess of the risk-free rate, times the
 * square root of 252 (Sharpe, The Sharpe Ratio, Journal of Portfolio Management, 1994).
 */
export function sharpeRatio(series: ReturnSeries, riskFree: number): Figure {
  return riskPerYear(series, (returns, least) => {
    const excess = returns.map((dailyReturn) => dailyReturn - riskFree);
    return annualisedRatio(mean(excess), sampleDeviation(excess, least), UNVARIED);
  });
}

/**
 * The mean excess over a target, here the risk-free rate, over the downside deviation, times the
 * square root of 252 (Sortino & van der Meer, Downside Risk, Journal of Portfolio Management,
 * 1991).
 */
export function sortinoRatio(series: ReturnSeries, riskFree: number): Figure {
  return riskPerYear(series, (returns, least) => {
    const squares = returns.map((dailyReturn) => Math.min(0, dailyReturn - riskFree) ** 2);
    const deviation = Math.sqrt(mean(squares));
    return annualisedRatio(
      mean(returns) - riskFree,
      deviation > least ? deviation : 0,
      'No day fell measurably below the risk-free rate',
    );
  });
}
