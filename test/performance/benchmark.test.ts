import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type BenchmarkBar,
  benchmarkCurve,
  benchmarkReturns,
  equalWeightLevels,
  memberLevels,
  levelAt,
  type Levels,
  type PriceTime,
  symbolLevels,
} from '../../src/features/performance/benchmark.ts';
import { rowsOf } from '../support/prices.ts';
import { tableOf } from '../support/text-table.ts';

/** Levels of a benchmark without dividends, as the functions of curves take them. */
const same = (levels: Levels) => ({ withDividends: levels, ofPrices: levels });
const closesOf = (levels: Levels) => levels.map(({ close }) => close);

/** `DAY OPEN CLOSE` of November 2025; `-` for an unknown close. */
function bars(table: string): BenchmarkBar[] {
  return rowsOf(table).map(([day, open, close]) => ({
    date: `2025-11-${day}`,
    open: Number(open),
    close: close === '-' ? null : Number(close),
  }));
}

const split = (day: string, numerator: number, denominator: number) => ({
  date: `2025-11-${day}`,
  shares: numerator / denominator,
  cash: 0,
});
const rounded = (number: number) => Math.round(number * 1e9) / 1e9;

const WEEK = bars(`
  03 100 110
  04 110 121
  06 120 132
  07 140 -`);

/** A time, `DAY open` or `DAY close` → the level then. */
const times: [time: string, level: number | null, why: string][] = [
  ['03 open', 100, 'its open'],
  ['03 close', 110, 'its close'],
  ['05 close', 121, 'without a bar the last close'],
  ['05 open', 121, 'without a bar the last close, also at the open'],
  ['07 close', 140, 'the open replaces an unknown close, as in the value of portfolios'],
  ['08 close', 140, 'after the last bar the last close, as the next bar may come later'],
  ['21 close', 140, 'still the last close after two weeks'],
  ['22 close', null, 'none after more than two weeks'],
  ['01 close', null, 'none before the first bar'],
];
test('the level of a benchmark at a time', () => {
  for (const [time, level, why] of times) {
    const [day, at] = time.split(' ') as [string, PriceTime['at']];
    assert.equal(levelAt(symbolLevels(WEEK), { date: `2025-11-${day}`, at }), level, why);
  }
});

test('splits are not returns: raw prices are multiplied by the shares that one share has become', () => {
  const table = bars(`
    03 300 300
    04 20 21
    05 42 42`);
  const levels = symbolLevels(table, [split('04', 15, 1), split('05', 1, 2)]);
  assert.deepEqual(
    levels.map(({ open }) => open),
    [300, 300, 315],
  );
  assert.deepEqual(closesOf(levels), [300, 315, 315]);
});

test('the price of the first bar already reflects splits before it or on its day', () => {
  const splits = [split('01', 2, 1), split('03', 2, 1)];
  assert.deepEqual(closesOf(symbolLevels(WEEK.slice(0, 2), splits)), [110, 121]);
});

test('a split on a day without a bar counts from the next bar on', () => {
  const levels = symbolLevels(bars('03 10 10\n06 5 5'), [split('05', 2, 1)]);
  assert.deepEqual(closesOf(levels), [10, 10]);
});

const dividend = (day: string, cash: number) => ({ date: `2025-11-${day}`, shares: 1, cash });
/** `QQQ` at 100 on every day: bars by day, dividends, a split 4:1, and closes by the first. */
const reinvested = tableOf<
  [name: string, days: string, paid: string, split: string, growth: string]
>(`
  at the close of the ex-date                         | 03 04 05 | 04 2       |    | 1 1.02 1.02
  those of one day buy more of the next               | 03 04 05 | 04 2, 05 2 |    | 1 1.02 1.0404
  the price of the first bar is without its dividend  | 03 04    | 01 2, 03 2 |    | 1 1
  an ex-date without a bar waits for the next bar     | 03 06    | 04 2, 05 3 |    | 1 1.05
  the dividend is before the split, on the old shares | 03 04    | 04 2       | 04 | 1 4.02
  in one gap each pays on the shares of its day       | 03 07    | 04 2, 06 2 | 05 | 1 4.1`);
