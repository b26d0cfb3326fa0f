import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Split } from '../../src/core/database/market-queries.ts';
import { fromDollars, type Money, money, toDollars } from '../../src/core/money/money.ts';
import type { Market } from '../../src/core/trading/market.ts';
import { applyCorporateActions } from '../../src/core/trading/morning.ts';
import {
  type Portfolio,
  heldQuantity,
  trade,
  valuePortfolio,
} from '../../src/core/trading/portfolio.ts';
import { rowsOf } from '../support/prices.ts';
import { runs } from '../support/long.ts';
import { NO_COSTS } from '../support/market-rules.ts';

/**
 * Ledgers as text: `buy SYMBOL AMOUNT PRICE`, `sell ...`, `split SYMBOL NEW:OLD PRICE`, each with
 * the cash and the holdings after it, or `refused`.
 */
const ledgers: [name: string, cash: number, ledger: string][] = [
  [
    'cash is checked against the running balance, not the initial one',
    10_000,
    `buy  AAPL 60   150     => 1000 AAPL:60
     buy  MSFT 10   150     => refused
     buy  MSFT 6    150     => 100 AAPL:60 MSFT:6`,
  ],
  [
    'the proceeds of a sale can be spent immediately',
    1_000,
    `buy  AAPL 10   100     => 0 AAPL:10
     sell AAPL 5    100     => 500 AAPL:5
     buy  MSFT 5    100     => 0 AAPL:5 MSFT:5`,
  ],
  [
    'exactly all cash may be spent, and not 1/10000 dollar more',
    100.0001,
    `buy  AAPL 1    100.0002 => refused
     buy  AAPL 1    100.0001 => 0 AAPL:1`,
  ],
  [
    'negative, zero and broken amounts change nothing',
    1_000,
    `buy  AAPL -50  10      => refused
     sell AAPL -500 10      => refused
     buy  AAPL 0    10      => refused
     buy  AAPL 1.5  10      => refused
     buy  AAPL NaN  10      => refused
     buy  AAPL 1e16 10      => refused
     buy  AAPL Infinity 10  => refused`,
  ],
  [
    'nothing is sold that is not held',
    1_000,
    `sell AAPL 1    10      => refused
     buy  AAPL 5    10      => 950 AAPL:5
     sell AAPL 6    10      => refused
     sell AAPL 5    12      => 1010
     sell AAPL 1    12      => refused`,
  ],
  [
    'sums of cents do not drift',
    1,
    `buy  AAPL 1    0.1     => 0.9 AAPL:1
     buy  AAPL 2    0.1     => 0.7 AAPL:3
     buy  AAPL 3    0.1     => 0.4 AAPL:6
     buy  AAPL 4    0.1     => 0 AAPL:10`,
  ],
  [
    'a split multiplies the holding, a reverse split divides it and pays the fraction',
    1_000,
    `buy   ORLY 3   300     => 100 ORLY:3
     split ORLY 15:1 20     => 100 ORLY:45
     split ORLY 1:10 200    => 200 ORLY:4
     split ORLY 3:2  133    => 200 ORLY:6
     split ORLY 1:7  900    => 971.4286`,
  ],
];

for (const [name, cash, ledger] of ledgers) {
  test(name, () => {
    let portfolio: Portfolio = { cash: fromDollars(cash), holdings: new Map() };
    for (const [action, symbol = '', quantity = '', price, , ...expected] of rowsOf(ledger)) {
      const after = step(portfolio, { action, symbol, quantity, price: Number(price) });
      const label = `${action} ${symbol} ${quantity}`;
      assert.deepEqual(after === null ? ['refused'] : describe(after), expected, label);
      portfolio = after ?? portfolio;
    }
  });
}

interface Step {
  action: string | undefined;
  symbol: string;
  quantity: string;
  price: number;
}

function split(
  portfolio: Portfolio,
  { price, ...ratio }: Omit<Split, 'date'> & { price: Money },
): Portfolio {
  const date = '2025-01-06';
  const market = { knownMark: () => ({ price, date }) } as Partial<Market> as Market;
  const events = { splits: [{ ...ratio, date }], dividends: [], exchanges: [] };
  return applyCorporateActions(portfolio, events, market).portfolio;
}

function step(portfolio: Portfolio, { action, symbol, quantity, price }: Step): Portfolio | null {
  const [amount, denominator = 1] = quantity.split(':').map(Number) as [number, number?];
  const order = { symbol, price: fromDollars(price), costs: NO_COSTS };
  if (action === 'split') return split(portfolio, { ...order, numerator: amount, denominator });
  const side = action === 'buy' ? 'buy' : 'sell';
  return trade(portfolio, { ...order, side, amount }).portfolio ?? null;
}

function describe({ cash, holdings }: Portfolio): string[] {
  return [
    String(toDollars(cash)),
    ...[...holdings].map(([symbol, quantity]) => `${symbol}:${quantity}`).sort(),
  ];
}

test('a holding without a mark is an error, never worth nothing', () => {
  assert.throws(
    () => valuePortfolio({ cash: money(0), holdings: new Map([['AAPL', 1]]) }, new Map()),
    /no mark for AAPL/,
  );
});

const symbols = ['AAPL', 'MSFT', 'ORLY'];
const anyAction = fc.record({
  action: fc.constantFrom('buy' as const, 'sell' as const, 'split' as const),
  symbol: fc.constantFrom(...symbols),
  amount: fc.oneof(
    fc.integer({ min: -5, max: 500 }),
    fc.double(),
    fc.constant(Number.MAX_SAFE_INTEGER),
  ),
  price: fc.integer({ min: 1, max: 20_000_000 }).map(money),
  numerator: fc.integer({ min: 1, max: 20 }),
  denominator: fc.integer({ min: 1, max: 20 }),
});

test('whatever the orders: cash and holdings stay whole and at least zero, and trading moves no value at its own price', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 100_000_000 }),
      fc.array(anyAction, { maxLength: 60 }),
      (cash, actions) => {
        let portfolio: Portfolio = { cash: money(cash), holdings: new Map() };
        for (const { action, symbol, amount, price, numerator, denominator } of actions) {
          const before = portfolio;
          if (action === 'split') {
            portfolio = split(before, { symbol, numerator, denominator, price });
            // The value at the new price is that of the old shares at the old one, but for rounding
            // the fraction.
            const old =
              before.cash + (heldQuantity(before, symbol) * price * numerator) / denominator;
            assert.ok(
              Math.abs(portfolio.cash + heldQuantity(portfolio, symbol) * price - old) <= 1,
            );
          } else {
            const order = { symbol, amount, price, costs: NO_COSTS };
            const execution = trade(before, { ...order, side: action });
            portfolio = execution.portfolio ?? before;
            const value = (one: Portfolio) => one.cash + heldQuantity(one, symbol) * price;
            assert.equal(value(portfolio), value(before));
            const moved = heldQuantity(portfolio, symbol) - heldQuantity(before, symbol);
            assert.equal(
              moved,
              execution.refusal === undefined ? (action === 'buy' ? amount : -amount) : 0,
            );
          }
          assert.ok(Number.isSafeInteger(portfolio.cash) && portfolio.cash >= 0);
          for (const quantity of portfolio.holdings.values())
            assert.ok(Number.isSafeInteger(quantity) && quantity > 0);
        }
      },
    ),
    { numRuns: runs(200, 2_000) },
  );
});
