import { at } from './at.ts';

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