test('levels with dividends, which are reinvested', () => {
  for (const [name, days, paid, splitDay, growth] of reinvested) {
    const table = days.split(' ').map((day) => `${day} 100 100`);
    const dividends = [...paid.matchAll(/(\d+) (\d)/g)].map(([, day = '', cash]) =>
      dividend(day, Number(cash)),
    );
    const splits = splitDay === '' ? [] : [split(splitDay, 4, 1)];
    const closes = closesOf(symbolLevels(bars(table.join('\n')), [...dividends, ...splits]));
    assert.equal(closes.map((close) => rounded(close / 100)).join(' '), growth, name);
  }
});

test('who starts at the open of the ex-date gets no dividend; who held at the close before gets it', () => {
  const levels = symbolLevels(bars('03 100 110\n04 105 115.5'), [dividend('04', 5.775)]);
  const both = { withDividends: levels, ofPrices: symbolLevels(bars('03 100 110\n04 105 115.5')) };
  const returns = benchmarkReturns(both, daysOf('- 04 +', '03 04 +', '03 04 -'));
  // 115.5 + 5.775 over 110 is 1.1025.
  assert.deepEqual(
    returns.map((one) => rounded(one ?? NaN)),
    [0.1, 0.1025, 0.05],
  );
});

test('on days that pay no dividends, the curve of the benchmark follows its prices only', () => {
  const table = bars('03 100 100\n04 100 100\n05 100 110\n06 110 110');
  const events = [dividend('04', 2), dividend('05', 11), dividend('06', 11)];
  const levels = { withDividends: symbolLevels(table, events), ofPrices: symbolLevels(table) };
  const curve = benchmarkCurve(levels, daysOf('- 03 +', '03 04 +', '04 05 -', '05 06 +'));
  assert.equal(pointsOf(curve), '03 1 0, 04 1.02 0.02, 05 1.122 0.1, 06 1.2342 0.1');
});

test('equal weight: each member reinvests its own dividends; a portfolio bought at the open gets none of them', () => {
  const payer = symbolLevels(bars('03 100 100\n04 100 100'), [dividend('04', 2)]);
  const other = symbolLevels(bars('03 50 50\n04 50 50'));
  const levels = equalWeightLevels([payer, other]);
  assert.deepEqual(closesOf(levels).map(rounded), [1, 1.01]);
  const open = rounded(levels[1]?.open ?? NaN);
  assert.equal(open, 1.01, 'so the return from the open to the close is 0');
});

test('days of a curve are compared from the same close to the same close, across gaps; a first day from its open', () => {
  const curve = daysOf('- 03 +', '03 06 +', '06 24 -');
  const returns = benchmarkReturns(same(symbolLevels(WEEK)), curve);
  assert.deepEqual(
    returns.map((one) => one && rounded(one)),
    [0.1, 0.2, null],
  );
});

/**
 * Each as `START DATE +`: the day of the month from whose close a model-day starts, or `-` for its
 * own open; without `+` it pays no dividends.
 */
function daysOf(...days: string[]) {
  return days.map((day) => {
    const [start = '', date = '', pays] = day.split(' ');
    return {
      date: `2025-11-${date}`,
      startDate: start === '-' ? null : `2025-11-${start}`,
      paysDividends: pays === '+',
    };
  });
}

/** Points as `DAY VALUE RETURN`. */
const pointsOf = (curve: ReturnType<typeof benchmarkCurve>) =>
  curve
    .map(({ date, value, dailyReturn }) =>
      [date.slice(-2), rounded(value), rounded(dailyReturn)].join(' '),
    )
    .join(', ');

/** WEEK closes at 110 on the 3rd, 121 on the 5th and 132 on the 6th; points as `DAY VALUE RETURN`. */
const THREE = '03 1.1 0.1, 05 1.21 0.1, 06 1.32 0.090909091';
const curves: [name: string, days: string[], points: string][] = [
  ['from the open of the first day', ['- 03', '03 05', '05 06'], THREE],
  ['from the close before the first day', ['03 05', '05 06'], '05 1.1 0.1, 06 1.2 0.090909091'],
  ['of a filtered day nothing counts', ['- 03', '05 06'], '03 1.1 0.1, 06 1.2 0.090909091'],
  ['a day that one model missed counts', ['- 03', '03 05', '03 06', '05 06'], THREE],
  ['a day that all missed is part of the next', ['- 03', '03 06'], '03 1.1 0.1, 06 1.32 0.2'],
  ['the earliest of several starts', ['- 03', '05 06', '03 06'], '03 1.1 0.1, 06 1.32 0.2'],
  // A model that begins later is measured from its open where no other has the day.
  ['a model that begins later', ['- 03', '- 06'], '03 1.1 0.1, 06 1.21 0.1'],
  ['it ends two weeks after its last bar', ['- 03', '03 24', '24 25'], '03 1.1 0.1'],
  ['without a level at any start there is no curve', ['- 01', '01 03'], ''],
  ['days are taken in order of their dates', ['05 06', '- 03', '03 05'], THREE],
];
test("the benchmark's own curve", () => {
  for (const [name, days, points] of curves) {
    const curve = benchmarkCurve(same(symbolLevels(WEEK)), daysOf(...days));
    assert.equal(pointsOf(curve), points, name);
  }
});

