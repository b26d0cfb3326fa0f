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
    ['2025-01-03: action 2: cash is 8,001.00, should be 8,000.00'],
  ],
  [
    'cash in the middle of a day',
    position(1, 'cash_e4 = 89990000'),
    ['2025-01-03: action 1: cash is 8,999.00, should be 9,000.00'],
  ],
  [
    'cash and value alike',
    position(4, 'cash_e4 = cash_e4 + 10000, portfolio_value_e4 = portfolio_value_e4 + 10000'),
    ['2025-01-06: action 2: cash is 8,771.00, should be 8,770.00'],
  ],
  [
    'the price of a purchase',
    position(1, 'price_e4 = 990000'),
    ['2025-01-03: action 1: price of AAPL is 99.00, should be 100.00'],
  ],
  [
    'the price of a sale',
    position(3, 'price_e4 = 1960001'),
    ['2025-01-06: action 1: price of MSFT is 196.0001, should be 196.00'],
  ],
  [
    'the amount of a purchase',
    position(1, 'amount = 11'),
    [
      '2025-01-03: action 1: cash is 9,000.00, should be 8,900.00',
      '2025-01-03: action 2: cash is 8,000.00, should be 7,900.00',
      '2025-01-03: action 2: holdings are 10 AAPL, 5 MSFT, should be 11 AAPL, 5 MSFT',
      '2025-01-03: action 1: portfolio_value is 10,010.00, should be 10,011.00',
    ],
  ],
  [
    'the amount of a sale beyond what is held',
    position(3, 'amount = 6'),
    [
      '2025-01-06: action 1: Cannot sell 6 MSFT: 5 are held',
      '2025-01-06: action 2: holdings are 10 AAPL, 7 ORLY, should be 10 AAPL, 5 MSFT, 7 ORLY',
      '2025-01-06: action 1: portfolio_value is 10,010.00, should be 10,980.00',
    ],
  ],
  [
    'the symbol of a purchase',
    position(2, `symbol = 'ORLY'`),
    [
      '2025-01-03: action 2: price of ORLY is 200.00, and none was known at the time',
      '2025-01-03: action 2: holdings are 10 AAPL, 5 MSFT, should be 10 AAPL, 5 ORLY',
    ],
  ],
  [
    'a purchase into a sale',
    position(1, `action_type = 'sell'`),
    [
      '2025-01-03: buy records: 1, executed buy orders: 2',
      '2025-01-03: sell records: 1, executed sell orders: 0',
      '2025-01-03: action 1: Cannot sell 10 AAPL: none is held',
      '2025-01-03: action 2: holdings are 10 AAPL, 5 MSFT, should be 5 MSFT',
      '2025-01-03: action 1: portfolio_value is 10,010.00, should be 9,000.00',
    ],
  ],
  [
    'the value',
    position(4, 'portfolio_value_e4 = portfolio_value_e4 + 1'),
    ['2025-01-06: action 2: portfolio_value is 10,031.0001, should be 10,031.00'],
  ],
  [
    'a note',
    `UPDATE trading_sessions SET note = 'x' WHERE session_id = 4`,
    ['2025-01-08: its note is not that of the day it started from'],
  ],
  [
    'the profit',
    position(5, 'daily_profit_e4 = 0'),
    ['2025-01-07: action 1: daily_profit is 0.00, should be 20.00'],
  ],
  [
    'the return',
    position(5, 'daily_return_pct = 1'),
    ['2025-01-07: action 1: daily_return_pct is 1, should be 0.1994'],
  ],
  [
    'the return, to nothing',
    position(5, 'daily_return_pct = NULL'),
    ['2025-01-07: action 1: daily_return_pct is null, should be 0.1994'],
  ],
  [
    'the amount of a split',
    position(6, 'amount = 4'),
    [
      '2025-01-08: action 1: amount of ORLY is 4, the split 3:2 of 7 adds 3',
      '2025-01-08: action 2: holdings are 11 AAPL, 10 ORLY, should be 11 AAPL, 7 ORLY',
      '2025-01-08: action 1: portfolio_value is 10,070.00, should be 10,004.00',
    ],
  ],
  [
    'the price of a split',
    position(6, 'price_e4 = 210000'),
    ['2025-01-08: action 1: price of ORLY is 21.00, should be 20.00'],
  ],
  [
    'a quantity',
    `UPDATE holdings SET quantity = 11 WHERE session_id = 2 AND symbol = 'AAPL'`,
    ['2025-01-06: action 2: holdings are 11 AAPL, 7 ORLY, should be 10 AAPL, 7 ORLY'],
  ],
  [
    'a quantity at the end',
    `UPDATE holdings SET quantity = 12 WHERE session_id = 4 AND symbol = 'AAPL'`,
    ['2025-01-08: action 2: holdings are 12 AAPL, 10 ORLY, should be 11 AAPL, 10 ORLY'],
  ],
  [
    'a holding, taken away',
    `DELETE FROM holdings WHERE session_id = 3 AND symbol = 'ORLY'`,
    ['2025-01-07: action 1: holdings are 10 AAPL, should be 10 AAPL, 7 ORLY'],
  ],
  [
    'a holding, added',
    `INSERT INTO holdings VALUES (3, 'MSFT', 1)`,
    ['2025-01-07: action 1: holdings are 10 AAPL, 1 MSFT, 7 ORLY, should be 10 AAPL, 7 ORLY'],
  ],
  [
    'the first position of a day, taken away',
    `DELETE FROM positions WHERE position_id = 1`,
    [
      '2025-01-03: buy records: 1, executed buy orders: 2',
      '2025-01-03: action 2: cash is 8,000.00, should be 9,000.00',
      '2025-01-03: action 2: holdings are 10 AAPL, 5 MSFT, should be 5 MSFT',
      '2025-01-03: action 1 is missing',
    ],
  ],
  [
    'the last position of a day, taken away',
    `DELETE FROM positions WHERE position_id = 4`,
    [
      '2025-01-06: buy records: 0, executed buy orders: 1',
      '2025-01-06: action 1: holdings are 10 AAPL, 7 ORLY, should be 10 AAPL',
      '2025-01-07: action 1: cash is 8,770.00, should be 8,980.00',
      '2025-01-07: action 1: daily_profit is 20.00, should be 251.00',
      '2025-01-07: action 1: daily_return_pct is 0.1994, should be 2.5075',
    ],
  ],
  [
    'the only position of a day, taken away',
    `DELETE FROM positions WHERE position_id = 5`,
    [
      '2025-01-07: it has no record',
      '2025-01-08: it started from session 3, which has no positions',
    ],
  ],
  [
    'the split, taken away',
    `DELETE FROM positions WHERE position_id = 6`,
    [
      '2025-01-08: the split of ORLY on 2025-01-08 (3:2) has no record',
      '2025-01-08: action 2: cash is 8,674.00, should be 8,664.00',
      '2025-01-08: action 2: holdings are 11 AAPL, 10 ORLY, should be 11 AAPL, 7 ORLY',
      '2025-01-08: action 1 is missing',
    ],
  ],
  [
    'the split, taken away and the next put in its place',
    `DELETE FROM positions WHERE position_id = 6; UPDATE positions SET action_id = 1 WHERE position_id = 7`,
    [
      '2025-01-08: the split of ORLY on 2025-01-08 (3:2) has no record',
      '2025-01-08: action 1: cash is 8,674.00, should be 8,664.00',
      '2025-01-08: action 1: holdings are 11 AAPL, 10 ORLY, should be 11 AAPL, 7 ORLY',
    ],
  ],
  [
    'a purchase, added',
    `${ADDED} (99, 4, 3, 'buy', 'AAPL', 1, 1060000, 85680000, 100720000, 210000, 0.2089); INSERT OR REPLACE INTO holdings VALUES (4, 'AAPL', 12), (4, 'ORLY', 10)`,
    ['2025-01-08: buy records: 2, executed buy orders: 1'],
  ],
  [
    'an added purchase without an order',
    `${ADDED} (99, 3, 2, 'buy', 'AAPL', 1, 1040000, 1, 1, 0, 0)`,
    [
      '2025-01-07: buy records: 1, executed buy orders: 0',
      '2025-01-07: action 2: cash is 0.0001, should be 8,666.00',
      '2025-01-07: action 2: holdings are 10 AAPL, 7 ORLY, should be 11 AAPL, 7 ORLY',
      '2025-01-07: it has a no_trade record beside its trades',
      '2025-01-07: action 2: portfolio_value is 0.0001, should be 10,052.00',
      '2025-01-07: action 2: daily_profit is 0.00, should be 21.00',
      '2025-01-07: action 2: daily_return_pct is 0, should be 0.2094',
      '2025-01-08: action 1: cash is 8,780.00, should be 10.0001',
      '2025-01-08: action 1: daily_profit is 19.00, should be 1,300.00',
      '2025-01-08: action 1: daily_return_pct is 0.189, should be 1300000000',
      '2025-01-08: action 2: daily_profit is 20.00, should be 10,070.9999',
      '2025-01-08: action 2: daily_return_pct is 0.199, should be 10070999900',
    ],
  ],
  [
    'a no_trade record, added',
    `${ADDED} (99, 4, 3, 'no_trade', NULL, NULL, NULL, 86740000, 100710000, 200000, 0.199); INSERT OR REPLACE INTO holdings VALUES (4, 'AAPL', 11), (4, 'ORLY', 10)`,
    ['2025-01-08: it has a no_trade record beside its trades'],
  ],
  [
    'an added split that never happened',
    `${ADDED} (99, 3, 2, 'split', 'AAPL', 10, 1040000, 87700000, 100510000, 200000, 0.1994); INSERT OR REPLACE INTO holdings VALUES (3, 'AAPL', 20), (3, 'ORLY', 7)`,
    [
      '2025-01-07: action 2: a split is recorded after the trades of the day',
      '2025-01-07: action 2: portfolio_value is 10,051.00, should be 11,101.00',
      '2025-01-08: action 2: holdings are 11 AAPL, 10 ORLY, should be 21 AAPL, 10 ORLY',
      '2025-01-08: action 1: portfolio_value is 10,070.00, should be 11,140.00',
    ],
  ],
  [
    'the initial cash',
    `UPDATE trading_sessions SET initial_cash_e4 = 200000000 WHERE session_id = 1`,
    ["2025-01-03: initial cash is 20,000.00, the job's is 10,000.00"],
  ],
  [
    'the day it started from',
    `UPDATE trading_sessions SET started_from_session_id = 1 WHERE session_id = 3`,
    [
      '2025-01-07: action 1: cash is 8,770.00, should be 8,000.00',
      '2025-01-07: action 1: holdings are 10 AAPL, 7 ORLY, should be 10 AAPL, 5 MSFT',
      '2025-01-07: action 1: daily_profit is 20.00, should be 51.00',
      '2025-01-07: action 1: daily_return_pct is 0.1994, should be 0.51',
    ],
  ],
  [
    'the day it started from, to a later one',
    `UPDATE trading_sessions SET started_from_session_id = 4 WHERE session_id = 3`,
    [
      '2025-01-07: it started from session 4, which is not of an earlier date',
      '2025-01-07: action 1: cash is 8,770.00, should be 8,674.00',
      '2025-01-07: action 1: holdings are 10 AAPL, 7 ORLY, should be 11 AAPL, 10 ORLY',
      '2025-01-07: action 1: daily_profit is 20.00, should be 88.00',
      '2025-01-07: action 1: daily_return_pct is 0.1994, should be 0.8738',
    ],
  ],
  [
    'the day it started from, to none',
    `UPDATE trading_sessions SET started_from_session_id = NULL, initial_cash_e4 = 100000000 WHERE session_id = 3`,
    [
      '2025-01-07: action 1: cash is 8,770.00, should be 10,000.00',
      '2025-01-07: action 1: holdings are 10 AAPL, 7 ORLY, should be none',
      '2025-01-07: action 1: daily_profit is 20.00, should be 0.00',
      '2025-01-07: action 1: daily_return_pct is 0.1994, should be 0',
    ],
  ],
  [
    'an open that orders filled at',
    `UPDATE session_prices SET open_e4 = 970000 WHERE session_id = 1 AND symbol = 'AAPL'`,
    [
      '2025-01-03: action 1: price of AAPL is 100.00, should be 97.00',
      '2025-01-03: action 1: cash is 9,000.00, should be 9,030.00',
      '2025-01-03: it used 97.00 as the open of AAPL, should be 100.00',
    ],
  ],
  [
    'a close that holdings were marked at',
    `UPDATE session_prices SET close_e4 = 1060000 WHERE session_id = 3 AND symbol = 'AAPL'`,
    [
      '2025-01-07: action 1: portfolio_value is 10,051.00, should be 10,061.00',
      '2025-01-07: it used 106.00 as the close of AAPL, should be 105.00',
    ],
  ],
  [
    'a close, to an earlier one',
    `UPDATE session_prices SET close_e4 = 1030000, close_date = '2025-01-06' WHERE session_id = 3 AND symbol = 'AAPL'`,
    [
      '2025-01-07: action 1: portfolio_value is 10,051.00, should be 10,031.00',
      '2025-01-07: it used 103.00 as the close of AAPL, of 2025-01-06, should be 105.00',
    ],
  ],
  [
    'an open that nothing was bought at',
    `UPDATE session_prices SET open_e4 = 1 WHERE session_id = 3 AND symbol = 'AAPL'`,
    ['2025-01-07: it used 0.0001 as the open of AAPL, should be 104.00'],
  ],
  [
    'the prices of a symbol, taken away',
    `DELETE FROM session_prices WHERE session_id = 3 AND symbol = 'ORLY'`,
    ['2025-01-07: action 1: portfolio_value cannot be recomputed: a price is missing'],
  ],
  [
    'the ratio of a split that was known',
    'UPDATE session_splits SET denominator = 1',
    [
      '2025-01-08: action 1: amount of ORLY is 3, the split 3:1 of 7 adds 14',
      '2025-01-08: action 2: holdings are 11 AAPL, 10 ORLY, should be 11 AAPL, 7 ORLY',
      '2025-01-08: action 1: portfolio_value is 10,070.00, should be 10,004.00',
      '2025-01-08: it used 3:1 as the split of ORLY on 2025-01-08, which is not what was known at the time',
    ],
  ],
  [
    'a split that was known, to another date',
    `UPDATE session_splits SET date = '2025-01-07'`,
    [
      '2025-01-08: it used no split of ORLY on 2025-01-08, which is not what was known at the time',
      '2025-01-08: it used 3:2 as the split of ORLY on 2025-01-07, and none was known at the time',
    ],
  ],
  [
    'figures beyond all bounds',
    position(5, 'portfolio_value_e4 = 9007199254740993'),
    [
      '2025-01-07: it cannot be recomputed: Value is too large to be represented as a JavaScript number: 9007199254740993',
      '2025-01-08: it started from session 3, which has no positions',
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
  const { database, open, day } = createBooks();
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
  await session.end({ status: 'finished', summary: 'done' });
  await day('2025-01-06');
  assert.deepEqual((await auditOf(database)).problems, []);
  database.statement(`UPDATE trading_sessions SET note = 'one'`).run();
  assert.deepEqual((await auditOf(database)).problems, [
    'model-a 2025-01-03: its note is not what it wrote last',
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
