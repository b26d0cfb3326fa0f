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

export type Numbers = Float64Array | readonly number[];

export function mean(numbers: Numbers): number {
  let sum = 0;
  for (let index = 0; index < numbers.length; index += 1) sum += numbers[index] ?? NaN;
  return sum / numbers.length;
}

/** The middle number, or the mean of the two in the middle; unlike the moments, 0 of none. */
export function medianOf(numbers: Numbers): number {
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

/** A square matrix, row by row. */
export type Matrix = readonly Float64Array[];

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
