import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAgentDays } from '../../src/trading/agent-days.ts';
import { createBooks, PRICES, setBars } from '../support/books.ts';
import type { NewsResult, NewsSearch } from '../../src/trading/news.ts';
import { rowsAsText } from '../support/tables.ts';

/** The tools of a day over HTTP: one call after another, and none after the end of the day. */

async function openDay(news: NewsSearch | null = null) {
  const books = createBooks(':memory:', { news });
  setBars(books, PRICES);
  const session = await books.open('2025-01-03');
  const days = createAgentDays(() => 'http://service.test');
  const { access, close } = days.open(session, {
    body: {},
    maxToolCalls: 3,
    expiresAt: new Date(0),
  });
  const { call } = days.find(access.token);
  const rows = (sql: string) => rowsAsText(books.database, sql);
  const logged = () => [
    ...rows('SELECT role, tool_name FROM reasoning_logs ORDER BY message_index'),
    ...rows('SELECT steps FROM job_details'),
  ];
  return { session, close, call, logged };
}

const DECIDED = { code: 'day_decided', message: 'This day has been decided' };

test('a call waits until the one before it has its result', async () => {
  const found = Promise.withResolvers<NewsResult>();
  const { call, logged } = await openDay(() => found.promise);
  const calls = [
    call('search_news', { query: 'AAPL' }),
    call('buy', { symbol: 'AAPL', amount: 1 }),
  ];
  setImmediate(() => found.resolve({ results: [], undated: 0 }));
  await Promise.all(calls);
  assert.deepEqual(logged(), [
    ...['system -', 'user -', 'assistant -', 'tool search_news', 'assistant -', 'tool buy'],
    '2',
  ]);
});

test('a call that waited while its day ended changes nothing, and says so', async () => {
  const { session, close, call, logged } = await openDay();
  const [first, second] = [call('get_portfolio', {}), call('get_portfolio', {})];
  close();
  await session.end({ status: 'failed', error: 'the machine ended it' });
  const before = logged();
  await assert.rejects(first, DECIDED);
  await assert.rejects(second, DECIDED);
  assert.deepEqual(logged(), before);
});

test('a call after the end of its day learns of that end as long as the token is known', async () => {
  const { session, close, call, logged } = await openDay();
  assert.match(await call('get_portfolio', {}), /^\{"cash":10000,/);
  const before = logged();
  close();
  session.leave();
  assert.throws(() => call('get_portfolio', {}), DECIDED);
  assert.deepEqual(logged(), before);
});
