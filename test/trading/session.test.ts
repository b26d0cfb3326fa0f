import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addDays } from '../../src/basics/calendar.ts';
import { type CommandDatabase, openDatabase } from '../../src/database/database.ts';
import { endModelDays } from '../../src/database/model-days.ts';
import { commitSession, type PositionRow } from '../../src/database/sessions.ts';
import { money } from '../../src/basics/money.ts';
import { LogMismatch } from '../../src/trading/reasoning-log.ts';
import type { Session } from '../../src/trading/session.ts';
import {
  type Books,
  callIn,
  createBooks,
  FOUR_DAYS,
  fourDays,
  PRICES,
  setBars,
  SYMBOLS,
  tell,
  tradeAlong,
} from '../support/books.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { runs } from '../support/long.ts';
import { staleNow } from '../support/stale.ts';
import { rowsAsText } from '../support/tables.ts';

function booksOf(prices = PRICES, source?: string): Books {
  const books = createBooks();
  setBars(books, prices, source);
  return books;
}

const FAILED = { status: 'failed', error: 'broken' } as const;
const FINISHED = { status: 'finished', summary: 'done' } as const;

test('a note belongs to its model-day: it is carried, replaced and resumed with it, and superseded with it', async () => {
  const books = booksOf();
  const { database } = books;
  const note = (session: Session, text: unknown) => callIn(session, 'write_note', { text });
  const notes = () =>
    rowsAsText(
      database,
      `SELECT date, note FROM trading_sessions WHERE status = 'active' ORDER BY date`,
    );
  const dayWith = async (date: string, ...texts: unknown[]) => {
    const session = await books.open(date);
    for (const text of texts) await note(session, text);
    await session.end(FINISHED);
  };
  await dayWith('2025-01-03', 'one', '🙂'.repeat(4_000), 'x'.repeat(4_001), undefined);
  assert.deepEqual(notes(), [`2025-01-03 ${'🙂'.repeat(4_000)}`]);
  await dayWith('2025-01-06', 'two');

  const failed = await books.open('2025-01-07');
  assert.equal(failed.brief.note, 'two');
  await note(failed, 'lost');
  await failed.end(FAILED);
  const interrupted = await books.open('2025-01-07');
  await note(interrupted, 'three');
  interrupted.leave();
  const again = await books.reopen(interrupted.modelDay);
  assert.equal(again.brief.note, 'two');
  assert.equal((await again.resume()).length, 2);
  await again.end(FINISHED);

  const without = await books.open('2025-01-08', 'model-a', { hasNotes: false });
  assert.ok(!('note' in without.brief) && without.tools.every(({ name }) => name !== 'write_note'));
  await note(without, 'refused');
  await without.end(FINISHED);
  const carried = ['2025-01-06 two', '2025-01-07 three', '2025-01-08 three'];
  assert.deepEqual(notes().slice(1), carried);

  await dayWith('2025-01-03', '');
  assert.deepEqual(notes(), ['2025-01-03 -', ...carried]);
  assert.equal((await books.open('2025-01-06')).brief.note, null);
  assert.deepEqual(staleNow(database), ['model-a 2025-01-06']);
});

const SPLIT_PRICES = 'ORLY 2025-06-09 1365 1350\nORLY 2025-06-10 91 92\nORLY 2025-06-11 93 94';
const ledgers: [name: string, prices: string, splits: string, table: string][] = [
  [
    'a split on raw prices multiplies the holding before the session and loses nothing',
    SPLIT_PRICES,
    'ORLY 2025-06-10 15:1',
    `2025-06-09 buy ORLY 7 1365  => 445 9895 -105 ORLY:7
     2025-06-10 split ORLY 98 91 => 445 10105 210 ORLY:105
     2025-06-10 no_trade         => 445 10105 210 ORLY:105
     2025-06-11 sell ORLY 5 93   => 910 10310 205 ORLY:100`,
  ],
  [
    // 7 shares become 3 and a half; the half is worth 10/6 of a share at 60; 3 become exactly 10.
    'all splits since the last day are applied in order, fractions paid at the open',
    'ORLY 2025-06-09 100 100\nORLY 2025-06-13 60 60',
    'ORLY 2025-06-10 1:2, ORLY 2025-06-12 10:3',
    `2025-06-09 buy ORLY 7 100    => 9300 10000 0 ORLY:7
     2025-06-13 split ORLY -4 200 => 9400 9580 -420 ORLY:3
     2025-06-13 split ORLY 7 60   => 9400 10000 0 ORLY:10
     2025-06-13 no_trade          => 9400 10000 0 ORLY:10`,
  ],
  [
    'a holding without a bar keeps its last close, and one that is new today without a close its open',
    `${PRICES}\nAAPL 2025-01-09 110 -`,
    '',
    `2025-01-06 buy MSFT 10 196 => 8040 9980 -20 MSFT:10
     2025-01-09 buy AAPL 10 110 => 6940 9980 0 AAPL:10 MSFT:10`,
  ],
];
for (const [name, prices, splits, table] of ledgers) {
  test(name, async () => {
    const books = booksOf(prices);
    tell(books, splits);
    await tradeAlong(books, table);
    assert.deepEqual(ledgerOf(books.database, 'model-a'), ledger(table));
  });
}

