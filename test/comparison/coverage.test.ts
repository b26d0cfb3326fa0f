import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detectionOf } from '../../src/comparison/looks.ts';
import { compare } from '../support/comparisons.ts';
import {
  equalModels,
  measureCoverage,
  noisyScenarios,
  type Scenario,
  scenarios,
  shareShowingAny,
  sharesShownBy,
} from '../support/coverage.ts';
import { inLongForm, isLong, runs } from '../support/long.ts';

/** What a nominal 95 % is worth: 94 to 97 %, whatever the days, the runs and what they have of both. */
const SIMULATIONS = runs(300, 10_000);
/** Four standard deviations of a share of 5 % in that many simulations. */
const CHANCE = 4 * Math.sqrt((0.05 * 0.95) / SIMULATIONS);

function assertCoverage(scenario: Scenario, least: number): void {
  const { covered } = measureCoverage(scenario, {
    simulations: SIMULATIONS,
    seed: 'coverage',
  });
  const where = `${JSON.stringify(scenario)} covers ${covered}`;
  assert.ok(covered > least - CHANCE && covered < 0.97 + CHANCE, where);
}

/**
 * Variance from the days only, and as much from the runs as from the days: an interval that leaves
 * out either covers far too little.
 */
const shortForm = ({ days, runs: count, runEffect }: Scenario) =>
  days === 60 && (count === 1 || (count === 3 && runEffect === 10));

test('the interval covers the truth as often as it says', () => {
  for (const scenario of [...scenarios, ...noisyScenarios].filter(
    (one) => isLong || shortForm(one),
  ))
    assertCoverage(scenario, 0.94);
});

test('mean ± interval over the repeats, the usual method, does not', inLongForm, () => {
  const scenario = { days: 60, runs: 10, runEffect: 3, ownNoise: 1 };
  const { naive } = measureCoverage(scenario, { simulations: SIMULATIONS, seed: 'naive' });
  assert.ok(naive < 0.6, `it covers ${naive}`);
});

test(
  'the smallest difference that a period can show is shown four times of five',
  inLongForm,
  () => {
    const days = 250;
    const scenario = {
      days,
      runs: 1,
      runEffect: 0,
      difference: (detectionOf({ days, looks: 'once' }) * 0.0061) / Math.sqrt(days),
    };
    const { shown } = measureCoverage(scenario, { simulations: SIMULATIONS, seed: 'power' });
    assert.ok(Math.abs(shown - 0.8) < 0.015 + 4 * Math.sqrt(0.16 / SIMULATIONS), `shown ${shown}`);
  },
);

/** At most 5 % and four standard deviations of so many simulations. */
const isRare = (share: number, simulations: number) =>
  share <= 0.05 + 4 * Math.sqrt(0.0475 / simulations);

test('of equal models hardly any comparison shows a difference', inLongForm, () => {
  const seeds = 1000;
  const scenario = { days: 60, runs: 3, runEffect: 3, ownNoise: 1 };
  const wrong = Array.from(
    { length: seeds },
    (_, seed) => compare(equalModels(4, scenario, `equal ${seed}`)).pairs,
  ).filter((pairs) => pairs.some(({ shown }) => shown)).length;
  assert.ok(isRare(wrong / seeds, seeds), `${wrong} of ${seeds}`);
});

test('nor does one of twenty models over twenty days, the fewest', inLongForm, () => {
  const simulations = 10_000;
  const scenario = { models: 20, days: 20, autocorrelation: 0 };
  const share = shareShowingAny(scenario, { simulations, seed: 'many', looks: 'once' });
  assert.ok(isRare(share, simulations), `${share}`);
});

test(
  'a look every day finds a false winner every third time, unless the looks are counted',
  inLongForm,
  () => {
    const simulations = 2000;
    for (const autocorrelation of [0, 0.2]) {
      const daily = sharesShownBy(autocorrelation, { simulations, seed: 'days', looks: 'daily' });
      assert.ok(isRare(daily.at(-1) ?? 1, simulations), `${autocorrelation}: ${daily.join(', ')}`);
    }
    const once = sharesShownBy(0, { simulations, seed: 'days', looks: 'once' });
    assert.ok((once.at(-1) ?? 0) > 0.2, once.join(', '));
  },
);
