import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cholesky } from '../../src/features/statistics/moments.ts';
import { tableOf } from '../support/text-table.ts';

const rowsOf = (matrix: readonly (readonly number[])[]) =>
  matrix.map((row) => Float64Array.from(row));
const plain = (matrix: readonly Float64Array[]) => matrix.map((row) => [...row]);

const table = tableOf<[name: string, matrix: string, lower: string]>(`
  nothing                             |                        |
  a variance                          | 9                      | 3
  two that have to do with each other | 4 2, 2 10              | 2 0, 1 3
  the same one twice                  | 4 4, 4 4               | 2 0, 2 0
  one that is the sum of the others   | 1 0 1, 0 4 4, 1 4 5    | 1 0 0, 0 2 0, 1 2 0
  one that does not vary              | 0 0, 0 4               | 0 0, 0 2
  singular but for rounding           | 1 1, 1 ${1 + 2e-16}    | 1 0, 1 0
  singular and below 0 by rounding    | 1 1, 1 ${1 - 2e-16}    | 1 0, 1 0`);

test('a covariance becomes its lower triangle, singular or not', () => {
  for (const [name, text, lower] of table) {
    const matrix = text === '' ? [] : text.split(', ').map((row) => row.split(' ').map(Number));
    const found = plain(cholesky(rowsOf(matrix)));
    assert.equal(found.map((row) => row.join(' ')).join(', '), lower, name);
  }
});

test('the triangle times its transpose is the covariance, at any rank', () => {
  const number = fc.integer({ min: -1000, max: 1000 }).map((thousandths) => thousandths / 1000);
  const factors = fc
    .tuple(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 7 }))
    .chain(([size, rank]) =>
      fc.array(fc.array(number, { minLength: rank, maxLength: rank }), {
        minLength: size,
        maxLength: size,
      }),
    );
  const property = fc.property(factors, (factor) => {
    const covariance = product(factor, factor);
    const lower = plain(cholesky(rowsOf(covariance)));
    const again = product(lower, lower);
    for (const [i, row] of covariance.entries())
      for (const [j, value] of row.entries()) {
        const scale = Math.sqrt((covariance[i]?.[i] ?? 0) * (covariance[j]?.[j] ?? 0));
        assert.ok(Math.abs((again[i]?.[j] ?? NaN) - value) <= 2e-6 * scale + 1e-300, `${i}, ${j}`);
      }
  });
  fc.assert(property, { numRuns: 200 });
});

/** One times the transpose of the other. */
function product(one: number[][], other: number[][]): number[][] {
  return one.map((row) =>
    other.map((column) => row.reduce((sum, value, k) => sum + value * (column[k] ?? 0), 0)),
  );
}
