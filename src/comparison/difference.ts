import type { Figure } from '../performance/figure.ts';
import { studentTQuantile, studentTUpperTail } from '../statistics/student-t.ts';
import type { Uncertainty } from './uncertainty.ts';

/** Both ends as returns over the period. */
export interface Interval {
  low: number;
  high: number;
}

/** How many days a mean daily log return is compounded over, and the confidence of its interval. */
export interface Period {
  days: number;
  confidence: number;
}

const TOO_LARGE = { reason: 'The figure is too large for a number' };

/**
 * exp(D·x) − 1: a mean daily log return, or a difference of two, as a return over the whole period.
 */
export function overPeriod(dailyLogReturn: number, days: number): Figure {
  const growth = Math.expm1(days * dailyLogReturn);
  return Number.isFinite(growth) ? growth : TOO_LARGE;
}

/**
 * mean ± t·√V, as returns over the period; t from Student's distribution, with both tails together
 * 1 − confidence.
 */
export function intervalOf(
  mean: number,
  uncertainty: Uncertainty,
  { days, confidence }: Period,
): Interval | { reason: string } {
  const quantile = -studentTQuantile((1 - confidence) / 2, uncertainty.degreesOfFreedom);
  const reach = quantile * Math.sqrt(uncertainty.total);
  const low = overPeriod(mean - reach, days);
  const high = overPeriod(mean + reach, days);
  return typeof low === 'number' && typeof high === 'number' ? { low, high } : TOO_LARGE;
}

/**
 * The probability of a difference of at least this size, in either direction, if only chance were
 * at work.
 */
export function twoSidedP(mean: number, { total, degreesOfFreedom }: Uncertainty): number {
  return 2 * studentTUpperTail(Math.abs(mean) / Math.sqrt(total), degreesOfFreedom);
}
