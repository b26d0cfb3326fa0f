import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { jointCovariance, probabilitiesOfBest } from '../../src/features/comparison/comparison.ts';
import {
  findParticipants,
  readRecords,
  buildSeries,
} from '../../src/features/comparison/participants.ts';
import { measurePairs } from '../../src/features/comparison/pairs.ts';
import { measureUncertainty } from '../../src/features/comparison/difference.ts';
import { MORE_RUNS } from '../../src/features/comparison/planning.ts';
import { lookKinds } from '../../src/features/comparison/looks.ts';
import { compare, stockModels } from '../support/comparisons.ts';
import { within } from '../support/near.ts';

/**
 * Real return series against numpy 2.4, scipy 1.17 and statsmodels 0.15: lab/oracles/comparison.py
 * made the file.
 */
const expected = JSON.parse(
  readFileSync(new URL('../fixtures/comparison/expected.json', import.meta.url), 'utf8'),
);

const assertNear = within({ absolute: 1e-10, relative: 1e-10 });
const TRIALS = 7;
/** The oracle has exact quantiles in place of nodes. */
const planned = ['smallestDifference'];
const assertPlanned = within({ relative: 0.03 });

type Row = Record<string, unknown>;

/**
 * The figures of a row by the names of the expected ones; the ends of an interval beside the
 * others.
 */
function assertFigures(actual: Row, wanted: Row): void {
  const flat: Row = { ...actual, ...(actual['interval'] as Row) };
  for (const [name, value] of Object.entries(wanted)) {
    if (name === 'probabilityBest') continue;
    const where = `${wanted['model']} ${wanted['against'] ?? ''} ${name}`;
    const near = planned.includes(name) ? assertPlanned : assertNear;
    if (typeof value === 'number') near(flat[name] as number, value, where);
    else if (value === null) assert.deepEqual(flat[name], { reason: MORE_RUNS }, where);
    else if (Array.isArray(value))
      for (const [index, one] of value.entries())
        assertNear((flat[name] as number[])[index], one, where);
    else assert.equal(flat[name], value, where);
  }
}

test('every figure of real series agrees with other libraries', () => {
  for (const looks of lookKinds) {
    const { days, models, leader, boundary } = compare(stockModels(), { trials: TRIALS, looks });
    assert.equal(days.length, expected.days);
    if (looks === 'once') assert.equal(boundary, null);
    else assertNear(boundary as number, expected[looks].boundary);
    for (const wanted of expected[looks].models)
      assertFigures(models.find(({ model }) => model === wanted.model) as never, wanted);
    assertFigures(leader as never, expected.leader);
  }
});

test('a day that a run missed is left out, and so is the next, which it started from another close', () => {
  const missing = 'No return on this day';
  const elsewhere =
    'Its previous model-day differs from that of the others, so its return covers other days';
  assert.deepEqual(compare(stockModels()).leftOut, [
    { day: '2025-07-08', runs: ['chips#2', 'shops#4'], reason: missing },
    { day: '2025-07-09', runs: ['chips#2', 'shops#4'], reason: elsewhere },
    { day: '2025-09-02', runs: ['shops#4'], reason: missing },
    { day: '2025-09-03', runs: ['shops#4'], reason: elsewhere },
  ]);
});

test('every pair of real series agrees with other libraries, with each of the two first', () => {
  for (const looks of lookKinds) {
    const wantedPairs = expected[looks].pairs as (Row & Record<'model' | 'against', string>)[];
    for (const wanted of wantedPairs) {
      const { pairs } = compare(stockModels(), { against: wanted.against, looks });
      const pair = pairs.find(({ model }) => model === wanted.model);
      assertFigures(pair as never, { ...wanted, pValueHolm: pair?.pValueHolm as number });
    }
    const all = compare(stockModels(), { looks }).pairs;
    for (const { model, against, pValueHolm } of wantedPairs) {
      const names = [model, against];
      const pair = all.find((one) => names.includes(one.model) && names.includes(one.against));
      assertNear(pair?.pValueHolm as number, pValueHolm as number, `${model} ${against}`);
    }
  }
});

test('the joint covariance of real series agrees with another library', () => {
  const { series, pairs } = measureStocks();
  const covariance = jointCovariance(series, pairs);
  const scale = Math.max(...expected.covariance.flat());
  for (const [row, wanted] of expected.covariance.entries())
    for (const [column, value] of wanted.entries())
      within({ absolute: 1e-12 * scale })(covariance[row]?.[column], value, `${row}, ${column}`);
});

test('the probability of being best is within 0.02 of 2,000,000 draws', () => {
  const { models } = compare(stockModels());
  assert.equal(models.map(({ model }) => model).join(), 'chips,drugs,shops,apps');
  for (const { model, probabilityBest } of models) {
    const wanted = expected.once.models.find((one: Row) => one['model'] === model).probabilityBest;
    within({ absolute: 0.01 })(probabilityBest, wanted, model);
  }
  const { series, pairs } = measureStocks();
  const others = probabilitiesOfBest(series, pairs, { seed: 'another' });
  const best = models.map(({ probabilityBest }) => probabilityBest);
  assert.notDeepEqual(others.toSorted(), best.toSorted());
});

test("the degrees of freedom of two groups of runs agree with another library's Welch test", () => {
  // scipy.stats.ttest_ind([1, 2.5, 3.25], [2, 2.2, 7.1, 5.5, 0.3], equal_var=False).df
  const spreads = [
    { runs: 3, variance: 1.3125 },
    { runs: 5, variance: 7.777 },
  ];
  const still = new Float64Array(20).fill(0.001);
  assertNear(measureUncertainty(still, spreads)?.degreesOfFreedom, 5.669571257248799, 'Welch');
});

function measureStocks() {
  const { days, records } = findParticipants(readRecords(stockModels()).records);
  const series = records.map((record) => buildSeries(record, days));
  return { series, pairs: measurePairs(series) };
}
