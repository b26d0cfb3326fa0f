import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Limits } from '../../src/core/settings/configuration-schema.ts';
import { parseConfiguration } from '../../src/core/settings/configuration.ts';
import { fromDollars, type Money, money } from '../../src/core/money/money.ts';
import type { Market } from '../../src/core/trading/market.ts';
import { takeOrder } from '../../src/core/trading/orders.ts';
import type { TradingCosts } from '../../src/core/domain/market-rules.ts';
import { withCosts } from '../support/market-rules.ts';
import type { TradingDay } from '../../src/core/trading/trading-day.ts';
import { callIn, createBooks, setBars } from '../support/books.ts';
import { runs } from '../support/long.ts';
import { tradingDay } from '../support/trading-day.ts';
import { tableOf } from '../support/text-table.ts';

/** A day whose opens are the marks, in units of money. */
function dayOf(
  cash: number,
  holdings: Record<string, number>,
  {
    opens,
    limits,
    costs = {},
  }: {
    opens: Record<string, number>;
    limits: Limits;
    costs?: Partial<TradingCosts>;
  },
): TradingDay {
  const openOf = (symbol: string): Money => money(opens[symbol] ?? 1);
  const market = {
    date: '2025-01-06',
    quote: (symbol: string) => ({ open: openOf(symbol), previousDate: null, previousClose: null }),
    knownMark: (symbol: string) => ({ price: openOf(symbol) }),
  } as unknown as Market; // unknown: orders and values ask a market for no more
  const portfolio = { cash: money(cash), holdings: new Map(Object.entries(holdings)) };
  return tradingDay({
    market,
    universe: new Set(Object.keys(opens)),
    portfolio,
    limits,
    rules: withCosts(costs),
  });
}

const DOLLARS = fromDollars(1);
const AAPL = { AAPL: 100 * DOLLARS };
const fees = { commission_per_trade: 5 };
/** Orders for AAPL at 100 dollars with 10,000 dollars in cash, and why they are refused. */
const orders = tableOf<[limits: string, amount: string, refusal: string]>(`
  {"max_weight":0.25}  | 25  |
  {"max_weight":0.25}  | 26  | it would be 26 % of the portfolio, and the limit is 25 %; at most 25 shares can be bought.
  {"max_weight":0.012} | 2   | it would be 2 % of the portfolio, and the limit is 1.2 %; at most 1 share can be bought.
  {"max_weight":0.001} | 1   | it would be 1 % of the portfolio, and the limit is 0.1 %; none can be bought.
  {"min_cash":0.1}     | 90  |
  {"min_cash":0.1}     | 97  | cash would be 3 % of the portfolio, and the least is 10 %; at most 90 shares can be bought.
  {"max_weight":0.5,"min_cash":0.7} | 60 | it would be 60 % of the portfolio, and the limit is 50 %; at most 30 shares can be bought.
  {"max_weight":1}     | 101 | it would be 101 % of the portfolio, and the limit is 100 %; at most 100 shares can be bought.
  {"max_orders":1}     | 100 |
`);
test('an order beyond a limit is refused with the most that is allowed; exactly at it is within', () => {
  for (const [limits, amount, refusal] of orders) {
    const day = dayOf(10_000 * DOLLARS, {}, { opens: AAPL, limits: JSON.parse(limits) });
    const expected = refusal === '' ? undefined : `Cannot buy ${amount} AAPL: ${refusal}`;
    const taken = takeOrder(day, 'buy', { symbol: 'AAPL', amount: Number(amount) });
    assert.equal(taken.refusal, expected);
  }
});

test('the most is what cash pays with its costs, where that is less; weights leave the costs out', () => {
  const day = dayOf(
    1_000 * DOLLARS,
    {},
    { opens: AAPL, limits: { max_weight: 0.99 }, costs: fees },
  );
  assert.match(
    String(takeOrder(day, 'buy', { symbol: 'AAPL', amount: 10 }).refusal),
    /it would be 100 % of the portfolio, and the limit is 99 %; at most 9 shares can be bought\.$/,
  );
});

