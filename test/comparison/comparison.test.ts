import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareModels } from '../../src/features/comparison/comparison.ts';
import type { ModelReturns } from '../../src/features/comparison/participants.ts';
import { pairRow } from '../../src/features/comparison/route.ts';
import { createNormals } from '../../src/features/statistics/random.ts';
import { within } from '../support/near.ts';
import { compare, inputOf, model } from '../support/comparisons.ts';

/** Returns of about 1 % a day around a mean, the same for the same name. */
function returns(name: string, { days = 30, mean = 0 } = {}): number[] {
  const normal = createNormals(name);
  return Array.from({ length: days }, () => mean + normal() / 100);
}

const assertNear = within({ absolute: 1e-9 });

/** The pair of two models, whichever comes first. */
const pairOf = <Pair extends { model: string; against: string }>(
  pairs: readonly Pair[],
  ...names: [string, string]
) => pairs.find(({ model: one, against }) => names.includes(one) && names.includes(against));

const a = model('a', { a: returns('a'), 'a#2': returns('a#2') });
const b = model('b', { b: returns('b'), 'b#2': returns('b#2') });
const flat = model('flat', { flat: Array.from({ length: 30 }, () => 0.001) });

/** Why a model has no figures; null where it has. */
function reasonOf(models: readonly ModelReturns[], name: string): string | null {
  const { totalReturn } = compare(models).models.find((one) => one.model === name) ?? {};
  return typeof totalReturn === 'object' ? totalReturn.reason : null;
}

const one = (name: string, days = 30) => model(name, { [name]: returns(name, { days }) });
const late = (days: number, name: string) => [...Array<null>(days).fill(null), ...returns(name)];
const LOST = [...returns('m', { days: 29 }), -1];
const NEEDS = 'Needs 20 days with a return';
const FEW_SHARED = 'Needs 20 days that all runs compared completed without a gap; there are 14';
const STALE = 'Its chain is stale';
/** Of the first model, which is compared with another: why it has no figures; null where it has. */
const nulls: [model: ModelReturns, reason: string | null][] = [
  [one('m', 20), null],
  [one('m', 19), `${NEEDS}; it has 19`],
  // Of ten days that the runs share, the first starts from elsewhere.
  [model('m', { m: returns('m'), 'm#2': late(20, 'm#2') }), `${NEEDS}; its runs share 9`],
  [model('m', { m: late(15, 'm') }), FEW_SHARED],
  [model('m', { m: [] }), `${NEEDS}; it has 0`],
  [model('m', { m: Array(30).fill(0.001) }), null],
  [model('m', { m: returns('m') }, { unusable: STALE }), STALE],
  [
    model('m', { m: returns('m'), 'm#2': LOST }),
    'm#2 lost everything on 30; such a return has no logarithm',
  ],
  // Runs that differ do vary.
  [model('m', { m: Array(30).fill(0), 'm#2': Array(30).fill(0.001) }), null],
];

test('a model without figures says why', () => {
  for (const [own, reason] of nulls) assert.equal(reasonOf([own, a], 'm'), reason);
});

test('too few common days leave no model with figures, and still name those whose days are missing', () => {
  const two = [a, model('late', { late: late(15, 'late') })];
  const { days, leftOut, models, pairs, leader } = compare(two);
  assert.equal(days.length, 14);
  const reason = 'No return on this day';
  assert.deepEqual(leftOut[0], { day: 1, runs: ['late'], reason });
  assert.deepEqual(leftOut.at(-1), { day: 45, runs: ['a', 'a#2'], reason });
  const none = { reason: FEW_SHARED };
  for (const { interval, runReturns, probabilityBest } of models)
    assert.deepEqual([interval, runReturns[0], probabilityBest], [none, none, none]);
  assert.equal(pairs[0]?.shown, false);
  assert.equal(pairs[0]?.sentence, `a and late: no figures. No figures for a: ${FEW_SHARED}.`);
  assert.equal(leader.model, null);
  assert.deepEqual(leader.deflatedSharpeRatio, { reason: 'Nothing is left to compare' });
});

