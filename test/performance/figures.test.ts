import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addDays, weekdays } from '../../src/core/time/calendar.ts';
import { dailyRate, reportFigures } from '../../src/features/statistics/figure.ts';
import {
  deepestDrawdowns,
  type ReturnSeries,
  toReturnSeries,
} from '../../src/features/performance/risk-and-return.ts';
import { relativeFigures } from '../../src/features/performance/relative.ts';
import { reportReturns } from '../../src/features/performance/report-returns.ts';

/** Daily returns on the weekdays from a Monday on. */
function series(returns: readonly (number | null)[]): ReturnSeries {
  const dates = weekdays('2025-01-06', addDays('2025-01-06', returns.length * 2));
  return toReturnSeries(
    returns.map((dailyReturn, index) => ({
      date: dates[index] as string,
      startDate: null,
      dailyReturn,
    })),
  );
}

function times<Item>(count: number, items: readonly Item[]): Item[] {
  return Array.from({ length: count }, () => items).flat();
}

/**
 * Ten times 2 % up and 1 % down: mean 0.5 %, every day 1.5 % from it, so the sample deviation is
 * 1.5 % · √(20/19).
 */
const SWINGS = times(10, [0.02, -0.01]);
/** Why a figure is missing, by the short names that stand for the reasons in the table. */
const reasons: Record<string, string> = {
  few: 'Needs 20 days with a return, has N',
  noYear: 'Needs 252 days with a return, has N',
  still: 'The daily returns do not vary',
  noFall: 'No day fell measurably below the risk-free rate',
  neverFell: 'The value never fell',
  none: 'There is no daily return',
};
const NAMES: Record<string, string> = {
  total: 'total_return',
  annual: 'annualised_return',
  volatility: 'annualised_volatility',
  sharpe: 'sharpe_ratio',
  sortino: 'sortino_ratio',
  calmar: 'calmar_ratio',
  var: 'value_at_risk_95',
  shortfall: 'expected_shortfall_95',
  wins: 'winning_days_share',
};

/** Daily returns, figures (or why there is none), and the yearly risk-free rate. */
const table: [name: string, returns: (number | null)[], expected: string, yearlyRate?: number][] = [
  // No year is made of one day.
  ['one day', [0.01], 'total 0.01 annual noYear volatility few sharpe few calmar noYear wins 1'],
  ['nineteen days', SWINGS.slice(1), 'sharpe few var few shortfall few skewness few kurtosis few'],
  [
    'twenty days of swings',
    SWINGS,
    // (1.02 · 0.99)^10 - 1; 0.0153896753 · √252; 0.005 / 0.0153896753 · √252; 0.005 over
    // √(10 · 0.01² / 20) · √252, over all 20 days and not over the 10 bad ones; one day of twenty;
    // of two equally frequent values g₂ is -2: (21 · -2 + 6) · 19 / (18 · 17).
    'total 0.102436703 annual noYear volatility 0.2443035213 sharpe 5.1575187833 wins 0.5 ' +
      'sortino 11.2249721603 var 0.01 shortfall 0.01 skewness 0 kurtosis -2.2352941176',
  ],
  // g₁ is -0.9 / √(0.05 · 0.95); · √(20 · 19) / 18 that is -√20; g₂ is (1 - 6 · 0.0475) / 0.0475.
  [
    'one day in twenty loses a fifth',
    [...times(19, [0]), -0.2],
    'shortfall 0.2 skewness -4.472135955 kurtosis 20',
  ],
  // Of thirty days one and a half: (0.1 + 0.04 / 2) / 1.5.
  ['a worst twentieth', [-0.04, ...times(28, [0.01]), -0.1], 'var 0.04 shortfall 0.08'],
  // 5 % a year is 0.0193630507 % a day: (0.005 - 0.000193630507) / 0.0153896753 · √252; the bad
  // days are 0.010193630507 below.
  [
    'a risk-free rate',
    SWINGS,
    'volatility 0.2443035213 sharpe 4.9577881884 sortino 10.5853088792',
    0.05,
  ],
  [
    'a flat curve',
    times(20, [0]),
    'total 0 volatility 0 sharpe still sortino noFall var 0 skewness still kurtosis still wins 0',
  ],
  // It falls behind every day: -1 · √252.
  ['flat under a rate', times(20, [0]), 'sharpe still sortino -15.8745078664', 0.05],
  ['the same gain every day', times(30, [0.001]), 'volatility 0 sharpe still var -0.001'],
  ['a year', times(252, [0.001]), 'total 0.2864340444 annual 0.2864340444 calmar neverFell'],
  ['251 days', times(251, [0.001]), 'annual noYear'],
  // 1.002^252 · 0.999^252 - 1, its root, and that over 1 - 0.999^252.
  [
    'two years: up by 0.2 % a day, then down by 0.1 %',
    [...times(252, [0.002]), ...times(252, [-0.001])],
    'total 0.2857864917 annual 0.1339252584 calmar 0.6009571594',
  ],
  // The days after it are no days with a return.
  ['everything lost', [0.1, -1, null, null], 'total -1 wins 0.5 var few'],
  ['lost after a year', [...times(251, [0.001]), -1], 'total -1 annual -1 calmar -1'],
  ['without any return', [null], 'total none wins none'],
  ['of 20 days the worst', [-0.05, -0.03, ...times(18, [0.01])], 'var 0.05'],
  ['of 21 days the second worst', [-0.05, -0.03, ...times(19, [0.01])], 'var 0.03'],
  ['of 40 days the second worst', [-0.05, -0.03, ...times(38, [0.01])], 'var 0.03'],
  ['of 140 days the seventh', times(140, [0]).map((_, index) => index / 1000), 'var -0.006'],
];
test('figures of daily returns, by hand', () => {
  for (const [name, returns, expected, yearlyRate = 0] of table) {
    const days = series(returns);
    const { unavailable, ...figures } = reportReturns(days, dailyRate(yearlyRate));
    const all: Record<string, unknown> = { ...figures, ...unavailable };
    for (const [, short = '', value = ''] of expected.matchAll(/(\w+) (\S+)/g)) {
      const reason = reasons[value]?.replace(
        /N$/,
        String(returns.filter((r) => r !== null).length),
      );
      assert.equal(all[NAMES[short] ?? short], reason ?? Number(value), `${name}: ${short}`);
    }
  }
});