test('adjusted prices are not split again', async () => {
  const books = booksOf('ORLY 2025-06-09 91 90\nORLY 2025-06-10 91 92', 'yahoo');
  tell(books, 'ORLY 2025-06-10 15:1');
  const table = `2025-06-09 buy ORLY 7 91 => 9363 9993 -7 ORLY:7
    2025-06-10 no_trade      => 9363 10007 14 ORLY:7`;
  await tradeAlong(books, table);
  assert.deepEqual(ledgerOf(books.database, 'model-a'), ledger(table));
});

test('fills at the open, marks at the close, profit against the last close; one record without a trade, holdings as they were', async () => {
  const books = await fourDays();
  assert.deepEqual(ledgerOf(books.database, 'model-a'), ledger(FOUR_DAYS));
  await books.fail('2025-01-10');
  await books.day('2025-01-13');
  assert.equal(
    ledgerOf(books.database, 'model-a').at(-1),
    '2025-01-13 no_trade => 8674 10071 0 AAPL:11 ORLY:10',
  );
  await books.day('2025-01-02');
  await books.day('2025-01-04');
  assert.equal(
    ledgerOf(books.database, 'model-a')[3],
    '2025-01-04 no_trade => 8000 10000 0 AAPL:10 MSFT:5',
    'from the latest earlier day',
  );
});

test('the usage of a model-day adds up to at most the largest exact integer', async () => {
  const { database, open } = booksOf();
  const session = await open('2025-01-03');
  const LARGEST = Number.MAX_SAFE_INTEGER;
  const rows: [stored: number | bigint | null, sum: number][] = [
    [null, 7],
    [5, 12],
    [LARGEST - 8, LARGEST - 1],
    [LARGEST, LARGEST],
    [2n ** 63n - 1n, LARGEST], // one more is no integer of SQLite
  ];
  for (const [stored, sum] of rows) {
    database
      .statement('UPDATE job_details SET prompt_tokens = ?1, requests = coalesce(?1, 0)')
      .run(stored);
    const usage = {
      promptTokens: 7,
      completionTokens: null,
      cachedTokens: null,
      cacheWriteTokens: null,
      reasoningTokens: null,
    };
    const rest = { content: '', toolCalls: [], reasoning: null, note: null };
    await session.answer({ type: 'answer', ...rest, usage });
    const row = database
      .statement('SELECT prompt_tokens, completion_tokens, requests FROM job_details')
      .get();
    assert.deepEqual(Object.values(row ?? {}), [
      sum,
      null,
      Math.min(Number(stored ?? 0) + 1, LARGEST),
    ]);
  }
});

test('refused orders leave no record', async () => {
  const books = booksOf();
  await books.day('2025-01-03', [
    ['buy', 'AAPL', 1000],
    ['sell', 'MSFT', 1],
    ['buy', 'XXXX', 1],
  ]);
  assert.deepEqual(ledgerOf(books.database, 'model-a'), ['2025-01-03 no_trade => 10000 10000 0']);
  const usage = 'SELECT tool_name, calls, refused FROM tool_usage ORDER BY tool_name';
  assert.deepEqual(rowsAsText(books.database, usage), ['buy 2 2', 'sell 1 1']);
});

test('the brief shows the portfolio as of the last close, and prices as of this morning', async () => {
  const books = booksOf();
  await books.day('2025-01-03', [['buy', 'AAPL', 10]]);
  const { brief } = await books.open('2025-01-06');
  assert.deepEqual(brief, {
    date: '2025-01-06',
    cash: 9000,
    portfolioValue: 10_020,
    holdings: [{ symbol: 'AAPL', quantity: 10, price: 102 }],
    note: null,
    quotes: [
      { symbol: 'AAPL', previousClose: 101, open: 102 },
      { symbol: 'MSFT', previousClose: 198, open: 196 },
      { symbol: 'ORLY', previousClose: null, open: 30 },
    ],
    costs: null,
  });
});

