import { at } from '../statistics/moments.ts';
import { degreesOfDays, varianceOfMean } from '../statistics/regression.ts';
import { type Figure, reportFigures, TOO_LARGE } from '../statistics/figure.ts';
import { studentTQuantile, studentTUpperTail } from '../statistics/distributions.ts';
import { significanceLevel, type Period, tailProbability } from './looks.ts';

/** How much the runs of a model differ. */
interface RunSpread {
  runs: number;
  /** The sample variance of the runs' mean daily log returns; 0 for a single run. */
  variance: number;
}

/** The variance of a mean daily log return, or of a mean difference of two, by its sources. */
export interface Uncertainty {
  /** From the days: other days would have given another mean. */
  ofDays: number;
  /** From the runs: other runs would have given another mean. */
  ofRuns: number;
  total: number;
  degreesOfFreedom: number;
  /** Of each model with several runs. */
  spreads: readonly RunSpread[];
}

/** Variance and degrees of freedom of an estimate. */
type Estimate = Pick<Uncertainty, 'total' | 'degreesOfFreedom'>;

/**
 * A standard error per day up to this is rounding, which reaches about 1e-18; one unit of a ledger
 * is far above it.
 */
const LEAST_STANDARD_ERROR = 1e-15;

/**
 * The variance of the mean of runs over the same days, V_days + V_runs, with Welch's degrees of
 * freedom V² / (V_days²/ν_days + Σ (s²/R)²/(R−1)) (Welch, The Generalization of "Student's" Problem
 * when Several Different Population Variances are Involved, Biometrika 34, 1947; Satterthwaite, An
 * Approximate Distribution of Estimates of Variance Components, Biometrics Bulletin 2, 1946). Null
 * when nothing varies. Needs at least two days.
 */
export function measureUncertainty(
  daily: Float64Array,
  spreads: readonly RunSpread[],
): Uncertainty | null {
  const ofDays = varianceOfMean(daily);
  const ofRuns = spreads.reduce((sum, spread) => sum + meanVariance(spread), 0);
  const total = ofDays + ofRuns;
  if (total <= LEAST_STANDARD_ERROR ** 2) return null;
  const several = spreads.filter(({ runs }) => runs > 1);
  const runTerms = several.reduce((sum, own) => sum + meanVariance(own) ** 2 / (own.runs - 1), 0);
  return {
    ofDays,
    ofRuns,
    total,
    degreesOfFreedom: total ** 2 / (ofDays ** 2 / degreesOfDays(daily.length) + runTerms),
    spreads: several,
  };
}

function meanVariance({ runs, variance }: RunSpread): number {
  return variance / runs;
}

/** Why there is no figure, or no interval. */
export interface Missing {
  reason: string;
}

/** Both ends as returns over the period. */
export interface Interval {
  low: number;
  high: number;
}

/** Significant digits: more than the exactness of any figure here. */
const DIGITS = 12;

export function toDigits(number: number): number {
  return Number(number.toPrecision(DIGITS)) + 0; // no -0
}

/** Figures and an interval by their names in the response, null where missing, with the reasons. */
export function reportWithInterval<Name extends string>(
  figures: Record<Name, Figure>,
  interval: Interval | Missing,
) {
  const { unavailable, ...numbers } = reportFigures(figures, toDigits);
  const isMissing = 'reason' in interval;
  return {
    ...numbers,
    interval: isMissing ? null : { low: toDigits(interval.low), high: toDigits(interval.high) },
    unavailable: {
      ...unavailable,
      ...(isMissing && { interval: interval.reason }),
    } as Record<string, string>,
  };
}

/**
 * exp(D·x) − 1: a mean daily log return, or a difference of two, as a return over the whole period.
 */
export function overPeriod(dailyLogReturn: number, days: number): Figure {
  const growth = Math.expm1(days * dailyLogReturn);
  return Number.isFinite(growth) ? growth : TOO_LARGE;
}

/**
 * mean ± t·√V, as returns over the period; t from Student's distribution, at the level of the
 * period's looks.
 */
export function confidenceInterval(
  mean: number,
  { total, degreesOfFreedom }: Estimate,
  period: Period,
): Interval | Missing {
  const { days } = period;
  const reach = -studentTQuantile(tailProbability(period), degreesOfFreedom) * Math.sqrt(total);
  const low = overPeriod(mean - reach, days);
  const high = overPeriod(mean + reach, days);
  return typeof low === 'number' && typeof high === 'number' ? { low, high } : TOO_LARGE;
}

/**
 * The smallest level at which the interval excludes no difference. For a single look that is the
 * probability of a difference of at least this size, in either direction, if only chance were at
 * work.
 */
export function twoSidedP(
  mean: number,
  { total, degreesOfFreedom }: Estimate,
  period: Pick<Period, 'days' | 'looks'>,
): number {
  return significanceLevel(
    studentTUpperTail(Math.abs(mean) / Math.sqrt(total), degreesOfFreedom),
    period,
  );
}

/**
 * p-values adjusted for multiple comparisons, in the same order: the k-th smallest of m times m − k
 * + 1, never below a smaller one's, at most 1 (Holm, A Simple Sequentially Rejective Multiple Test
 * Procedure, Scandinavian Journal of Statistics 6, 1979).
 */
export function holm(pValues: readonly number[]): number[] {
  const order = pValues
    .map((_, index) => index)
    .sort((one, other) => at(pValues, one) - at(pValues, other));
  const adjusted = new Array<number>(pValues.length);
  let largest = 0;
  for (const [rank, index] of order.entries()) {
    largest = Math.max(largest, Math.min(1, (pValues.length - rank) * at(pValues, index)));
    adjusted[index] = largest;
  }
  return adjusted;
}
