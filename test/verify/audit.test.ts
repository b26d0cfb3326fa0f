import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditOf, createBooks, fourDays, replayOf } from '../support/books.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { undone } from '../support/tables.ts';

/** The books of `fourDays`: positions 1 to 7, sessions 1 to 4. */
const LEDGER = `
  2025-01-03 buy AAPL 10 100 => 9000 10010 10 AAPL:10
  2025-01-03 buy MSFT 5 200  => 8000 10000 0 AAPL:10 MSFT:5
  2025-01-06 sell MSFT 5 196 => 8980 10010 10 AAPL:10
  2025-01-06 buy ORLY 7 30   => 8770 10031 31 AAPL:10 ORLY:7
  2025-01-07 no_trade        => 8770 10051 20 AAPL:10 ORLY:7
  2025-01-08 split ORLY 3 20 => 8780 10070 19 AAPL:10 ORLY:10
  2025-01-08 buy AAPL 1 106  => 8674 10071 20 AAPL:11 ORLY:10`;

test('untouched books add up', async () => {
  const { database } = await fourDays();
  assert.deepEqual(ledgerOf(database, 'model-a'), ledger(LEDGER));
  assert.deepEqual(await auditOf(database), { problems: [], unverifiable: [], stale: [] });
});

const position = (id: number, change: string) =>
  `UPDATE positions SET ${change} WHERE position_id = ${id}`;
const ADDED = `INSERT INTO positions (position_id, session_id, action_id, action_type, symbol, amount, price_e4, cash_e4,
  portfolio_value_e4, daily_profit_e4, daily_return_pct) VALUES`;