test('equal weight: the mean of the returns, not of the prices, rebalanced every day', () => {
  const cheap = symbolLevels(bars('03 10 10\n04 10 20\n05 20 10'));
  const dear = symbolLevels(bars('03 1000 1000\n04 1000 1000\n05 1000 1000'));
  assert.deepEqual(closesOf(equalWeightLevels([cheap, dear])).map(rounded), [1, 1.5, 1.125]); // +100 % and 0 %, then -50 % and 0 %
});

test('equal weight: the first day starts at the opens, and a member that joins later counts from its second day', () => {
  const first = symbolLevels(bars('03 10 11\n04 11 11\n05 11 22'));
  const late = symbolLevels(bars('04 50 100\n05 100 100'));
  const levels = equalWeightLevels([first, late]);
  assert.deepEqual(closesOf(levels).map(rounded), [1, 1, 1.5]);
  assert.equal(rounded(levels[0]?.open ?? NaN), rounded(1 / 1.1));
});

test('equal weight: a member without a bar returns 0 for two weeks, then leaves; when it is back it counts from its second day', () => {
  const every = symbolLevels(bars('03 10 10\n04 10 10\n17 10 10\n18 10 20\n19 20 20\n20 20 40'));
  const rare = symbolLevels(bars('03 50 50\n04 50 50\n19 90 90\n20 90 90'));
  // On the 18th it has had no bar for two weeks and still counts: +100 % and 0 %. On the 19th it
  // does not: a new start.
  assert.deepEqual(
    closesOf(equalWeightLevels([every, rare])).map(rounded),
    [1, 1, 1, 1.5, 1.5, 2.25],
  );
});

test('members: the mean over those of each morning with a close on it and one in the two weeks before', () => {
  const of = (symbol: string, from: string, to: string) => {
    return { symbol, from: `2025-11-${from}`, to: `2025-11-${to}` };
  };
  const symbols: [string, ReturnType<typeof symbolLevels>][] = [
    ['A', symbolLevels(bars('03 100 110\n04 115 121\n05 121 121\n06 121 121\n24 121 133.1'))],
    ['B', symbolLevels(bars('03 100 80\n04 80 160\n05 160 160'))],
    ['C', symbolLevels(bars('03 10 10\n04 10 12\n05 12 18\n24 50 55'))],
    ['D', symbolLevels(bars('05 10 11\n06 11 22'))],
  ];
  const members = [
    of('A', '01', '30'),
    of('B', '01', '03'),
    of('C', '04', '30'),
    of('D', '05', '30'),
  ];
  const levels = memberLevels(symbols, members);
  // The 3rd from the opens: A +10 %, B −20 %. The 4th: A +10 %, C +20 %. The 5th: A 0, C +50 %, D
  // has no earlier close. The 6th: A 0, D +100 %. On the 24th the last close of each is older than two weeks.
  const days = levels.map(({ date, open, close }) => [date.slice(-2), rounded(close / open - 1)]);
  assert.deepEqual(days[0], ['03', -0.05]);
  assert.deepEqual(days[4], ['24', 0.1]);
  const closes = [1, 1.15, 1.15 * 1.25, 1.15 * 1.25 * 1.5, 1.15 * 1.25 * 1.5];
  assert.deepEqual(closesOf(levels).map(rounded), closes.map(rounded));
});

test('equal weight without members has no level', () => {
  assert.deepEqual(equalWeightLevels([]), []);
  assert.equal(
    levelAt(equalWeightLevels([symbolLevels([])]), { date: '2025-11-03', at: 'close' }),
    null,
  );
});
