import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addDays, type Clock } from '../../src/basics/calendar.ts';
import { type CommandDatabase, openDatabase } from '../../src/database/database.ts';
import { morningWrite } from '../../src/database/price-writes.ts';
import { cancelModelDays } from '../../src/database/model-days.ts';
import { commitSession, type ModelDay, type PositionRow } from '../../src/database/sessions.ts';
import { parseConfiguration } from '../../src/basics/configuration.ts';
import { fromDollars, money } from '../../src/basics/money.ts';
import { type Market, openMarket } from '../../src/trading/market.ts';
import { NO_COSTS } from '../../src/trading/portfolio.ts';
import type { NewsSearch } from '../../src/trading/news.ts';
import { LogMismatch } from '../../src/trading/reasoning-log.ts';
import { openSession, type Session } from '../../src/trading/session.ts';
import { insertTestJob } from '../support/jobs.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { runs } from '../support/long.ts';
import { storePrices } from '../support/prices.ts';
import { staleNow } from '../support/stale.ts';
import { emptyTables } from '../support/tables.ts';

const MODEL = 'model-a';
const { agent_config: agentConfig } = parseConfiguration({ models: [] }, 'test');

type Call = [tool: string, args: Record<string, unknown>];

function answer(session: Session, [name, args]: Call) {
  const toolCalls = [{ id: '1', name, arguments: JSON.stringify(args) }];
  return session.answer({
    type: 'answer',
    content: '',
    toolCalls,
    reasoning: null,
    usage: null,
    note: null,
  });
}

interface OpenOptions {
  news?: NewsSearch;
  change?: (market: Market) => Market;
  hasNotes?: boolean;
  paysDividends?: boolean;
  /** A model-day to resume, instead of one of a new job. */
  again?: ModelDay;
}

interface Trader {
  database: CommandDatabase;
  /** Opens a session of a new job on a date. */
  open(date: string, options?: OpenOptions): Promise<Session>;
  /** One whole model-day: every call in a message of its own. */
  day(date: string, calls: readonly Call[], options?: OpenOptions): Promise<void>;
  fail(date: string): Promise<void>;
  ledger(): string[];
}

/**
 * A trader on a database of its own, or on one that is emptied first: a thousand schemas take
 * seconds.
 */
function createTrader(
  prices: string,
  splits: [string, string, number, number][] = [],
  database = openDatabase(':memory:'),
): Trader {
  emptyTables(database);
  storePrices(database, prices);
  for (const split of splits)
    database
      .statement(
        'INSERT INTO stock_splits (symbol, date, numerator, denominator) VALUES (?, ?, ?, ?)',
      )
      .run(...split);
  let tick = Date.parse('2025-12-01T00:00:00Z');
  const clock: Clock = () => new Date((tick += 1_000));
  const context = { database, clock };
  const universe = new Set(['AAPL', 'MSFT', 'ORLY']);
  let jobs = 0;
  const openDay = (modelDay: ModelDay, options: Omit<OpenOptions, 'again'>) => {
    const {
      news = null,
      change = (market: Market) => market,
      hasNotes = false,
      paysDividends = true,
    } = options;
    const write = database.transaction(() => morningWrite(database, modelDay));
    const market = change(openMarket({ reader: database, write }, modelDay.date, [...universe]));
    const amounts = {
      initialCash: fromDollars(10_000),
      tokenPrices: null,
      costs: NO_COSTS,
      paysDividends,
    };
    return openSession(context, modelDay, { market, universe, ...amounts, news, hasNotes });
  };
  const open: Trader['open'] = (date, { again, ...options } = {}) => {
    if (again !== undefined) return openDay(again, options);
    const jobId = `job-${(jobs += 1)}`;
    const createdAt = clock().toISOString();
    const runs = [{ model: MODEL, startDate: date }];
    database.transaction(() =>
      insertTestJob(database, {
        jobId,
        startDate: date,
        endDate: date,
        dates: [date],
        runs,
        replaceExisting: false,
        agentConfig,
        createdAt,
        warnings: [],
      }),
    );
    database
      .statement(`UPDATE jobs SET status = 'completed', completed_at = ? WHERE job_id = ?`)
      .run(createdAt, jobId);
    return openDay({ jobId, date, model: MODEL }, options);
  };
  return {
    database,
    open,
    async day(date, calls, options) {
      const session = await open(date, options);
      for (const call of calls) await answer(session, call);
      await session.end({ status: 'finished', summary: 'done' });
    },
    fail: async (date) => (await open(date)).end({ status: 'failed', error: 'broken' }),
    ledger: () => ledgerOf(database, MODEL),
  };
}

const PRICES = `
  AAPL 2025-01-03 100 101
  AAPL 2025-01-06 102 103
  AAPL 2025-01-07 104 105
  AAPL 2025-01-08 106 107
  MSFT 2025-01-03 200 198
  MSFT 2025-01-06 196 194`;

