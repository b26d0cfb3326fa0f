import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { weekdays } from '../../src/basics/calendar.ts';
import { dailyRate } from '../../src/performance/figure.ts';
import { histogramOf, addClosing, boundaryCounts } from '../../src/performance/details.ts';
import type { Money } from '../../src/basics/money.ts';
import { runs } from '../support/long.ts';
import { naiveDetails } from '../support/naive-performance.ts';
import { within } from '../support/near.ts';
import { anyDay, type LivedDay, liveThrough, recordsOf } from '../support/random-ledger.ts';
import { reportOf } from '../support/report-of.ts';

const anyLife = fc.record({
  initialCash: fc.constantFrom(1_000_000, 123_456_789, 5_000_000_000),
  commission: fc.constantFrom(0, 12_345),
  withGaps: fc.boolean(),
  splits: fc.constant({ most: 100, forward: false }),
  start: fc.constantFrom('2025-01-06', '2025-01-30', '2025-12-15'),
});
const anyDays = fc.oneof(
  fc.array(anyDay, { minLength: 1, maxLength: 30 }),
  fc.array(anyDay, { minLength: 30, maxLength: 60 }),
);

/** The report of some days of a ledger, with details, at the prices of the ledger. */
function detailsOf(
  ledger: readonly LivedDay[],
  chosenDays: readonly LivedDay[] = ledger,
  riskFree = 0,
) {
  const dateOf = new Map(ledger.map(({ sessionId, date }) => [sessionId, date]));
  const chosen = new Map(
    chosenDays.map(({ sessionId, startedFrom }) => [
      sessionId,
      dateOf.get(startedFrom ?? -1) ?? null,
    ]),
  );
  const gains = new Map<string, Money | null>();
  const counts = boundaryCounts(ledger, chosen);
  for (const day of ledger) addClosing(gains, day, counts.get(day.sessionId) ?? 0);
  const last = chosenDays.at(-1)?.holdings ?? [];
  const markOf = (symbol: string) => last.find((held) => held.symbol === symbol)?.price ?? null;
  const report = reportOf(ledger, { chosen, gains, markOf, riskFree });
  assert.ok(report.details !== null);
  return { ...report, details: report.details };
}

const assertClose = within({ absolute: 1e-8, relative: 1e-7 });

test('on any ledger the details are those of a naive implementation that shares no formula', () => {
  const seen = { months: 0, drawdowns: 0, points: 0, sparse: 0 };
  fc.assert(
    fc.property(anyDays, anyLife, fc.constantFrom(0, 0.04), (days, life, yearlyRate) => {
      const ledger = liveThrough(days, life);
      fc.pre(ledger.length > 0);
      const {
        details,
        max_drawdown: deepest,
        total_return: total,
      } = detailsOf(ledger, ledger, dailyRate(yearlyRate));
      const naive = naiveDetails(recordsOf(ledger), {
        initialCash: life.initialCash / 10_000,
        yearlyRate,
      });
      const named = <Period>(name: string, period: Period) => ({ name, ...period });
      const periods = [
        ...details.months.map((one) => named(one.month, one)),
        ...details.years.map((one) => named(one.year, one)),
      ];
      assert.deepEqual(
        periods.map(({ name, days: count }) => [name, count]),
        [...naive.months, ...naive.years].map(([name, , count]) => [name, count]),
      );
      for (const [index, [name, change]] of [...naive.months, ...naive.years].entries())
        assertClose(periods[index]?.return ?? null, change, name);
      assertClose(
        details.months.reduce((growth, month) => growth * (1 + month.return), 1) - 1,
        total,
        'all months linked',
      );
      assert.deepEqual(
        details.drawdowns[0] ?? { ...deepest, depth: 0 },
        deepest,
        'the first is the maximum drawdown',
      );
      assert.equal(details.drawdowns.length, naive.drawdowns.length);
      for (const [index, fall] of naive.drawdowns.entries()) {
        assertClose(details.drawdowns[index]?.depth ?? null, fall.depth, 'depth');
        const isTied = naive.drawdowns.some(
          (other) => other !== fall && Math.abs(other.depth - fall.depth) < 1e-9,
        );
        const {
          peak_date: peak,
          recovery_date: recovery,
          length,
        } = details.drawdowns[index] ?? deepest;
        if (!isTied)
          assert.deepEqual([peak, recovery, length], [fall.peak, fall.recovery, fall.length]);
      }
      assert.equal(details.rolling.points.length, naive.rolling.length);
      for (const [index, point] of naive.rolling.entries()) {
        const {
          date,
          sharpe_ratio: sharpe = NaN,
          annualised_volatility: volatility = NaN,
        } = details.rolling.points[index] ?? {};
        assert.equal(date, point.date);
        assertClose(sharpe, point.sharpe_ratio, 'rolling Sharpe ratio');
        assertClose(volatility, point.annualised_volatility, 'rolling volatility');
        if (point.annualised_volatility === null) seen.sparse += 1;
      }
      const { edges, counts } = details.histogram;
      assert.deepEqual(counts, countIn(edges, naive.returns));
      seen.months = Math.max(seen.months, details.months.length);
      seen.drawdowns = Math.max(seen.drawdowns, details.drawdowns.length);
      seen.points += details.rolling.points.length;
    }),
    { numRuns: runs(30, 500) },
  );
  assert.ok(
    // Thirty ledgers may have no window without variation.
    seen.months > 1 && seen.drawdowns > 2 && seen.points > 20 && seen.sparse >= runs(0, 1),
    JSON.stringify(seen),
  );
});

