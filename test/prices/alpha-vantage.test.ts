import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addDays } from '../../src/basics/calendar.ts';
import { createAlphaVantage } from '../../src/prices/alpha-vantage.ts';
import { fractionOf } from '../../src/prices/amounts.ts';
import type { Problem } from '../../src/prices/provider.ts';
import { type Fault, faults, startPriceServer } from '../support/price-server.ts';

const KEY = 'SECRET0123"45\\6789';
const never = new AbortController().signal;

const connect = (baseUrl: string, today = '2025-06-12', closed = addDays(today, -1)) =>
  createAlphaVantage({ baseUrl, apiKey: KEY, today: () => today, closedThrough: () => closed });

/** What `String()` throws at. */
const NO_TEXT = { toString: 1, valueOf: 1 };

const answers: [name: string, fault: Fault, problem: Problem, message: RegExp][] = [
  ['so many requests per second', faults.perSecond, 'short_limit', /1 request per second/],
  ['so many requests per minute', faults.perMinute, 'short_limit', /5 calls per minute/],
  ['status 429', faults.tooManyRequests, 'short_limit', /status 429: slow down/],
  [
    'the daily quota',
    faults.dailyQuota(KEY),
    'daily_quota',
    /API key as \[key\] and .* 25 requests per day/,
  ],
  ['premium only', faults.premium, 'premium', /outputsize=full .* premium feature/],
  ['an unknown symbol', faults.unknownSymbol, 'unknown_symbol', /Invalid API call/],
  ['a key that is not accepted', faults.badKey, 'bad_key', /apikey is invalid/],
  [
    'a page instead of JSON',
    faults.html,
    'unreadable',
    /not JSON \(text\/html\): .*Welcome to the hotel/,
  ],
  [
    'an error without words',
    (response) => response.end('{"Error Message":{}}'),
    'unreadable',
    /^\{\}$/,
  ],
  [
    'data that is not in its coding',
    (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('no'),
    'unreadable',
    /^it cannot be decompressed: incorrect header check$/,
  ],
  ['status 503', faults.unavailable, 'unreachable', /status 503: upstream is away/],
  ['a redirect', faults.redirect, 'unreadable', /status 302/],
  ['an answer of 10 MB', faults.huge, 'unreadable', /larger than 8388608 bytes/],
  ['an answer that is cut', faults.cut, 'unreachable', /cut in the middle of the response/],
];
for (const [name, fault, problem, message] of answers) {
  test(`${name} is recognised`, async (t) => {
    const server = await startPriceServer(t, { fault: () => fault });
    const answer = await connect(server.url).daily('AAPL', 'full', never);
    assert.equal(answer.problem, problem);
    assert.match(answer.message ?? '', message);
    assert.ok(!JSON.stringify(answer).includes(KEY));
  });
}

test('a provider that accepts no connection is unreachable', async () => {
  assert.equal(
    (await connect('http://127.0.0.1:1').daily('AAPL', 'full', never)).problem,
    'unreachable',
  );
});

test('bars come oldest first; of today only the open while trading is not over, of tomorrow nothing', async (t) => {
  const server = await startPriceServer(t, {
    prices: `
      AAPL 2025-06-11 100 101
      AAPL 2025-06-12 102 103
      AAPL 2025-06-13 104 105
      AAPL 2025-06-10 0.00004 101`,
  });
  const { value } = await connect(server.url).daily('AAPL', 'compact', never);
  assert.deepEqual(value, {
    bars: [
      {
        symbol: 'AAPL',
        date: '2025-06-11',
        open: 100,
        high: 101,
        low: 100,
        close: 101,
        volume: 1000,
      },
      {
        symbol: 'AAPL',
        date: '2025-06-12',
        open: 102,
        high: null,
        low: null,
        close: null,
        volume: null,
      },
    ],
    refused: [
      { symbol: 'AAPL', reason: 'a date in the future: 2025-06-13' },
      { symbol: 'AAPL', reason: 'open is below 0.0001 dollar, the unit of money: 0.00004' },
    ],
  });
  assert.deepEqual(server.requests, ['AAPL compact']);
  const evening = await connect(server.url, '2025-06-12', '2025-06-12').daily(
    'AAPL',
    'compact',
    never,
  );
  assert.deepEqual(
    evening.value?.bars.map(({ date, close }) => [date, close]),
    [
      ['2025-06-11', 101],
      ['2025-06-12', 103],
    ],
  );
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
  const { dividends } = connect(server.url);
  assert.deepEqual((await dividends('IBM', never)).value, {
    dividends: [
      { symbol: 'IBM', exDate: '1999-05-06', cash: 240_000 },
      { symbol: 'IBM', exDate: '1999-08-06', cash: 120_000 },
    ],
    unreadable: [],
    from: '1999-05-06',
  });
  assert.deepEqual(
    (await dividends('AAPL', never)).value?.dividends.map(({ exDate }) => exDate),
    ['2025-08-11', '2025-05-12'],
  );
  assert.deepEqual((await dividends('BRK-B', never)).value, {
    dividends: [],
    unreadable: [],
    from: '2000-01-01',
  });
  assert.deepEqual(server.requests, ['IBM dividends', 'AAPL dividends', 'BRK-B dividends']);
});

test('a dividend that cannot be read leaves its ex-date unknown', async (t) => {
  const server = await startPriceServer(t, {
    dividends: 'A 2024-05-29 None\nA 2024-02-28 1.1\nA 1999-02-28 -1',
  });
  assert.deepEqual((await connect(server.url).dividends('A', never)).value, {
    dividends: [{ symbol: 'A', exDate: '2024-02-28', cash: 1_100_000 }],
    unreadable: [
      {
        exDate: '2024-05-29',
        reason:
          'a dividend that cannot be read, so only 2024-05-29 is unknown: no dividend and no split',
      },
      {
        exDate: '1999-02-28',
        reason:
          'a dividend that cannot be read, so only 1999-02-28 is unknown: dividend is not a plausible number',
      },
    ],
    from: '2000-01-01',
  });
});

const noDividends: [
  name: string,
  options: Parameters<typeof startPriceServer>[1],
  problem: Problem,
  message: RegExp,
][] = [
  [
    'a date that cannot be read',
    { dividends: 'A None 1' },
    'unreadable',
    /^a dividend that cannot be read: not a date YYYY-MM-DD: None$/,
  ],
  [
    'an empty object',
    { fault: () => faults.empty },
    'unreadable',
    /^the response has no "data" with dividends$/,
  ],
  [
    'splits',
    { fault: () => faults.splitsInstead },
    'unreadable',
    /^a dividend that cannot be read: not a date YYYY-MM-DD: nothing$/,
  ],
  [
    'an error without words',
    { fault: () => (response) => response.end('{"symbol":"A","data":[],"Information":{}}') },
    'unreadable',
    /^\{\}$/,
  ],
  ['the daily quota', { fault: () => faults.dailyQuota(KEY) }, 'daily_quota', /API key as \[key\]/],
];
for (const [name, options, problem, message] of noDividends) {
  test(`a response with ${name} is not taken for no dividends`, async (t) => {
    const server = await startPriceServer(t, options);
    const answer = await connect(server.url).dividends('A', never);
    assert.equal(answer.problem, problem);
    assert.match(answer.message ?? '', message);
  });
}

const fractions: [factor: number, fraction: string | null][] = [
  [15, '15/1'],
  [2, '2/1'],
  [1.5, '3/2'],
  [0.6667, '2/3'],
  [0.3333, '1/3'],
  [0.1, '1/10'],
  [0.0667, '1/15'],
  [0.0005, '1/2000'],
  [1.05, '21/20'],
  [1.281, '1281/1000'],
  [1, null],
  [0, null],
  [-2, null],
  [NaN, null],
  [1e9, null],
];
for (const [factor, fraction] of fractions) {
  test(`a split factor of ${factor} is ${fraction ?? 'none'}`, () => {
    const found = fractionOf(factor);
    assert.equal(found && `${found.numerator}/${found.denominator}`, fraction);
  });
}

test('a request is aborted by its signal', async (t) => {
  const server = await startPriceServer(t, { fault: () => faults.hang });
  const abort = new AbortController();
  const asking = connect(server.url).daily('AAPL', 'full', abort.signal);
  abort.abort('The service is stopping');
  assert.deepEqual(await asking, { problem: 'unreachable', message: 'The service is stopping' });
});
