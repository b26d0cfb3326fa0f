import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addDays, weekdays } from '../../src/basics/calendar.ts';
import { dailyRate, reportFigures } from '../../src/performance/figure.ts';
import {
  deepestDrawdowns,
  type ReturnSeries,
  seriesOf,
} from '../../src/performance/risk-and-return.ts';
import { relativeFigures } from '../../src/performance/relative.ts';
import { reportReturns } from '../../src/performance/report-returns.ts';

/** Daily returns on the weekdays from a Monday on. */
function series(returns: readonly (number | null)[]): ReturnSeries {
  const dates = weekdays('2025-01-06', addDays('2025-01-06', returns.length * 2));
  return seriesOf(
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
const FEW = 'Needs 20 days with a return, has';
const NO_YEAR = 'Needs 252 days with a return, has';

type Expected = Record<string, number | string | null>;

/**
 * Daily returns and the yearly risk-free rate → figures; a text is the reason for a missing one.
 */
const table: [name: string, returns: (number | null)[], yearlyRate: number, expected: Expected][] =
  [
    [
      'one percent on one day is one percent, and no year is made of it',
      [0.01],
      0,
      {
        total_return: 0.01,
        annualised_return: `${NO_YEAR} 1`,
        annualised_volatility: `${FEW} 1`,
        sharpe_ratio: `${FEW} 1`,
        sortino_ratio: `${FEW} 1`,
        calmar_ratio: `${NO_YEAR} 1`,
        value_at_risk_95: `${FEW} 1`,
        winning_days_share: 1,
      },
    ],
    [
      'nineteen days are too few for risk',
      SWINGS.slice(1),
      0,
      {
        sharpe_ratio: `${FEW} 19`,
        value_at_risk_95: `${FEW} 19`,
        expected_shortfall_95: `${FEW} 19`,
        skewness: `${FEW} 19`,
        kurtosis: `${FEW} 19`,
        winning_days_share: 0.4736842105,
      },
    ],
    [
      'twenty days of swings',
      SWINGS,
      0,
      {
        total_return: 0.102436703, // (1.02 · 0.99)^10 - 1
        annualised_return: `${NO_YEAR} 20`,
        annualised_volatility: 0.2443035213, // 0.0153896753 · √252
        sharpe_ratio: 5.1575187833, // 0.005 / 0.0153896753 · √252
        sortino_ratio: 11.2249721603, // 0.005 / √(10 · 0.01² / 20) · √252: over all 20 days, not over the 10 bad ones
        calmar_ratio: `${NO_YEAR} 20`,
        value_at_risk_95: 0.01,
        expected_shortfall_95: 0.01, // one day of twenty
        skewness: 0,
        kurtosis: -2.2352941176, // of two equally frequent values g₂ is -2: (21 · -2 + 6) · 19 / (18 · 17)
        winning_days_share: 0.5,
      },
    ],
    [
      'one day in twenty loses a fifth, the others nothing',
      [...times(19, [0]), -0.2],
      0,
      {
        expected_shortfall_95: 0.2,
        skewness: -4.472135955, // g₁ is -0.9 / √(0.05 · 0.95); · √(20 · 19) / 18 that is -√20
        kurtosis: 20, // g₂ is (1 - 6 · 0.0475) / 0.0475
      },
    ],
    [
      'of thirty days one and a half are the worst twentieth',
      [-0.04, ...times(28, [0.01]), -0.1],
      0,
      { value_at_risk_95: 0.04, expected_shortfall_95: 0.08 }, // (0.1 + 0.04 / 2) / 1.5
    ],
    [
      'a risk-free rate of 5 % a year is 0.0193630507 % a day',
      SWINGS,
      0.05,
      {
        annualised_volatility: 0.2443035213,
        sharpe_ratio: 4.9577881884, // (0.005 - 0.000193630507) / 0.0153896753 · √252
        sortino_ratio: 10.5853088792, // the bad days are 0.010193630507 below
      },
    ],
    [
      'a flat curve has no risk to divide by',
      times(20, [0]),
      0,
      {
        total_return: 0,
        annualised_volatility: 0,
        sharpe_ratio: 'The daily returns do not vary',
        sortino_ratio: 'No day fell measurably below the risk-free rate',
        value_at_risk_95: 0,
        expected_shortfall_95: 0,
        skewness: 'The daily returns do not vary',
        kurtosis: 'The daily returns do not vary',
        winning_days_share: 0,
      },
    ],
    [
      'a flat curve under a risk-free rate falls behind it every day',
      times(20, [0]),
      0.05,
      { sharpe_ratio: 'The daily returns do not vary', sortino_ratio: -15.8745078664 }, // -1 · √252
    ],
    [
      'a gain that is the same every day does not vary, whatever rounding makes of it',
      times(30, [0.001]),
      0,
      {
        annualised_volatility: 0,
        sharpe_ratio: 'The daily returns do not vary',
        value_at_risk_95: -0.001,
      },
    ],
    [
      'a year is annualised to itself',
      times(252, [0.001]),
      0,
      { total_return: 0.2864340444, annualised_return: 0.2864340444 },
    ],
    ['251 days are not a year', times(251, [0.001]), 0, { annualised_return: `${NO_YEAR} 251` }],
    [
      'two years: up by 0.2 % a day, then down by 0.1 %',
      [...times(252, [0.002]), ...times(252, [-0.001])],
      0,
      {
        total_return: 0.2857864917, // 1.002^252 · 0.999^252 - 1
        annualised_return: 0.1339252584, // its root
        calmar_ratio: 0.6009571594, // over 1 - 0.999^252
      },
    ],
    [
      'a year without a fall has no Calmar ratio',
      times(252, [0.001]),
      0,
      { calmar_ratio: 'The value never fell' },
    ],
    [
      'everything lost is -100 %, and the days after it are no days with a return',
      [0.1, -1, null, null],
      0,
      { total_return: -1, winning_days_share: 0.5, value_at_risk_95: `${FEW} 2` },
    ],
    [
      'a year after everything was lost',
      [...times(251, [0.001]), -1],
      0,
      { total_return: -1, annualised_return: -1, calmar_ratio: -1 },
    ],
    [
      'without any return there is no figure',
      [null],
      0,
      { total_return: 'There is no daily return', winning_days_share: 'There is no daily return' },
    ],
    [
      'value at risk of 20 days is the worst',
      [-0.05, -0.03, ...times(18, [0.01])],
      0,
      { value_at_risk_95: 0.05 },
    ],
    [
      'of 21 days the second worst',
      [-0.05, -0.03, ...times(19, [0.01])],
      0,
      { value_at_risk_95: 0.03 },
    ],
    [
      'of 40 days the second worst',
      [-0.05, -0.03, ...times(38, [0.01])],
      0,
      { value_at_risk_95: 0.03 },
    ],
    [
      'of 140 days the seventh worst',
      times(140, [0]).map((_, index) => index / 1000),
      0,
      { value_at_risk_95: -0.006 },
    ],
  ];

for (const [name, returns, yearlyRate, expected] of table) {
  test(name, () => {
    const { unavailable, ...figures } = reportReturns(series(returns), dailyRate(yearlyRate));
    const all: Record<string, unknown> = { ...figures, ...unavailable };
    assert.deepEqual(
      Object.fromEntries(Object.keys(expected).map((figure) => [figure, all[figure]])),
      expected,
    );
  });
}

test('where model-days are rare, 252 of them are not a year', () => {
  const days = (dates: readonly string[]) =>
    seriesOf(
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
    String(reportReturns(seriesOf(days), 0).unavailable.sharpe_ratio),
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
for (const [name, returns, [depth, peak, trough, recovery, length]] of drawdowns) {
  test(`maximum drawdown: ${name}`, () => {
    const days = series(returns);
    const date = (index: string | number | undefined) =>
      typeof index === 'number' ? days.days[index]?.date : null;
    assert.deepEqual(reportReturns(days, 0).max_drawdown, {
      depth,
      peak_date: date(peak),
      trough_date: date(trough),
      recovery_date: date(recovery),
      length,
    });
  });
}

test('the five deepest drawdowns, the earlier of equals first; one without a recovery counts with its length so far', () => {
  const depths = [0.1, 0.3, 0.05, 0.2, 0.3, 0.01, 0.2];
  const days = series([
    0.5,
    ...depths.flatMap((depth) => [-depth, 1 / (1 - depth) - 1]).slice(0, -1),
    0.1,
  ]);
  const found = deepestDrawdowns(days, 5);
  assert.deepEqual(
    found.map(({ depth }) => Number(depth.toFixed(10))),
    [0.3, 0.3, 0.2, 0.2, 0.1],
  );
  const indexOf = (date: string | null) => days.days.findIndex((day) => day.date === date);
  assert.deepEqual(
    found.map(({ trough_date }) => indexOf(trough_date)),
    [3, 9, 7, 13, 1],
  );
  assert.deepEqual(
    found.map(({ peak_date }) => indexOf(peak_date)),
    [2, 8, 6, 12, 0],
  );
  assert.deepEqual(
    found.map(({ recovery_date, length }) => [indexOf(recovery_date), length]),
    [
      [4, 2],
      [10, 2],
      [8, 2],
      [-1, 2],
      [2, 2],
    ],
  );
  assert.deepEqual(deepestDrawdowns(series([]), 5), []);
});

const rows: [returns: (number | null)[], winning: number, losing: number][] = [
  [[], 0, 0],
  [[0, 0], 0, 0],
  [[0.01, 0.01, 0, 0.01], 2, 0],
  [[-0.1, -0.1, 0.1, -0.1, -0.1, -0.1], 1, 3],
  [[0.1, -1, null, null], 1, 1],
];
for (const [returns, winning, losing] of rows) {
  test(`longest runs of ${JSON.stringify(returns)}`, () => {
    const { longest_winning_run: won, longest_losing_run: lost } = reportReturns(
      series(returns),
      0,
    );
    assert.deepEqual([won, lost], [winning, losing]);
  });
}

test('best and worst day are the first of several; one day is both', () => {
  const { best_day, worst_day } = reportReturns(series([0.01, 0.02, -0.03, 0.02, -0.03]), 0);
  assert.deepEqual(best_day, { date: '2025-01-07', daily_return: 0.02 });
  assert.deepEqual(worst_day, { date: '2025-01-08', daily_return: -0.03 });
  const single = reportReturns(series([-0.01]), 0);
  assert.deepEqual([single.best_day?.date, single.worst_day?.date], ['2025-01-06', '2025-01-06']);
  assert.equal(reportReturns(series([]), 0).best_day, null);
});

const HALF = SWINGS.map((dailyReturn) => dailyReturn / 2);
const relatives: [name: string, own: number[], benchmark: number[], expected: Expected][] = [
  [
    'twice the benchmark',
    SWINGS,
    HALF,
    {
      beta: 2,
      correlation: 1,
      alpha: 0,
      tracking_error: 0.1221517607, // the differences are the halves
      information_ratio: 5.1575187833,
      benchmark_return: 0.0506172938, // (1.01 · 0.995)^10 - 1
      excess_return: 0.0518194092, // 0.102436703 - 0.0506172938
    },
  ],
  [
    'half the benchmark and 0.1 % a day beside it',
    HALF.map((dailyReturn) => 0.001 + dailyReturn / 2),
    HALF,
    {
      beta: 0.5,
      correlation: 1,
      alpha: 0.252,
      tracking_error: 0.0610758803,
      information_ratio: -1.0315037567,
    },
  ],
  [
    'against the benchmark',
    HALF.map((dailyReturn) => -dailyReturn),
    HALF,
    { beta: -1, correlation: -1 },
  ],
  [
    'the benchmark itself',
    HALF,
    HALF.map((dailyReturn) => dailyReturn + 1e-17),
    {
      beta: 1,
      alpha: 0,
      tracking_error: 0,
      information_ratio: 'The differences from the benchmark do not vary',
      excess_return: 0,
    },
  ],
  [
    'a flat benchmark',
    SWINGS,
    times(20, [0]),
    {
      beta: 'The benchmark does not move',
      alpha: 'The benchmark does not move',
      correlation: 'The benchmark does not move',
      tracking_error: 0.2443035213,
      information_ratio: 5.1575187833,
    },
  ],
  [
    'a flat model',
    times(20, [0]),
    SWINGS,
    {
      beta: 0,
      correlation: 'The daily returns do not vary',
      alpha: 0,
      excess_return: -0.102436703,
    },
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
for (const [name, own, benchmark, expected] of relatives) {
  test(`against a benchmark: ${name}`, () => {
    const comparison = { own: series(own), benchmark: series(benchmark) };
    const { unavailable, ...actual } = reportFigures(relativeFigures(comparison, 0));
    const all: Expected = { ...actual, ...unavailable };
    assert.deepEqual(
      Object.fromEntries(Object.keys(expected).map((figure) => [figure, all[figure]])),
      expected,
    );
  });
}
