import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DETECTION } from '../../src/comparison/difference.ts';
import { compare } from '../support/comparisons.ts';
import {
  equalModels,
  measureCoverage,
  noisyScenarios,
  type Scenario,
  scenarios,
} from '../support/coverage.ts';
import { isLong, runs } from '../support/long.ts';

/**
 * What a nominal 95 % is worth. Where runs also differ from day to day it covers 93 to 97 %. Where
 * they do not, and with one run each, all there is are the days, and Newey and West's variance of
 * twenty days is too small by a tenth even where days do not depend on each other: then it covers
 * 92 to 93 % over 20 days, 93 to 94 % over 60 and 94 to 95 % over 250.
 */
const SIMULATIONS = runs(600, 10_000);
/** Four standard deviations of a share of 5 % in that many simulations. */
const CHANCE = 4 * Math.sqrt((0.05 * 0.95) / SIMULATIONS);

function assertCoverage(scenario: Scenario, least: number): void {
  const { covered, coveredWithFewer } = measureCoverage(scenario, {
    simulations: SIMULATIONS,
    seed: 'coverage',
  });
  const where = `${JSON.stringify(scenario)} covers ${covered}`;
  assert.ok(covered > least - CHANCE && covered < 0.97 + CHANCE, where);
  assert.ok(coveredWithFewer >= covered, where);
}

/**
 * Variance from the days only, and as much from the runs as from the days: an interval that leaves
 * out either covers far too little.
 */
const shortForm = ({ days, runs: count, runEffect }: Scenario) =>
  days === 60 && (count === 1 || (count === 3 && runEffect === 10));

test('the interval covers the truth as often as it says, where runs differ from day to day', () => {
  for (const scenario of noisyScenarios.filter((one) => isLong || shortForm(one)))
    assertCoverage(scenario, 0.935);
});

test('the interval covers the truth nearly as often where days are all there is', () => {
  const least = { 20: 0.92, 60: 0.93, 250: 0.94 } as Record<number, number>;
  for (const scenario of scenarios.filter((one) => isLong || shortForm(one)))
    assertCoverage(scenario, least[scenario.days] as number);
});

test('mean ± interval over the repeats, the usual method, does not', () => {
  const scenario = { days: 60, runs: 10, runEffect: 3, ownNoise: 1 };
  const { naive } = measureCoverage(scenario, { simulations: SIMULATIONS, seed: 'naive' });
  assert.ok(naive < 0.6, `it covers ${naive}`);
});

test('the smallest difference that a period can show is shown four times out of five', () => {
  const days = 250;
  const scenario = {
    days,
    runs: 1,
    runEffect: 0,
    difference: (DETECTION * 0.0061) / Math.sqrt(days),
  };
  const { shown } = measureCoverage(scenario, { simulations: SIMULATIONS, seed: 'power' });
  assert.ok(Math.abs(shown - 0.8) < 0.015 + 4 * Math.sqrt(0.16 / SIMULATIONS), `shown ${shown}`);
});

test('of equal models hardly any comparison shows a difference in any of its pairs', () => {
  const seeds = runs(30, 1000);
  const scenario = { days: 60, runs: 3, runEffect: 3, ownNoise: 1 };
  const wrong = Array.from(
    { length: seeds },
    (_, seed) => compare(equalModels(4, scenario, `equal ${seed}`)).pairs,
  ).filter((pairs) => pairs.some(({ isShown }) => isShown)).length;
  assert.ok(wrong / seeds <= 0.05 + 4 * Math.sqrt(0.0475 / seeds), `${wrong} of ${seeds}`);
});
