import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addDays } from '../../src/core/time/calendar.ts';
import { createAlphaVantage } from '../../src/core/prices/alpha-vantage.ts';
import { factorToRatio } from '../../src/core/prices/amounts.ts';
import type { Problem } from '../../src/core/prices/provider.ts';
import { type Fault, faults, startPriceServer } from '../support/price-server.ts';
import { like, tableOf } from '../support/text-table.ts';

const KEY = 'SECRET0123"45\\6789';
const never = new AbortController().signal;

const connect = (baseUrl: string, today = '2025-06-12', closed = addDays(today, -1)) =>
  createAlphaVantage({ baseUrl, apiKey: KEY, today: () => today, closedThrough: () => closed });

/** What `String()` throws at. */
const NO_TEXT = { toString: 1, valueOf: 1 };

const responses: Record<string, Fault> = {
  ...faults,
  dailyQuota: faults.dailyQuota(KEY),
  noWords: (response) => response.end('{"Error Message":{}}'),
  coded: (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('no'),
};
const answers = tableOf<[response: string, problem: Problem, message: string]>(`
  perSecond       | short_limit    | …1 request per second…
  perMinute       | short_limit    | …5 calls per minute…
  dailyFrequency  | daily_quota    | …frequency is 25 calls per day…
  rateLimit       | short_limit    | rate limit exceeded
  tooManyRequests | short_limit    | status 429: slow down
  dailyQuota      | daily_quota    | …API key as [key] and …25 requests per day…
  premium         | premium        | …outputsize=full …premium feature…
  unknownSymbol   | unknown_symbol | Invalid API call…
  badKey          | bad_key        | …apikey is invalid…
  html            | unreadable     | …not JSON (text/html): …Welcome to the hotel…
  noWords         | unreadable     | {}
  coded           | unreadable     | it cannot be decompressed: incorrect header check
  unavailable     | unreachable    | status 503: upstream is away
  redirect        | unreadable     | status 302…
  huge            | unreadable     | …larger than 8388608 bytes…
  cut             | unreachable    | …cut in the middle of the response…`);
for (const [response, problem, message] of answers) {
  test(`the response ${response} is recognised`, async (t) => {
    const server = await startPriceServer(t, { fault: () => responses[response] });
    const answer = await connect(server.url).daily('AAPL', 'full', never);
    assert.equal(answer.problem, problem);
    assert.match(answer.message ?? '', like(message));
    assert.ok(!JSON.stringify(answer).includes(KEY));
  });
}

test('a provider that accepts no connection is unreachable', async () => {
  const { problem } = await connect('http://127.0.0.1:1').daily('AAPL', 'full', never);
  assert.equal(problem, 'unreachable');
});

test('bars come oldest first; of today only the open while trading is not over, of tomorrow nothing', async (t) => {
  const server = await startPriceServer(t, {
    prices: `AAPL 2025-06-11 100 101\nAAPL 2025-06-12 102 103
      AAPL 2025-06-13 104 105\nAAPL 2025-06-10 0.00004 101`,
  });
  const daily = async (...days: string[]) =>
    (await connect(server.url, ...days).daily('AAPL', 'compact', never)).value;
  const value = await daily();
  const bars = value?.bars.map((bar) => Object.values(bar).join(' '));
  assert.deepEqual(bars, ['AAPL 2025-06-11 100 101 100 101 1000', 'AAPL 2025-06-12 102    ']);
  assert.deepEqual(value?.refused, [
    { symbol: 'AAPL', reason: 'a date in the future: 2025-06-13' },
    { symbol: 'AAPL', reason: 'open is below 0.0001 dollar, the unit of money: 0.00004' },
  ]);
  assert.deepEqual(server.requests, ['AAPL compact']);
  const evening = await daily('2025-06-12', '2025-06-12');
  const closes = evening?.bars.map(({ close }) => close);
  assert.deepEqual(closes, [101, 103]);
});

test('splits come as fractions', async (t) => {
  const server = await startPriceServer(t, {
    splits: 'ORLY 2025-06-10 15.0000\nORLY 2005-06-16 1.5\nORLY 1899-12-29 2',
  });
  assert.deepEqual((await connect(server.url).splits('ORLY', never)).value, [
    { symbol: 'ORLY', date: '2025-06-10', numerator: 15, denominator: 1 },
    { symbol: 'ORLY', date: '2005-06-16', numerator: 3, denominator: 2 },
  ]);
});

test('a split that cannot be read is not taken for none', async (t) => {
  const entries = [
    { effective_date: 'soon', split_factor: '2' },
    { effective_date: '2025-06-10', split_factor: NO_TEXT },
    { effective_date: KEY, split_factor: '2' },
    { effective_date: `${'x'.repeat(230)} ${KEY}`, split_factor: '2' },
  ];
  for (const entry of entries) {
    const fault: Fault = (response) => response.end(JSON.stringify({ data: [entry] }));
    const server = await startPriceServer(t, { fault: () => fault });
    const shown = JSON.stringify(entry).replace(JSON.stringify(KEY).slice(1, -1), '[key]');
    assert.deepEqual(await connect(server.url).splits('ORLY', never), {
      problem: 'unreadable',
      message: `a split that cannot be read: ${shown}`,
    });
  }
});

test('dividends come as they were paid then, with the date from which they are all', async (t) => {
  const server = await startPriceServer(t, {
    dividends: `
      AAPL 2025-08-11 0.26
      AAPL 2025-05-12 0.26
      IBM  1999-05-06 0.24
      IBM  1999-08-06 0.1200001
      IBM  1899-12-29 1
      IBM  2024-05-29 0`,
  });
  const dividends = async (symbol: string) =>
    (await connect(server.url).dividends(symbol, never)).value;
  assert.deepEqual(await dividends('IBM'), {
    dividends: [
      { symbol: 'IBM', exDate: '1999-05-06', cash: 240_000 },
      { symbol: 'IBM', exDate: '1999-08-06', cash: 120_000 },
    ],
    unreadable: [],
    from: '1999-05-06',
  });
  const dates = (await dividends('AAPL'))?.dividends.map(({ exDate }) => exDate);
  assert.deepEqual(dates, ['2025-08-11', '2025-05-12']);
  const none = { dividends: [], unreadable: [], from: '2000-01-01' };
  assert.deepEqual(await dividends('BRK-B'), none);
  assert.deepEqual(server.requests, ['IBM dividends', 'AAPL dividends', 'BRK-B dividends']);
});

test('a dividend that cannot be read leaves its ex-date unknown', async (t) => {
  const dividends = 'A 2024-05-29 None\nA 2024-02-28 1.1\nA 1999-02-28 -1';
  const server = await startPriceServer(t, { dividends });
  const unreadable = (exDate: string, why: string) => ({
    exDate,
    reason: `a dividend that cannot be read, so only ${exDate} is unknown: ${why}`,
  });
  assert.deepEqual((await connect(server.url).dividends('A', never)).value, {
    dividends: [{ symbol: 'A', exDate: '2024-02-28', cash: 1_100_000 }],
    unreadable: [
      unreadable('2024-05-29', 'no dividend and no split'),
      unreadable('1999-02-28', 'dividend is not a plausible number'),
    ],
    from: '2000-01-01',
  });
});

const noDividends: Record<string, Parameters<typeof startPriceServer>[1]> = {
  badDate: { dividends: 'A None 1' },
  empty: { fault: () => faults.empty },
  splits: { fault: () => faults.splitsInstead },
  noWords: { fault: () => (response) => response.end('{"symbol":"A","data":[],"Information":{}}') },
  dailyQuota: { fault: () => faults.dailyQuota(KEY) },
};
const unread = tableOf<[response: string, problem: Problem, message: string]>(`
  badDate    | unreadable  | a dividend that cannot be read: not a date YYYY-MM-DD: None
  empty      | unreadable  | the response has no "data" with dividends
  splits     | unreadable  | a dividend that cannot be read: not a date YYYY-MM-DD: nothing
  noWords    | unreadable  | {}
  dailyQuota | daily_quota | …API key as [key]…`);
for (const [response, problem, message] of unread) {
  test(`the response ${response} is not taken for no dividends`, async (t) => {
    const server = await startPriceServer(t, noDividends[response] ?? {});
    const answer = await connect(server.url).dividends('A', never);
    assert.equal(answer.problem, problem);
    assert.match(answer.message ?? '', like(message));
  });
}

const fractions = `15=15/1 2=2/1 1.5=3/2 0.6667=2/3 0.3333=1/3 0.1=1/10 0.0667=1/15 0.0005=1/2000
  1.05=21/20 1.281=1281/1000`;
test('a split factor is a fraction, of small integers where it is close to one', () => {
  for (const [factor, fraction] of fractions.split(/\s+/).map((pair) => pair.split('='))) {
    const found = factorToRatio(Number(factor));
    assert.equal(`${found?.numerator}/${found?.denominator}`, fraction);
  }
  for (const factor of [1, 0, -2, NaN, 1e9])
    assert.equal(factorToRatio(factor), null, String(factor));
});

test('a request is aborted by its signal', async (t) => {
  const server = await startPriceServer(t, { fault: () => faults.hang });
  const abort = new AbortController();
  const asking = connect(server.url).daily('AAPL', 'full', abort.signal);
  abort.abort('The service is stopping');
  assert.deepEqual(await asking, { problem: 'unreachable', message: 'The service is stopping' });
});
