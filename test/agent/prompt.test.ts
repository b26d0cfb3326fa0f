import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstMessages } from '../../src/agent/prompt.ts';
import type { Brief } from '../../src/wire/protocol.ts';

const brief: Brief = {
  date: '2025-01-07',
  cash: 9000.5,
  portfolioValue: 10_020.5,
  holdings: [{ symbol: 'AAPL', quantity: 10, price: 102 }],
  quotes: [
    { symbol: 'AAPL', previousClose: 101, open: 102 },
    { symbol: 'NONE', previousClose: null, open: null },
  ],
  costs: null,
};

test('the prompt has the date, the portfolio, the previous closes and the opens, as the brief has them', () => {
  const [system, user] = firstMessages(brief);
  assert.equal(system?.role, 'system');
  assert.deepEqual(user?.content.split('\n'), [
    "Today's date: 2025-01-07",
    '',
    'Cash: 9000.5',
    "Portfolio value at today's open: 10020.5",
    'Holdings:',
    'AAPL: 10 shares at 102',
    '',
    'Prices in dollars (symbol, previous close, open today; - means no price):',
    'AAPL 101 102',
    'NONE - -',
  ]);
});

test('the prompt has the note of a model that may keep one', () => {
  const linesOf = (note: string | null) =>
    firstMessages({ ...brief, note })[1]
      ?.content.split('\n')
      .slice(6, 9);
  assert.deepEqual(linesOf(null), ['', 'Your note: none', '']);
  assert.deepEqual(linesOf('Sell AAPL\nsoon'), ['', 'Your note:', 'Sell AAPL']);
});

test("an entry's prompt follows that of all models, under a heading of its own", () => {
  const [plain] = firstMessages(brief);
  const [system, user] = firstMessages(brief, 'Be bold.\nSell late.');
  assert.equal(system?.content, `${plain?.content}\n\nFurther instructions:\nBe bold.\nSell late.`);
  assert.deepEqual(user, firstMessages(brief)[1]);
});

const costs: [perTrade: number, bps: number, slippage: number, words: string][] = [
  [1, 0, 0, 'each order pays $1.'],
  [
    0,
    5,
    2.5,
    'each order pays 5 basis points of its value. Orders fill 2.5 basis points worse than the open.',
  ],
  [0, 0, 3, 'Orders fill 3 basis points worse than the open.'],
];
test('trading costs are in the prompt', () => {
  for (const [commissionPerTrade, commissionBps, slippageBps, words] of costs) {
    const own = { commissionPerTrade, commissionBps, slippageBps };
    const [, user] = firstMessages({ ...brief, costs: own });
    assert.ok(user?.content.includes(`\nTrading costs: ${words}\n`), words);
  }
});
