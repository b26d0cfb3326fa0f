import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { firstMessages } from '../../src/core/agent/prompt.ts';
import { throwDiskFull } from '../../src/core/database/storage/faults.ts';
import { createAgentDays } from '../../src/core/trading/agent-days.ts';
import { createBooks, PRICES, setBars } from '../support/books.ts';
import type { NewsResult, NewsSearch } from '../../src/core/trading/news.ts';
import { LogMismatch } from '../../src/core/trading/reasoning-log.ts';
import { rowsAsText } from '../support/tables.ts';

/** The tools of a day over HTTP: one call after another, and none after the end of the day. */

const KEY = 'sk-of-the-agent-0123';

async function openDay(news: NewsSearch | null = null, isPrompted = true) {
  const books = createBooks(':memory:', { news });
  setBars(books, PRICES);
  let session = await books.open('2025-01-03');
  if (!isPrompted) {
    await session.archive(new LogMismatch('it begins again'));
    session = await books.reopen(session.modelDay);
  }
  const days = createAgentDays(() => 'http://service.test');
  const over = new AbortController();
  const { access, answer } = days.open(session, {
    body: {},
    maxToolCalls: 5,
    expiresAt: new Date(0),
    secrets: [KEY],
    over,
  });
  const { token } = access;
  const { call } = days.find(token);
  const rows = (sql: string) => rowsAsText(books.database, sql);
  const logged = () => [
    ...rows(
      `SELECT role, tool_name FROM reasoning_logs
       WHERE session_id = (SELECT max(session_id) FROM reasoning_logs) ORDER BY message_index`,
    ),
    ...rows('SELECT steps FROM job_details'),
  ];
  const find = () => days.find(token);
  return { ...{ books, session, over, token, rows }, answer, call, find, logged };
}

const DECIDED = { code: 'day_decided', message: 'This day has been decided' };
const OVER = {
  code: 'no_such_day',
  message:
    'The token of a model-day that runs is needed, as "Authorization: Bearer TOKEN"; the day of this request is over',
};
const UNKNOWN = { code: 'no_such_day', message: /this request's opens no day$/ };
const BUY = { symbol: 'AAPL', amount: 1 };
const PROMPT = ['system -', 'user -'];
const CALL = ['assistant -', 'tool get_portfolio'];
const NOTHING_MORE = { toolCalls: [], reasoning: null, usage: null, note: null };
const NO_TRADE = { type: 'answer', content: '', ...NOTHING_MORE } as const;

test('a call waits until the one before it has its result', async () => {
  const found = Promise.withResolvers<NewsResult>();
  const { call, logged } = await openDay(() => found.promise);
  const calls = [call('search_news', { query: 'AAPL' }), call('buy', BUY)];
  setImmediate(() => found.resolve({ results: [], undated: 0 }));
  await Promise.all(calls);
  assert.deepEqual(logged(), [
    ...['system -', 'user -', 'assistant -', 'tool search_news', 'assistant -', 'tool buy'],
    '2',
  ]);
});

test('a call that comes before the morning report waits until that is logged', async () => {
  const { session, call, logged } = await openDay(null, false);
  const early = call('get_portfolio', {});
  setImmediate(() => session.prompt(firstMessages(session.brief)));
  await early;
  assert.deepEqual(logged(), [...PROMPT, ...CALL, '1']);
});

test('a call that waits for the morning report ends with its day', async () => {
  const { session, over, call } = await openDay(null, false);
  const early = call('get_portfolio', {});
  await nextRound();
  session.leave();
  over.abort();
  await assert.rejects(early, OVER);
});

test('a call that waited while its day ended changes nothing, and says so', async () => {
  const { session, over, call, logged } = await openDay();
  const [first, second] = [call('get_portfolio', {}), call('get_portfolio', {})];
  over.abort('Cancelled');
  await session.end({ status: 'failed', error: 'the machine ended it' });
  const before = logged();
  await assert.rejects(first, OVER);
  await assert.rejects(second, OVER);
  assert.deepEqual(logged(), before);
});

test('from the decision on, the day is decided; once it is over, its token opens nothing', async () => {
  const { over, answer, call, find, logged } = await openDay();
  const earlier = call('get_portfolio', {});
  const answered = answer(NO_TRADE);
  assert.throws(find, DECIDED);
  await earlier;
  await answered;
  assert.throws(find, DECIDED);
  assert.deepEqual(logged(), [...PROMPT, ...CALL, 'assistant -', '2']);
  over.abort();
  assert.throws(find, UNKNOWN);
});

test('a call that cannot be stored ends its day, with all it did, and so do those that wait', async () => {
  for (const failing of ['the call', 'its result']) {
    const { books, session, over, call, find } = await openDay();
    const { write } = books.database;
    let writes = failing === 'the call' ? 0 : 1;
    books.database.write = async (...args) => (writes-- === 0 ? throwDiskFull() : write(...args));
    const calls = await Promise.allSettled([call('buy', BUY), call('buy', BUY)]);
    const said =
      'Cannot use the database: the disk is full. The day begins again from its opening, with a new token';
    for (const one of calls)
      assert.deepEqual(
        one.status === 'rejected' && [one.reason.code, one.reason.message],
        ['day_interrupted', said],
        failing,
      );
    assert.equal(over.signal.reason.code, 'storage_fault');
    assert.throws(find, UNKNOWN);
    assert.equal(session.actions.length, failing === 'the call' ? 0 : 1);
  }
});

test('a call in whose middle the job stops learns that the day is over', async () => {
  const { books, over, call } = await openDay();
  books.database.write = async () => {
    over.abort('Cancelled');
    over.signal.throwIfAborted();
    return assert.fail();
  };
  await assert.rejects(call('buy', BUY), OVER);
});

test('a key or token in what an agent calls is hidden in the log', async () => {
  const { call, token, rows } = await openDay();
  await call(token, {});
  await call('calculate', { expression: `Bearer ${KEY}` });
  await call('get_price', { symbol: 'AAPL', [token]: encodeURIComponent(token) });
  const kept = rows('SELECT content, tool_name, tool_input, tool_calls FROM reasoning_logs');
  assert.equal(kept.join().includes(token) || kept.join().includes(KEY), false);
  assert.deepEqual(rows('SELECT tool_name, tool_input FROM reasoning_logs WHERE tool_input <> 0'), [
    '[key] {}',
    'calculate {"expression":"Bearer [key]"}',
    'get_price {"symbol":"AAPL","[key]":"[key]"}',
  ]);
});