test('a session that fails, by itself or because its job is cancelled, says how many steps and messages it had', async () => {
  const { database, open } = booksOf();
  const ends = [
    (session: Session) => session.end(FAILED),
    async ({ modelDay: { jobId } }: Session) =>
      void endModelDays(database, jobId, {
        status: 'skipped',
        error: 'Cancelled',
        at: '2025-12-01T00:00:00.000Z',
      }),
  ];
  for (const fail of ends) {
    const session = await open('2025-01-03');
    await callIn(session, 'buy', { symbol: 'AAPL', amount: 1 });
    await callIn(session, 'get_portfolio', {});
    await fail(session);
  }
  const stored = 'SELECT status, error, steps, total_messages FROM trading_sessions';
  assert.deepEqual(rowsAsText(database, stored), ['failed broken 2 6', 'failed Cancelled 2 6']);
});

test('calls after a slow tool are not run if the day ended meanwhile', async () => {
  const { database, open } = booksOf();
  const session = await open('2025-01-03', 'model-a', {
    news: async () => {
      await session.end({ status: 'failed', error: 'too slow' });
      return { results: [], undated: 0 };
    },
  });
  const toolCalls = [
    { id: '1', name: 'search_news', arguments: '{"query":"AAPL"}' },
    { id: '2', name: 'buy', arguments: '{"symbol":"AAPL","amount":1}' },
  ];
  const rest = { content: '', reasoning: null, usage: null, note: null };
  await session.answer({ type: 'answer', toolCalls, ...rest });
  assert.deepEqual(session.actions, []);
  const roles = rowsAsText(database, 'SELECT role FROM reasoning_logs');
  assert.deepEqual(roles, ['system', 'user', 'assistant']);
});

/**
 * What only a bug of ours could do to a session; each is stopped where it would enter the books.
 */
const bugs: [
  name: string,
  act: (session: Session, database: CommandDatabase) => unknown,
  said: RegExp,
][] = [
  [
    'a second end',
    (session) => session.end(FINISHED).then(() => session.end(FINISHED)),
    /only a running session can become active/,
  ],
  [
    'a failure after the end',
    (session) => session.end(FINISHED).then(() => session.end(FAILED)),
    /a model-day ends once/,
  ],
  [
    'setting aside what has ended',
    (session) => session.end(FAILED).then(() => session.setAside(new LogMismatch('too late'))),
    /only a running session can be set aside/,
  ],
  [
    'a gap in the reasoning log',
    (session, database) => {
      database.statement('DELETE FROM reasoning_logs').run();
      return session.prompt([{ role: 'user', content: '' }]);
    },
    /messages continue where the reasoning log ends/,
  ],
];
for (const [name, act, message] of bugs) {
  test(`an assertion stops ${name}, and the books stay unchanged`, async () => {
    const { database, open } = booksOf();
    const session = await open('2025-01-03');
    await assert.rejects(async () => act(session, database), { name: 'AssertionError', message });
    assert.ok(ledgerOf(database, 'model-a').length <= 1);
  });
}

