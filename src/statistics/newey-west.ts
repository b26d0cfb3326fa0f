import { deviationsFrom, dot, mean } from './moments.ts';

/** How sure a mean or a line is over days that depend on each other. */

/**
 * (γ₀ + 2 Σ (1 − k/(L+1)) γ_k) / (D − 1), γ_k the autocovariances over D: the variance of the mean
 * of autocorrelated days (Newey & West, A Simple, Positive Semi-definite, Heteroskedasticity and
 * Autocorrelation Consistent Covariance Matrix, Econometrica 55, 1987), with the small-sample
 * correction D/(D − 1).
 */
export function varianceOfMean(daily: Float64Array): number {
  const deviations = deviationsFrom(mean(daily), daily);
  const sum = weightedProducts(deviations, deviations);
  return Math.max(0, sum / daily.length / (daily.length - 1));
}

/**
 * ν_days = D / (1 + 2 Σ (1 − k/(L+1))²) − 1: a variance that is estimated with weights over L lags
 * is as uncertain as one of so many independent days, less the one for the mean (the equivalent
 * degrees of freedom of a spectral window at frequency 0, Priestley, Spectral Analysis and Time
 * Series, 1981).
 */
export function degreesOfDays(days: number): number {
  const squares = lagWeights(days).reduce((sum, weight) => sum + weight ** 2, 0);
  return days / (1 + 2 * squares) - 1;
}

/** 1 − k/(L+1) for the lags k = 1 … L (Bartlett's weights). */
function lagWeights(days: number): number[] {
  const lags = lagsFor(days);
  return Array.from({ length: lags }, (_, index) => 1 - (index + 1) / (lags + 1));
}

/**
 * L = ⌊4 (D/100)^(2/9)⌋ (Newey & West, Automatic Lag Selection in Covariance Matrix Estimation,
 * Review of Economic Studies 61, 1994).
 */
export function lagsFor(days: number): number {
  return Math.floor(4 * (days / 100) ** (2 / 9));
}

/**
 * Σ_t a_t·b_t + Σ_k w_k Σ_t (a_t·b_{t−k} + a_{t−k}·b_t), w_k the weights of the lags: the long-run
 * covariance of two series, times the days.
 */
export function weightedProducts(one: Float64Array, other: Float64Array): number {
  let sum = dot(one, other, one.length);
  for (const [index, weight] of lagWeights(one.length).entries()) {
    const lag = index + 1;
    const pairs = one.length - lag;
    sum += weight * (dot(one.subarray(lag), other, pairs) + dot(other.subarray(lag), one, pairs));
  }
  return sum;
}

/** A line fitted to points, y = intercept + slope · x, and the standard errors of both. */
export interface FittedLine {
  intercept: number;
  slope: number;
  interceptError: number;
  slopeError: number;
}

/**
 * Ordinary least squares with standard errors for autocorrelated days of unequal variance (Newey &
 * West 1987, 1994), with the small-sample correction D/(D − 2): as statsmodels'
 * `OLS(y, [1, x]).fit(cov_type="HAC", cov_kwds={"maxlags": L, "use_correction": True})`. `x` must
 * vary, over at least three days.
 */
export function fitLine(x: readonly number[], y: readonly number[]): FittedLine {
  const [middle, height] = [mean(x), mean(y)];
  const centred = deviationsFrom(middle, x);
  const squares = dot(centred, centred, centred.length);
  const heights = deviationsFrom(height, y);
  const slope = dot(centred, heights, centred.length) / squares;
  const residuals = heights.map((value, day) => value - slope * (centred[day] ?? NaN));
  const scores = residuals.map((value, day) => value * (centred[day] ?? NaN));
  const days = x.length;
  const correction = days / (days - 2);
  const ofHeight = (correction * weightedProducts(residuals, residuals)) / days ** 2;
  const ofSlope = (correction * weightedProducts(scores, scores)) / squares ** 2;
  const shared = (correction * weightedProducts(residuals, scores)) / (days * squares);
  const ofIntercept = ofHeight - 2 * middle * shared + middle ** 2 * ofSlope;
  return {
    intercept: height - slope * middle,
    slope,
    interceptError: Math.sqrt(Math.max(0, ofIntercept)),
    slopeError: Math.sqrt(Math.max(0, ofSlope)),
  };
}