test('where model-days are rare, 252 of them are not a year', () => {
  const days = (dates: readonly string[]) =>
    toReturnSeries(
      dates.map((date, index) => ({
        date,
        startDate: null,
        dailyReturn: SWINGS[index % 20] as number,
      })),
    );
  const year = weekdays('2024-01-01', '2025-12-31');
  const mondays = reportReturns(days(year.filter((_, index) => index % 5 === 0)), 0);
  assert.deepEqual(
    [mondays.sharpe_ratio, mondays.unavailable.sharpe_ratio],
    [
      null,
      'Annualising needs a day with a return on two of three weekdays; there are 105 on 521 weekdays',
    ],
  );
  assert.equal(mondays.value_at_risk_95, 0.01, 'it is of a model-day, not of a year');
  const twoOfThree = days(weekdays('2025-01-06', '2025-02-14').filter((_, index) => index % 3 < 2));
  assert.equal(twoOfThree.days.length, 20);
  assert.equal(reportReturns(twoOfThree, 0).sharpe_ratio, 5.1575187833);
});

test('a break before the first day counts among the weekdays that it covers', () => {
  const days = SWINGS.map((dailyReturn, index) => ({
    date: weekdays('2025-01-06', '2025-01-31')[index] as string,
    startDate: index === 0 ? '2024-11-29' : null,
    dailyReturn,
  }));
  assert.match(
    String(reportReturns(toReturnSeries(days), 0).unavailable.sharpe_ratio),
    /there are 20 on 45 weekdays/,
  );
});

/** Returns → depth, index of high, low and recovery (- for none), length. */
const drawdowns: [name: string, returns: number[], expected: [number, ...(string | number)[]]][] = [
  ['none', [0, 0.01, 0], [0, '-', '-', '-', 0]],
  ['from the start', [-0.1], [0.1, '-', 0, '-', 1]],
  ['to the low and back to the high', [0.1, -0.5, 0, 1], [0.5, 0, 1, 3, 3]],
  ['not yet back', [0.25, -0.2, 0.1], [0.2, 0, 1, '-', 2]],
  ['the deeper of two', [-0.1, 0.2, -0.2, 0.3], [0.2, 1, 2, 3, 2]],
  ['the first of two that are as deep', [-0.5, 1, -0.5, 1], [0.5, '-', 0, 1, 2]],
  ['one fall in several steps, with a pause', [-0.5, 0.5, -0.5, 2], [0.625, '-', 2, 3, 4]],
  ['counted from the last day at the high', [0, 0, -0.5, 1], [0.5, 1, 2, 3, 2]],
  [
    'from 10000 to 9300 and back, which floating point misses narrowly',
    [-0.07, 700 / 9300, -0.01],
    [0.07, '-', 0, 1, 2],
  ],
  ['everything', [0.1, -1], [1, 0, 1, '-', 1]],
];
test('the maximum drawdown, by hand', () => {
  for (const [name, returns, [depth, peak, trough, recovery, length]] of drawdowns) {
    const days = series(returns);
    const date = (index: string | number | undefined) =>
      typeof index === 'number' ? days.days[index]?.date : null;
    const { max_drawdown: found } = reportReturns(days, 0);
    const { peak_date, trough_date, recovery_date } = found;
    assert.deepEqual([found.depth, found.length], [depth, length], name);
    const dates = [peak_date, trough_date, recovery_date];
    assert.deepEqual(dates, [date(peak), date(trough), date(recovery)], name);
  }
});

