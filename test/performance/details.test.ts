import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { weekdays } from '../../src/core/time/calendar.ts';
import { addClosing, boundaryCounts } from '../../src/features/performance/details.ts';
import type { Money } from '../../src/core/money/money.ts';
import { runs } from '../support/long.ts';
import {
  anyDayWithExchange as anyDay,
  type LivedDay,
  liveThrough,
} from '../support/random-ledger.ts';
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
function detailsOf(ledger: readonly LivedDay[], chosenDays: readonly LivedDay[] = ledger) {
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
  const report = reportOf(ledger, { chosen, gains, markOf });
  assert.ok(report.details !== null);
  return { ...report, details: report.details };
}

const units = (dollars: number | null) => Math.round((dollars ?? NaN) * 10_000);
const total = (amounts: readonly number[]) => amounts.reduce((sum, amount) => sum + amount, 0);

test('profits by symbol add up to the profit of any choice of days, and over a whole chain each is realised, unrealised and dividends', () => {
  const seen = { parts: 0, symbols: 0, dividends: 0, exchange: 0, received: 0, carried: 0 };
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
        const cost = total(whole.open_positions.map((one) => units(one.cost_basis)));
        const { realised_profit: realised } = whole.trading;
        const paid = units(whole.start_value) + units(realised) + units(whole.dividends);
        assert.equal(cost, paid - (ledger.at(-1)?.cash ?? NaN), 'no cost is lost');
        seen.carried += whole.open_positions.some(({ symbol }) => /NEW/.test(symbol)) ? 1 : 0;
        for (const { actionType } of ledger.flatMap(({ actions }) => actions))
          if (actionType === 'exchange' || actionType === 'received') seen[actionType] += 1;
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
  assert.ok(
    Object.values(seen).every((count) => count > 0) && seen.symbols > 1,
    JSON.stringify(seen),
  );
});

test('where a price at a close is unknown, the profit on that symbol is, with the reason; the others are there', () => {
  const orders = ['AAPL', 'MSFT'].map((symbol) => ({ side: 'buy' as const, symbol, amount: 1 }));
  const bought = { isLeftOut: false, orders, moves: [0.1, 0.1, 0], split: null };
  const [day] = liveThrough([bought], { initialCash: 10_000_000 }) as [LivedDay];
  const holdings = day.holdings.map((held) =>
    held.symbol === 'AAPL' ? { ...held, price: null } : held,
  );
  const [known, unknown] = detailsOf([{ ...day, holdings }]).details.symbols;
  assert.deepEqual([known?.symbol, known?.profit], ['MSFT', 20]);
  assert.deepEqual([unknown?.symbol, unknown?.profit], ['AAPL', null]);
  const reason = 'The price of AAPL at a close of these days is unknown';
  assert.equal(unknown?.unavailable.profit, reason);
});

const moved = (move: number) => ({
  ...{ isLeftOut: false, orders: [], moves: [move, 0, 0], split: null },
});

test('months and the year of a quiet and a lively month', () => {
  const dates = weekdays('2025-01-06', '2025-03-07');
  const first = { ...moved(0), orders: [{ side: 'buy' as const, symbol: 'AAPL', amount: 10 }] };
  const quiet = dates.slice(1, 25).map(() => moved(0));
  const lively = dates.slice(25).map((_, index) => moved(index % 2 ? 0.02 : -0.01));
  const ledger = liveThrough([first, ...quiet, ...lively], { initialCash: 10_000_000 });
  const { details } = detailsOf(ledger);
  const spans = [...details.months, ...details.years].map((span) => [
    'month' in span ? span.month : span.year,
    `${span.days} ${span.return.toFixed(4)}`,
  ]);
  assert.deepEqual(spans, [
    ['2025-01', '20 0.0000'],
    ['2025-02', '20 0.0599'], // 0.99^8 · 1.02^7 - 1
    ['2025-03', '5 0.0401'], // 1.02^3 · 0.99^2 - 1
    ['2025', '45 0.1024'],
  ]);
});
