import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditOf, createBooks, fourDays } from '../support/books.ts';
import { undone } from '../support/tables.ts';

const NOTHING: Record<'problems' | 'unverifiable' | 'stale', string[]> = {
  problems: [],
  unverifiable: [],
  stale: [],
};
const AAPL_ON_7 = `symbol = 'AAPL' AND date = '2025-01-07'`;
const BAR = `INTO price_data (symbol, date, open, close, source) VALUES`;
const SPLIT = `INTO stock_splits (symbol, date, numerator, denominator) VALUES`;
const VALUE =
  'UPDATE positions SET portfolio_value_e4 = portfolio_value_e4 + 100000 WHERE position_id = 5';
/** What happened to the prices later, and what the audit says then of books that were right. */
const histories: [name: string, sql: string, report: Partial<typeof NOTHING>][] = [
  [
    'another close',
    `UPDATE price_data SET close = 50 WHERE ${AAPL_ON_7}`,
    { stale: ['2025-01-07'] },
  ],
  [
    'another open of a day that traded',
    `UPDATE price_data SET open = 50 WHERE symbol = 'AAPL' AND date = '2025-01-08'`,
    { stale: ['2025-01-08'] },
  ],
  ['all bars, taken away', 'DELETE FROM price_data', {}],
  ['all bars, moved by a day', `UPDATE price_data SET date = date(date, '+30 days')`, {}],
  [
    'a bar of a day that had none',
    `INSERT ${BAR} ('ORLY', '2025-01-07', 90, 91, 'csv')`,
    { stale: ['2025-01-07'] },
  ],
  [
    'a bar, replaced without a trace by another',
    `INSERT OR REPLACE ${BAR} ('AAPL', '2025-01-07', 90, 91, 'csv')`,
    {
      unverifiable: [
        `2025-01-07: its morning report, line 4: stored "…lue at today's open: 10041", replayed "…lue at today's open: 10031"`,
        '2025-01-08: its morning report, line 12: stored "AAPL 105 106", replayed "AAPL 103 106"',
      ],
      stale: ['2025-01-07'],
    },
  ],
  [
    'a bar, replaced without a trace by the same',
    `INSERT OR REPLACE ${BAR} ('AAPL', '2025-01-07', 104, 105, 'csv')`,
    {
      unverifiable: [
        `2025-01-07: its morning report, line 4: stored "…lue at today's open: 10041", replayed "…lue at today's open: 10031"`,
        '2025-01-08: its morning report, line 12: stored "AAPL 105 106", replayed "AAPL 103 106"',
      ],
    },
  ],
  [
    'the bar of a trade, replaced without a trace by another',
    `INSERT OR REPLACE ${BAR} ('MSFT', '2025-01-06', 90, 194, 'csv')`,
    {
      unverifiable: [
        `2025-01-06: its morning report, line 4: stored "…lue at today's open: 10000", replayed "…lue at today's open: 10010"`,
        '2025-01-07: its morning report, line 13: stored "MSFT 194 -", replayed "MSFT 198 -"',
        '2025-01-08: its morning report, line 13: stored "MSFT 194 -", replayed "MSFT 198 -"',
      ],
      stale: ['2025-01-06'],
    },
  ],
  [
    'a split that was not known then',
    `INSERT ${SPLIT} ('AAPL', '2025-01-07', 2, 1)`,
    { stale: ['2025-01-07'] },
  ],
  ['the split, taken away', 'DELETE FROM stock_splits', { stale: ['2025-01-08'] }],
  [
    'the split, with another ratio',
    `UPDATE stock_splits SET numerator = 5`,
    { stale: ['2025-01-08'] },
  ],
  [
    'the split, replaced without a trace by another',
    `INSERT OR REPLACE ${SPLIT} ('ORLY', '2025-01-08', 5, 2)`,
    {
      unverifiable: [
        '2025-01-08: its morning report, line 3: stored "Cash: 8780", replayed "Cash: 8770"',
      ],
      stale: ['2025-01-08'],
    },
  ],
  [
    'another close, and the old one again',
    `UPDATE price_data SET close = 50 WHERE ${AAPL_ON_7}; UPDATE price_data SET close = 105 WHERE ${AAPL_ON_7}`,
    {},
  ],
  [
    'another close, and then the bar taken away',
    `UPDATE price_data SET close = 50 WHERE ${AAPL_ON_7}; DELETE FROM price_data WHERE ${AAPL_ON_7}`,
    {},
  ],
  [
    'another close, and then the bar moved by years',
    `UPDATE price_data SET close = 50 WHERE ${AAPL_ON_7}; UPDATE price_data SET date = '2031-01-07' WHERE ${AAPL_ON_7}`,
    {},
  ],
  [
    'a split that was not known then, taken away again',
    `INSERT ${SPLIT} ('AAPL', '2025-01-07', 2, 1); DELETE FROM stock_splits WHERE symbol = 'AAPL'`,
    {},
  ],
  [
    'an earlier day, added by another program',
    `INSERT INTO trading_sessions (job_id, date, model, status, initial_cash_e4, wording, started_at, completed_at)
     VALUES ('job-1', '2025-01-02', 'model-a', 'active', 100000000, 1, 't', 't')`,
    {
      problems: [
        '2025-01-02: the messages before its first answer, role: stored "", replayed "system, user"',
      ],
      stale: ['2025-01-03'],
    },
  ],
  [
    'the day before, taken away by another program',
    'DELETE FROM trading_sessions WHERE session_id = 3',
    {
      problems: [
        '2025-01-08: it cannot be read: it started from session 3, which is not an earlier close of its model',
      ],
      stale: ['2025-01-08'],
    },
  ],
  [
    'a close, taken away and put back',
    `DELETE FROM price_data WHERE ${AAPL_ON_7}; INSERT ${BAR} ('AAPL', '2025-01-07', 104, 105, 'csv')`,
    {},
  ],
  [
    'a split that was not known then, of a series that became adjusted for splits',
    `INSERT ${SPLIT} ('AAPL', '2025-01-07', 2, 1); UPDATE price_data SET source = 'yahoo' WHERE symbol = 'AAPL'`,
    {},
  ],
  [
    'a bar, replaced without a trace by another, and the old prices again',
    `INSERT OR REPLACE ${BAR} ('AAPL', '2025-01-07', 90, 91, 'csv');
     UPDATE price_data SET open = 104, close = 105 WHERE ${AAPL_ON_7}`,
    {
      unverifiable: [
        `2025-01-07: its morning report, line 4: stored "…lue at today's open: 10041", replayed "…lue at today's open: 10031"`,
        '2025-01-08: its morning report, line 12: stored "AAPL 105 106", replayed "AAPL 103 106"',
      ],
    },
  ],
  [
    'the split, with another ratio and the old one again',
    'UPDATE stock_splits SET numerator = 5; UPDATE stock_splits SET numerator = 3',
    {},
  ],
  [
    'a split that was not known then, of what was sold before',
    `INSERT ${SPLIT} ('MSFT', '2025-01-07', 2, 1)`,
    {},
  ],
  [
    'another close, and a record that was made to fit it',
    `UPDATE price_data SET close = 106 WHERE ${AAPL_ON_7}; ${VALUE}`,
    {
      problems: [
        '2025-01-07: positions 1, portfolio_value_e4: stored 100610000, replayed 100510000',
        '2025-01-08: positions 1, daily_profit_e4: stored 190000, replayed 90000',
      ],
      stale: ['2025-01-07'],
    },
  ],
];
const books = fourDays();
for (const [name, sql, report] of histories) {
  test(`as of the commit: ${name}`, async () => {
    const { database } = await books;
    const expected = Object.entries({ ...NOTHING, ...report }).map(([list, lines]) => [
      list,
      lines.map((line) => `model-a ${line}`),
    ]);
    await undone(database, sql.split(';'), async () => {
      assert.deepEqual(await auditOf(database), Object.fromEntries(expected));
    });
  });
}

