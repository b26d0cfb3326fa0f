import { at, deviationsFrom, dot, mean } from './moments.ts';

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

/**
 * 1 − 2 Σ (1 − k/(L+1)) (D − k) / (D (D − 1)): the mean of `varianceOfMean` of independent days over
 * the true variance, because autocovariances about an estimated mean are too low.
 */
export function biasOfDays(days: number): number {
  const lost = lagWeights(days).reduce(
    (sum, weight, index) => sum + weight * (days - index - 1),
    0,
  );
  return 1 - (2 * lost) / (days * (days - 1));
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
function weightedProducts(one: Float64Array, other: Float64Array): number {
  let sum = dot(one, other, one.length);
  for (const [index, weight] of lagWeights(one.length).entries()) {
    const lag = index + 1;
    const pairs = one.length - lag;
    sum += weight * (dot(one.subarray(lag), other, pairs) + dot(other.subarray(lag), one, pairs));
  }
  return sum;
}

/**
 * A line fitted to points, y = intercept + slope · x, and the standard errors of both: by ordinary
 * least squares with standard errors for autocorrelated days of unequal variance (Newey &
 * West 1987, 1994), with the small-sample correction D/(D − 2): as statsmodels'
 * `OLS(y, [1, x]).fit(cov_type="HAC", cov_kwds={"maxlags": L, "use_correction": True})`. `x` must
 * vary, over at least three days.
 */
export function fitLine(x: readonly number[], y: readonly number[]) {
  const [middle, height] = [mean(x), mean(y)];
  const centred = deviationsFrom(middle, x);
  const squares = dot(centred, centred, centred.length);
  const heights = deviationsFrom(height, y);
  const slope = dot(centred, heights, centred.length) / squares;
  const residuals = heights.map((value, day) => value - slope * (centred[day] ?? NaN));
  const scores = residuals.map((value, day) => value * (centred[day] ?? NaN));
  const days = x.length;
  const correction = days / (days - 2);
  const heightVariance = (correction * weightedProducts(residuals, residuals)) / days ** 2;
  const slopeVariance = (correction * weightedProducts(scores, scores)) / squares ** 2;
  const covariance = (correction * weightedProducts(residuals, scores)) / (days * squares);
  const interceptVariance = heightVariance - 2 * middle * covariance + middle ** 2 * slopeVariance;
  return {
    intercept: height - slope * middle,
    slope,
    interceptError: Math.sqrt(Math.max(0, interceptVariance)),
    slopeError: Math.sqrt(Math.max(0, slopeVariance)),
  };
}

/** A coefficient with its standard error. */
export interface Coefficient {
  value: number;
  standardError: number;
}

/**
 * Columns that are not free of each other: their places, where the condition of the matrix of
 * centred columns, each scaled to length 1, is above `MAX_CONDITION` (Belsley, Kuh & Welsch,
 * Regression Diagnostics, 1980).
 */
const MAX_CONDITION = 1e4;

/**
 * Ordinary least squares of y on columns and a constant, with standard errors for autocorrelated
 * days of unequal variance (Newey & West 1987, 1994) and the correction D/(D − K − 1): as
 * statsmodels'
 * `OLS(y, [1, x]).fit(cov_type="HAC", cov_kwds={"maxlags": L, "use_correction": True})`. Solved by
 * the modified Gram-Schmidt process, which is as exact as the columns allow (Björck, Numerical
 * Methods for Least Squares Problems, 1996, 2.4). Null for columns of a condition above
 * `MAX_CONDITION`.
 */
export function fitPlane(columns: readonly Float64Array[], y: Float64Array) {
  const days = y.length;
  const middles = columns.map(mean);
  const centred = columns.map((column, index) => deviationsFrom(middles[index] ?? NaN, column));
  const lengths = centred.map((column) => Math.sqrt(dot(column, column, days)));
  const scaled = centred.map((column, index) => column.map((one) => one / (lengths[index] ?? NaN)));
  if (!(conditionNumber(scaled) <= MAX_CONDITION)) return null;
  const height = mean(y);
  const heights = deviationsFrom(height, y);
  const { inverse, coefficients, residuals } = solve(scaled, heights);
  const slopeValues = coefficients.map((value, index) => value / (lengths[index] ?? NaN));
  const correction = days / (days - columns.length - 1);
  const coefficient = (value: number, influence: (day: number) => number): Coefficient => {
    const scores = residuals.map((residual, day) => residual * influence(day));
    const variance = correction * weightedProducts(scores, scores);
    return { value, standardError: Math.sqrt(Math.max(0, variance)) };
  };
  const slopeInfluence = (index: number) => (day: number) =>
    (inverse[index]?.[day] ?? NaN) / (lengths[index] ?? NaN);
  const intercept = slopeValues.reduce(
    (left, slope, index) => left - slope * (middles[index] ?? NaN),
    height,
  );
  return {
    intercept: coefficient(intercept, (day) =>
      middles.reduce((left, middle, index) => left - middle * slopeInfluence(index)(day), 1 / days),
    ),
    /** In the order of the columns. */
    slopes: slopeValues.map((value, index) => coefficient(value, slopeInfluence(index))),
    /** The share of the variance of y that the columns explain. */
    rSquared: 1 - dot(residuals, residuals, days) / dot(heights, heights, days),
  };
}

/**
 * The solution for columns of length 1, what it leaves, and the rows of the pseudo-inverse, R⁻¹Qᵀ.
 */
function solve(columns: readonly Float64Array[], y: Float64Array) {
  const days = y.length;
  const basis: Float64Array[] = [];
  const upper: number[][] = [];
  let residuals = Float64Array.from(y);
  /** After its days, each row has the projection of y: the same steps make it the coefficient. */
  const inverse: Float64Array[] = [];
  for (const column of columns) {
    let rest = Float64Array.from(column);
    const row: number[] = [];
    // Twice, so that the basis is orthogonal however near the columns are to each other.
    for (let round = 0; round < 2; round += 1)
      for (const [index, one] of basis.entries()) {
        const share = dot(one, rest, days);
        row[index] = (row[index] ?? 0) + share;
        rest = rest.map((value, day) => value - share * (one[day] ?? NaN));
      }
    const length = Math.sqrt(dot(rest, rest, days));
    const unit = rest.map((value) => value / length);
    upper.push([...row, length]);
    basis.push(unit);
    const projection = dot(unit, residuals, days);
    inverse.push(Float64Array.from([...unit, projection]));
    residuals = residuals.map((value, day) => value - projection * (unit[day] ?? NaN));
  }
  for (let place = columns.length - 1; place >= 0; place -= 1) {
    const own = at(upper, place);
    const length = at(own, place);
    const row = at(inverse, place).map((value) => value / length);
    inverse[place] = row;
    for (let above = 0; above < place; above += 1) {
      const share = at(own, above);
      inverse[above] = at(inverse, above).map((value, day) => value - share * (row[day] ?? NaN));
    }
  }
  return { coefficients: inverse.map((row) => at(row, days)), inverse, residuals };
}

/**
 * The largest singular value of columns of length 1 over the least, from the eigenvalues of their
 * products by Jacobi's rotations (Golub & Van Loan, Matrix Computations, 8.5).
 */
function conditionNumber(columns: readonly Float64Array[]): number {
  const size = columns.length;
  const matrix = columns.map((one) => columns.map((other) => dot(one, other, one.length)));
  const entry = (row: number, column: number) => at(at(matrix, row), column);
  const set = (row: number, column: number, value: number) => {
    at(matrix, row)[column] = value;
  };
  for (let sweep = 0; sweep < 30; sweep += 1)
    for (let p = 0; p < size; p += 1)
      for (let q = p + 1; q < size; q += 1) {
        if (entry(p, q) === 0) continue;
        const angle = 0.5 * Math.atan2(2 * entry(p, q), entry(q, q) - entry(p, p));
        const [c, s] = [Math.cos(angle), Math.sin(angle)];
        for (let k = 0; k < size; k += 1) {
          const [one, other] = [entry(k, p), entry(k, q)];
          set(k, p, c * one - s * other);
          set(k, q, s * one + c * other);
        }
        for (let k = 0; k < size; k += 1) {
          const [one, other] = [entry(p, k), entry(q, k)];
          set(p, k, c * one - s * other);
          set(q, k, s * one + c * other);
        }
      }
  const values = matrix.map((row, index) => at(row, index));
  return Math.sqrt(Math.max(...values) / Math.max(0, Math.min(...values)));
}
