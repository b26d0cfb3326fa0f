import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { holm } from '../../src/comparison/difference.ts';
import type { ComparedModel } from '../../src/comparison/participants.ts';
import type { PairReport } from '../../src/comparison/pairs.ts';
import { compare, model, type Read } from '../support/comparisons.ts';
import { runs } from '../support/long.ts';
import { naiveComparison, naiveHolm } from '../support/naive-comparison.ts';
import { within } from '../support/near.ts';

const RUNS = runs(12, 1000);

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

const toModels = (some: Some): ComparedModel[] =>
  some.map(({ name, returns }) => model(name, returns));

const assertNear = within({ absolute: 1e-9, relative: 1e-9 });

test('a second, naive implementation computes the same figures', () => {
  const property = fc.property(someModels, (some) => {
    const byDay = (values: (number | null)[]) =>
      new Map(values.flatMap((value, day) => (value === null ? [] : [[day + 1, value] as const])));
    const entries = some.map(({ name, returns }): [string, Record<string, Map<number, number>>] => [
      name,
      Object.fromEntries(Object.entries(returns).map(([run, values]) => [run, byDay(values)])),
    ]);
    const naive = naiveComparison(Object.fromEntries(entries));
    const { days, models, pairs, leader } = compare(toModels(some), { curves: true });
    assert.deepEqual(days, naive.days);
    if (days.length < 20) return;
    for (const own of models) {
      const wanted = naive.model(own.model);
      assertNear(own.totalReturn, wanted.growth, `${own.model} total return`);
      assertNear(
        (own.standardErrorDaily as number) / Math.sqrt(wanted.variance),
        1,
        `${own.model} standard error`,
      );
      assertNear(own.degreesOfFreedom, wanted.degreesOfFreedom, `${own.model} degrees of freedom`);
    }
    for (const pair of pairs) {
      assertPair(pair, naive.pair(pair.model, pair.against));
      assertNear(
        pair.correlation,
        naive.correlation(pair.model, pair.against),
        `${pair.model} ${pair.against} correlation`,
      );
      const curve = naive.curve(pair.model, pair.against);
      assert.equal(pair.curve?.length, curve.length);
      for (const [day, wanted] of curve.entries())
        assertNear(
          pair.curve?.[day]?.difference,
          wanted,
          `${pair.model} ${pair.against} day ${day}`,
        );
    }
    const pValues = pairs.map(({ pValue }) => pValue as number);
    for (const [index, pValueHolm] of naiveHolm(pValues).entries())
      assertNear(pairs[index]?.pValueHolm, pValueHolm, 'Holm');
    const ratios = models.map((own) => naive.sharpeRatio(own.model));
    const best = ratios.reduce((one, other) => (other.ratio > one.ratio ? other : one));
    assertNear(leader.sharpeRatioDaily, best.ratio, 'Sharpe ratio');
    assertNear(leader.probabilisticSharpeRatio, best.probability, 'probabilistic Sharpe ratio');
  });
  fc.assert(property, { numRuns: RUNS });
});

function assertPair(
  pair: Read<PairReport>,
  wanted: ReturnType<ReturnType<typeof naiveComparison>['pair']>,
): void {
  const where = `${pair.model} ${pair.against}`;
  assertNear(pair.difference, wanted.growth, `${where} difference`);
  assertNear(
    (pair.standardErrorDaily as number) / Math.sqrt(wanted.variance),
    1,
    `${where} standard error`,
  );
  assertNear(pair.degreesOfFreedom, wanted.degreesOfFreedom, `${where} degrees of freedom`);
  assertNear(pair.varianceShareOfRuns, wanted.ofRuns / wanted.variance, `${where} share`);
  assertNear(pair.pValue, wanted.pValue, `${where} p`);
}

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
  const withoutFigures: [string, ComparedModel][] = [
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
      const [one] = compare(toModels(some), { against: second.name }).pairs.filter(
        (pair) => pair.model === first.name,
      );
      const [other] = compare(toModels(some), { against: first.name }).pairs.filter(
        (pair) => pair.model === second.name,
      );
      assert.ok(one !== undefined && other !== undefined);
      if (typeof one.difference !== 'number')
        return assert.deepEqual(other.difference, one.difference);
      for (const name of [
        'pValue',
        'standardErrorDaily',
        'degreesOfFreedom',
        'smallestDifference',
        'daysNeeded',
      ] as const)
        assert.deepEqual(other[name], one[name], name);
      assert.equal(other.meanDailyDifference, -(one.meanDailyDifference as number));
      const turned = (value: number) => 1 / (1 + value) - 1;
      assertNear(other.difference, turned(one.difference), 'difference');
      const [interval, opposite] = [one.interval, other.interval] as {
        low: number;
        high: number;
      }[];
      assertNear(opposite?.low, turned(interval?.high as number), 'low');
      assertNear(opposite?.high, turned(interval?.low as number), 'high');
      // With more models, other pairs are compared against the one than against the other.
      if (some.length === 2) assert.equal(claimOf(other), claimOf(one));
    },
  );
  const tooFewDays = ['model-0', 'model-1'].map((name) => ({
    name,
    returns: { [name]: noise(10) },
  }));
  fc.assert(property, { numRuns: RUNS, examples: [[tooFewDays]] });
});

/**
 * Without what depends on the other pairs shown, and the order of the names in the note on single
 * runs.
 */
function claimOf({ sentence }: Read<PairReport>): string {
  return sentence.slice(0, sentence.indexOf(':'));
}

test('Holm by its definition, ties included', () => {
  const property = fc.property(
    fc.array(fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100)),
    (pValues) => {
      for (const [index, wanted] of naiveHolm(pValues).entries())
        assertNear(holm(pValues)[index], wanted, `${index}`);
    },
  );
  fc.assert(property, { numRuns: 200 });
});

test('probabilities of being best add up to 1, and the same model twice has half each', () => {
  const property = fc.property(someModels, (some) => {
    const { models } = compare(toModels(some));
    if (models.some(({ probabilityBest }) => typeof probabilityBest !== 'number')) return;
    assertNear(
      models.reduce((sum, { probabilityBest }) => sum + (probabilityBest as number), 0),
      1,
      'sum',
    );
  });
  fc.assert(property, { numRuns: RUNS });
  const twice = compare([model('one', { one: noise(40) }), model('two', { two: noise(40) })]);
  assert.deepEqual(
    twice.models.map(({ probabilityBest }) => probabilityBest),
    [0.5, 0.5],
  );
  const sameRuns = Object.fromEntries(
    Array.from({ length: 11 }, (_, run) => [`two#${run}`, noise(40)]),
  );
  const rounded = compare([model('one', { one: noise(40) }), model('two', sameRuns)]).models;
  assert.deepEqual(
    rounded.map(({ probabilityBest }) => probabilityBest),
    [0.5, 0.5],
    'equal but for rounding',
  );
});