/**
 * What happens to the bar of a date while a session runs and after its commit, and whether it is
 * stale then.
 */
const meanwhile: [name: string, first: Bar, during: Bar, after: Bar, isStale: boolean][] = [
  ['the same again, of which no close is known', [10, null], [10, null], [10, null], false],
  ['a close that comes while it runs', [10, null], [10, 11], [10, 11], false],
  ['a close that comes later', [10, null], [10, null], [10, 11], true],
  ['another open while it runs', [10, 11], [12, 11], [12, 11], true],
  ['another open while it runs, and the old one later', [10, 11], [12, 11], [10, 11], false],
  ['a first bar while it runs, with the price it had before', null, [5, 11], [5, 11], true],
  [
    'no bar while it runs, and one later with the price it was marked at',
    [10, 11],
    null,
    [10, 5],
    true,
  ],
];
type Bar = [open: number, close: number | null] | null;
for (const [name, first, during, after, isStale] of meanwhile) {
  test(`${isStale ? 'stale' : 'not stale'}: ${name}`, async () => {
    const books = createBooks();
    const set = (bar: Bar) => {
      if (bar === null) books.remove('price_data', 'AAPL', '2025-01-07');
      else books.setBar('AAPL', '2025-01-07', { open: bar[0], close: bar[1] });
    };
    books.setBar('AAPL', '2025-01-06', { open: 5, close: 5 });
    await books.day('2025-01-06', [['buy', 'AAPL', 1]]);
    set(first);
    const session = await books.open('2025-01-07');
    set(during);
    await books.complete(session);
    set(after);
    const stale = isStale ? ['model-a 2025-01-07'] : [];
    assert.deepEqual(await auditOf(books.database), { problems: [], unverifiable: [], stale });
  });
}