/** What is done to the books, and what the audit says of it. */
const tampered: [name: string, sql: string, problems: string[]][] = [
  [
    'cash',
    position(2, 'cash_e4 = 80010000'),
    [
      '2025-01-03: positions 2, cash_e4: stored 80010000, replayed 80000000',
      '2025-01-06: its morning report, line 3: stored "Cash: 8000", replayed "Cash: 8001"',
    ],
  ],
  [
    'cash in the middle of a day',
    position(1, 'cash_e4 = 89990000'),
    ['2025-01-03: positions 1, cash_e4: stored 89990000, replayed 90000000'],
  ],
  [
    'cash and value alike',
    position(4, 'cash_e4 = cash_e4 + 10000, portfolio_value_e4 = portfolio_value_e4 + 10000'),
    [
      '2025-01-06: positions 2, cash_e4: stored 87710000, replayed 87700000',
      '2025-01-07: its morning report, line 3: stored "Cash: 8770", replayed "Cash: 8771"',
    ],
  ],
  [
    'the price of a purchase',
    position(1, 'price_e4 = 990000'),
    ['2025-01-03: positions 1, price_e4: stored 990000, replayed 1000000'],
  ],
  [
    'the price of a sale',
    position(3, 'price_e4 = 1960001'),
    ['2025-01-06: positions 1, price_e4: stored 1960001, replayed 1960000'],
  ],
  [
    'the amount of a purchase',
    position(1, 'amount = 11'),
    ['2025-01-03: positions 1, amount: stored 11, replayed 10'],
  ],
  [
    'the amount of a sale beyond what is held',
    position(3, 'amount = 6'),
    ['2025-01-06: positions 1, amount: stored 6, replayed 5'],
  ],
  [
    'the symbol of a purchase',
    position(2, `symbol = 'ORLY'`),
    ['2025-01-03: positions 2, symbol: stored "ORLY", replayed "MSFT"'],
  ],
  [
    'a purchase into a sale',
    position(1, `action_type = 'sell'`),
    ['2025-01-03: positions 1, action_type: stored "sell", replayed "buy"'],
  ],
  [
    'the value',
    position(4, 'portfolio_value_e4 = portfolio_value_e4 + 1'),
    [
      '2025-01-06: positions 2, portfolio_value_e4: stored 100310001, replayed 100310000',
      '2025-01-07: positions 1, daily_profit_e4: stored 200000, replayed 199999',
    ],
  ],
  [
    'a note',
    `UPDATE trading_sessions SET note = 'x' WHERE session_id = 4`,
    ['2025-01-08: trading_sessions, note: stored "x", replayed nothing'],
  ],
  [
    'the profit',
    position(5, 'daily_profit_e4 = 0'),
    ['2025-01-07: positions 1, daily_profit_e4: stored 0, replayed 200000'],
  ],
  [
    'the return',
    position(5, 'daily_return_pct = 1'),
    ['2025-01-07: positions 1, daily_return_pct: stored 1, replayed 0.1994'],
  ],
  [
    'the return, to nothing',
    position(5, 'daily_return_pct = NULL'),
    ['2025-01-07: positions 1, daily_return_pct: stored nothing, replayed 0.1994'],
  ],
  [
    'the amount of a split',
    position(6, 'amount = 4'),
    ['2025-01-08: positions 1, amount: stored 4, replayed 3'],
  ],
  [
    'the price of a split',
    position(6, 'price_e4 = 210000'),
    ['2025-01-08: positions 1, price_e4: stored 210000, replayed 200000'],
  ],
  [
    'a quantity',
    `UPDATE holdings SET quantity = 11 WHERE session_id = 2 AND symbol = 'AAPL'`,
    [
      '2025-01-06: holdings AAPL, quantity: stored 11, replayed 10',
      `2025-01-07: its morning report, line 4: stored "…alue at today's open: 10041", replayed "…alue at today's open: 10145"`,
    ],
  ],
  [
    'a quantity at the end',
    `UPDATE holdings SET quantity = 12 WHERE session_id = 4 AND symbol = 'AAPL'`,
    ['2025-01-08: holdings AAPL, quantity: stored 12, replayed 11'],
  ],
  [
    'a holding, taken away',
    `DELETE FROM holdings WHERE session_id = 3 AND symbol = 'ORLY'`,
    [
      '2025-01-07: holdings ORLY: replayed, but not stored',
      '2025-01-08: its morning report, line 3: stored "Cash: 8780", replayed "Cash: 8770"',
    ],
  ],
  [
    'a holding, added',
    `INSERT INTO holdings VALUES (3, 'MSFT', 1)`,
    [
      '2025-01-07: holdings MSFT: stored, but not replayed',
      `2025-01-08: its morning report, line 4: stored "…alue at today's open: 10040", replayed "…alue at today's open: 10234"`,
    ],
  ],
  [
    'the first position of a day, taken away',
    `DELETE FROM positions WHERE position_id = 1`,
    ['2025-01-03: positions 1: replayed, but not stored'],
  ],
  [
    'the last position of a day, taken away',
    `DELETE FROM positions WHERE position_id = 4`,
    [
      '2025-01-06: positions 2: replayed, but not stored',
      '2025-01-07: its morning report, line 3: stored "Cash: 8770", replayed "Cash: 8980"',
    ],
  ],
  [
    'the only position of a day, taken away',
    `DELETE FROM positions WHERE position_id = 5`,
    [
      '2025-01-07: positions 1: replayed, but not stored',
      '2025-01-08: it cannot be read: it started from session 3, which is not an earlier close of its model',
    ],
  ],
  [
    'the split, taken away',
    `DELETE FROM positions WHERE position_id = 6`,
    ['2025-01-08: positions 1: replayed, but not stored'],
  ],
  [
    'the split, taken away and the next put in its place',
    `DELETE FROM positions WHERE position_id = 6; UPDATE positions SET action_id = 1 WHERE position_id = 7`,
    ['2025-01-08: positions 1, action_type: stored "buy", replayed "split"'],
  ],
  [
    'a purchase, added',
    `${ADDED} (99, 4, 3, 'buy', 'AAPL', 1, 1060000, 85680000, 100720000, 210000, 0.2089); INSERT OR REPLACE INTO holdings VALUES (4, 'AAPL', 12), (4, 'ORLY', 10)`,
    ['2025-01-08: holdings AAPL, quantity: stored 12, replayed 11'],
  ],
  [
    'an added purchase without an order',
    `${ADDED} (99, 3, 2, 'buy', 'AAPL', 1, 1040000, 1, 1, 0, 0)`,
    [
      '2025-01-07: positions 2: stored, but not replayed',
      '2025-01-08: its morning report, line 3: stored "Cash: 8780", replayed "Cash: 10.0001"',
    ],
  ],
  [
    'a no_trade record, added',
    `${ADDED} (99, 4, 3, 'no_trade', NULL, NULL, NULL, 86740000, 100710000, 200000, 0.199); INSERT OR REPLACE INTO holdings VALUES (4, 'AAPL', 11), (4, 'ORLY', 10)`,
    ['2025-01-08: positions 3: stored, but not replayed'],
  ],
  [
    'an added split that never happened',
    `${ADDED} (99, 3, 2, 'split', 'AAPL', 10, 1040000, 87700000, 100510000, 200000, 0.1994); INSERT OR REPLACE INTO holdings VALUES (3, 'AAPL', 20), (3, 'ORLY', 7)`,
    [
      '2025-01-07: holdings AAPL, quantity: stored 20, replayed 10',
      `2025-01-08: its morning report, line 4: stored "…value at today's open: 10040", replayed "…value at today's open: 11100"`,
    ],
  ],
  [
    'the initial cash',
    `UPDATE trading_sessions SET initial_cash_e4 = 200000000 WHERE session_id = 1`,
    ['2025-01-03: trading_sessions, initial_cash_e4: stored 200000000, replayed 100000000'],
  ],
  [
    'the day it started from',
    `UPDATE trading_sessions SET started_from_session_id = 1 WHERE session_id = 3`,
    ['2025-01-07: its morning report, line 3: stored "Cash: 8770", replayed "Cash: 8000"'],
  ],
  [
    'the day it started from, to a later one',
    `UPDATE trading_sessions SET started_from_session_id = 4 WHERE session_id = 3`,
    [
      '2025-01-07: it cannot be read: it started from session 4, which is not an earlier close of its model',
    ],
  ],
  [
    'the day it started from, to none',
    `UPDATE trading_sessions SET started_from_session_id = NULL, initial_cash_e4 = 100000000 WHERE session_id = 3`,
    ['2025-01-07: its morning report, line 3: stored "Cash: 8770", replayed "Cash: 10000"'],
  ],
  [
    'an open that orders filled at',
    `UPDATE session_prices SET open_e4 = 970000 WHERE session_id = 1 AND symbol = 'AAPL'`,
    ['2025-01-03: session_prices AAPL, open_e4: stored 970000, replayed 1000000'],
  ],
  [
    'a close that holdings were marked at',
    `UPDATE session_prices SET close_e4 = 1060000 WHERE session_id = 3 AND symbol = 'AAPL'`,
    ['2025-01-07: session_prices AAPL, close_e4: stored 1060000, replayed 1050000'],
  ],
  [
    'a close, to an earlier one',
    `UPDATE session_prices SET close_e4 = 1030000, close_date = '2025-01-06' WHERE session_id = 3 AND symbol = 'AAPL'`,
    ['2025-01-07: session_prices AAPL, close_e4: stored 1030000, replayed 1050000'],
  ],
  [
    'an open that nothing was bought at',
    `UPDATE session_prices SET open_e4 = 1 WHERE session_id = 3 AND symbol = 'AAPL'`,
    ['2025-01-07: session_prices AAPL, open_e4: stored 1, replayed 1040000'],
  ],
  [
    'the prices of a symbol, taken away',
    `DELETE FROM session_prices WHERE session_id = 3 AND symbol = 'ORLY'`,
    ['2025-01-07: session_prices ORLY: replayed, but not stored'],
  ],
  [
    'the ratio of a split that was known',
    'UPDATE session_splits SET denominator = 1',
    ['2025-01-08: session_splits ORLY 2025-01-08, denominator: stored 1, replayed 2'],
  ],
  [
    'a split that was known, to another date',
    `UPDATE session_splits SET date = '2025-01-07'`,
    ['2025-01-08: session_splits ORLY 2025-01-08: replayed, but not stored'],
  ],
  [
    'figures beyond all bounds',
    position(5, 'portfolio_value_e4 = 9007199254740993'),
    [
      '2025-01-07: it cannot be read: Value is too large to be represented as a JavaScript number: 9007199254740993',
      '2025-01-08: it cannot be read: Value is too large to be represented as a JavaScript number: 9007199254740993',
    ],
  ],
];
const books = fourDays();
for (const [name, sql, problems] of tampered) {
  test(`tampered: ${name}`, async () => {
    const { database } = await books;
    await undone(database, sql.split(';'), async () => {
      const report = await auditOf(database);
      assert.deepEqual(
        report.problems,
        problems.map((problem) => `model-a ${problem}`),
      );
    });
  });
}

