import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Stock, equalAmounts } from '../../src/core/agent/players/equal-amounts.ts';
import { findBoard, lotsWithin, US } from '../../src/core/domain/market-rules.ts';
import { tableOf } from '../support/text-table.ts';

const ONE = findBoard(US, 'AAPL');

/** Stocks `SYMBOL price held`, an asterisk after the symbols that are wanted. */
function readStocks(text: string): { stocks: Stock[]; wanted: Set<string> } {
  const wanted = new Set<string>();
  const stocks = text
    .split(', ')
    .filter(Boolean)
    .map((line) => {
      const [name = '', price, held] = line.split(' ');
      const symbol = name.replace('*', '');
      if (name !== symbol) wanted.add(symbol);
      return { symbol, price: Number(price), held: Number(held), board: ONE };
    });
  return { stocks, wanted };
}

const cases = tableOf<[name: string, cash: string, stocks: string, orders: string]>(`
  equal amounts of two                                               | 1000 | A* 100 0, B* 50 0             | buy A 5, buy B 10
  what is left buys one more of what is furthest below               | 1000 | A* 90 0, B* 60 0              | buy A 5, buy B 9
  the cheaper one first where both are as far                        | 200  | A* 8 0, B* 6 0                | buy A 12, buy B 17
  what costs more than an equal part is left out, and the part grows | 1000 | A* 100 0, B* 900 0, C* 150 0  | buy A 5, buy C 3
  all too expensive                                                  | 10   | A* 11 0                       |
  nothing has a price                                                | 1000 |                               |
  no cash                                                            | 0    | A* 10 0                       |
  within a share of its amount nothing is traded                     | 10   | A* 100 3, B* 100 2            |
  above is sold, below is bought                                     | 0    | A* 100 6, B* 100 2            | sell A 2, buy B 2
  the sale pays for the purchase                                     | 0    | A* 100 4, B* 40 0             | sell A 2, buy B 5
  what is not wanted is sold whole                                   | 50   | A 100 4, B* 40 0              | sell A 4, buy B 11
  nothing wanted: all is sold                                        | 0    | A 100 4                       | sell A 4
  one share that became too expensive is kept                        | 0    | A* 300 1, B* 10 5             |
`);
for (const [name, cash, table, orders] of cases) {
  test(`equal amounts: ${name}`, () => {
    const { stocks, wanted } = readStocks(table);
    const found = equalAmounts(stocks, { cash: Number(cash), wanted });
    const lines = found.map(({ side, symbol, amount }) => `${side} ${symbol} ${amount}`);
    assert.equal(lines.join(', '), orders);
  });
}

const anyStocks = fc.uniqueArray(
  fc.record({
    symbol: fc.string({ unit: fc.constantFrom('A', 'B', 'C', 'D'), minLength: 1, maxLength: 4 }),
    price: fc.integer({ min: 1, max: 10_000_000 }),
    held: fc.integer({ min: 0, max: 1_000 }),
    isWanted: fc.boolean(),
    board: fc.constant(ONE),
  }),
  { selector: ({ symbol }) => symbol, maxLength: 12 },
);

const boards = [
  ONE,
  { symbols: '*', minimum: 100, step: 100, price_limit: null },
  { symbols: '*', minimum: 200, step: 1, price_limit: null },
];
const anyLots = anyStocks.map((stocks) =>
  stocks.map((stock, place) => ({ ...stock, board: boards[place % 3] ?? ONE })),
);

test('equal amounts: no order exceeds the cash or the holding, the order of stocks does not matter, and repeated it sells nothing that is wanted', () => {
  fc.assert(
    fc.property(
      fc.oneof(anyStocks, anyLots),
      fc.integer({ min: 0, max: 1_000_000_000 }),
      (stocks, cash) => {
        const wanted = new Set(
          stocks.filter(({ isWanted }) => isWanted).map(({ symbol }) => symbol),
        );
        const orders = equalAmounts(stocks, { cash, wanted });
        const stockOf = new Map(stocks.map((stock) => [stock.symbol, { ...stock }]));
        let left = cash;
        for (const { side, symbol, amount } of orders) {
          const stock = stockOf.get(symbol) as (typeof stocks)[number];
          const { price, held, isWanted, board } = stock;
          assert.equal(lotsWithin(board, { side, amount, held }), amount);
          assert.ok(Number.isSafeInteger(amount) && amount >= 1);
          assert.ok(side === 'sell' ? amount <= held : isWanted);
          const bought = side === 'sell' ? -amount : amount;
          left -= bought * price;
          stock.held += bought;
          assert.ok(left >= 0, 'in their order, each with what the one before left');
        }
        assert.equal(new Set(orders.map(({ symbol }) => symbol)).size, orders.length);
        const sorted = (list: typeof orders) => list.map((order) => JSON.stringify(order)).sort();
        assert.deepEqual(
          sorted(equalAmounts(stocks.toReversed(), { cash, wanted })),
          sorted(orders),
        );
        if (stocks.some(({ board }) => board !== ONE)) return; // lots are left over
        const again = equalAmounts([...stockOf.values()], { cash: left, wanted });
        assert.deepEqual(
          again.filter(({ side }) => side === 'sell'),
          [],
        );
      },
    ),
  );
});