const stale = (name: string) => model(name, { [name]: returns(name) }, { unusable: STALE });
const short: [models: ModelReturns[], days: number][] = [
  [[one('a', 19), one('b', 19)], 19],
  [[one('m', 12), one('n', 19)], 12],
  [[stale('a'), stale('b')], 30],
  [[], 0],
];
test('where no model has figures, the days are those that all of them share', () => {
  for (const [given, shared] of short) {
    const { days, models } = compare(given);
    const figures = models.filter(({ totalReturn }) => typeof totalReturn === 'number');
    assert.deepEqual([days.length, figures], [shared, []]);
  }
});

test('a model that only holds cash is compared: its pairs vary, and only it has no interval', () => {
  const cash = model('cash', { cash: Array(30).fill(0) }, { isDeterministic: true });
  const { models, pairs, leader } = compare([a, b, cash], { trials: 3 });
  const [own, itself] = ['cash', 'a'].map((name) => models.find((one) => one.model === name));
  const none = { reason: 'Its daily returns do not vary' };
  const figures = [own?.totalReturn, own?.interval, own?.standardErrorDaily];
  assert.deepEqual(figures, [0, none, none]);
  const pair = pairOf(pairs, 'a', 'cash');
  const sign = pair?.model === 'a' ? 1 : -1;
  const daily = Math.log1p(Number(itself?.totalReturn)) / 30;
  assertNear(sign * Number(pair?.meanDailyDifference), daily);
  // Against cash, a model varies as it does by itself.
  assert.equal(pair?.standardErrorDaily, itself?.standardErrorDaily);
  assert.equal(pair?.degreesOfFreedom, itself?.degreesOfFreedom);
  const best = models.map(({ probabilityBest }) => Number(probabilityBest));
  const sum = best.reduce((total, probability) => total + probability, 0);
  assertNear(sum, 1);
  assert.ok(best.every((probability) => probability > 0 && probability < 1));
  const without = compare([a, b], { trials: 3 }).leader;
  assert.deepEqual(leader, without, 'cash has no Sharpe ratio, which spreads no others');
});

test('models of which none varies have returns, and no figures of the difference', () => {
  const cash = model('cash', { cash: Array(30).fill(0) });
  const { models, pairs, leader } = compare([flat, cash]);
  const chances = models.map(({ model: name, probabilityBest }) => `${name} ${probabilityBest}`);
  assert.deepEqual(chances, ['flat 1', 'cash 0']);
  assert.deepEqual(pairs[0]?.pValue, { reason: 'The difference does not vary from day to day' });
  assert.equal(leader.model, null);
  const reason = 'The daily returns of the mean run do not vary';
  assert.deepEqual(leader.sharpeRatioDaily, { reason });
});

test('two identical models have no figures as a pair, and are not counted among the pairs', () => {
  const [one, other] = ['one', 'same'].map((name) => model(name, { [name]: returns('one') }));
  const { pairs } = compare([one, other, b] as ModelReturns[]);
  const same = pairOf(pairs, 'one', 'same');
  assert.deepEqual(same?.pValue, { reason: 'The difference does not vary from day to day' });
  const [first, second] = pairs.filter((pair) => pair !== same);
  const doubled = Math.min(1, 2 * (first?.pValue as number));
  assertNear(first?.pValueHolm, doubled, 'two pairs, not three');
  assert.equal(first?.pValue, second?.pValue);
});

test('a correlation is 1 if all days are the same, −1 if they are opposite, and a reason if a model does not vary', () => {
  const opposite = returns('one').map((value) => 1 / (1 + value) - 1);
  const twoWays = model('still', { still: Array(30).fill(0), 'still#2': Array(30).fill(0.001) });
  const alike = ['one', 'same'].map((name) => model(name, { [name]: returns('one') }));
  const all = [...alike, model('opposite', { opposite }), twoWays, model('none', { none: [] }), a];
  const { pairs } = compare(all);
  const correlation = (other: string) => pairOf(pairs, 'one', other)?.correlation;
  assert.equal(correlation('same'), 1, 'although their difference does not vary');
  assertNear(correlation('opposite'), -1);
  assertNear(correlation('a'), pearson(returns('one'), meanRun('a', 'a#2')));
  const still = 'The daily returns of the mean run of still do not vary';
  assert.deepEqual(correlation('still'), { reason: still });
  const rows = compareModels(inputOf(all)).pairs.map(pairRow);
  const explained = rows.filter((row) => String(row.unavailable).includes('of the mean run'));
  assert.deepEqual(explained, [], 'the table has no correlation to explain');
  const none = 'No figures for none: Needs 20 days with a return; it has 0';
  assert.deepEqual(correlation('none'), { reason: none });
});

