import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  normalCdf,
  normalQuantile,
  normalUpperTail,
  studentTQuantile,
  studentTUpperTail,
} from '../../src/features/statistics/distributions.ts';
import { within } from '../support/near.ts';

/** P(T ≤ t). */
const studentTCdf = (t: number, df: number) => studentTUpperTail(-t, df);

/**
 * Eighteen digits, made with mpmath 1.4 at 40 to 420 digits: Student's tail as 1/2 minus the power
 * series of the hypergeometric function, or as the integral of the density (where both were taken
 * they agreed in all eighteen); the normal tail as erfc(z/√2)/2; the quantiles by bisection of the
 * regularised incomplete beta function and of erfc.
 */
const digits = JSON.parse(
  readFileSync(new URL('../fixtures/statistics/tails.json', import.meta.url), 'utf8'),
);
const tails: [t: string, degreesOfFreedom: string, tail: string][] =
  digits['studentT: t, degrees of freedom, P(T > t)'];
const normalTails: [z: string, tail: string][] = digits['normal: z, P(Z > z)'];
const quantiles: [tail: string, degreesOfFreedom: string, t: string][] =
  digits['studentTQuantile: upper tail, degrees of freedom, t'];
const normalQuantiles: [tail: string, z: string][] = digits['normalQuantile: upper tail, z'];

const ABSOLUTE = 1e-15;
const RELATIVE = 1e-13;

const assertNear = within({ relative: RELATIVE });

test("Student's t against eighteen digits: degrees of freedom from 0.5 to 10,000,000, tails down to 1e-280", () => {
  assert.ok(tails.length > 140);
  for (const [t, degreesOfFreedom, tail] of tails) {
    const [x, df, expected] = [Number(t), Number(degreesOfFreedom), Number(tail)];
    const where = `t = ${t}, ${degreesOfFreedom} degrees of freedom`;
    assertNear(studentTUpperTail(x, df), expected, where);
    assertNear(studentTCdf(-x, df), expected, where);
    assert.ok(Math.abs(studentTCdf(x, df) - (1 - expected)) <= ABSOLUTE, where);
  }
});

test('the normal distribution against eighteen digits, tails down to 1e-300', () => {
  for (const [z, tail] of normalTails) {
    assertNear(normalUpperTail(Number(z)), Number(tail), `z = ${z}`);
    assertNear(normalCdf(-Number(z)), Number(tail), `z = ${z}`);
    assert.ok(Math.abs(normalCdf(Number(z)) - (1 - Number(tail))) <= ABSOLUTE, `z = ${z}`);
  }
});

test('quantiles against eighteen digits, in both tails', () => {
  for (const [tail, df, t] of quantiles)
    assertNear(
      -studentTQuantile(Number(tail), Number(df)),
      Number(t),
      `t of ${tail} with ${df} degrees of freedom`,
    );
  for (const [tail, z] of normalQuantiles)
    assertNear(-normalQuantile(Number(tail)), Number(z), `z of ${tail}`);
  assertNear(studentTQuantile(0.975, 19), 2.0930240544083087, 'the upper tail');
});

test('a quantile inverts the distribution everywhere', () => {
  const property = fc.property(
    fc.double({ min: 1e-12, max: 1, maxExcluded: true, noNaN: true }),
    fc.double({ min: 0.5, max: 3000, noNaN: true }),
    (probability, df) => {
      assertNear(studentTCdf(studentTQuantile(probability, df), df), probability, 't');
      assertNear(normalCdf(normalQuantile(probability)), probability, 'z');
    },
  );
  fc.assert(property, { numRuns: 300 });
});

test('with many degrees of freedom t is normal', () => {
  for (const z of [0.3, 1.99, 2.01, 5])
    assertNear(studentTUpperTail(z, 1e17), normalUpperTail(z), `z = ${z}`);
});

test('outside of the distribution there is no value, at its ends there is', () => {
  assert.equal(studentTUpperTail(1, 0), NaN);
  assert.equal(studentTUpperTail(1, NaN), NaN);
  assert.equal(studentTQuantile(0.9, -1), NaN);
  assert.equal(studentTQuantile(1.1, 3), NaN);
  assert.equal(normalQuantile(-0.1), NaN);
  assert.equal(normalUpperTail(NaN), NaN);
  assert.deepEqual([0, 0.5, 1].map(normalQuantile), [-Infinity, 0, Infinity]);
  assert.deepEqual(
    [-Infinity, 0, Infinity].map((t) => studentTCdf(t, 3)),
    [0, 0.5, 1],
  );
  assert.deepEqual([-Infinity, 0, Infinity].map(normalCdf), [0, 0.5, 1]);
});