test('a note belongs to its model-day: it is carried, replaced and resumed with it, and superseded with it', async () => {
  const trader = createTrader(PRICES);
  const { database } = trader;
  const note = (text: string): Call => ['write_note', { text }];
  const options = { hasNotes: true };
  const notes = () =>
    database
      .statement(`SELECT date, note FROM trading_sessions WHERE status = 'active' ORDER BY date`)
      .all()
      .map((row) => [row['date'], row['note']]);

  await trader.day(
    '2025-01-03',
    [note('one'), note('🙂'.repeat(4_000)), note('x'.repeat(4_001)), ['write_note', {}]],
    options,
  );
  assert.deepEqual(notes(), [['2025-01-03', '🙂'.repeat(4_000)]]);
  await trader.day('2025-01-06', [note('two')], options);

  const failed = await trader.open('2025-01-07', options);
  assert.equal(failed.brief.note, 'two');
  await answer(failed, note('lost'));
  await failed.end({ status: 'failed', error: 'broken' });
  const interrupted = await trader.open('2025-01-07', options);
  await answer(interrupted, note('three'));
  interrupted.leave();
  const again = await trader.open('2025-01-07', { ...options, again: interrupted.modelDay });
  assert.equal(again.brief.note, 'two');
  assert.equal((await again.resume()).length, 2);
  await again.end({ status: 'finished', summary: 'done' });

  const without = await trader.open('2025-01-08');
  assert.ok(!('note' in without.brief) && without.tools.every(({ name }) => name !== 'write_note'));
  await answer(without, note('refused'));
  await without.end({ status: 'finished', summary: 'done' });
  const carried = [
    ['2025-01-06', 'two'],
    ['2025-01-07', 'three'],
    ['2025-01-08', 'three'],
  ];
  assert.deepEqual(notes().slice(1), carried);

  await trader.day('2025-01-03', [note('')], options);
  assert.deepEqual(notes(), [['2025-01-03', null], ...carried]);
  assert.equal((await trader.open('2025-01-06', options)).brief.note, null);
  assert.deepEqual(
    staleNow(database).map((line) => line.split(' ')[1]),
    ['2025-01-06'],
  );
});

test('fills at the open, marks at the close, profit against the last close', async () => {
  const trader = createTrader(PRICES);
  await trader.day('2025-01-03', [
    ['buy', { symbol: 'AAPL', amount: 10 }],
    ['buy', { symbol: 'MSFT', amount: 5 }],
  ]);
  await trader.day('2025-01-06', [['sell', { symbol: 'MSFT', amount: 5 }]]);
  assert.deepEqual(
    trader.ledger(),
    ledger(`
      2025-01-03 buy AAPL 10 100 => 9000 10010 10 AAPL:10
      2025-01-03 buy MSFT 5 200  => 8000 10000 0 AAPL:10 MSFT:5
      2025-01-06 sell MSFT 5 196 => 8980 10010 10 AAPL:10`),
  );
});

