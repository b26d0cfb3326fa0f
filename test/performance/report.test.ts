import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { weekdays } from '../../src/core/time/calendar.ts';
import type { LedgerDay, UsageTotals } from '../../src/features/performance/queries.ts';
import { money } from '../../src/core/money/money.ts';
import { dailyRate } from '../../src/features/statistics/figure.ts';
import type { Levels } from '../../src/features/performance/benchmark.ts';
import { naiveFigures } from '../support/naive-performance.ts';
import { within } from '../support/near.ts';
import { anyDay, type Day, liveThrough, recordsOf } from '../support/random-ledger.ts';
import { runs } from '../support/long.ts';
import { NO_USAGE, reportOf as report } from '../support/report-of.ts';

const same = (levels: Levels) => ({ withDividends: levels, ofPrices: levels });

/**
 * The tolerance of figures that come from amounts divided among shares; all others agree to about
 * eight digits.
 */
const LEEWAY: Record<string, number> = {
  cost: 0.01,
  realised_profit: 0.01,
  dividends: 0.0001,
  expectancy: 0.001,
};
const RELATIVE_LEEWAY: Record<string, number> = {
  profit_factor: 0.01,
  average_win: 0.01,
  average_loss: 0.01,
  payoff_ratio: 0.01,
};

function assertClose(actual: unknown, expected: number | null, figure: string): void {
  within({ absolute: LEEWAY[figure] ?? 1e-8, relative: RELATIVE_LEEWAY[figure] ?? 1e-7 })(
    actual,
    expected,
    figure,
  );
}

const anyDays = fc.oneof(
  { weight: 4, arbitrary: fc.array(anyDay, { minLength: 1, maxLength: 45 }) },
  { weight: 1, arbitrary: fc.array(anyDay, { minLength: 255, maxLength: 265 }) },
);
const anyCash = fc.constantFrom(1_000_000, 123_456_789, 5_000_000_000);

test('on any ledger the figures are those of a naive implementation that shares no formula', () => {
  const anyLife = fc.record({
    initialCash: anyCash,
    commission: fc.constantFrom(0, 12_345),
    withGaps: fc.boolean(),
    splits: fc.constant({ most: 2, forward: true }),
    start: fc.constantFrom('2025-01-06', '2025-01-10'),
  });
  fc.assert(
    fc.property(anyDays, anyLife, fc.constantFrom(0, 0.04, -0.01), (days, life, yearlyRate) => {
      const ledger = liveThrough(days, life);
      fc.pre(ledger.length > 0);
      const reported = report(ledger, { riskFree: dailyRate(yearlyRate) });
      const records = recordsOf(ledger);
      const naive = naiveFigures(records, { initialCash: life.initialCash / 10_000, yearlyRate });
      const { open_positions: positions, cost, wins, ...rest } = naive;
      const figures = { ...rest, ...wins };
      const all = {
        ...reported,
        ...reported.trading,
        ...reported.round_trips,
        ...reported.max_drawdown,
      };
      for (const [name, expected] of Object.entries(figures))
        assertClose(all[name as keyof typeof all], expected, name);
      reported.curve.forEach(({ growth, drawdown }, index) => {
        const highest = Math.max(1, ...reported.curve.slice(0, index + 1).map((day) => day.growth));
        assertClose(drawdown, 1 - growth / highest, 'drawdown');
      });
      assertClose(
        Math.max(0, ...reported.curve.map(({ drawdown }) => drawdown)),
        naive['depth'] as number,
        'deepest drawdown',
      );
      const { open_positions: open, start_value, end_value, profit } = reported;
      const held = open.map(({ symbol, quantity, since }) => [symbol, quantity, since]);
      assert.deepEqual(held.sort(), positions);
      assertClose(
        open.reduce((sum, { cost_basis }) => sum + cost_basis, 0),
        cost,
        'cost',
      );
      assert.equal(start_value, life.initialCash / 10_000);
      assertClose(start_value + (profit ?? NaN), end_value, 'end value');
    }),
    { numRuns: runs(12, 150) },
  );
});

const quiet: Day = { isLeftOut: false, orders: [], moves: [0, 0, 0], split: null };
const buyOne = { side: 'buy' as const, symbol: 'AAPL', amount: 1 };

test('a total loss is -100 %, and no figure is infinite', () => {
  const days = [{ ...quiet, orders: [buyOne] }, { ...quiet, moves: [-1, 0, 0] }, quiet];
  const reported = report(liveThrough(days, { initialCash: 1_000_000 }));
  const { total_return, max_drawdown, trading, curve } = reported;
  const figures = [total_return, max_drawdown.depth, trading.exposure];
  assert.deepEqual(figures, [-1, 1, 0.3333333333]);
  assert.deepEqual(
    curve.map((day) => day.daily_return),
    [0, -1, null],
  );
  JSON.stringify(reported, (name, value) => {
    assert.ok(typeof value !== 'number' || Number.isFinite(value), name);
    return value;
  });
});

/** A ledger without trades: the initial cash and its daily changes, in 1/10000 dollar. */
function ledgerOf(start: number, changes: readonly number[]): LedgerDay[] {
  let value = start;
  return weekdays('2025-01-06', '2027-12-31')
    .slice(0, changes.length)
    .map((date, index) => {
      const profit = money(changes[index] as number);
      value += profit;
      const rest = { cash: money(value), value: money(value), profit, actions: [] };
      const initialCash = index === 0 ? money(start) : null;
      const startedFrom = index === 0 ? null : index;
      return { sessionId: index + 1, date, startedFrom, initialCash, ...rest };
    });
}

const repeated = (days: number, changes: readonly number[]) =>
  Array.from({ length: days }, (_, index) => changes[index % changes.length] as number);
