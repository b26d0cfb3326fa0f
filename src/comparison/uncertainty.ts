import { dot } from '../statistics/cholesky.ts';
import { mean } from '../statistics/moments.ts';

/** How much the runs of a model differ. */
export interface RunSpread {
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
}

/**
 * A standard error per day up to this is rounding, which reaches about 1e-18; one unit of a ledger
 * is far above it.
 */
const LEAST_STANDARD_ERROR = 1e-15;

/**
 * The variance of the mean of runs over the same days, V_days + V_runs, with Welch's degrees of
 * freedom V² / (V_days²/(D−1) + Σ (s²/R)²/(R−1)) (Welch, The Generalization of "Student's" Problem
 * when Several Different Population Variances are Involved, Biometrika 34, 1947; Satterthwaite, An
 * Approximate Distribution of Estimates of Variance Components, Biometrics Bulletin 2, 1946). Null
 * when nothing varies. Needs at least two days.
 */
export function measureUncertainty(
  daily: Float64Array,
  spreads: readonly RunSpread[],
): Uncertainty | null {
  const ofDays = varianceOfMean(daily);
  const ofRuns = spreads.reduce((sum, spread) => sum + share(spread), 0);
  const total = ofDays + ofRuns;
  if (total <= LEAST_STANDARD_ERROR ** 2) return null;
  const runTerms = spreads.reduce(
    (sum, spread) => sum + (spread.runs > 1 ? share(spread) ** 2 / (spread.runs - 1) : 0),
    0,
  );
  return {
    ofDays,
    ofRuns,
    total,
    degreesOfFreedom: total ** 2 / (ofDays ** 2 / (daily.length - 1) + runTerms),
  };
}

function share({ runs, variance }: RunSpread): number {
  return variance / runs;
}

/**
 * (γ₀ + 2 Σ (1 − k/(L+1)) γ_k) / (D − 1), γ_k the autocovariances over D: the variance of the mean
 * of autocorrelated days (Newey & West, A Simple, Positive Semi-definite, Heteroskedasticity and
 * Autocorrelation Consistent Covariance Matrix, Econometrica 55, 1987), with the small-sample
 * correction D/(D − 1).
 */
export function varianceOfMean(daily: Float64Array): number {
  const middle = mean(daily);
  const deviations = daily.map((number) => number - middle);
  const lags = lagsFor(daily.length);
  let sum = products(deviations, 0);
  for (let lag = 1; lag <= lags; lag += 1)
    sum += 2 * (1 - lag / (lags + 1)) * products(deviations, lag);
  return Math.max(0, sum / daily.length / (daily.length - 1));
}

/**
 * L = ⌊4 (D/100)^(2/9)⌋ (Newey & West, Automatic Lag Selection in Covariance Matrix Estimation,
 * Review of Economic Studies 61, 1994).
 */
export function lagsFor(days: number): number {
  return Math.floor(4 * (days / 100) ** (2 / 9));
}

/** The sum of the products of each number with the one `lag` days before. */
function products(deviations: Float64Array, lag: number): number {
  return dot(deviations.subarray(lag), deviations, deviations.length - lag);
}
