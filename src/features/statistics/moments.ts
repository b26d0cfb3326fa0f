import assert from 'node:assert/strict';

/** The element at an index that a list must have. Too slow for the innermost loops over numbers. */
export function at<Element>(list: ArrayLike<Element>, index: number): Element {
  const element = list[index];
  assert(element !== undefined, 'the index is within the list');
  return element;
}

/**
 * Moments of numbers in memory; no list may be empty. Loops over numbers read a missing one as NaN,
 * which shows in the result: in the innermost ones `at` takes several times as long.
 */

type Numbers = Float64Array | readonly number[];

export function mean(numbers: Numbers): number {
  let sum = 0;
  for (let index = 0; index < numbers.length; index += 1) sum += numbers[index] ?? NaN;
  return sum / numbers.length;
}

/** The middle number, or the mean of the two in the middle; unlike the moments, 0 of none. */
export function median(numbers: Numbers): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const [low, high] = [sorted[(sorted.length - 1) >> 1] ?? 0, sorted[sorted.length >> 1] ?? 0];
  return (low + high) / 2;
}

/** How far each number lies from one, such as their mean. */
export function deviationsFrom(middle: number, numbers: Numbers): Float64Array {
  return Float64Array.from(numbers, (number) => number - middle);
}

/** The sample variance, over n − 1; 0 for a single number. */
export function sampleVariance(numbers: Numbers): number {
  return numbers.length === 1
    ? 0
    : (centralMoment(numbers, 2) * numbers.length) / (numbers.length - 1);
}

/** The mean of (x − mean)^order, over n. */
export function centralMoment(numbers: Numbers, order: number): number {
  const middle = mean(numbers);
  let sum = 0;
  for (let index = 0; index < numbers.length; index += 1)
    sum += ((numbers[index] ?? NaN) - middle) ** order;
  return sum / numbers.length;
}

/** The last number from `low` up to, but without, `high` at which it still holds. */
export function bisect(low: number, high: number, holdsAt: (number: number) => boolean): number {
  const middle = (low + high) / 2;
  if (middle <= low || middle >= high) return low;
  return holdsAt(middle) ? bisect(middle, high, holdsAt) : bisect(low, middle, holdsAt);
}

/** A distribution symmetric about 0, for arguments of at least 0. */
interface SymmetricDistribution {
  /** P(X > x). */
  upperTail: (x: number) => number;
  density: (x: number) => number;
}

const MAX_STEPS = 200;
const MAX_GROWTH = 4;
const PRECISION = 4 * Number.EPSILON;

/**
 * The x with P(X ≤ x) = probability, accurate relative to the smaller tail. Newton's method on ln
 * P(X > x) over ln x, which is nearly straight in the tails of all distributions used here; a step
 * that leaves the bracket is replaced by the bracket's middle. Infinite at 0 and 1, NaN outside of
 * them.
 */
export function symmetricQuantile(
  distribution: SymmetricDistribution,
  probability: number,
): number {
  if (!(probability >= 0 && probability <= 1)) return NaN;
  if (probability === 0.5) return 0;
  return probability < 0.5
    ? -upperQuantile(distribution, probability)
    : upperQuantile(distribution, 1 - probability);
}

/** The x above 0 with P(X > x) = tail, which is below 1/2. */
function upperQuantile({ upperTail, density }: SymmetricDistribution, tail: number): number {
  if (tail === 0) return Infinity;
  let [low, high, x] = [0, Infinity, 1];
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const above = upperTail(x);
    if (above > tail) low = x;
    else high = x;
    const next =
      x * Math.min(MAX_GROWTH, Math.exp((Math.log(above / tail) * above) / (x * density(x))));
    if (Math.abs(next - x) <= PRECISION * x) return next;
    x = next > low && next < high ? next : (low + Math.min(high, MAX_GROWTH * x)) / 2;
    if (high - low <= PRECISION * low) return x;
  }
  return x;
}

/** A square matrix, row by row. */
type Matrix = readonly Float64Array[];

/** What remains of a variance is rounding below this fraction of it. */
const LEAST_SHARE = 1e-12;

/**
 * The lower triangle L with L·Lᵀ = a symmetric, positive semi-definite matrix, such as a
 * covariance. It may be singular: a row that earlier rows explain up to rounding gets 0 on the
 * diagonal, and so does its column (Higham, Analysis of the Cholesky Decomposition of a
 * Semi-definite Matrix, 1990). Reads only the lower triangle of the matrix.
 */
export function cholesky(matrix: Matrix): Matrix {
  const lower = matrix.map(({ length }) => new Float64Array(length));
  for (const [row, own] of lower.entries()) {
    for (let column = 0; column <= row; column += 1) {
      const other = at(lower, column);
      const given = at(matrix, row);
      const rest = at(given, column) - dot(own, other, column);
      if (column === row) own[row] = rest > LEAST_SHARE * at(given, row) ? Math.sqrt(rest) : 0;
      else own[column] = other[column] === 0 ? 0 : rest / at(other, column);
    }
  }
  return lower;
}

/** The sum of the products of the first `length` numbers of both; NaN when one has fewer. */
export function dot(one: Float64Array, other: Float64Array, length: number): number {
  let sum = 0;
  for (let index = 0; index < length; index += 1)
    sum += (one[index] ?? NaN) * (other[index] ?? NaN);
  return sum;
}
