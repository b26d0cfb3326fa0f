import { tableOf } from '../support/text-table.ts';
import { NO_COSTS, US_RULES, withCosts } from '../support/market-rules.ts';
import { firstMessages } from '../../src/core/agent/prompt.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Side } from '../../src/core/database/decisions.ts';
import { fromDollars, money, toDollars } from '../../src/core/money/money.ts';
import {
  commissionOn,
  fillPrice,
  type Portfolio,
  trade,
} from '../../src/core/trading/portfolio.ts';
import { runs } from '../support/long.ts';

const costs = (perTrade: number, bps: number, slippage: number) => ({
  ...NO_COSTS,
  ...{ commission_per_trade: perTrade, commission_bps: bps, slippage_bps: slippage },
});

/** Slippage in basis points, the open, and at which price a purchase and a sale fill. */
const fills: [bps: number, open: number, buys: number, sells: number][] = [
  [0, 100, 100, 100],
  [10, 100, 100.1, 99.9],
  [2.5, 100, 100.025, 99.975],
  [1, 33.3333, 33.3367, 33.3299],
  [1, 0.0001, 0.0002, 0.0001],
];
test('slippage moves the price of a purchase up and of a sale down, each by a unit at least', () => {
  for (const [bps, open, buys, sells] of fills) {
    const fill = (side: 'buy' | 'sell') =>
      toDollars(fillPrice(fromDollars(open), side, costs(0, 0, bps)));
    assert.deepEqual([fill('buy'), fill('sell')], [buys, sells], `${bps} of ${open}`);
  }
});

const commissions: [perTrade: number, bps: number, traded: number, commission: number][] = [
  [0, 0, 1_000, 0],
  [1, 0, 1_000, 1],
  [0, 5, 1_000, 0.5],
  [1.5, 5, 1_000, 2],
  [0, 1, 0.01, 0.0001],
  [0, 0.0001, 900_000_000_000, 9_000],
];
test('a commission is a sum for the order, and a part of what is traded', () => {
  for (const [perTrade, bps, traded, commission] of commissions)
    assert.equal(
      toDollars(commissionOn(fromDollars(traded), 'buy', costs(perTrade, bps, 0))),
      commission,
    );
});

test('cash pays the commission, and an order is refused if it cannot', () => {
  const portfolio: Portfolio = { cash: fromDollars(1_000), holdings: new Map() };
  const own = { symbol: 'AAPL', amount: 10, price: fromDollars(100), costs: costs(5, 0, 0) };
  const order = { side: 'buy' as Side, ...own };
  const refusal = (more: Partial<typeof order>) =>
    trade(portfolio, { ...order, ...more }).refusal ?? '';
  assert.equal(
    refusal({}),
    'Cannot buy 10 AAPL at 100.00 and a commission of 5.00: cash is 1,000.00, enough for 9',
  );
  assert.equal(
    refusal({ amount: 11 }),
    'Cannot buy 11 AAPL at 100.00: cash is 1,000.00, enough for 9',
  );
  assert.match(refusal({ price: fromDollars(1), costs: costs(2_000, 0, 0) }), /enough for 0$/);
  const bought = trade(portfolio, { ...order, amount: 9 }).portfolio as Portfolio;
  assert.equal(toDollars(bought.cash), 95);
  assert.equal(
    toDollars((trade(bought, { ...order, side: 'sell', amount: 9 }).portfolio as Portfolio).cash),
    990,
  );
  const poor: Portfolio = { cash: money(0), holdings: new Map([['AAPL', 1]]) };
  const sale = (price: number) =>
    trade(poor, { ...order, side: 'sell', amount: 1, price: fromDollars(price) });
  assert.match(sale(1).refusal ?? '', /cash and proceeds do not pay the commission of 5\.00$/);
  assert.deepEqual(sale(5), { portfolio: { cash: 0, holdings: new Map() } });
});

test('a refused purchase names the most shares that cash and commission allow', () => {
  const dollars = fc.integer({ min: 1, max: 500_000 }).map((units) => money(units));
  fc.assert(
    fc.property(
      dollars,
      dollars,
      fc.integer({ min: 0, max: 50_000 }),
      fc.integer({ min: 0, max: 5_000 }),
      (cash, price, perTrade, bps) => {
        const portfolio: Portfolio = { cash, holdings: new Map() };
        const order = {
          side: 'buy' as const,
          symbol: 'AAPL',
          price,
          costs: costs(perTrade / 10_000, bps, 0),
        };
        const refusal = trade(portfolio, { ...order, amount: 1_000_000 }).refusal ?? '';
        const most = Number(/enough for (\d+)$/.exec(refusal)?.[1]);
        assert.equal(
          most === 0 || trade(portfolio, { ...order, amount: most }).refusal === undefined,
          true,
          refusal,
        );
        assert.notEqual(
          trade(portfolio, { ...order, amount: most + 1 }).refusal,
          undefined,
          refusal,
        );
      },
    ),
    { numRuns: runs(200, 5_000) },
  );
});

test('costs are never in favour of the trader, and never take cash below zero', () => {
  const parts = fc.integer({ min: 0, max: 50_000_000 }).map((number) => number / 10_000);
  const price = fc.integer({ min: 1, max: 100_000_000 }).map(money);
  fc.assert(
    fc.property(
      parts,
      parts,
      price,
      fc.integer({ min: 1, max: 1_000 }),
      (commissionBps, slippageBps, open, amount) => {
        const chosen = costs(0, commissionBps, slippageBps);
        assert.ok(
          fillPrice(open, 'buy', chosen) >= open && fillPrice(open, 'sell', chosen) <= open,
        );
        const price = fillPrice(open, 'buy', chosen);
        const order = { side: 'buy' as const, symbol: 'A', amount, price, costs: chosen };
        const { portfolio } = trade({ cash: money(10_000_000_000), holdings: new Map() }, order);
        if (portfolio !== undefined)
          assert.ok(portfolio.cash >= 0 && portfolio.cash <= 10_000_000_000 - amount * open);
      },
    ),
  );
});

/** Costs per trade, in basis points, and of slippage, and the words of the prompt. */
const told = tableOf<[perTrade: string, bps: string, slippage: string, words: string]>(`
  1 | 0 | 0   | each order pays $1.
  0 | 5 | 2.5 | each order pays 5 basis points of its value. Orders fill 2.5 basis points worse than the open.
  0 | 0 | 3   | Orders fill 3 basis points worse than the open.
`);
test('the prompt mentions the trading costs that there are', () => {
  const portfolio = { cash: 9000.5, portfolioValue: 10_020.5, holdings: [] };
  const brief = { date: '2025-01-07', ...portfolio, quotes: [] };
  const [, without] = firstMessages({ ...brief, rules: US_RULES });
  assert.ok(without?.content.includes('Trading costs') === false);
  for (const [perTrade, bps, slippage, words] of told) {
    const own = costs(Number(perTrade), Number(bps), Number(slippage));
    const [, user] = firstMessages({ ...brief, rules: withCosts(own) });
    assert.ok(user?.content.includes(`\nTrading costs: ${words}\n`), words);
  }
});
