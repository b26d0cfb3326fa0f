import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Aim, verdict, verdictOfSelf } from '../../bench/aims.ts';
import { describePairs } from '../../bench/figure.ts';
import {
  MIN_FOR_INTERVAL,
  type Pair,
  alternate,
  inTurn,
  median,
  quantile,
  ratiosOf,
  ratiosOfStarts,
  takePairs,
  windowsOf,
} from '../../bench/paired.ts';
import { describeSamples } from '../../bench/samples.ts';
import { divideTime } from '../../bench/time-limit.ts';
import { createRandom } from '../../src/agent/players/random.ts';

/** The arithmetic of the bench, on slices whose figures are made up. */

const BOUNDS = { warmUpMs: 0, minPairs: 10, maxPairs: 300, maxMs: 1_000, precision: 0.01 };

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
  const pairs = [
    [10, 10],
    [30, 20],
    [90, 30],
  ].map(([ours = 0, peer = 0]) => ({ ours, peer }));
  assert.deepEqual(ratiosOf(pairs), {
    min: 1,
    median: 1.5,
    max: 3,
    pairs: 3,
    independent: 3,
    low: 1,
    high: 3,
  });
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

test('each start counts once: equals whose processes have a speed of their own show 1 within the interval, which more pairs do not narrow', () => {
  const random = createRandom('processes of their own');
  const startOf = (pairs: number): Pair[] => {
    const [ours, peer] = [0.9 + 0.2 * random(), 0.9 + 0.2 * random()];
    return Array.from({ length: pairs }, () => ({ ours: ours * (0.95 + 0.1 * random()), peer }));
  };
  for (const pairs of [6, 60]) {
    const {
      median: middle,
      low,
      high,
      ...counts
    } = ratiosOfStarts(Array.from({ length: 40 }, () => startOf(pairs)));
    assert.deepEqual([counts.pairs, counts.independent], [40 * pairs, 40]);
    assert.ok(
      low < 1 && 1 < high && Math.abs(middle - 1) < 0.03 && high - low > 0.02,
      `${low} to ${middle} to ${high}`,
    );
  }
});

test('long slices: one of each in a pair, and the other one first in the next pair', async () => {
  const order: string[] = [];
  const slice = (name: string, figure: number) => async () => (order.push(name), figure);
  const take = inTurn(slice('ours', 2), slice('peer', 5));
  assert.deepEqual([await take(0), await take(1)], Array(2).fill({ ours: 2, peer: 5 }));
  assert.deepEqual(order, ['ours', 'peer', 'peer', 'ours']);
});

test('a steady drift, and a first slice that is always slow, leave the ratio of equals at 1', async () => {
  let slices = 0;
  const drifting = async () => 100 + (slices += 1);
  const pairs = await takePairs(alternate(drifting, drifting), {
    ...BOUNDS,
    precision: 0,
    maxPairs: 20,
  });
  assert.deepEqual(new Set(pairs.map(({ ours, peer }) => ours / peer)), new Set([1]));
  slices = 0;
  const slowFirst = async () => ((slices += 1) % 4 === 1 ? 50 : 100);
  const { median: middle } = ratiosOf(
    await takePairs(alternate(slowFirst, slowFirst), { ...BOUNDS, maxPairs: 20, precision: 0 }),
  );
  assert.ok(Math.abs(middle - (0.75 + 1 / 0.75) / 2) < 1e-9, String(middle)); // between the pairs in which ours and the peer came first
});

