import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Books, auditOf, createBooks } from '../support/books.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { undone } from '../support/tables.ts';

/**
 * Positions 1 to 4, sessions 1 and 2: a dividend and a split of ORLY on one day, and a dividend of
 * AAPL since.
 */
const LEDGER = `
  2025-01-03 buy AAPL 10 100    => 9000 10000 0 AAPL:10
  2025-01-03 buy ORLY 3 40      => 8880 10000 0 AAPL:10 ORLY:3
  2025-01-07 dividend ORLY 3 1.5    => 8884.5 9944.5 -55.5 AAPL:10 ORLY:3
  2025-01-07 split ORLY 3 20        => 8884.5 10004.5 4.5 AAPL:10 ORLY:6
  2025-01-07 dividend AAPL 10 0.1   => 8885.5 10005.5 5.5 AAPL:10 ORLY:6
  2025-01-07 no_trade               => 8885.5 10005.5 5.5 AAPL:10 ORLY:6`;

async function twoDays(): Promise<Books> {
  const books = createBooks();
  for (const [symbol, first, second] of [
    ['AAPL', 100, 100],
    ['ORLY', 40, 20],
  ] as const) {
    books.setBar(symbol, '2025-01-03', { open: first, close: first });
    books.setBar(symbol, '2025-01-07', { open: second, close: second });
  }
  books.setSplit('ORLY', '2025-01-06', 2, 1);
  books.setDividend('ORLY', '2025-01-06', 1.5);
  books.setDividend('AAPL', '2025-01-07', 0.1, 'split_adjusted');
  books.wait(3600);
  await books.day('2025-01-03', [
    ['buy', 'AAPL', 10],
    ['buy', 'ORLY', 3],
  ]);
  await books.day('2025-01-07');
  books.wait(3600);
  return books;
}

const books = twoDays();

test('a morning of dividends and splits adds up', async () => {
  const { database } = await books;
  assert.deepEqual(ledgerOf(database, 'model-a'), ledger(LEDGER));
  assert.deepEqual(await auditOf(database), { problems: [], unverifiable: [], stale: [] });
});

const position = (id: number, change: string) =>
  `UPDATE positions SET ${change} WHERE position_id = ${id}`;
const gone = (id: number) => `DELETE FROM positions WHERE position_id = ${id}`;
const DIVIDEND = 'INTO dividends (symbol, ex_date, cash_e6) VALUES';
const STALE = ['2025-01-07'];

interface Said {
  problems?: string[];
  unverifiable?: string[];
  stale?: string[];
}

/**
 * What is done to the books, or happens to the dividends later, and what the audit says of
 * 2025-01-07.
 */