/** The simple returns of a mean run, whose log returns are the means of those of the runs. */
const meanRun = (...names: string[]) =>
  returns('').map((_, day) => {
    const logs = names.map((name) => Math.log1p(returns(name)[day] ?? NaN));
    return Math.expm1(logs.reduce((sum, own) => sum + own, 0) / names.length);
  });

/** The correlation of log returns, by its definition. */
function pearson(one: readonly number[], other: readonly number[]): number {
  const [x, y] = [one, other].map((own) => {
    const logs = own.map(Math.log1p);
    const middle = logs.reduce((sum, value) => sum + value, 0) / logs.length;
    return logs.map((value) => value - middle);
  }) as [number[], number[]];
  const product = (p: number[], q: number[]) => p.reduce((sum, own, day) => sum + own * q[day]!, 0);
  return product(x, y) / Math.sqrt(product(x, x) * product(y, y));
}

test('the curve of a difference ends with the difference; it is empty without figures, and only there if requested', () => {
  const { days, pairs } = compare([a, b, model('none', { none: [] })], { curves: true });
  const [pair, ...without] = pairs;
  assert.equal(pair?.curve?.length, days.length);
  assertNear(pair?.curve?.at(-1)?.difference, pair?.difference);
  const [first, second] = [meanRun('a', 'a#2'), meanRun('b', 'b#2')].map((own) => 1 + own[0]!);
  const sign = pair?.model === 'a' ? 1 : -1;
  assertNear(pair?.curve?.[0]?.difference, (first! / second!) ** sign - 1);
  assert.deepEqual(
    without.map(({ curve }) => curve),
    [[], []],
  );
  assert.equal(compare([a, b]).pairs[0]?.curve, undefined);
});

test('returns cover only the days compared', () => {
  const days = returns('all', { days: 25 });
  const half = model('half', { half: [...returns('half', { days: 25 }), null, null] });
  const { models } = compare([half, model('all', { all: [...days, 0.5, 0.5] })]);
  const { runReturns, totalReturn } = models.find((one) => one.model === 'all') ?? {};
  const growth = days.reduce((product, value) => product * (1 + value), 1);
  for (const own of [totalReturn, runReturns?.[0]]) assertNear(own, growth - 1);
});

test('models come in the order of their returns, whatever their chances; pairs in the order of their models', () => {
  const models = [
    model('last', { last: returns('last', { mean: -0.02 }) }),
    model('none', { none: [] }),
    model('first', { first: returns('first', { mean: 0.02 }) }),
    model('middle', { middle: returns('middle') }),
  ];
  const { models: ordered, pairs, leader } = compare(models);
  assert.equal(ordered.map((one) => one.model).join(), 'first,middle,last,none');
  assert.equal(
    pairs.map((pair) => `${pair.model} ${pair.against}`).join(),
    'first middle,first last,first none,middle last,middle none,last none',
  );
  assert.deepEqual(pairs[2]?.difference, {
    reason: 'No figures for none: Needs 20 days with a return; it has 0',
  });
  assert.equal(leader.model, 'first');
});

test('the highest return comes first even where others are more likely to be best', () => {
  const wild = ['wild', 'wilder'].map((name) => {
    const own = returns(name);
    const middle = own.reduce((sum, value) => sum + value, 0) / own.length;
    return model(name, { [name]: own.map((value) => 10 * (value - middle)) });
  });
  const steady = model('steady', { steady: returns('steady').map((value) => value / 100) });
  const { models, pairs } = compare([...wild, steady]);
  const [first, second] = models;
  assert.equal(first?.model, 'steady');
  assert.ok(Number(first?.probabilityBest) < Number(second?.probabilityBest));
  for (const { difference, sentence, model: name, against } of pairs) {
    assert.ok(Number(difference) >= 0, 'the one that is ahead is named first');
    assert.match(sentence, new RegExp(`^${name} is .* ahead of ${against}`));
  }
});