test('other work that slows slices by any factor: equals show 1, and 0.8 shows 0.8, within the interval that is printed', async () => {
  const random = createRandom('a busy machine');
  let slowdown = 1;
  const slice = (speed: number) => async () => {
    slowdown = Math.min(8, Math.max(1, slowdown * Math.exp(random() - 0.5)));
    return (speed / slowdown) * (0.9 + 0.2 * random());
  };
  for (const speed of [1, 0.8]) {
    const pairs = await takePairs(alternate(slice(speed), slice(1)), {
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

test('pairs are taken until the median is precise, their number or the time is at its bound; warming up does not count', async () => {
  let now = 0;
  const taken = (bounds: Partial<typeof BOUNDS>, ratio: (index: number) => number) => {
    now = 0;
    const take = async (index: number) => ({ ours: ratio(index), peer: (now += 100) / now });
    return takePairs(take, { ...BOUNDS, ...bounds }, () => now);
  };
  const lengthOf = async (pairs: Promise<unknown[]>) => (await pairs).length;
  assert.equal(await lengthOf(taken({ maxMs: 1e9 }, () => 0.8)), 10, 'precise at once');
  assert.equal(await lengthOf(taken({ maxMs: 1e9 }, (index) => index)), 300, 'never precise');
  assert.equal(
    await lengthOf(taken({ maxMs: 550 }, (index) => index)),
    6,
    'no pair begins after the time',
  );
  assert.equal(await lengthOf(taken({ maxMs: 0 }, () => 1)), 1, 'at least one');
  await taken({ warmUpMs: 950, maxMs: 0 }, () => 1);
  assert.equal(now, 1_100, 'ten pairs to warm up, and one that counts');
});

test('samples in windows: the p99 of each side of each window; a part of a window is left out', () => {
  const samples = Array.from({ length: 250 }, (_none, index) => ({ ours: index, peer: 2 * index }));
  const expected = [
    { ours: 98, peer: 196 },
    { ours: 198, peer: 396 },
  ];
  assert.deepEqual(windowsOf(samples, 100, 0.99), expected);
});

test('aims: what counts for each, and whether it is met', () => {
  const pairs = [
    [10, 4],
    [30, 20],
    [90, 60],
  ].map(([ours = 0, peer = 0]) => ({ ours, peer }));
  const rows: [aim: Aim, isMet: boolean, text: string][] = [
    [{ atLeast: 1.5 }, true, '>= 1.5'],
    [{ atLeast: 1.6 }, false, '>= 1.6'],
    [{ below: 1.5 }, false, '< 1.5'],
    [{ belowMs: 31 }, true, '< 31 ms where the calibration takes 20 ms; it is 30.0 ms'],
    [{ belowMs: 30 }, false, '< 30 ms where the calibration takes 20 ms; it is 30.0 ms'],
    [{ aboveMs: 11 }, true, '< 11 ms more than the peer; it is 10.0 ms'],
    [{ aboveMs: 10 }, false, '< 10 ms more than the peer; it is 10.0 ms'],
    [{ hereMs: 31 }, true, '< 31 ms here and now; it is 30.0 ms'],
    [{ hereMs: 30 }, false, '< 30 ms here and now; it is 30.0 ms'],
  ];
  for (const [aim, isMet, text] of rows)
    assert.deepEqual(verdict(aim, { ratio: 1.5, pairs, hereMs: 30 }), { aim: text, isMet });
});

test('the same build beside itself: within 3 %, and a doubt where the interval reaches further', () => {
  const ratios = { min: 0.5, max: 2, pairs: 20, independent: 20 };
  const rows: [median: number, low: number, high: number, isMet: boolean, aim: string][] = [
    [1.02, 0.98, 1.029, true, '1 ± 0.03'],
    [1.02, 0.96, 1.029, true, '1 ± 0.03 (the interval reaches further)'],
    [0.96, 0.95, 0.99, false, '1 ± 0.03 (the interval reaches further)'],
  ];
  for (const [median, low, high, isMet, aim] of rows)
    assert.deepEqual(verdictOfSelf({ ...ratios, median, low, high }), { aim, isMet });
});

test('a figure: medians of both sides beside the calibration; of longest times the longest counts; without pairs there is none', () => {
  const pairs = [
    [10, 5],
    [20, 5],
    [60, 20],
  ].map(([ours = 0, peer = 0]) => ({ ours, peer }));
  const figure = {
    what: 'longest /health',
    unit: 'ms',
    peer: 'a peer',
    aims: [{ hereMs: 50 }],
    isLongest: true,
  };
  assert.deepEqual(describePairs(figure, pairs, { calibrations: [30, 10, 20] }), {
    what: 'longest /health, ms',
    ours: '20.0 where the calibration takes 20.0',
    peer: '5.00 (a peer)',
    ratio: 'median 3.00, min 2.00, max 4.00, 3 pairs, too few for an interval',
    aims: [{ aim: '< 50 ms here and now; it is 60.0 ms', isMet: false }],
  });
  const median = describePairs({ ...figure, isLongest: false }, pairs);
  assert.deepEqual(median.aims, [{ aim: '< 50 ms here and now; it is 20.0 ms', isMet: true }]);
  const ofRatio = describePairs(
    { ...figure, aims: [{ atLeast: 3.1 }, { below: 3.1 }, { atLeast: 2.9 }, { below: 2.9 }] },
    pairs,
  ).aims?.map(({ isMet }) => isMet);
  assert.deepEqual(ofRatio, [false, true, true, false], 'the median ratio counts, which is 3');
  const percentile = describePairs(figure, pairs, { hereMs: 7 });
  assert.deepEqual(percentile.aims, [{ aim: '< 50 ms here and now; it is 7.00 ms', isMet: true }]);
  assert.deepEqual(describePairs(figure, []), {
    what: 'longest /health',
    ours: 'not measured: too few samples in the time',
  });
});

test('requests in windows: the ratio is of p99 in each window, and the p99 of all requests counts for an aim here and now', () => {
  const pairs = Array.from({ length: 250 }, (_none, index) => ({ ours: index, peer: 2 * index }));
  const figure = { what: 'the status', peer: 'a peer', aims: [{ hereMs: 247 }, { aboveMs: 0 }] };
  assert.deepEqual(describeSamples(figure, { pairs, calibrations: [20, 40] }), {
    what: 'p99 of 100 requests for the status, ms (250 requests to each)',
    ours: '148 where the calibration takes 30.0',
    peer: '296 (a peer)',
    ratio: 'median 0.500, min 0.500, max 0.500, 2 pairs, too few for an interval',
    aims: [
      { aim: '< 247 ms here and now; it is 247 ms', isMet: false },
      { aim: '< 0 ms more than the peer; it is -148 ms', isMet: true },
    ],
  });
});

test('a time divided among parts: each part has an equal share of what is left, and 0 once it is used up', () => {
  let now = 0;
  const next = divideTime(100, 4, () => now);
  const shares = [0, 40, 10, 60].map((taken) => {
    now += taken;
    return next();
  });
  assert.deepEqual(shares, [25, 20, 25, 0]);
});