const done: [name: string, sql: string, said: Said][] = [
  [
    'the cash after a dividend',
    position(3, 'cash_e4 = cash_e4 + 1, portfolio_value_e4 = portfolio_value_e4 + 1'),
    { problems: ['positions 1, cash_e4: stored 88845001, replayed 88845000'] },
  ],
  [
    'the amount of a dividend',
    position(3, 'amount = 6'),
    { problems: ['positions 1, amount: stored 6, replayed 3'] },
  ],
  [
    'the cash per share in the record',
    position(3, 'price_e4 = 15001'),
    { problems: ['positions 1, price_e4: stored 15001, replayed 15000'] },
  ],
  ['a dividend, taken away', gone(3), { problems: ['positions 1: replayed, but not stored'] }],
  [
    'the last dividend of the morning, taken away',
    gone(5),
    { problems: ['positions 3: replayed, but not stored'] },
  ],
  [
    'a dividend into one of another symbol',
    position(5, `symbol = 'MSFT', amount = 1`),
    { problems: ['positions 3, symbol: stored "MSFT", replayed "AAPL"'] },
  ],
  [
    'a dividend after the end of the day',
    `INSERT INTO positions SELECT 99, session_id, 5, 'dividend', 'AAPL', 10, 1000, cash_e4, portfolio_value_e4, daily_profit_e4, daily_return_pct FROM positions WHERE position_id = 6`,
    { problems: ['positions 5: stored, but not replayed'] },
  ],
  [
    'the cash of a dividend that was known',
    `UPDATE session_dividends SET cash_e6 = 1600000 WHERE symbol = 'ORLY'`,
    {
      problems: ['session_dividends ORLY 2025-01-06, cash_e6: stored 1600000, replayed 1500000'],
      stale: STALE,
    },
  ],
  [
    'what a dividend that was known paid',
    `UPDATE session_dividends SET paid_e6 = 1500100 WHERE symbol = 'ORLY'`,
    {
      problems: ['session_dividends ORLY 2025-01-06, paid_e6: stored 1500100, replayed 1500000'],
    },
  ],
  [
    'a dividend that was known, to another date',
    `UPDATE session_dividends SET ex_date = '2025-01-07' WHERE symbol = 'ORLY'`,
    {
      problems: ['session_dividends ORLY 2025-01-06: replayed, but not stored'],
      stale: STALE,
    },
  ],
  [
    'a dividend that was known, converted by a split that was not',
    `UPDATE session_dividends SET splits = '2025-06-02 2:1', paid_e6 = 200000 WHERE symbol = 'AAPL'`,
    {
      problems: ['session_dividends AAPL 2025-01-07, splits: stored "2025-06-02 2:1", replayed ""'],
      stale: STALE,
    },
  ],
  [
    'whether it pays dividends',
    'UPDATE trading_sessions SET pays_dividends = 0 WHERE session_id = 2',
    { problems: ['trading_sessions, pays_dividends: stored 0, replayed 1'] },
  ],
  [
    'whether its job pays dividends',
    `UPDATE jobs SET agent_config = json_remove(agent_config, '$.dividends') WHERE job_id = 'job-2'`,
    {
      problems: ['its morning report, line 3: stored "Cash: 8885.5", replayed "Cash: 8880"'],
    },
  ],
  ['all dividends, removed later', 'DELETE FROM dividends', { stale: STALE }],
  [
    'a dividend, corrected later',
    `UPDATE dividends SET cash_e6 = 7 WHERE symbol = 'ORLY'`,
    { stale: STALE },
  ],
  ['a dividend, learned later', `INSERT ${DIVIDEND} ('AAPL', '2025-01-06', 5)`, { stale: STALE }],
  [
    'a dividend, corrected and as it was again',
    `UPDATE dividends SET cash_e6 = cash_e6 + 1; UPDATE dividends SET cash_e6 = cash_e6 - 1`,
    {},
  ],
  [
    'a dividend, replaced without a trace by another',
    `INSERT OR REPLACE ${DIVIDEND} ('ORLY', '2025-01-06', 7)`,
    {
      unverifiable: ['its morning report, line 3: stored "Cash: 8885.5", replayed "Cash: 8881"'],
      stale: STALE,
    },
  ],
  [
    'a dividend, replaced without a trace by the same',
    `INSERT OR REPLACE ${DIVIDEND} ('ORLY', '2025-01-06', 1500000)`,
    {
      unverifiable: ['its morning report, line 3: stored "Cash: 8885.5", replayed "Cash: 8881"'],
    },
  ],
  [
    'a dividend that was known for long, and was not used',
    `INSERT ${DIVIDEND} ('AAPL', '2025-01-06', 5); UPDATE dividends SET written = 1 WHERE ex_date = '2025-01-06'`,
    {
      problems: [
        'its morning report, line 10: stored "ORLY: 4.5, which is 1.5 on each of 3 shares (ex-date 202…", replayed "AAPL: 0, which is 0.000005 on each of 10 shares (ex-date…"',
      ],
      stale: STALE,
    },
  ],
  [
    'a series whose prices came to contain dividends',
    `INSERT ${DIVIDEND} ('AAPL', '2025-01-06', 5); UPDATE price_data SET source = 'stooq' WHERE symbol = 'AAPL'`,
    {},
  ],
  [
    'a series whose prices contained dividends all the time',
    `UPDATE price_data SET source = 'stooq' WHERE symbol = 'AAPL'; DELETE FROM price_revisions; UPDATE price_data SET written = 1`,
    {
      problems: ['its morning report, line 3: stored "Cash: 8885.5", replayed "Cash: 8884.5"'],
    },
  ],
  [
    'a split that converts a dividend, learned later',
    `INSERT INTO stock_splits (symbol, date, numerator, denominator) VALUES ('AAPL', '2025-06-02', 2, 1)`,
    { stale: STALE },
  ],
];
for (const [name, sql, said] of done) {
  test(`dividends in the audit: ${name}`, async () => {
    const { database } = await books;
    const expected = Object.entries({ problems: [], unverifiable: [], stale: [], ...said }).map(
      ([list, lines]) => [
        list,
        lines.map((line: string) =>
          list === 'stale' ? `model-a ${line}` : `model-a 2025-01-07: ${line}`,
        ),
      ],
    );
    await undone(database, sql.split(';'), async () => {
      assert.deepEqual(await auditOf(database), Object.fromEntries(expected));
    });
  });
}
