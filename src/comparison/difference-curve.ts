import type { Figure } from '../performance/figure.ts';
import { overPeriod } from './difference.ts';
import type { Series } from './series.ts';

/** How many models may have curves, one per pair; readers confuse more lines. */
export const MIN_CURVE_MODELS = 2;
export const MAX_CURVE_MODELS = 4;

/**
 * exp(Σ d) − 1 after each of the days, d the daily differences of log returns up to that day: by
 * how much more the first model has grown than the second. The last one is the difference over the
 * whole period.
 */
export function differenceCurve(one: Series, other: Series): Figure[] {
  let sum = 0;
  return Array.from(one.logReturns, (logReturn, day) => {
    sum += logReturn - (other.logReturns[day] ?? NaN);
    return overPeriod(sum, 1);
  });
}
