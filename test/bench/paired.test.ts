import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Figure, rowOf } from '../../bench/figure.ts';
import {
  MIN_FOR_INTERVAL,
  type Pair,
  inTurn,
  median,
  quantile,
  ratiosOf,
  takePairs,
} from '../../bench/paired.ts';
import { createRandom } from '../../src/core/agent/players/simulated-model.ts';

/** The arithmetic of the bench, on slices whose figures are made up. */

const BOUNDS = { minPairs: 10, maxPairs: 300, maxMs: 1_000, precision: 0.01 };
const PAIRS = [
  [10, 10],
  [30, 20],
  [90, 30],
].map(([ours = 0, peer = 0]) => ({ ours, peer }));

test('the median and other quantiles of few values', () => {
  const rows: [values: number[], median: number, p99: number][] = [
    [[], NaN, NaN],
    [[7], 7, 7],
    [[3, 1], 2, 3],
    [[9, 1, 5], 5, 9],
    [[4, 1, 3, 2], 2.5, 4],
  ];
  for (const [values, middle, p99] of rows)
    assert.deepEqual([median(values), quantile(values, 0.99)], [middle, p99]);
  const hundred = Array.from({ length: 100 }, (_none, index) => 100 - index);
  assert.deepEqual(
    [quantile(hundred, 0.99), quantile(hundred, 0.01), quantile(hundred, 1)],
    [99, 1, 100],
  );
});

test('ratios are of pairs, not of medians; few pairs leave the median anywhere among them', () => {
  assert.deepEqual(ratiosOf(PAIRS), { min: 1, median: 1.5, max: 3, pairs: 3, low: 1, high: 3 });
  const hundred = Array.from({ length: 100 }, (_none, index) => ({ ours: index + 1, peer: 1 }));
  const { low, median: middle, high } = ratiosOf(hundred);
  assert.deepEqual([low, middle, high], [40, 50.5, 61]); // order statistics 40 and 61 of 100: the binomial interval
});

test('the interval holds the median in 95 of 100 runs, for every number of pairs', () => {
  for (let count = MIN_FOR_INTERVAL; count <= 500; count += 1) {
    const ranks = Array.from({ length: count }, (_none, index) => ({ ours: index + 1, peer: 1 }));
    const { low, high } = ratiosOf(ranks);
    assert.equal(low + high, count + 1, 'symmetric');
    const missed = 2 * shareBelow(low, count); // fewer than `low` of the values lie on one side of the true median
    assert.ok(missed <= 0.05, `${count} pairs: ${missed}`);
    assert.ok(2 * shareBelow(low + 2, count) > 0.05, `${count} pairs: much wider than need be`);
  }
});

/** How likely fewer than so many of `count` fair coins show heads. */
function shareBelow(heads: number, count: number): number {
  let [share, sum] = [0.5 ** count, 0];
  for (let index = 0; index < heads; index += 1) {
    sum += share;
    share *= (count - index) / (index + 1);
  }
  return sum;
}

test('one slice of each in a pair, with a number for each figure, and the other one first in the next pair', async () => {
  const order: string[] = [];
  const slice =
    (name: string, ...figures: number[]) =>
    async () => (order.push(name), figures);
  const take = inTurn(slice('ours', 2, 7), slice('peer', 5));
  assert.deepEqual(
    [await take(0), await take(1)],
    Array(2).fill([
      { ours: 2, peer: 5 },
      { ours: 7, peer: NaN },
    ]),
  );
  assert.deepEqual(order, ['ours', 'peer', 'peer', 'ours']);
});