/** How many numbers, with ten decimals as in the response, are in each bin; none may be outside. */
function countIn(edges: readonly number[], numbers: readonly number[]): number[] {
  const shown = numbers.map((number) => Number(number.toFixed(10)));
  const counts = edges
    .slice(1)
    .map(
      (upper, index) =>
        shown.filter((number) => (edges[index] ?? NaN) <= number && number < upper).length,
    );
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    numbers.length,
  );
  return counts;
}

const units = (dollars: number | null) => Math.round((dollars ?? NaN) * 10_000);
const total = (amounts: readonly number[]) => amounts.reduce((sum, amount) => sum + amount, 0);

test('profits by symbol add up to the profit of any choice of days, and over a whole chain each is realised, unrealised and dividends', () => {
  const seen = { parts: 0, symbols: 0, dividends: 0 };
  fc.assert(
    fc.property(
      anyDays,
      anyLife,
      fc.array(fc.boolean(), { minLength: 60, maxLength: 60 }),
      (days, life, mask) => {
        const ledger = liveThrough(days, life);
        fc.pre(ledger.length > 0);
        const whole = detailsOf(ledger);
        for (const { symbol, profit, realised_profit, unrealised_profit, dividends } of whole
          .details.symbols)
          assert.equal(
            units(profit),
            units(realised_profit) + units(unrealised_profit) + units(dividends),
            symbol,
          );
        const part = ledger.filter((_, index) => mask[index]);
        for (const report of part.length === 0 ? [whole] : [whole, detailsOf(ledger, part)]) {
          const { symbols } = report.details;
          assert.equal(total(symbols.map(({ profit }) => units(profit))), units(report.profit));
          assert.equal(
            total(symbols.map((one) => units(one.realised_profit))),
            units(report.trading.realised_profit),
          );
          assert.equal(
            total(symbols.map((one) => units(one.unrealised_profit))),
            units(report.trading.unrealised_profit),
          );
          assert.equal(total(symbols.map((one) => units(one.dividends))), units(report.dividends));
          assert.equal(total(symbols.map(({ trades }) => trades)), report.trading.trades);
          assert.deepEqual(
            symbols,
            symbols.toSorted((one, other) => (other.profit ?? NaN) - (one.profit ?? NaN)),
          );
          seen.symbols = Math.max(seen.symbols, symbols.length);
        }
        if (part.length > 0 && part.length < ledger.length) seen.parts += 1;
        seen.dividends += whole.dividends > 0 ? 1 : 0;
      },
    ),
    { numRuns: runs(25, 1_000) },
  );
  assert.ok(seen.parts > 0 && seen.symbols > 1 && seen.dividends > 0, JSON.stringify(seen));
});

test('where a price at a close is unknown, the profit on that symbol is, with the reason; the others are there', () => {
  const ledger = liveThrough(
    [
      {
        isLeftOut: false,
        orders: [
          { side: 'buy', symbol: 'AAPL', amount: 1 },
          { side: 'buy', symbol: 'MSFT', amount: 1 },
        ],
        moves: [0.1, 0.1, 0],
        split: null,
      },
    ],
    { initialCash: 10_000_000 },
  );
  const [day] = ledger as [LivedDay];
  const unknown = {
    ...day,
    holdings: day.holdings.map((held) =>
      held.symbol === 'AAPL' ? { ...held, price: null } : held,
    ),
  };
  const { symbols } = detailsOf([unknown]).details;
  assert.deepEqual(
    symbols.map(({ symbol, profit }) => [symbol, profit]),
    [
      ['MSFT', 20],
      ['AAPL', null],
    ],
  );
  assert.equal(
    symbols[1]?.unavailable.profit,
    'The price of AAPL at a close of these days is unknown',
  );
});

