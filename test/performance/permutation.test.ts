import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { DRAWS, permuteNames, placeAmong } from '../../src/performance/permutation.ts';
import { createNormals, createUniforms } from '../../src/statistics/random.ts';
import { inLongForm } from '../support/long.ts';
import { within } from '../support/near.ts';

const assertNear = within({ absolute: 1e-12, relative: 1e-9 });

/** By day, of weights and returns by name. */
const held = (returns: readonly Float64Array[], weights: ReadonlyMap<number, Float64Array>) => ({
  returns: Array.from(returns[0] ?? [], (_, day) =>
    Float64Array.from(returns, (own) => own[day] ?? NaN),
  ),
  weights: Array.from(returns[0] ?? [], (_, day) =>
    [...weights].flatMap(([place, own]) => (own[day] ? [{ place, weight: own[day] }] : [])),
  ),
});

type Drawn = Parameters<typeof placeAmong>[0];
const drawn = (own: number, draws: readonly number[]): Drawn => ({
  own,
  draws: Float64Array.from(draws).sort(),
});

const places: [name: string, drawn: Drawn, percentile: number, pValue: number][] = [
  ['above all', drawn(5, [1, 2, 3, 4]), 1, 2 * (1 / 5)],
  ['below all', drawn(0, [1, 2, 3, 4]), 0, 2 * (1 / 5)],
  ['in the middle', drawn(2.5, [1, 2, 3, 4]), 0.5, 1],
  ['a tie counts half', drawn(3, [1, 2, 3, 4]), 0.625, 1],
  ['ties by rounding', drawn(0.3, [0.1, 0.1 + 0.2, 0.4, 0.5]), 0.375, 1],
  ['the same as all', drawn(1, [1, 1, 1]), 0.5, 1],
];

test('the place of a total among the draws, by hand', () => {
  for (const [name, own, percentile, pValue] of places) {
    const found = placeAmong(own);
    assert.deepEqual([found.percentile, found.pValue], [percentile, pValue], name);
  }
  const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
  const { median, interval90 } = placeAmong(drawn(0, hundred));
  assert.deepEqual([median, interval90], [50.5, { low: 5, high: 95 }]);
});

/** A market in which all names rise and fall together, and each also by itself. */
function marketOf(seed: string, { symbols, days }: { symbols: number; days: number }) {
  const normal = createNormals(seed);
  const common = Array.from({ length: days }, () => 0.002 + normal() / 100);
  return Array.from({ length: symbols }, () =>
    Float64Array.from(common, (value) => value + normal() / 50),
  );
}

const SIZE = { symbols: 30, days: 60 };

test('who picks the winners of each week is above 99 of 100 others, who picks the losers below', () => {
  const returns = marketOf('planted', SIZE);
  const picker = (sign: number) => {
    const weights = new Map<number, Float64Array>();
    for (let day = 0; day < SIZE.days; day += 1) {
      const week = Math.floor(day / 5) * 5;
      const gain = (own: Float64Array) =>
        own.subarray(week, week + 5).reduce((sum, value) => sum + sign * value, 0);
      const best = returns
        .keys()
        .toArray()
        .sort((one, other) => gain(returns[other] as never) - gain(returns[one] as never));
      for (const place of best.slice(0, 3)) {
        const own = weights.get(place) ?? new Float64Array(SIZE.days);
        own[day] = 0.3;
        weights.set(place, own);
      }
    }
    return placeAmong(permuteNames(held(returns, weights), `picker ${sign}`));
  };
  const [winner, loser] = [picker(1), picker(-1)];
  assert.ok(winner.percentile > 0.99 && loser.percentile < 0.01);
  assert.ok(winner.pValue < 0.02 && loser.pValue < 0.02);
});

test(
  'who picks at random lies anywhere among the others, whatever the market did',
  inLongForm,
  () => {
    const pickers = 500;
    const returns = marketOf('random', SIZE);
    const uniform = createUniforms('pickers');
    const percentiles = Array.from({ length: pickers }, (_, picker) => {
      const weights = new Map(
        Array.from({ length: 5 }, () => [
          Math.floor(uniform() * SIZE.symbols),
          Float64Array.from({ length: SIZE.days }, (_none, day) =>
            day < 40 ? 0.15 : 0.2 * uniform(),
          ),
        ]),
      );
      return placeAmong(permuteNames(held(returns, weights), `${picker}`)).percentile;
    }).sort((one, other) => one - other);
    // Kolmogorov's distance from the uniform distribution: above 1.95/√n once in a thousand.
    const distance = Math.max(
      ...percentiles.map((value, index) =>
        Math.max((index + 1) / pickers - value, value - index / pickers),
      ),
    );
    assert.ok(distance < 1.95 / Math.sqrt(pickers), `${distance}`);
  },
);

test('equal weights of all names are what every draw has', () => {
  const returns = marketOf('all', { symbols: 12, days: 30 });
  const weights = new Map(returns.map((_, place) => [place, new Float64Array(30).fill(1 / 12)]));
  const permuted = permuteNames(held(returns, weights), 'all');
  const { percentile, pValue, median } = placeAmong(permuted);
  assert.deepEqual([percentile, pValue, permuted.draws.length], [0.5, 1, DRAWS]);
  assertNear(median, permuted.own, 'median');
});

test('the same seed draws the same names, another one others', () => {
  const returns = marketOf('seeds', SIZE);
  const weights = new Map([[3, new Float64Array(SIZE.days).fill(0.5)]]);
  const drawsOf = (seed: string) => permuteNames(held(returns, weights), seed).draws;
  assert.deepEqual(drawsOf('one'), drawsOf('one'));
  assert.notDeepEqual(drawsOf('one'), drawsOf('other'));
});

test('real returns agree with 200,000 permutations of another library', () => {
  const file = new URL('../fixtures/comparison/expected.json', import.meta.url);
  const { selection: wanted } = JSON.parse(readFileSync(file, 'utf8'));
  const returns = wanted.returns.map((row: number[]) => Float64Array.from(row));
  const weights = new Map<number, Float64Array>(
    wanted.weights.flatMap((row: number[], place: number) =>
      row.some((weight) => weight !== 0) ? [[place, Float64Array.from(row)]] : [],
    ),
  );
  const permuted = permuteNames(held(returns, weights), 'oracle');
  assertNear(permuted.own, wanted.own, 'own');
  const { percentile, median, interval90 } = placeAmong(permuted);
  const spread = wanted.interval90[1] - wanted.interval90[0];
  // Four standard errors of 2,000 draws.
  assert.ok(Math.abs(percentile - wanted.percentile) < 4 * Math.sqrt(0.25 / DRAWS), 'percentile');
  assert.ok(Math.abs(median - wanted.median) < 0.05 * spread, 'median');
  assert.ok(Math.abs(interval90.low - wanted.interval90[0]) < 0.08 * spread, 'low');
  assert.ok(Math.abs(interval90.high - wanted.interval90[1]) < 0.08 * spread, 'high');
});
