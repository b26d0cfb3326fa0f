import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CommandDatabase } from '../../src/core/database/database.ts';
import { endModelDays } from '../../src/core/database/model-days.ts';
import type { LedgerRecord } from '../../src/core/database/replay-queries.ts';
import { commitSession } from '../../src/core/database/sessions.ts';
import { money } from '../../src/core/money/money.ts';
import { createAgentDays } from '../../src/core/trading/agent-days.ts';
import { LogMismatch } from '../../src/core/trading/reasoning-log.ts';
import type { TradingSession } from '../../src/core/trading/session.ts';
import {
  auditOf,
  type Books,
  callIn,
  createBooks,
  FOUR_DAYS,
  fourDays,
  PRICES,
  START,
  setBars,
  tell,
  tradeAlong,
} from '../support/books.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { staleNow } from '../support/stale.ts';
import { rowsAsText } from '../support/tables.ts';
import { US_RULES } from '../support/market-rules.ts';

function booksOf(prices = PRICES): Books {
  const books = createBooks();
  setBars(books, prices);
  return books;
}

const FAILED = { status: 'failed', error: 'broken' } as const;
const FINISHED = { status: 'finished', summary: 'done' } as const;

test('a note belongs to its model-day: it is carried, replaced and resumed with it, and superseded with it', async () => {
  const books = booksOf();
  const { database } = books;
  const note = (session: TradingSession, text: unknown) => callIn(session, 'write_note', { text });
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
const COSTS = { commission_per_trade: 1, commission_bps: 10, slippage_bps: 100 };
interface Case {
  terms?: object;
  source?: string;
}
const ledgers: [name: string, prices: string, splits: string, table: string, done?: Case][] = [
  [
    'with trading costs orders fill worse than the open, and cash pays the commission',
    'AAPL 2025-11-10 100 100\nAAPL 2025-11-11 200 200',
    '',
    `2025-11-10 buy AAPL 10 101  => 8987.99 9987.99 -12.01 AAPL:10
     2025-11-11 sell AAPL 10 198 => 10965.01 10965.01 977.02`,
    { terms: COSTS },
  ],
  [
    'adjusted prices are not split again',
    'ORLY 2025-06-09 91 90\nORLY 2025-06-10 91 92',
    'ORLY 2025-06-10 15:1',
    `2025-06-09 buy ORLY 7 91 => 9363 9993 -7 ORLY:7
     2025-06-10 no_trade      => 9363 10007 14 ORLY:7`,
    { source: 'yahoo' },
  ],
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
    // 2.2199 × 5 ÷ 2 is exactly 5.54975, a half; four fifths of a share remain.
    'a price that a split converts is rounded once from its exact value, a half up',
    'ORLY 2025-06-09 2.2199 2.2199',
    'ORLY 2025-06-10 2:5',
    `2025-06-09 buy ORLY 7 2.2199    => 9984.4607 10000 0 ORLY:7
     2025-06-10 split ORLY -5 5.5498 => 9988.9005 10000.0001 0.0001 ORLY:2
     2025-06-10 no_trade             => 9988.9005 10000.0001 0.0001 ORLY:2`,
  ],
  [
    // 0.98 is 1.96 after the first split, and 0.6533 after the second, of which three are 1.9599.
    'a fraction is paid at the price of its date, not at that of today converted again',
    'ORLY 2025-06-09 0.98 0.98',
    'ORLY 2025-06-10 1:2, ORLY 2025-06-12 3:1',
    `2025-06-09 buy ORLY 7 0.98     => 9993.14 10000 0 ORLY:7
     2025-06-13 split ORLY -4 1.96  => 9994.12 9996.0799 -3.9201 ORLY:3
     2025-06-13 split ORLY 6 0.6533 => 9994.12 9999.9997 -0.0003 ORLY:9
     2025-06-13 no_trade            => 9994.12 9999.9997 -0.0003 ORLY:9`,
  ],
  [
    'a holding without a bar keeps its last close, and one that is new today without a close its open',
    `${PRICES}\nAAPL 2025-01-09 110 -`,
    '',
    `2025-01-06 buy MSFT 10 196 => 8040 9980 -20 MSFT:10
     2025-01-09 buy AAPL 10 110 => 6940 9980 0 AAPL:10 MSFT:10`,
  ],
];
for (const [name, prices, splits, table, { terms = {}, source } = {}] of ledgers) {
  test(name, async () => {
    const books = createBooks(':memory:', { terms });
    setBars(books, prices, source);
    tell(books, splits);
    await tradeAlong(books, table);
    assert.deepEqual(ledgerOf(books.database, 'model-a'), ledger(table));
    assert.deepEqual((await auditOf(books.database)).problems, []);
  });
}

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

const LARGEST = Number.MAX_SAFE_INTEGER;
/** Stored counts of tokens, and what each is after seven more: beyond 2^63 SQLite has no integers. */
const sums: [stored: number | bigint | null, sum: number][] = [
  [null, 7],
  [5, 12],
  [LARGEST - 8, LARGEST - 1],
  [LARGEST, LARGEST],
  [2n ** 63n - 1n, LARGEST],
];
test('the usage of a model-day adds up to at most the largest exact integer', async () => {
  const { database, open } = booksOf();
  const session = await open('2025-01-03');
  const unknown = { completionTokens: null, cachedTokens: null };
  const usage = { promptTokens: 7, ...unknown, cacheWriteTokens: null, reasoningTokens: null };
  const words = { content: '', reasoning: null, note: null };
  const answer = { type: 'answer' as const, toolCalls: [], ...words, usage };
  for (const [stored, sum] of sums) {
    database
      .statement('UPDATE job_details SET prompt_tokens = ?1, requests = coalesce(?1, 0)')
      .run(stored);
    await session.answer(answer);
    const found = 'SELECT prompt_tokens, completion_tokens, requests FROM job_details';
    const requests = Math.min(Number(stored ?? 0) + 1, LARGEST);
    assert.deepEqual(rowsAsText(database, found), [`${sum} - ${requests}`]);
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
  const { quotes, ...rest } = brief;
  assert.deepEqual(
    quotes.map((quote) => Object.values(quote).join(' ')),
    ['AAPL 101 102', 'MSFT 198 196', 'ORLY  30'],
  );
  const holdings = [{ symbol: 'AAPL', quantity: 10, price: 102 }];
  const morning = { date: '2025-01-06', cash: 9000, portfolioValue: 10_020, holdings };
  const none = {
    dividends: [],
    exchanges: [],
    unpriced: [],
    unfilled: [],
    documents: undefined,
    left: [],
  };
  const terms = { rules: US_RULES, isOpenHidden: false, limits: undefined };
  assert.deepEqual(rest, { ...morning, ...none, ...terms, note: null });
});

test('a session that fails, by itself or because its job is cancelled, says how many steps and messages it had', async () => {
  const { database, open } = booksOf();
  const cancelled = {
    status: 'skipped',
    error: 'Cancelled',
    at: '2025-12-01T00:00:00.000Z',
  } as const;
  const ends = [
    (session: TradingSession) => session.end(FAILED),
    async ({ modelDay: { jobId } }: TradingSession) =>
      void endModelDays(database, jobId, cancelled),
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

test('other requests are answered between the calls of one message', async () => {
  const { open } = booksOf();
  const seen: string[] = [];
  const session = await open('2025-01-03', 'model-a', {
    change: (market) => ({
      ...market,
      bars: (...args) => {
        seen.push('call');
        return market.bars(...args);
      },
    }),
  });
  const toolCalls = ['1', '2', '3'].map((id) => {
    return { id, name: 'get_price_history', arguments: '{"symbol":"AAPL","days":1}' };
  });
  let answered: unknown = null;
  const round = () => {
    seen.push('request');
    if (answered === null) setImmediate(round);
  };
  setImmediate(round);
  const words = { content: '', reasoning: null, usage: null, note: null };
  answered = await session.answer({ type: 'answer', toolCalls, ...words });
  assert.match(seen.join(' '), /call( request)+ call( request)+ call/);
});

test('a call of an agent that waits when its day ends is refused, and adds nothing', async () => {
  const { database, open } = booksOf();
  const session = await open('2025-01-03', 'model-a', {
    news: async () => {
      await session.end(FAILED);
      return { results: [], undated: 0 };
    },
  });
  const days = createAgentDays(() => 'http://127.0.0.1');
  const over = new AbortController();
  const terms = { body: {}, maxToolCalls: 9, expiresAt: new Date(START), secrets: [], over };
  const day = days.find(days.open(session, terms).access.token);
  const slow = day.call('search_news', { query: 'AAPL' });
  const next = day.call('buy', { symbol: 'AAPL', amount: 1 });
  for (const call of [slow, next]) await assert.rejects(call, { code: 'no_such_day' });
  assert.deepEqual(session.actions, []);
  assert.deepEqual(rowsAsText(database, 'SELECT steps FROM job_details'), ['1']);
});

/**
 * What only a bug of ours could do to a session; each is stopped where it would enter the books.
 */
const bugs: [
  name: string,
  act: (session: TradingSession, database: CommandDatabase) => unknown,
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
    (session) => session.end(FAILED).then(() => session.archive(new LogMismatch('too late'))),
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
test('an assertion stops what only a bug could do, and the books stay unchanged', async () => {
  for (const [name, act, message] of bugs) {
    const { database, open } = booksOf();
    const session = await open('2025-01-03');
    const expected = { name: 'AssertionError', message };
    await assert.rejects(async () => act(session, database), expected, name);
    assert.ok(ledgerOf(database, 'model-a').length <= 1);
  }
});

const HELD = new Map([['AAPL', 1]]);
const POSITION: LedgerRecord = {
  actionId: 1,
  actionType: 'buy',
  symbol: 'AAPL',
  amount: 1,
  price: money(100),
  cash: money(900),
  holdings: HELD,
  portfolioValue: money(1_000),
  dailyProfit: money(0),
  dailyReturnPct: 0,
};
const SECOND: LedgerRecord = {
  ...POSITION,
  actionId: 2,
  actionType: 'no_trade',
  symbol: null,
  amount: null,
};
/** Positions of a commit that do not add up, most of them one field away from some that do. */
const badCommits: [positions: LedgerRecord[], said: RegExp][] = [
  [[{ ...POSITION, actionId: 2 }], /actions are counted from 1/],
  [[{ ...POSITION, cash: money(1) }], /action 1 is worth its cash and its holdings at their marks/],
  [[{ ...POSITION, holdings: new Map([['AAPL', 2]]) }], /add up to what is held/],
  [[{ ...POSITION, holdings: new Map([['MSFT', 1]]) }], /add up to what is held/],
  [[POSITION, { ...POSITION, actionId: 2, amount: 2 }], /add up to what is held/],
  [[{ ...POSITION, cash: money(1) }, SECOND], /action 1 is worth its cash/],
  [[POSITION, { ...SECOND, holdings: new Map([...HELD, ['MSFT', 1]]) }], /add up to what is held/],
  [[], /a completed model-day has a position/],
];
test('a commit whose positions do not add up is stopped by an assertion', async () => {
  const { database, open } = booksOf();
  const { modelDay } = await open('2025-01-03');
  const [price, date] = [money(100), '2025-01-03'];
  const used = { open: price, openDate: date, close: price, closeDate: date };
  const prices = [{ symbol: 'AAPL', heldSince: null, ...used }];
  const end = {
    decisions: [],
    evidence: { prices, splits: [], dividends: [], exchanges: [] },
    toolUsage: [],
    summary: '',
    note: null,
    confidence: null,
    isUnread: false,
    unfilled: [],
    wording: 1,
    commitWrite: 0,
    completedAt: '',
  };
  const session = { ...modelDay, sessionId: 1, steps: 0, totalMessages: 0 };
  const commit = (positions: LedgerRecord[]) =>
    database.transaction(() => commitSession(database, session, { ...end, positions }));
  for (const [positions, message] of badCommits)
    assert.throws(() => commit(positions), { name: 'AssertionError', message });
  commit([POSITION]);
});

test('a ledger takes no negative cash: an assertion stops a split at a negative mark', async () => {
  const books = booksOf('ORLY 2025-06-09 100 100\nORLY 2025-06-13 60 60');
  tell(books, 'ORLY 2025-06-10 1:2');
  await books.day('2025-06-09', [['buy', 'ORLY', 99]]);
  const broken = books.open('2025-06-13', 'model-a', {
    change: (market) => ({
      ...market,
      knownMark: () => ({ price: money(-10_000_000), date: market.date }),
    }),
  });
  await assert.rejects(broken, { name: 'AssertionError', message: /cash is -/ });
});