test('the usage of a model-day adds up to at most the largest exact integer', async () => {
  const { database, open } = createTrader(PRICES);
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

test('a day without a trade has one record, and a weekend or a failed day keeps the holdings', async () => {
  const trader = createTrader(PRICES);
  await trader.day('2025-01-03', [['buy', { symbol: 'AAPL', amount: 10 }]]);
  await trader.fail('2025-01-06');
  await trader.day('2025-01-07', []);
  assert.deepEqual(
    trader.ledger(),
    ledger(`
      2025-01-03 buy AAPL 10 100 => 9000 10010 10 AAPL:10
      2025-01-07 no_trade        => 9000 10050 40 AAPL:10`),
  );
});

test('refused orders leave no record', async () => {
  const trader = createTrader(PRICES);
  await trader.day('2025-01-03', [
    ['buy', { symbol: 'AAPL', amount: 1000 }],
    ['sell', { symbol: 'MSFT', amount: 1 }],
    ['buy', { symbol: 'XXXX', amount: 1 }],
  ]);
  assert.deepEqual(trader.ledger(), ledger('2025-01-03 no_trade => 10000 10000 0'));
  const usage = trader.database
    .statement('SELECT tool_name, calls, refused FROM tool_usage ORDER BY tool_name')
    .all();
  assert.deepEqual(
    usage.map((row) => ({ ...row })),
    [
      { tool_name: 'buy', calls: 2, refused: 2 },
      { tool_name: 'sell', calls: 1, refused: 1 },
    ],
  );
});

test('a day starts from the latest earlier day, not from its own or a later one', async () => {
  const trader = createTrader(PRICES);
  await trader.day('2025-01-07', [['buy', { symbol: 'AAPL', amount: 50 }]]);
  await trader.day('2025-01-03', [['buy', { symbol: 'AAPL', amount: 1 }]]);
  await trader.day('2025-01-06', []);
  assert.equal(trader.ledger()[1], '2025-01-06 no_trade => 9900 10003 2 AAPL:1');
});

test('a holding without a bar keeps its last close, and one that is new today without a close its open', async () => {
  const trader = createTrader(`${PRICES}\nAAPL 2025-01-09 110 -`);
  await trader.day('2025-01-06', [['buy', { symbol: 'MSFT', amount: 10 }]]);
  await trader.day('2025-01-09', [['buy', { symbol: 'AAPL', amount: 10 }]]);
  assert.equal(trader.ledger()[1], '2025-01-09 buy AAPL 10 110 => 6940 9980 0 AAPL:10 MSFT:10');
});

test('the brief, the tools and the records show the same portfolio', async () => {
  const trader = createTrader(PRICES);
  await trader.day('2025-01-03', [['buy', { symbol: 'AAPL', amount: 10 }]]);
  const { brief } = await trader.open('2025-01-06');
  assert.deepEqual(
    { ...brief, quotes: brief.quotes.filter(({ open }) => open !== null) },
    {
      date: '2025-01-06',
      cash: 9000,
      portfolioValue: 10_020,
      holdings: [{ symbol: 'AAPL', quantity: 10, price: 102 }],
      quotes: [
        { symbol: 'AAPL', previousClose: 101, open: 102 },
        { symbol: 'MSFT', previousClose: 198, open: 196 },
      ],
      costs: null,
    },
  );
});

test('a split on raw prices multiplies the holding before the session and loses nothing', async () => {
  const prices = `ORLY 2025-06-09 1365 1350
    ORLY 2025-06-10 91 92
    ORLY 2025-06-11 93 94`;
  const trader = createTrader(prices, [['ORLY', '2025-06-10', 15, 1]]);
  await trader.day('2025-06-09', [['buy', { symbol: 'ORLY', amount: 7 }]]);
  await trader.day('2025-06-10', []);
  await trader.day('2025-06-11', [['sell', { symbol: 'ORLY', amount: 5 }]]);
  assert.deepEqual(
    trader.ledger(),
    ledger(`
      2025-06-09 buy ORLY 7 1365  => 445 9895 -105 ORLY:7
      2025-06-10 split ORLY 98 91 => 445 10105 210 ORLY:105
      2025-06-10 no_trade         => 445 10105 210 ORLY:105
      2025-06-11 sell ORLY 5 93   => 910 10310 205 ORLY:100`),
  );
});

test('all splits since the last day are applied in order, fractions paid at the open', async () => {
  const prices = `ORLY 2025-06-09 100 100
    ORLY 2025-06-13 60 60`;
  const trader = createTrader(prices, [
    ['ORLY', '2025-06-10', 1, 2],
    ['ORLY', '2025-06-12', 10, 3],
  ]);
  await trader.day('2025-06-09', [['buy', { symbol: 'ORLY', amount: 7 }]]);
  await trader.day('2025-06-13', []);
  // 7 shares become 3 and a half; the half is worth 10/6 of a share at 60; 3 become exactly 10.
  assert.deepEqual(
    trader.ledger().slice(1),
    ledger(`
      2025-06-13 split ORLY -4 200 => 9400 9580 -420 ORLY:3
      2025-06-13 split ORLY 7 60   => 9400 10000 0 ORLY:10
      2025-06-13 no_trade          => 9400 10000 0 ORLY:10`),
  );
});

test('adjusted prices are not split again', async () => {
  const trader = createTrader('');
  storePrices(trader.database, 'ORLY 2025-06-09 91 90\nORLY 2025-06-10 91 92', 'yahoo');
  trader.database
    .statement(
      'INSERT INTO stock_splits (symbol, date, numerator, denominator) VALUES (?, ?, ?, ?)',
    )
    .run('ORLY', '2025-06-10', 15, 1);
  await trader.day('2025-06-09', [['buy', { symbol: 'ORLY', amount: 7 }]]);
  await trader.day('2025-06-10', []);
  assert.equal(trader.ledger()[1], '2025-06-10 no_trade => 9363 10007 14 ORLY:7');
});

test('a session that fails, by itself or because its job is cancelled, says how many steps and messages it had', async () => {
  const { database, open } = createTrader(PRICES);
  const ends = [
    (session: Session) => session.end({ status: 'failed', error: 'broken' }),
    async ({ modelDay: { jobId } }: Session) =>
      void cancelModelDays(database, jobId, '2025-12-01T00:00:00.000Z'),
  ];
  for (const fail of ends) {
    const session = await open('2025-01-03');
    await session.prompt([{ role: 'user', content: 'Good morning' }]);
    await answer(session, ['buy', { symbol: 'AAPL', amount: 1 }]);
    await answer(session, ['get_portfolio', {}]);
    await fail(session);
  }
  const stored = database.statement(
    'SELECT status, error, steps, total_messages FROM trading_sessions',
  );
  const counts = { steps: 2, total_messages: 5 };
  assert.deepEqual(
    stored.all().map((row) => ({ ...row })),
    [
      { status: 'failed', error: 'broken', ...counts },
      { status: 'failed', error: 'Cancelled', ...counts },
    ],
  );
});

test('calls after a slow tool are not run if the day ended meanwhile', async () => {
  const trader = createTrader(PRICES);
  const session = await trader.open('2025-01-03', {
    news: async () => {
      await session.end({ status: 'failed', error: 'too slow' });
      return { results: [], undated: 0 };
    },
  });
  const call = (name: string, args: unknown) => ({
    id: name,
    name,
    arguments: JSON.stringify(args),
  });
  const toolCalls = [
    call('search_news', { query: 'AAPL' }),
    call('buy', { symbol: 'AAPL', amount: 1 }),
  ];
  const rest = { content: '', reasoning: null, usage: null, note: null };
  await session.answer({ type: 'answer', toolCalls, ...rest });
  assert.deepEqual(session.actions, []);
  const logged = trader.database.statement('SELECT role FROM reasoning_logs').all();
  assert.deepEqual(
    logged.map(({ role }) => role),
    ['assistant'],
  );
});

/**
 * What only a bug of ours could do to a session; each is stopped where it would enter the books.
 */
const bugs: [
  name: string,
  act: (session: Session, database: CommandDatabase) => Promise<unknown>,
  said: RegExp,
][] = [
  [
    'a second end',
    async (session) => {
      await session.end({ status: 'finished', summary: 'done' });
      await session.end({ status: 'finished', summary: 'again' });
    },
    /only a running session can become active/,
  ],
  [
    'a failure after the end',
    async (session) => {
      await session.end({ status: 'finished', summary: 'done' });
      await session.end({ status: 'failed', error: 'too late' });
    },
    /a model-day ends once/,
  ],
  [
    'setting aside what has ended',
    async (session) => {
      await session.end({ status: 'failed', error: 'broken' });
      await session.setAside(new LogMismatch('too late'));
    },
    /only a running session can be set aside/,
  ],
  [
    'a gap in the reasoning log',
    async (session, database) => {
      await session.prompt([{ role: 'user', content: '' }]);
      database.statement('DELETE FROM reasoning_logs').run();
      await session.prompt([{ role: 'user', content: '' }]);
    },
    /messages continue where the reasoning log ends/,
  ],
];
for (const [name, act, said] of bugs) {
  test(`an assertion stops ${name}, and the books stay unchanged`, async () => {
    const { database, open, ledger: positions } = createTrader(PRICES);
    const error: unknown = await act(await open('2025-01-03'), database).then(
      String,
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof assert.AssertionError);
    assert.match(error.message, said);
    assert.ok(positions().length <= 1);
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
    const { database, open } = createTrader(PRICES);
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
  const trader = createTrader('ORLY 2025-06-09 100 100\nORLY 2025-06-13 60 60', [
    ['ORLY', '2025-06-10', 1, 2],
  ]);
  await trader.day('2025-06-09', [['buy', { symbol: 'ORLY', amount: 99 }]]);
  const broken = (market: Market): Market => ({ ...market, mark: () => money(-10_000_000) });
  await assert.rejects(trader.open('2025-06-13', { change: broken }), {
    name: 'AssertionError',
    message: /cash is -/,
  });
});

test('along any history the daily profits add up to the end value minus the initial cash', async () => {
  const start = '2025-01-01';
  const anyDay = fc.record({
    gap: fc.integer({ min: 1, max: 4 }),
    fails: fc.boolean(),
    orders: fc.array(
      fc.tuple(
        fc.constantFrom('buy', 'sell'),
        fc.constantFrom('AAPL', 'MSFT', 'ORLY'),
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
      const symbols = ['AAPL', 'MSFT', 'ORLY'];
      const lines = bars.flatMap((row, index) =>
        row.flatMap((bar, column) =>
          bar === null
            ? []
            : [
                `${symbols[column]} ${addDays(start, index)} ${bar.open / 10_000} ${bar.close === null ? '-' : bar.close / 10_000}`,
              ],
        ),
      );
      const trader = createTrader(lines.join('\n'), [], database);
      let date = addDays(start, -1);
      for (const { gap, fails, orders } of days) {
        date = addDays(date, gap);
        if (fails) await trader.fail(date);
        else
          await trader.day(
            date,
            orders.map(([tool, symbol, amount]) => [tool, { symbol, amount }]),
          );
      }
      const records = trader.database
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