test('other work that slows slices by any factor: equals show 1, and 0.8 shows 0.8, within the interval that is printed', async () => {
  const random = createRandom('a busy machine');
  let slowdown = 1;
  const slice = (speed: number) => async () => {
    slowdown = Math.min(8, Math.max(1, slowdown * Math.exp(random() - 0.5)));
    return [(speed / slowdown) * (0.9 + 0.2 * random())];
  };
  for (const speed of [1, 0.8]) {
    const [pairs = []] = await takePairs(inTurn(slice(speed), slice(1)), {
      ...BOUNDS,
      maxMs: Infinity,
    });
    const { median: middle, low, high } = ratiosOf(pairs);
    assert.ok(
      Math.abs(middle / speed - 1) <= 0.03 && low <= speed * 1.01 && high >= speed * 0.99,
      `${middle} of ${speed}`,
    );
    assert.ok(high - low <= 0.02 * middle || pairs.length === BOUNDS.maxPairs);
  }
});

test('pairs are taken until every median is precise, their number or the time is at its bound', async () => {
  const lengthOf = async (
    bounds: Partial<typeof BOUNDS>,
    ...ratios: ((index: number) => number)[]
  ) => {
    let now = 0;
    const take = async (index: number) => {
      now += 100;
      return ratios.map((ratio): Pair => ({ ours: ratio(index), peer: 1 }));
    };
    return (await takePairs(take, { ...BOUNDS, maxMs: 1e9, ...bounds }, () => now)).map(
      (pairs) => pairs.length,
    );
  };
  const steady = () => 0.8;
  assert.deepEqual(await lengthOf({}, steady), [10], 'precise at once');
  assert.deepEqual(
    await lengthOf({}, steady, (index) => index),
    [300, 300],
    'one is never precise',
  );
  assert.deepEqual(await lengthOf({}, steady, () => NaN), [10, 10], 'one has no peer');
  assert.deepEqual(
    await lengthOf({ maxMs: 550 }, (index) => index),
    [6],
    'no pair begins after the time',
  );
  assert.deepEqual(await lengthOf({ maxMs: 0 }, steady), [1], 'at least one');
});

test('a row says what was measured, beside what, and whether the aim was met', () => {
  const rows: [figure: Partial<Figure>, cells: string][] = [
    [{ peer: 'a peer', aim: { atLeast: 1.5 } }, '20.0 a peer | 1.50 (1.00 to 3.00, 3) | 1.5, met'],
    [
      { peer: 'a peer', aim: { below: 1.5 } },
      '20.0 a peer | 1.50 (1.00 to 3.00, 3) | below 1.5, MISSED',
    ],
    [
      { peer: 'a peer', aim: { above: 10 } },
      '20.0 a peer | 1.50 (1.00 to 3.00, 3) | 10 ms more than the peer: 10.0, MISSED',
    ],
    [{ aim: { atMost: 91 } }, ' |  | 91 ms: 90.0, met'],
    [{}, ' |  | '],
  ];
  for (const [figure, cells] of rows)
    assert.equal(
      rowOf({ what: 'work', unit: 'ms', ...figure }, PAIRS, {}),
      `| work, ms | 30.0 | ${cells} |`,
    );
});

test('beside the build before: worse by more than 5 % is said, and whether that is certain', () => {
  const verdictOf = (unit: string, ratio: number, count = 6) => {
    const pairs = Array.from({ length: count }, () => ({ ours: ratio, peer: 1 }));
    return rowOf({ what: 'work', unit, peer: 'a peer', aim: { below: 0 } }, pairs, {
      before: 'old.js',
    })
      .split(' | ')
      .slice(2)
      .join(' | ');
  };
  assert.match(verdictOf('ms', 1.04), /^1\.00 the build before \| .* \| no worse \|$/);
  const rows: [unit: string, ratio: number, verdict: RegExp][] = [
    ['ms of processor time', 1.07, / WORSE by 7 % \|$/],
    ['MB', 1.2, / WORSE by 20 % \|$/],
    ['ms', 0.5, / no worse \|$/],
    ['MB per second', 0.9, / WORSE by 10 % \|$/],
    ['per second', 1.2, / no worse \|$/],
  ];
  for (const [unit, ratio, verdict] of rows) assert.match(verdictOf(unit, ratio), verdict, unit);
  assert.match(verdictOf('ms', 1.07, 3), / WORSE by 7 %, not for certain \|$/);
});
