import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lookKinds } from '../../src/features/comparison/looks.ts';
import {
  leadScenarios,
  measureCoverage,
  noisyScenarios,
  type Scenario,
  scenarios,
  shareShowingAny,
  shareShowingLead,
  sharesShownBy,
  truthOf,
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

/** Days only; and as much from three runs as from the days. */
const isShort = ({ days, runs: count, runEffect }: Scenario) =>
  (days === 20 && count === 1) || (days === 60 && count === 3 && runEffect === 10);

test('the smallest lead that would be likely to show is shown four times of five', () => {
  for (const scenario of leadScenarios.filter((one) => isLong || isShort(one)))
    for (const looks of lookKinds) {
      const options = { simulations: runs(1000, 10_000), seed: 'power', looks };
      const shown = shareShowingLead(scenario, options);
      const where = `${JSON.stringify(scenario)} ${looks}: ${shown}`;
      if (Number.isNaN(shown)) assert.ok(truthOf(scenario).degreesOfFreedom < 3, where);
      else
        assert.ok(Math.abs(shown - 0.8) < 0.02 + 4 * Math.sqrt(0.16 / options.simulations), where);
    }
});

/** At most 5 % and four standard deviations of so many simulations. */
const isRare = (share: number, simulations: number) =>
  share <= 0.05 + 4 * Math.sqrt(0.0475 / simulations);

test(
  'of twenty equal models hardly any comparison shows a difference, over twenty days, the fewest',
  inLongForm,
  () => {
    const simulations = 10_000;
    const scenario = { models: 20, days: 20, autocorrelation: 0 };
    const share = shareShowingAny(scenario, { simulations, seed: 'many', looks: 'once' });
    assert.ok(isRare(share, simulations), `${share}`);
  },
);

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