test('a note is what the last call that was not refused wrote', async () => {
  const { database, open, complete, day } = createBooks();
  const session = await open('2025-01-03');
  for (const text of ['one', 'two', 'x'.repeat(4_001)]) {
    const toolCalls = [{ id: '1', name: 'write_note', arguments: JSON.stringify({ text }) }];
    await session.answer({
      type: 'answer',
      content: '',
      toolCalls,
      reasoning: null,
      usage: null,
      note: null,
    });
  }
  await complete(session);
  await day('2025-01-06');
  assert.deepEqual((await auditOf(database)).problems, []);
  database.statement(`UPDATE trading_sessions SET note = 'one'`).run();
  assert.deepEqual((await auditOf(database)).problems, [
    'model-a 2025-01-03: trading_sessions, note: stored "one", replayed "two"',
    'model-a 2025-01-06: its morning report, line 8: stored "two", replayed "one"',
  ]);
});

test('a price that splits make smaller than the unit of money is the unit in the ledger, its audit and its replay', async () => {
  const books = createBooks();
  const { database } = books;
  books.setBar('ORLY', '2025-01-03', { open: 1, close: 1 });
  books.setBar('ORLY', '2025-01-08', { open: 0.5, close: 0.5 });
  books.setBar('AAPL', '2025-01-03', { open: 0.002, close: 0.002 });
  books.setSplit('ORLY', '2025-01-06', 1, 2);
  books.setSplit('ORLY', '2025-01-07', 1, 100_000);
  books.setSplit('AAPL', '2025-01-07', 100, 1);
  books.wait(3600);
  await books.day('2025-01-03', [
    ['buy', 'ORLY', 7],
    ['buy', 'AAPL', 1],
  ]);
  await books.day('2025-01-08');
  assert.deepEqual(
    ledgerOf(database, 'model-a').slice(2, 5),
    ledger(`
      2025-01-08 split ORLY -4 0.0001 => 9992.9981 9994.4982 -5.5018 AAPL:1 ORLY:3
      2025-01-08 split AAPL 99 0.0001 => 9992.9981 9994.5081 -5.4919 AAPL:100 ORLY:3
      2025-01-08 split ORLY -3 0.5    => 9992.9981 9993.0081 -6.9919 AAPL:100`),
  );
  assert.deepEqual(await auditOf(database), { problems: [], unverifiable: [], stale: [] });
  assert.equal((await replayOf(database)).same, '2 of 2');
});
