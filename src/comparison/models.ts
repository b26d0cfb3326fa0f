import type { Figure } from '../performance/figure.ts';
import { type Interval, intervalOf, overPeriod } from './difference.ts';
import type { Period } from './looks.ts';
import type { Series, TrackRecord } from './participants.ts';

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

/**
 * One model of the comparison; a missing figure has its reason. All returns cover only the days
 * compared.
 */
export interface ModelReport {
  model: string;
  runs: string[];
  /** In the order of `runs`. */
  runReturns: Figure[];
  /** exp(D·x̄) − 1, from the mean run's log returns. */
  totalReturn: Figure;
  interval: Interval | { reason: string };
  meanDailyReturn: Figure;
  standardErrorDaily: Figure;
  degreesOfFreedom: Figure;
  varianceShareOfRuns: Figure;
  probabilityBest: Figure;
  /**
   * Whether the interval is a lower bound, because one run does not show how much the model itself
   * varies.
   */
  isSingleRun: boolean;
}

/** Whether the model's runs would differ by chance, but there is only one. */
export function isSingleRun({ runs, isDeterministic }: TrackRecord): boolean {
  return runs.length === 1 && !isDeterministic;
}

const FLAT = { reason: 'Its daily returns do not vary' };

export function reportModel(series: Series, probabilityBest: Figure, period: Period): ModelReport {
  const { record, runMeans, mean, uncertainty } = series;
  return {
    model: record.model,
    runs: record.runs.map(({ run }) => run),
    runReturns: [...runMeans].map((own) => overPeriod(own, period.days)),
    totalReturn: overPeriod(mean, period.days),
    interval: uncertainty === null ? FLAT : intervalOf(mean, uncertainty, period),
    meanDailyReturn: mean,
    standardErrorDaily: uncertainty === null ? FLAT : Math.sqrt(uncertainty.total),
    degreesOfFreedom: uncertainty?.degreesOfFreedom ?? FLAT,
    varianceShareOfRuns: uncertainty === null ? FLAT : uncertainty.ofRuns / uncertainty.total,
    probabilityBest,
    isSingleRun: isSingleRun(record),
  };
}

/** A model that is not compared. */
export function reportLeftOut(record: TrackRecord, reason: string): ModelReport {
  const none = { reason };
  return {
    model: record.model,
    runs: record.runs.map(({ run }) => run),
    runReturns: record.runs.map(() => none),
    totalReturn: none,
    interval: none,
    meanDailyReturn: none,
    standardErrorDaily: none,
    degreesOfFreedom: none,
    varianceShareOfRuns: none,
    probabilityBest: none,
    isSingleRun: isSingleRun(record),
  };
}
