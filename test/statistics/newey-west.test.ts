import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { relativeFigures } from '../../src/features/performance/relative.ts';
import { toReturnSeries } from '../../src/features/performance/risk-and-return.ts';
import { fitLine } from '../../src/features/statistics/regression.ts';
import { addDays } from '../../src/core/time/calendar.ts';
import { within } from '../support/near.ts';

/** Made by lab/oracles/comparison.py: OLS of statsmodels 0.15 with cov_type="HAC". */
const { series, lines } = JSON.parse(
  readFileSync(new URL('../fixtures/comparison/expected.json', import.meta.url), 'utf8'),
);

test('a line and the standard errors of both its figures agree with another library', () => {
  const assertNear = within({ absolute: 1e-12, relative: 1e-9 });
  assert.ok(lines.length > 5);
  for (const { x, y, pValue: _, ...wanted } of lines) {
    const fitted = fitLine(series[x], series[y]);
    for (const [name, value] of Object.entries(fitted))
      assertNear(value, wanted[name], `${y} over ${x}: ${name}`);
  }
});

const curveOf = (returns: readonly number[]) =>
  toReturnSeries(
    returns.map((dailyReturn, day) => ({
      date: addDays('2025-01-01', day),
      startDate: day === 0 ? null : addDays('2025-01-01', day - 1),
      dailyReturn,
    })),
    1e-8,
  );

test('alpha with its error and its p-value, beta with its error; the risk-free rate moves only alpha', () => {
  const assertNear = within({ absolute: 1e-12, relative: 1e-9 });
  for (const { x, y, ...wanted } of lines) {
    const both = { own: curveOf(series[y]), benchmark: curveOf(series[x]) };
    const found = relativeFigures(both, 0);
    assertNear(found.alpha, 252 * wanted.intercept, 'alpha');
    assertNear(found.alpha_standard_error, 252 * wanted.interceptError, 'alpha_standard_error');
    assertNear(found.alpha_p_value, wanted.pValue, 'alpha_p_value');
    assertNear(found.beta, wanted.slope, 'beta');
    assertNear(found.beta_standard_error, wanted.slopeError, 'beta_standard_error');
    const above = relativeFigures(both, 0.0001);
    assertNear(above.alpha, 252 * (wanted.intercept - 0.0001 * (1 - wanted.slope)), 'above a rate');
    assertNear(above.beta_standard_error, wanted.slopeError, 'above a rate');
  }
});

test('a model that follows its benchmark exactly has an error of 0 and no p-value', () => {
  const { alpha_standard_error, alpha_p_value, beta } = relativeFigures(
    { own: curveOf(series.chips), benchmark: curveOf(series.chips) },
    0,
  );
  within({ absolute: 1e-12 })(alpha_standard_error, 0, 'error');
  within({ absolute: 1e-12 })(beta, 1, 'beta');
  assert.deepEqual(alpha_p_value, { reason: 'The benchmark explains every day exactly' });
});