/** Changes in 1/10000 dollar, from 1,000 dollars, and whether there are figures of risk. */
const granularities: [changes: number[], isMeasured: boolean][] = [
  [[1], false],
  [[1, 0], false],
  [[1, 1, -1], false],
  [[4, 4, -4], true],
];
test("no figure divides by an amount below the ledger's precision", () => {
  for (const [changes, isMeasured] of granularities) {
    const reported = report(ledgerOf(10_000_000, repeated(252, changes)));
    const { sharpe_ratio: sharpe, sortino_ratio: sortino } = reported;
    const found = [sharpe !== null, sortino !== null, reported.annualised_volatility !== 0];
    assert.deepEqual(found, [isMeasured, isMeasured, isMeasured], changes.join());
  }
});

test("there is no beta or information ratio against a benchmark whose moves are below the ledger's precision", () => {
  const ledger = ledgerOf(10_000_000, repeated(30, [1, 0]));
  const levels = (step: number) =>
    ledger.map(({ date }, index) => {
      const level = 1 + step * (index % 2);
      return { date, open: level, close: level };
    });
  const { relative } = report(ledger, { benchmark: same(levels(1e-8)) });
  const { beta, correlation, information_ratio, unavailable } = relative;
  assert.deepEqual([beta, correlation, information_ratio], [null, null, null]);
  assert.equal(unavailable.beta, 'The benchmark does not move');
  assert.equal(unavailable.information_ratio, 'The differences from the benchmark do not vary');
  const moved = report(ledger, { benchmark: same(levels(0.01)) }).relative;
  assert.deepEqual([typeof moved.beta, moved.correlation], ['number', null]);
});

test('after a total loss the reason counts the days with a return', () => {
  const changes = [...repeated(30, [10, -10]), -1_000, ...repeated(29, [0])];
  const reported = report(ledgerOf(1_000, changes));
  assert.equal(reported.model_days, 60);
  assert.equal(
    reported.unavailable.sharpe_ratio,
    'Annualising needs a day with a return on two of three weekdays; there are 31 on 60 weekdays',
  );
});

test('an open position is worth its shares at the last close; without a price its value is null, with the reason', () => {
  const ledger = liveThrough([{ ...quiet, orders: [buyOne], moves: [0.1, 0, 0] }], {
    initialCash: 2_000_000,
  });
  const priced = report(ledger, { markOf: () => money(1_100_000) });
  assert.deepEqual(priced.open_positions, [
    {
      ...{ symbol: 'AAPL', quantity: 1, since: '2025-01-06' },
      ...{ cost_basis: 100, value: 110, unrealised_profit: 10 },
    },
  ]);
  assert.equal(priced.trading.unrealised_profit, 10);
  const unpriced = report(ledger);
  assert.equal(unpriced.open_positions[0]?.value, null);
  assert.equal(unpriced.trading.unrealised_profit, null);
  assert.equal(unpriced.trading.unavailable.unrealised_profit, 'No price of AAPL is stored');
});

test('a model-day that is paid no dividends is compared with the prices of the benchmark, and told apart', () => {
  const ledger = liveThrough([quiet, quiet, quiet], { initialCash: 1_000_000 });
  const rising = (step: number) =>
    ledger.map(({ date }, index) => ({ date, open: 1, close: (1 + step) ** index }));
  const benchmark = { withDividends: rising(0.1), ofPrices: rising(0.05) };
  const reported = report(ledger, {
    benchmark,
    unpaidDates: new Set(['2025-01-07']),
    unknownDates: new Set(['2025-01-08']),
  });
  // 5 % on the second day, 10 % on the third.
  assert.equal(reported.relative.benchmark_return, 0.155);
  const statuses = reported.curve.map((day) => day.dividend_status);
  assert.deepEqual(statuses, ['known', 'not_paid', 'unknown']);
  assert.equal(reported.model_days_without_dividends, 1);
  assert.equal(reported.model_days_with_unknown_dividends, 1);
});

test('stale days are flagged in the curve and counted', () => {
  const ledger = liveThrough([quiet, quiet], { initialCash: 1_000_000 });
  const reported = report(ledger, { staleDates: new Set(['2025-01-07', '2025-02-03']) });
  assert.equal(reported.stale_model_days, 1);
  assert.deepEqual(
    reported.curve.map(({ stale }) => stale),
    [false, true],
  );
});

const costs: [
  usage: Partial<UsageTotals>,
  perDollar: number | null,
  reason: string,
  currency?: string,
][] = [
  [{ cost_usd: 0.5 }, 20, ''],
  [{ cost_usd: 0.5, model_days_without_cost: 1 }, null, 'The cost of 1 model-day is not known'],
  [
    { cost_usd: null, model_days_without_cost: 1 },
    null,
    'No cost is known: the provider reported none, and the configuration has no price_per_million_tokens',
  ],
  [{ cost_usd: 0 }, null, 'The model cost nothing'],
  [{ cost_usd: 0.5 }, null, 'Its profit is in CNY, and nothing is converted', 'CNY'],
];
test('profit per dollar of cost, or why there is none', () => {
  const bought = [{ ...quiet, orders: [buyOne], moves: [0.1, 0, 0] }];
  const ledger = liveThrough(bought, { initialCash: 1_000_000 });
  for (const [own, perDollar, reason, currency = 'USD'] of costs) {
    const { usage } = report(ledger, { usage: { ...NO_USAGE, ...own }, currency });
    assert.deepEqual([usage.cost_usd, usage.profit_per_cost_usd], [own.cost_usd, perDollar]);
    assert.equal(usage.unavailable.profit_per_cost_usd ?? '', reason);
  }
});
