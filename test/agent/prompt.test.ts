import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openingMessages } from '../../src/agent/prompt.ts';

test('the prompt has the date, the portfolio, the previous closes and the opens, as the brief has them', () => {
  const [system, user] = openingMessages({
    date: '2025-01-07',
    cash: 9000.5,
    portfolioValue: 10_020.5,
    holdings: [{ symbol: 'AAPL', quantity: 10, price: 102 }],
    quotes: [
      { symbol: 'AAPL', previousClose: 101, open: 102 },
      { symbol: 'NONE', previousClose: null, open: null },
    ],
  });
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