/**
 * The clocks of imports, in seconds beside that of the service, which the books of a job do not
 * depend on.
 */
const CLOCKS = [-172_800, -86_400, -30, 0, 30, 86_400, 172_800];

test('whatever the clocks of imports before, during and after a job: right days verify, and every changed bar is found', async () => {
  const dates = ['2025-01-06', '2025-01-07', '2025-01-08'];
  for (const before of CLOCKS)
    for (const during of CLOCKS) {
      const books = createBooks();
      const { database } = books;
      let price = 100;
      const importBy = (clock: number) => {
        books.wait(clock);
        price += 1;
        for (const date of ['2025-01-03', ...dates])
          books.setBar('AAPL', date, { open: price, close: price });
        books.wait(-clock);
      };
      importBy(before);
      for (const date of dates) {
        const session = await books.open(date);
        importBy(during);
        await books.complete(session, [['buy', 'AAPL', 1]]);
        importBy(before);
      }
      const { problems, unverifiable } = await auditOf(database);
      assert.deepEqual([problems, unverifiable], [[], []], `clocks ${before} and ${during}`);
      if (before !== during) continue;
      for (const { rowid } of database
        .statement('SELECT revision_id AS rowid FROM price_revisions WHERE date = ?')
        .all('2025-01-07')) {
        const change = `UPDATE price_revisions SET open = 7, close = 7 WHERE revision_id = ${rowid}`;
        const isRead = database
          .statement(
            `SELECT 1 FROM price_revisions JOIN trading_sessions AS own ON own.date >= '2025-01-07'
             WHERE revision_id = ? AND (written <= morning_write AND replaced > morning_write
               OR own.date = '2025-01-07' AND written <= commit_write AND replaced > commit_write)`,
          )
          .get(Number(rowid));
        await undone(database, [change], async () => {
          const found = await auditOf(database);
          assert.equal(found.problems.length > 0, isRead !== undefined, change);
        });
      }
    }
});

test('prices of other programs have a number from the next morning or commit on, and are read from then on', async () => {
  const books = createBooks();
  const { database } = books;
  books.writer = 'another program';
  for (const date of ['2025-01-06', '2025-01-07'])
    books.setBar('AAPL', date, { open: 50, close: 51 });
  const numbers = () =>
    database
      .statement('SELECT written FROM price_data ORDER BY date')
      .all()
      .map((row) => row['written']);
  assert.deepEqual(numbers(), [null, null]);
  const session = await books.open('2025-01-06');
  assert.deepEqual(numbers(), [1, 1]);
  books.setBar('AAPL', '2025-01-08', { open: 52, close: 53 });
  books.setBar('AAPL', '2025-01-06', { open: 50, close: 60 });
  await books.complete(session, [['buy', 'AAPL', 1]]);
  assert.deepEqual(
    numbers(),
    [2, 1, 3],
    'a change takes a number at once, a new row at the commit',
  );
  assert.deepEqual(await auditOf(database), NOTHING, 'it was marked at the close of 60');
});