test('against one model, every pair has it second, and p-values are adjusted for these pairs', () => {
  const { pairs } = compare([a, b, model('c', { c: returns('c') })], { against: 'b' });
  assert.equal(pairs.map((pair) => pair.against).join(), 'b,b');
  const least = Math.min(...pairs.map(({ pValue }) => pValue as number));
  const adjusted = Math.min(...pairs.map(({ pValueHolm }) => pValueHolm as number));
  assertNear(adjusted, Math.min(1, 2 * least));
});

test('a pair that would be shown only without the others says so', () => {
  const many = [...'012345678'].map((index) => model(index, { [index]: returns(`many ${index}`) }));
  const { pairs } = compare([model('good', { good: returns('good', { mean: 0.004 }) }), ...many]);
  const shownAsOnlyPair = pairs.filter(({ pValue, shown }) => (pValue as number) < 0.05 && !shown);
  assert.ok(shownAsOnlyPair.length > 0);
  const words = 'after correcting for 45 pairs';
  const saying = pairs.filter(({ sentence }) => sentence.includes(words));
  assert.deepEqual(saying, shownAsOnlyPair);
});

test('the confidence applies to the interval, to what is shown and to the planning', () => {
  const better = model('better', { better: returns('better', { mean: 0.006 }) });
  const at = (confidence: number) => compare([better, a], { confidence }).pairs[0];
  const [wide, narrow] = [at(0.999), at(0.5)];
  assert.deepEqual([wide?.shown, narrow?.shown], [false, true]);
  for (const name of ['smallestDifference', 'daysNeeded'] as const)
    assert.ok(Number(at(0.95)?.[name]) > Number(narrow?.[name]), name);
  const width = (pair: typeof wide) => {
    const { low, high } = (pair as { interval: { low: number; high: number } }).interval;
    return high - low;
  };
  assert.ok(width(wide) > 2 * width(narrow));
});

test('one run does not show chance, unless the model is a rule', () => {
  const rule = model('rule', { rule: returns('rule') }, { isDeterministic: true });
  const { models, pairs } = compare([one('one'), rule, a]);
  const lower = models.filter(({ intervalIsLowerBound }) => intervalIsLowerBound);
  assert.equal(lower.map((single) => single.model).join(), 'one');
  for (const { model: name, against, intervalIsLowerBound, sentence } of pairs) {
    const isSingle = [name, against].includes('one');
    assert.deepEqual([intervalIsLowerBound, sentence.includes(' or wider,')], [isSingle, isSingle]);
  }
});

test('a single model has an interval and a leader, but no figures that need another', () => {
  const { models, pairs, leader } = compare([a, one('short', 19)]);
  const [only] = models;
  assert.equal(typeof only?.totalReturn, 'number');
  assert.deepEqual(only?.probabilityBest, { reason: 'There is no other model to compare it with' });
  const none = { reason: 'No figures for short: Needs 20 days with a return; it has 19' };
  assert.deepEqual(
    pairs.map(({ pValue }) => pValue),
    [none],
  );
  assert.equal(typeof leader.probabilisticSharpeRatio, 'number');
  assert.deepEqual(leader.deflatedSharpeRatio, {
    reason: 'Needs the Sharpe ratios of two models; there is one',
  });
});

test('trials are at least those compared, and more of them lower the deflated ratio', () => {
  const [few, many] = [1, 500].map((trials) => compare([a, b], { trials }).leader);
  assert.ok(few !== undefined && many !== undefined);
  assert.deepEqual([few.trials, many.trials], [2, 500]);
  assert.equal(few.probabilisticSharpeRatio, many.probabilisticSharpeRatio);
  assert.ok((few.deflatedSharpeRatio as number) > (many.deflatedSharpeRatio as number));
});

test('another window and other names draw other numbers, no models have no figures', () => {
  const probability = (end: string) =>
    compare([a, b], { window: { start: '2025-01-01', end } }).models[0]?.probabilityBest;
  assert.equal(probability('2025-02-01'), probability('2025-02-01'));
  assert.notEqual(probability('2025-02-01'), probability('2025-02-02'));
  const renamed = compare([a, { ...b, model: 'c' }]).models;
  assert.notEqual(renamed[0]?.probabilityBest, compare([a, b]).models[0]?.probabilityBest);
  const { answer, ...none } = compare([]);
  assert.equal(answer.leader, null);
  const leader = { ...compare([one('m', 3)]).leader, trials: 0 };
  assert.deepEqual(none, { days: [], leftOut: [], models: [], pairs: [], leader, boundary: null });
});