const histograms: [name: string, numbers: number[], edges: number[], counts: number[]][] = [
  ['no number', [], [], []],
  ['zeros', [0, 0, 0], [0, 0.0001], [3]],
  ['one gain', [0.0123], [0.0123, 0.0124], [1]],
  [
    'a gain and a loss, which are not in one bin',
    [-0.004, 0.004],
    [-0.004, -0.002, 0, 0.002, 0.004, 0.006],
    [1, 0, 0, 0, 1],
  ],
  [
    'a number on an edge, which is in the bin above it',
    [0, 0.0001, 0.0001, 0.0002],
    [0, 0.0001, 0.0002, 0.0003],
    [1, 2, 1],
  ],
  [
    'one far number, which makes the bins wide, so that there are at most 40',
    [0.0001, 0.0002, 0.0003, 0.0004, 9],
    [0, 0.5, 1, 9.5],
    [],
  ],
  [
    'numbers half of which are the same',
    [-0.01, 0, 0, 0, 0, 0, 0, 0.01],
    [-0.01, -0.005, 0, 0.005, 0.01, 0.015],
    [1, 0, 6, 0, 1],
  ],
  ['numbers that take 40 bins', [0, 0, 0, 0.0001, 0.0001, 0.0039], [0, 0.0001, 0.0002, 0.004], []],
  ['numbers that would take 41', [0, 0, 0, 0.0001, 0.0001, 0.004], [0, 0.0002, 0.0004, 0.0042], []],
];
for (const [name, numbers, edges, counts] of histograms) {
  test(`a histogram of ${name}`, () => {
    const found = histogramOf(numbers);
    if (counts.length > 0 || numbers.length === 0)
      return assert.deepEqual(found, { edges, counts });
    assert.deepEqual([...found.edges.slice(0, 3), found.edges.at(-1)], edges);
    assert.deepEqual(found.counts, countIn(found.edges, numbers));
  });
}

test('the width of a histogram is the last round number that the rule allows', () => {
  const anyNumber = fc.integer({ min: -30_000, max: 30_000 }).map((points) => points / 100_000);
  fc.assert(
    fc.property(fc.array(anyNumber, { minLength: 1, maxLength: 80 }), (numbers) => {
      const { edges, counts } = histogramOf(numbers);
      assert.deepEqual(counts, countIn(edges, numbers));
      const [low = NaN, next = NaN] = edges;
      const width = Number((next - low).toPrecision(6));
      const widths = [-4, -3, -2, -1, 0].flatMap((power) =>
        [1, 2, 5].map((digit) => Number(`${digit}e${power}`)),
      );
      const place = widths.indexOf(width);
      assert.ok(place >= 0 && counts.length <= 40, `${width}, ${counts.length} bins`);
      assert.ok(
        Math.abs(low / width - Math.round(low / width)) < 1e-6,
        '0 is an edge, or would be',
      );
      const sorted = numbers.toSorted((one, other) => one - other);
      const quartile = (share: number) =>
        sorted.find(
          (number) => sorted.filter((other) => other <= number).length >= share * sorted.length,
        ) ?? NaN;
      const [first = NaN, last = NaN] = [sorted[0], sorted.at(-1)];
      const spread = quartile(0.75) - quartile(0.25);
      const sturges = (last - first) / (Math.log2(numbers.length) + 1);
      const rule =
        spread < 1e-9 ? sturges : Math.min((2 * spread) / numbers.length ** (1 / 3), sturges);
      assert.ok(
        (widths[place + 1] ?? NaN) > rule - 1e-9,
        `${width} is narrower than ${rule} asks for`,
      );
      const smaller = widths[place - 1];
      if (smaller === undefined || width < rule + 1e-9) return;
      const bins = Math.floor(last / smaller + 1e-9) - Math.floor(first / smaller + 1e-9) + 1;
      assert.ok(bins > 40, `${smaller} would do: ${rule}, ${bins} bins`);
    }),
    { numRuns: runs(25, 2_000) },
  );
});

test('a histogram of three months of returns has at least seven bins, as many as the rule of Sturges', () => {
  const bell = Array.from(
    { length: 58 },
    (_, index) => 0.004 * Math.log((index + 0.5) / (57.5 - index)),
  );
  for (const numbers of [
    bell,
    bell.map((number) => number / 7),
    bell.map((number) => 0.0003 * Math.sign(number) + number),
  ])
    assert.ok(histogramOf(numbers).counts.length >= 7, `${histogramOf(numbers).counts}`);
});

test('rolling figures of a quiet and a lively month; a window without variation has a reason', () => {
  const dates = weekdays('2025-01-06', '2025-03-07');
  const day = (move: number) => ({
    isLeftOut: false,
    orders: [],
    moves: [move, 0, 0],
    split: null,
  });
  const first = { ...day(0), orders: [{ side: 'buy' as const, symbol: 'AAPL', amount: 10 }] };
  const ledger = liveThrough(
    [
      first,
      ...dates.slice(1, 25).map(() => day(0)),
      ...dates.slice(25).map((_, index) => day(index % 2 ? 0.02 : -0.01)),
    ],
    {
      initialCash: 10_000_000,
    },
  );
  const { points, window, unavailable } = detailsOf(ledger).details.rolling;
  assert.deepEqual(
    [window, points.length, points[0]?.date, unavailable],
    [20, dates.length - 19, dates[19], {}],
  );
  assert.deepEqual([points[0]?.sharpe_ratio, points[0]?.annualised_volatility], [null, 0]);
  assert.equal(points[0]?.unavailable.sharpe_ratio, 'The daily returns do not vary');
  assert.equal(typeof points.at(-1)?.sharpe_ratio, 'number');
  const short = detailsOf(ledger.slice(0, 5)).details.rolling;
  assert.deepEqual(
    [short.points, short.unavailable],
    [[], { points: 'Needs 20 days with a return, has 5' }],
  );
});