/** Commits whose positions do not add up, each of them one field away from one that does. */
const badCommits: [name: string, change: Partial<PositionRow>, said: RegExp][] = [
  ['an action out of order', { actionId: 2 }, /actions are counted from 1/],
  [
    'cash that is missing',
    { cash: money(1) },
    /action 1 is worth its cash and its holdings at their marks/,
  ],
  ['a share too many', { holdings: new Map([['AAPL', 2]]) }, /action 1 is worth/],
  ['a holding without a mark', { holdings: new Map([['MSFT', 1]]) }, /action 1 is worth/],
];
for (const [name, change, said] of badCommits) {
  test(`a commit with ${name} is stopped by an assertion`, async () => {
    const { database, open } = booksOf();
    const { modelDay } = await open('2025-01-03');
    const position: PositionRow = {
      actionId: 1,
      actionType: 'buy',
      symbol: 'AAPL',
      amount: 1,
      price: money(100),
      cash: money(900),
      holdings: new Map([['AAPL', 1]]),
      portfolioValue: money(1_000),
      dailyProfit: money(0),
      dailyReturnPct: 0,
    };
    const price = { price: money(100), date: '2025-01-03' };
    const evidence = {
      prices: [{ symbol: 'AAPL', heldSince: null, open: price, close: price }],
      splits: [],
      dividends: [],
    };
    const commitOf = (positions: PositionRow[]) => () =>
      database.transaction(() =>
        commitSession(
          database,
          { ...modelDay, sessionId: 1, steps: 0, totalMessages: 0 },
          {
            positions,
            evidence,
            toolUsage: [],
            summary: '',
            note: null,
            confidence: null,
            unfilled: [],
            wording: 1,
            commitWrite: 0,
            completedAt: '',
          },
        ),
      );
    assert.throws(commitOf([{ ...position, ...change }]), {
      name: 'AssertionError',
      message: said,
    });
    const idle = { ...position, actionId: 2, amount: 2 };
    assert.throws(commitOf([position, idle]), {
      name: 'AssertionError',
      message: /action 2 adds the shares of its record/,
    });
    const other = new Map([...position.holdings, ['MSFT', 1]]);
    const second = { ...position, actionId: 2, actionType: 'no_trade', symbol: null } as const;
    assert.throws(commitOf([position, { ...second, amount: null, holdings: other }]), {
      name: 'AssertionError',
      message: /no action changes what it does not name/,
    });
    assert.throws(commitOf([]), {
      name: 'AssertionError',
      message: /a completed model-day has a position/,
    });
    commitOf([position])();
  });
}

test('a ledger takes no negative cash: an assertion stops a split at a negative mark', async () => {
  const books = booksOf('ORLY 2025-06-09 100 100\nORLY 2025-06-13 60 60');
  tell(books, 'ORLY 2025-06-10 1:2');
  await books.day('2025-06-09', [['buy', 'ORLY', 99]]);
  const broken = books.open('2025-06-13', 'model-a', {
    change: (market) => ({ ...market, mark: () => money(-10_000_000) }),
  });
  await assert.rejects(broken, { name: 'AssertionError', message: /cash is -/ });
});

test('along any history the daily profits add up to the end value minus the initial cash', async () => {
  const start = '2025-01-01';
  const anyDay = fc.record({
    gap: fc.integer({ min: 1, max: 4 }),
    fails: fc.boolean(),
    orders: fc.array(
      fc.tuple(
        fc.constantFrom<'buy' | 'sell'>('buy', 'sell'),
        fc.constantFrom(...SYMBOLS),
        fc.integer({ min: -1, max: 60 }),
      ),
      { maxLength: 5 },
    ),
  });
  // Prices with holes: a symbol now and then has no bar, or no close yet.
  const anyBar = fc.option(
    fc.record({
      open: fc.integer({ min: 1, max: 5_000_000 }),
      close: fc.option(fc.integer({ min: 1, max: 5_000_000 }), { freq: 8 }),
    }),
    { freq: 6 },
  );
  const anyHistory = fc.record({
    bars: fc.array(fc.tuple(anyBar, anyBar, anyBar), { minLength: 12, maxLength: 12 }),
    days: fc.array(anyDay, { minLength: 1, maxLength: 6 }),
  });
  const database = openDatabase(':memory:');
  await fc.assert(
    fc.asyncProperty(anyHistory, async ({ bars, days }) => {
      const books = createBooks(database);
      bars.forEach((row, index) =>
        row.forEach((bar, column) => {
          const { open, close } = bar ?? {};
          if (open === undefined) return;
          const dollars = { open: open / 10_000, close: close ? close / 10_000 : null };
          books.setBar(SYMBOLS[column] ?? '', addDays(start, index), dollars);
        }),
      );
      let date = addDays(start, -1);
      for (const { gap, fails, orders } of days) {
        date = addDays(date, gap);
        if (fails) await books.fail(date);
        else await books.day(date, orders);
      }
      const records = database
        .statement(
          `SELECT portfolio_value_e4 AS value, daily_profit_e4 AS profit FROM positions JOIN trading_sessions USING (session_id)
           WHERE status = 'active' AND action_id = (SELECT max(action_id) FROM positions AS other WHERE other.session_id = positions.session_id) ORDER BY date`,
        )
        .all() as { value: number; profit: number }[];
      const profit = records.reduce((sum, record) => sum + record.profit, 0);
      assert.equal(profit, (records.at(-1)?.value ?? 100_000_000) - 100_000_000);
    }),
    { numRuns: runs(25, 1_000) },
  );
  database.close();
});