test('the five deepest drawdowns, the earlier of equals first; one without a recovery counts with its length so far', () => {
  const depths = [0.1, 0.3, 0.05, 0.2, 0.3, 0.01, 0.2];
  const days = series([
    0.5,
    ...depths.flatMap((depth) => [-depth, 1 / (1 - depth) - 1]).slice(0, -1),
    0.1,
  ]);
  const indexOf = (date: string | null) => days.days.findIndex((day) => day.date === date);
  const rows = deepestDrawdowns(days, 5).map((one) => [
    Number(one.depth.toFixed(10)),
    ...[one.peak_date, one.trough_date, one.recovery_date].map(indexOf),
    one.length,
  ]);
  assert.deepEqual(rows, [
    [0.3, 2, 3, 4, 2],
    [0.3, 8, 9, 10, 2],
    [0.2, 6, 7, 8, 2],
    [0.2, 12, 13, -1, 2],
    [0.1, 0, 1, 2, 2],
  ]);
  assert.deepEqual(deepestDrawdowns(series([]), 5), []);
});

const rows: [returns: (number | null)[], winning: number, losing: number][] = [
  [[], 0, 0],
  [[0, 0], 0, 0],
  [[0.01, 0.01, 0, 0.01], 2, 0],
  [[-0.1, -0.1, 0.1, -0.1, -0.1, -0.1], 1, 3],
  [[0.1, -1, null, null], 1, 1],
];
test('the longest runs of days that won or lost', () => {
  for (const [returns, winning, losing] of rows) {
    const { longest_winning_run, longest_losing_run } = reportReturns(series(returns), 0);
    const found = [longest_winning_run, longest_losing_run];
    assert.deepEqual(found, [winning, losing], JSON.stringify(returns));
  }
});

test('best and worst day are the first of several; one day is both', () => {
  const { best_day, worst_day } = reportReturns(series([0.01, 0.02, -0.03, 0.02, -0.03]), 0);
  assert.deepEqual(best_day, { date: '2025-01-07', daily_return: 0.02 });
  assert.deepEqual(worst_day, { date: '2025-01-08', daily_return: -0.03 });
  const single = reportReturns(series([-0.01]), 0);
  assert.deepEqual([single.best_day?.date, single.worst_day?.date], ['2025-01-06', '2025-01-06']);
  assert.equal(reportReturns(series([]), 0).best_day, null);
});

const HALF = SWINGS.map((dailyReturn) => dailyReturn / 2);
const MODEL_STILL = 'The daily returns do not vary';
const STILL = 'The benchmark does not move';
const APART = 'The differences from the benchmark do not vary';
const FEW = 'Needs 20 days with a return, has';
const relatives: [name: string, own: number[], benchmark: number[], expected: object][] = [
  [
    'twice the benchmark',
    SWINGS,
    HALF,
    {
      ...{ beta: 2, correlation: 1, alpha: 0, information_ratio: 5.1575187833 },
      tracking_error: 0.1221517607, // the differences are the halves
      benchmark_return: 0.0506172938, // (1.01 · 0.995)^10 - 1
      excess_return: 0.0518194092, // 0.102436703 - 0.0506172938
    },
  ],
  [
    'half the benchmark and 0.1 % a day beside it',
    HALF.map((dailyReturn) => 0.001 + dailyReturn / 2),
    HALF,
    {
      ...{ beta: 0.5, correlation: 1, alpha: 0.252 },
      ...{ tracking_error: 0.0610758803, information_ratio: -1.0315037567 },
    },
  ],
  ['against the benchmark', HALF.map((own) => -own), HALF, { beta: -1, correlation: -1 }],
  [
    'the benchmark itself',
    HALF,
    HALF.map((dailyReturn) => dailyReturn + 1e-17),
    { beta: 1, alpha: 0, tracking_error: 0, information_ratio: APART, excess_return: 0 },
  ],
  [
    'a flat benchmark',
    SWINGS,
    times(20, [0]),
    {
      ...{ beta: STILL, alpha: STILL, correlation: STILL },
      ...{ tracking_error: 0.2443035213, information_ratio: 5.1575187833 },
    },
  ],
  [
    'a flat model',
    times(20, [0]),
    SWINGS,
    { beta: 0, correlation: MODEL_STILL, alpha: 0, excess_return: -0.102436703 },
  ],
  [
    'too few days',
    [0.01],
    [0.02],
    { beta: `${FEW} 1`, alpha: `${FEW} 1`, benchmark_return: 0.02, excess_return: -0.01 },
  ],
  [
    'no common day',
    [],
    [],
    { benchmark_return: 'There is no day on which both have a return', beta: `${FEW} 0` },
  ],
];
test('figures against a benchmark, by hand', () => {
  for (const [name, own, benchmark, expected] of relatives) {
    const comparison = { own: series(own), benchmark: series(benchmark) };
    const { unavailable, ...figures } = reportFigures(relativeFigures(comparison, 0));
    const all: Record<string, unknown> = { ...figures, ...unavailable };
    for (const [figure, value] of Object.entries(expected))
      assert.equal(all[figure], value, `${name}: ${figure}`);
  }
});
