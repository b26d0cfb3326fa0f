import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitPlane } from '../../src/features/statistics/regression.ts';
import { within } from '../support/near.ts';

/**
 * Portfolios that are planted on three factors over 120 days, with what statsmodels 0.15.0 makes of
 * them: `OLS(y, add_constant(F)).fit(cov_type="HAC", cov_kwds={"maxlags": 4, "use_correction": True})`.
 * The numbers are drawn by the generator of Park & Miller (CACM 31, 1988).
 */
const DAYS = 120;

function drawn() {
  let state = 42;
  const next = () => (state = (16_807 * state) % 2_147_483_647) / 2_147_483_647 - 0.5;
  const rows = Array.from({ length: DAYS }, () => [0.03 * next(), 0.03 * next(), 0.03 * next()]);
  const noise = Float64Array.from({ length: DAYS }, () => 0.01 * next());
  const factor = (index: number) => Float64Array.from(rows, (row) => row[index] ?? NaN);
  return { factors: [factor(0), factor(1), factor(2)] as const, noise };
}

const { factors, noise } = drawn();
const [market, , momentum] = factors;
const middle = noise.reduce((sum, one) => sum + one, 0) / DAYS;

const planted: [name: string, y: Float64Array, params: number[], errors: number[], r2: number][] = [
  [
    'market only',
    market.map((one, day) => 0.9 * one + 0.1 * (noise[day] ?? 0) + 0.0002),
    [0.00021098258255174677, 0.8993531484983366, 0.0010521324810989748, -0.006687827522798229],
    [2.5792475790805473e-5, 0.0034733303755792783, 0.0029891205450956874, 0.00312537255001715],
    0.9983876645855055,
  ],
  [
    'a tilt to momentum',
    market.map((one, day) => one + 0.5 * (momentum[day] ?? 0) + 0.3 * (noise[day] ?? 0)),
    [3.2947747655231855e-5, 0.9980594454950098, 0.003156397443296703, 0.47993651743160537],
    [7.737742737241646e-5, 0.010419991126737844, 0.008967361635287076, 0.009376117650051467],
    0.9902186696278406,
  ],
  [
    'noise',
    noise.map((one) => one - middle),
    [-5.333199879140392e-5, -0.006468515016632226, 0.010521324810988083, -0.06687827522798248],
    [0.0002579247579080549, 0.0347333037557928, 0.02989120545095688, 0.03125372550017156],
    0.03547580267368622,
  ],
];

const assertNear = within({ absolute: 1e-9, relative: 1e-9 });

for (const [name, y, params, errors, rSquared] of planted)
  test(`the coefficients and errors are those of statsmodels: ${name}`, () => {
    const fitted = fitPlane(factors, y);
    assert.ok(fitted);
    const all = [fitted.intercept, ...fitted.slopes];
    for (const [index, { value, standardError }] of all.entries()) {
      assertNear(value, params[index] ?? NaN, `coefficient ${index}`);
      assertNear(standardError, errors[index] ?? NaN, `error ${index}`);
    }
    assertNear(fitted.rSquared, rSquared, 'R squared');
  });

test('columns with a condition above a thousand agree as well; those that repeat each other have no figures', () => {
  const near = market.map((one, day) => one + 0.0015 * (factors[1][day] ?? 0));
  const y = planted[1]?.[1] ?? noise;
  const fitted = fitPlane([market, near], y);
  assert.ok(fitted);
  const found = [fitted.intercept, ...fitted.slopes].map(({ value }) => value);
  const expected = [-0.0003751245148815377, -33.75313991425036, 34.72743589218672];
  for (const [index, value] of found.entries())
    assertNear(value, expected[index] ?? NaN, `${index}`);
  assert.equal(fitPlane([market, market.map((one) => 2 * one + 1)], y), null);
});
