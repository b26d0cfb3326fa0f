import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ModelReturns } from '../../src/features/comparison/participants.ts';
import type { PairReport } from '../../src/features/comparison/pairs.ts';
import { compare, model, type Read } from '../support/comparisons.ts';
import { runs } from '../support/long.ts';
import { within } from '../support/near.ts';

const RUNS = runs(4, 1000);

/** One to four models of one to four runs over about two months, some days missing; all vary. */
const someModels = fc
  .record({
    days: fc.integer({ min: 42, max: 60 }),
    runCounts: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 }),
    drift: fc.integer({ min: -20, max: 20 }),
    seed: fc.integer({ min: 1, max: 2 ** 31 }),
  })
  .map(({ days, runCounts, drift, seed }) => {
    const next = numbers(seed);
    return runCounts.map((count, index) => {
      const name = `model-${index}`;
      const market = Array.from(
        { length: days },
        () => (next() - 0.5) / 50 + (drift * index) / 1e5,
      );
      const own = Array.from({ length: count }, (_, run): [string, (number | null)[]] => [
        run === 0 ? name : `${name}#${run + 1}`,
        market.map((value) => (next() < 0.01 ? null : value + (next() - 0.5) / 100)),
      ]);
      return { name, returns: Object.fromEntries(own) };
    });
  });

type Some = { name: string; returns: Record<string, (number | null)[]> }[];

/** A generator of its own, so that the tested one has no part in it: Park and Miller's. */
function numbers(seed: number): () => number {
  let state = seed % 2_147_483_647 || 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

const toModels = (some: Some): ModelReturns[] =>
  some.map(({ name, returns }) => model(name, returns));

const assertNear = within({ absolute: 1e-9, relative: 1e-9 });

test('the same input gives the same result, whatever the order of the models and of the days', () => {
  const property = fc.property(someModels, fc.nat(), (some, seed) => {
    const next = numbers(seed);
    const shuffled = some.toSorted(() => next() - 0.5);
    const first = compare(toModels(some));
    assert.deepEqual(compare(toModels(some)), first);
    assert.deepEqual(compare(toModels(shuffled)), first);
    const backwards = toModels(some).map((own) => ({
      ...own,
      runs: own.runs.map(({ run, returns }) => ({ run, returns: [...returns].reverse() })),
    }));
    assert.deepEqual(compare(backwards), first);
  });
  fc.assert(property, { numRuns: RUNS });
});

test('a model without figures changes nothing but the list of models and pairs', () => {
  const withoutFigures: [string, ModelReturns][] = [
    ['stale', model('zero', { zero: noise(40) }, { unusable: 'Its chain is stale' })],
    ['short', model('zero', { zero: noise(19) })],
    ['ruined', model('zero', { zero: [...noise(30), -1] })],
    ['first by name', model('a', { a: noise(19) })],
  ];
  const property = fc.property(
    someModels,
    fc.constantFrom(...withoutFigures),
    (some, [, added]) => {
      const without = compare(toModels(some), { trials: 9 });
      const withIt = compare([...toModels(some), added], { trials: 9 });
      const kept = withIt.models.filter(({ model: name }) => name !== added.model);
      const pairs = withIt.pairs.filter(
        (pair) => pair.model !== added.model && pair.against !== added.model,
      );
      assert.deepEqual({ ...withIt, models: kept, pairs, answer: without.answer }, without);
      assert.equal(withIt.models.length, without.models.length + 1);
    },
  );
  fc.assert(property, { numRuns: RUNS });
});

function noise(days: number): number[] {
  const next = numbers(days);
  return Array.from({ length: days }, () => (next() - 0.5) / 50);
}

test('a pair in the other order makes the same claim', () => {
  const property = fc.property(
    someModels.filter((some) => some.length >= 2),
    (some) => {
      const [first, second] = some as [Some[number], Some[number]];
      const pairOf = (name: string, against: string) =>
        compare(toModels(some), { against }).pairs.find(({ model: own }) => own === name);
      const [one, other] = [pairOf(first.name, second.name), pairOf(second.name, first.name)];
      assert.ok(one !== undefined && other !== undefined);
      if (typeof one.difference !== 'number')
        return assert.deepEqual(other.difference, one.difference);
      const same = ['pValue', 'standardErrorDaily', 'degreesOfFreedom'] as const;
      for (const name of [...same, 'smallestDifference', 'daysNeeded'] as const)
        assert.deepEqual(other[name], one[name], name);
      assert.equal(other.meanDailyDifference, -(one.meanDailyDifference as number));
      const turned = (value: number) => 1 / (1 + value) - 1;
      assertNear(other.difference, turned(one.difference), 'difference');
      const ends = ({ interval }: typeof one) => interval as { low: number; high: number };
      assertNear(ends(other).low, turned(ends(one).high), 'low');
      assertNear(ends(other).high, turned(ends(one).low), 'high');
      // With more models, other pairs are compared against the one than against the other.
      if (some.length === 2) assert.equal(claimOf(other), claimOf(one));
    },
  );
  const few = (name: string) => ({ name, returns: { [name]: noise(10) } });
  const tooFewDays = ['model-0', 'model-1'].map(few);
  fc.assert(property, { numRuns: RUNS, examples: [[tooFewDays]] });
});

/**
 * Without what depends on the other pairs shown, and the order of the names in the note on single
 * runs.
 */
function claimOf({ sentence }: Read<PairReport>): string {
  return sentence.slice(0, sentence.indexOf(':'));
}

test('probabilities of being best add up to 1, and the same model twice has half each', () => {
  const bestOf = (models: readonly ModelReturns[]) =>
    compare(models).models.map(({ probabilityBest }) => probabilityBest as number);
  const property = fc.property(someModels, (some) => {
    const best = bestOf(toModels(some));
    if (best.some((probability) => typeof probability !== 'number')) return;
    const sum = best.reduce((total, probability) => total + probability, 0);
    assertNear(sum, 1, 'sum');
  });
  fc.assert(property, { numRuns: RUNS });
  const one = model('one', { one: noise(40) });
  assert.deepEqual(bestOf([one, model('two', { two: noise(40) })]), [0.5, 0.5]);
  const eleven = Array.from({ length: 11 }, (_, run) => [`two#${run}`, noise(40)]);
  const twice = bestOf([one, model('two', Object.fromEntries(eleven))]);
  assert.deepEqual(twice, [0.5, 0.5], 'equal but for rounding');
});