test('a share that rounds to its limit has as many decimals as tell them apart', () => {
  const opens = { AAPL: 2_500_001, MSFT: 7_499_999 };
  const day = dayOf(10_000_000, {}, { opens, limits: { max_weight: 0.25 } });
  assert.match(
    String(takeOrder(day, 'buy', { symbol: 'AAPL', amount: 1 }).refusal),
    /it would be 25\.00001 % of the portfolio, and the limit is 25 %; none can be bought/,
  );
});

test('sales are refused only by the number of orders; what grew past a limit may be kept', async () => {
  const terms = { limits: { max_weight: 0.3, min_cash: 0.5, max_orders: 2 } };
  const books = createBooks(':memory:', { terms });
  setBars(
    books,
    'AAPL 2025-01-06 100 400\nAAPL 2025-01-07 400 400\nMSFT 2025-01-06 10 10\nMSFT 2025-01-07 10 10',
  );
  const first = await books.open('2025-01-06');
  const reply = async (session: typeof first, name: string, symbol: string, amount: number) => {
    const { results } = await callIn(session, name, { symbol, amount });
    const { error, executed } = JSON.parse(results[0]?.content ?? '');
    return String(error ?? executed);
  };
  assert.match(await reply(first, 'buy', 'AAPL', 31), /31 %/);
  assert.equal(await reply(first, 'buy', 'AAPL', 30), 'buy');
  assert.equal(await reply(first, 'buy', 'MSFT', 1), 'buy');
  const third = await reply(first, 'sell', 'MSFT', 1);
  assert.equal(third, 'This is order 3, and the limit is 2 a day.');
  await first.end({ status: 'finished', summary: '' });
  const next = await books.open('2025-01-07');
  assert.match(await reply(next, 'buy', 'AAPL', 1), /the limit is 30 %; none can be bought/);
  assert.equal(await reply(next, 'sell', 'AAPL', 1), 'sell');
});

test('whatever is held, an order is within the limits in exact arithmetic, and the most that is named is the most', () => {
  const whole = (most: number) => fc.integer({ min: 1, max: most });
  const arbitrary = fc.record({
    cash: whole(1e9),
    held: fc.integer({ min: 0, max: 500 }),
    other: fc.integer({ min: 0, max: 500 }),
    opens: fc.record({ AAPL: whole(1e7), MSFT: whole(1e7) }),
    weight: whole(100),
    least: fc.integer({ min: 0, max: 99 }),
    amount: whole(1_000),
  });
  fc.assert(
    fc.property(arbitrary, ({ cash, held, other, opens, weight, least, amount }) => {
      const limits = { max_weight: weight / 100, min_cash: least / 100 };
      const holdings = Object.fromEntries(
        Object.entries({ AAPL: held, MSFT: other }).filter(([, quantity]) => quantity > 0),
      );
      const day = dayOf(cash, holdings, { opens, limits });
      const value = BigInt(cash) + BigInt(held * opens.AAPL) + BigInt(other * opens.MSFT);
      const isWithin = (shares: number) => {
        const left = BigInt(cash) - BigInt(shares * opens.AAPL);
        const isLight = 100n * BigInt((held + shares) * opens.AAPL) <= BigInt(weight) * value;
        return left >= 0n && isLight && 100n * left >= BigInt(least) * value;
      };
      const buy = (shares: number) => takeOrder(day, 'buy', { symbol: 'AAPL', amount: shares });
      const { refusal } = buy(amount);
      assert.equal(refusal === undefined, isWithin(amount), refusal);
      const most = Number(/at most (\d+)/.exec(refusal ?? '')?.[1] ?? NaN);
      if (most > 0) assert.deepEqual([isWithin(most), isWithin(most + 1)], [true, false], refusal);
      if (refusal?.includes('none can be bought')) assert.equal(isWithin(1), false);
    }),
    { numRuns: runs(300, 20_000) },
  );
});

test('limits of nothing are none', () => {
  const limitsOf = (limits: unknown) =>
    parseConfiguration({ models: [], agent_config: { limits } }, 'file').agent_config.limits;
  assert.deepEqual([{}, null, { max_weight: null }].map(limitsOf), [null, null, null]);
  assert.deepEqual(limitsOf({ min_cash: 0 }), { min_cash: 0 });
});
