import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addDays } from '../../src/basics/calendar.ts';
import { cashOf, combineSplits, ratioOf } from '../../src/prices/amounts.ts';
import type { Problem } from '../../src/prices/provider.ts';
import { createMassive } from '../../src/prices/massive.ts';
import {
  MASSIVE_KEY,
  massiveFaults,
  type MassiveServerOptions,
  startMassiveServer,
} from '../support/massive-server.ts';
import type { Fault } from '../support/price-server.ts';

const never = new AbortController().signal;
const DATE = '2025-11-17';
const PERIOD = { from: '2025-11-03', to: '2025-11-28' };

const connect = (baseUrl: string, today = '2025-12-01', closed = addDays(today, -1)) =>
  createMassive({ baseUrl, apiKey: MASSIVE_KEY, today: () => today, closedThrough: () => closed });

/** What `String()` throws at. */
const NO_TEXT = { toString: 1, valueOf: 1 };

const answers: [name: string, fault: Fault, problem: Problem, message: RegExp][] = [
  ['an unknown key', massiveFaults.unknownKey, 'bad_key', /^status 401: Unknown API Key$/],
  [
    'a key that the provider repeats',
    massiveFaults.keyInWords,
    'bad_key',
    /Unknown API Key \[key\]$/,
  ],
  [
    'a key where the message is cut',
    massiveFaults.keyAtTheCut,
    'unreachable',
    /^status 500: x+\[key\]$/,
  ],
  [
    'a date beyond the plan',
    massiveFaults.beyondPlan,
    'beyond_plan',
    /^status 403: Your plan doesn't include this data timeframe/,
  ],
  [
    'the limit of the minute',
    massiveFaults.limit,
    'short_limit',
    /^status 429: You've exceeded the maximum requests per minute/,
  ],
  [
    'the limit with status 200',
    massiveFaults.limitWith200,
    'short_limit',
    /maximum requests per minute/,
  ],
  [
    'a page instead of JSON',
    massiveFaults.html,
    'unreadable',
    /not a JSON object \(text\/html\): .*Welcome to the hotel/,
  ],
  ['a list instead of an object', massiveFaults.json([1]), 'unreadable', /not a JSON object/],
  ['an object without a status', massiveFaults.json({ results: [] }), 'unreadable', /^no status: /],
  [
    'results that are not a list',
    massiveFaults.notAList,
    'unreadable',
    /^results that are not a list: "AAPL"$/,
  ],
  [
    'adjusted prices',
    massiveFaults.json({ status: 'OK', adjusted: true, results: [{ T: 'AAPL', o: 1 }] }),
    'unreadable',
    /adjusted/,
  ],
  [
    'an error without words',
    massiveFaults.json({ status: 'OK', error: { code: 1 } }),
    'unreadable',
    /^OK: \{"status":"OK","error":\{"code":1\}\}$/,
  ],
  [
    'a status that no text can be made of',
    massiveFaults.json({ status: NO_TEXT }),
    'unreadable',
    /^\{"toString":1,"valueOf":1\}: \{"status"/,
  ],
  [
    'a next_url that is none',
    massiveFaults.json({ status: 'OK', next_url: NO_TEXT }),
    'unreadable',
    /^a next_url that cannot be followed: \{"toString":1,"valueOf":1\}$/,
  ],
  [
    'a coding that it does not know',
    (response) => response.writeHead(200, { 'content-encoding': 'compress' }).end('x'),
    'unreadable',
    /^its content coding, compress, is unknown/,
  ],
  ['an unknown route', massiveFaults.notFound, 'unreadable', /^status 404: no such route$/],
  ['status 503', massiveFaults.unavailable, 'unreachable', /^status 503: upstream is away$/],
  [
    'a redirect, which would carry the key away',
    massiveFaults.redirect,
    'unreadable',
    /^status 302/,
  ],
  ['an answer that is cut', massiveFaults.cut, 'unreachable', /cut in the middle of the response/],
];
for (const [name, fault, problem, message] of answers) {
  test(`of Massive, ${name} is recognised`, async (t) => {
    const server = await startMassiveServer(t, { fault: () => fault });
    for (const answer of [
      await connect(server.url).bars(DATE, ['AAPL'], never),
      await connect(server.url).dividends({ ...PERIOD, symbols: ['AAPL'] }, null, never),
    ]) {
      const value: object = answer.value ?? {};
      if (name === 'adjusted prices' && 'next' in value) continue;
      if (name === 'a next_url that is none' && 'bars' in value) continue;
      assert.equal(answer.problem, problem);
      assert.match(answer.message ?? '', message);
      assert.ok(!JSON.stringify(answer).includes(MASSIVE_KEY.slice(0, 8)), 'no part of the key');
    }
  });
}

const waits: [retryAfter: string, ms: number | undefined][] = [
  ['7', 7_000],
  ['0.5', 500],
  ['Thu, 01 Jan 2099 00:00:00 GMT', 3_600_000],
  ['soon', undefined],
];
for (const [text, ms] of waits) {
  test(`Retry-After: ${text} is a wait of ${ms ?? 'unknown'} ms`, async (t) => {
    const server = await startMassiveServer(t, { fault: () => massiveFaults.limitFor(text) });
    const answer = await connect(server.url).bars(DATE, ['AAPL'], never);
    assert.equal(answer.problem === undefined ? null : answer.retryAfterMs, ms);
  });
}

test('of a day the bars of the symbols are taken as they traded; null, double and foreign ones are counted', async (t) => {
  const results = [
    { T: 'BRK.B', o: 500.12345, h: 501, l: 499, c: 500.5, v: 3_200_000.5, t: 1 },
    { T: 'AAPL', o: 270, h: null, l: null, c: null, v: null },
    { T: 'AAPL', o: 1, h: 1, l: 1, c: 1, v: 1 },
    { T: 'MSFT', o: 4e-5, c: 500 },
    { T: 'NVDA', o: NO_TEXT, c: 500 },
    { T: 'BACpB', o: 25, h: 25, l: 25, c: 25, v: 1 },
    { T: null, o: 1 },
    null,
    7,
  ];
  const server = await startMassiveServer(t, {
    fault: () => massiveFaults.json({ status: 'DELAYED', results }),
  });
  const symbols = ['BRK-B', 'AAPL', 'MSFT', 'NVDA', 'BACPB'];
  const { value } = await connect(server.url).bars(DATE, symbols, never);
  assert.deepEqual(value, {
    bars: [
      {
        symbol: 'BRK-B',
        date: DATE,
        open: 500.1235,
        high: 501,
        low: 499,
        close: 500.5,
        volume: 3_200_000.5,
      },
      { symbol: 'AAPL', date: DATE, open: 270, high: null, low: null, close: null, volume: null },
    ],
    refused: [
      { symbol: 'MSFT', reason: 'open is below 0.0001 dollar, the unit of money: 0.00004' },
      { symbol: 'NVDA', reason: `open is not a plausible number: ${JSON.stringify(NO_TEXT)}` },
    ],
    others: 4,
  });
  assert.deepEqual(server.targets, [
    `/v2/aggs/grouped/locale/us/market/stocks/${DATE}?adjusted=false`,
  ]);
});

test('of today only the open is taken while trading is not over, and a day without trading has no bars', async (t) => {
  const server = await startMassiveServer(t, { prices: `AAPL ${DATE} 100 101` });
  const { value } = await connect(server.url, DATE).bars(DATE, ['AAPL'], never);
  assert.deepEqual(value?.bars, [
    { symbol: 'AAPL', date: DATE, open: 100, high: null, low: null, close: null, volume: null },
  ]);
  const evening = await connect(server.url, DATE, DATE).bars(DATE, ['AAPL'], never);
  assert.deepEqual(
    evening.value?.bars.map(({ close }) => close),
    [101],
  );
  for (const fault of [massiveFaults.nullResults, massiveFaults.noResults]) {
    server.set({ fault: () => fault });
    assert.deepEqual((await connect(server.url).bars(DATE, ['AAPL'], never)).value, {
      bars: [],
      refused: [],
      others: 0,
    });
  }
});

test('an action that cannot be read is counted outside the dates asked for; inside it leaves its date unknown, or without one all of them', async (t) => {
  const row = (date: unknown, cash: unknown) => ({
    ticker: 'AAPL',
    ex_dividend_date: date,
    cash_amount: cash,
    currency: 'USD',
  });
  const results = [
    row('1999-05-06', null),
    row('1899-05-06', null),
    row('2025-11-10', 0.26),
    row('2025-11-20', null),
    row(null, 1),
    row('2030-01-01', 1),
  ];
  const server = await startMassiveServer(t, {
    fault: () => massiveFaults.json({ status: 'OK', results }),
  });
  const page = (await connect(server.url).dividends({ ...PERIOD, symbols: ['AAPL'] }, null, never))
    .value;
  assert.deepEqual(
    page?.actions.map(({ action: { exDate } }) => exDate),
    ['2025-11-10'],
  );
  assert.deepEqual(
    page?.refused.map(({ date, reason }) => [date, reason.replace(/: .*/, '')]),
    [
      ['2025-11-20', 'a dividend that cannot be read, so only 2025-11-20 is unknown'],
      [null, 'a dividend that cannot be read'],
    ],
  );
  assert.equal(page?.skipped, 2);
});

const actions: MassiveServerOptions = {
  splits: `ORLY 2025-11-10 1 15\nNFLX 2025-11-17 1 10\nXYZ 2025-11-17 20 1\nABC 2025-11-18 1 1.05\nORLY 2025-10-01 1 2`,
  dividends: `AAPL 2025-11-10 0.26\nMSFT 2025-11-20 0.910001\nASML 2025-11-20 1.6 EUR\nBRK.B 2025-11-21 0\nAAPL 2024-11-10 0.25\nAAPL 2024-08-10 x`,
};

test('a key in a row that cannot be read is hidden before its reason is cut', async (t) => {
  const row = { ticker: 'AAPL', execution_date: 'soon', note: 'x'.repeat(220), key: MASSIVE_KEY };
  const fault = massiveFaults.json({ status: 'OK', results: [row] });
  const server = await startMassiveServer(t, { fault: () => fault });
  const { value } = await connect(server.url).splits({ ...PERIOD, symbols: ['AAPL'] }, null, never);
  assert.match(value?.refused[0]?.reason ?? '', /"key":"\[key\]"/);
});

test('splits are ratios of two integers, dividends cash as it was paid, each within the period', async (t) => {
  const server = await startMassiveServer(t, actions);
  const massive = connect(`${server.url}/`);
  const symbols = ['AAPL', 'MSFT', 'ASML', 'BRK-B', 'ORLY', 'XYZ', 'ABC'];
  const splits = (await massive.splits({ ...PERIOD, symbols }, null, never)).value;
  assert.deepEqual(
    splits?.actions.map(
      ({ action: { symbol, date, numerator, denominator } }) =>
        `${symbol} ${date} ${numerator}/${denominator}`,
    ),
    ['ORLY 2025-11-10 15/1', 'XYZ 2025-11-17 1/20', 'ABC 2025-11-18 21/20'],
  );
  const dividends = (await massive.dividends({ ...PERIOD, symbols }, null, never)).value;
  assert.deepEqual(
    dividends?.actions.map(({ action: { symbol, exDate, cash } }) => `${symbol} ${exDate} ${cash}`),
    ['AAPL 2025-11-10 260000', 'MSFT 2025-11-20 910001'],
  );
  assert.deepEqual(
    dividends?.refused.map(({ symbol, date, isUnreadable }) => [symbol, date, isUnreadable]),
    [
      ['ASML', '2025-11-20', false],
      ['BRK-B', '2025-11-21', true],
    ],
  );
  assert.deepEqual(dividends?.refused[0]?.reason, 'a dividend in EUR');
  assert.deepEqual(server.targets, [
    '/stocks/v1/splits?execution_date.gte=2025-11-03&execution_date.lte=2025-11-28' +
      '&ticker.any_of=AAPL%2CMSFT%2CASML%2CBRK.B%2CORLY%2CXYZ%2CABC&limit=5000&sort=execution_date.asc',
    '/stocks/v1/dividends?ex_dividend_date.gte=2025-11-03&ex_dividend_date.lte=2025-11-28' +
      '&ticker.any_of=AAPL%2CMSFT%2CASML%2CBRK.B%2CORLY%2CXYZ%2CABC&limit=5000&sort=ex_dividend_date.asc',
  ]);
});

const nextUrls: [name: string, next: unknown, target: string | null][] = [
  [
    "the provider's own host",
    'https://api.massive.com/stocks/v1/dividends?cursor=2',
    '/stocks/v1/dividends?cursor=2',
  ],
  ['any host', 'http://evil.example/stocks/v1/dividends?cursor=2', '/stocks/v1/dividends?cursor=2'],
  [
    'a key in the query',
    'https://x.example/stocks/v1/dividends?cursor=2&apiKey=mine',
    '/stocks/v1/dividends?cursor=2',
  ],
  ['only a path', '/stocks/v1/dividends?cursor=2', '/stocks/v1/dividends?cursor=2'],
  [
    'the prefix of a mirror',
    'https://mirror.example/massive/stocks/v1/dividends?cursor=2',
    '/stocks/v1/dividends?cursor=2',
  ],
  ['another route', 'https://api.massive.com/v1/account?cursor=2', null],
  ['no URL', 'http://', null],
  ['a number', 7, null],
  ['the key where the message is cut', `/${'x'.repeat(280)}?apiKey=${MASSIVE_KEY}`, null],
];
for (const [name, next, target] of nextUrls) {
  test(`a next_url with ${name} ${target === null ? 'is not followed' : 'is asked of our own base'}`, async (t) => {
    const server = await startMassiveServer(t, {
      fault: () => massiveFaults.json({ status: 'OK', results: [], next_url: next }),
    });
    const answer = await connect(server.url).dividends(
      { ...PERIOD, symbols: ['AAPL'] },
      null,
      never,
    );
    if (target !== null) assert.equal(answer.value?.next, target);
    else
      assert.match(
        answer.problem === undefined ? '' : answer.message,
        /^a next_url that cannot be followed: /,
      );
    assert.ok(!JSON.stringify(answer).includes(MASSIVE_KEY.slice(0, 8)), 'no part of the key');
  });
}

test('with more symbols than fit into a URL, none is named, and the list is reduced here', async (t) => {
  const server = await startMassiveServer(t, actions);
  const symbols = ['ORLY', ...Array.from({ length: 250 }, (_, index) => `S${index}`)];
  const { value } = await connect(server.url).splits({ ...PERIOD, symbols }, null, never);
  assert.deepEqual(
    value?.actions.map(({ action }) => action.symbol),
    ['ORLY'],
  );
  assert.ok(!server.targets[0]?.includes('any_of'));
});

const ratios: [to: string, from: string, ratio: string | null][] = [
  ['15', '1', '15/1'],
  ['4.0', '1.0', '4/1'],
  ['1', '20', '1/20'],
  ['1.1', '1', '11/10'],
  ['3', '2', '3/2'],
  ['1.281', '1', '1281/1000'],
  ['0.333333333', '1', '1/3'],
  ['1.0333333333333', '1', '31/30'],
  ['1000000', '1', '1000000/1'],
  ['1e2', '1', '100/1'],
  ['1e7', '1', null],
  ['2', '2', null],
  ['0', '1', null],
  ['-2', '1', null],
  ['', '1', null],
  ['NaN', '1', null],
];
for (const [to, from, ratio] of ratios) {
  test(`${to || 'nothing'} new shares for ${from} are ${ratio ?? 'no split'}`, () => {
    const found = ratioOf(to, from);
    assert.equal(found && `${found.numerator}/${found.denominator}`, ratio);
  });
}

test('every ratio of integers that the database holds is stored exactly', () => {
  const shares = fc.integer({ min: 1, max: 1_000_000 });
  fc.assert(
    fc.property(shares, shares, (to, from) => {
      const ratio = ratioOf(String(to), String(from));
      if (to === from) return assert.equal(ratio, null);
      assert.equal(
        BigInt(ratio?.numerator ?? 0) * BigInt(from),
        BigInt(ratio?.denominator ?? 0) * BigInt(to),
      );
    }),
  );
});

test('a split that is named twice counts once, and two of one day multiply', () => {
  const split = (date: string, numerator: number, denominator: number) => ({
    symbol: 'A',
    date,
    numerator,
    denominator,
  });
  assert.deepEqual(
    combineSplits([
      split('d1', 2, 1),
      split('d1', 2, 1),
      split('d2', 1, 50),
      split('d2', 25, 1),
      split('d3', 1, 50),
      split('d3', 50, 1),
    ]),
    [split('d1', 2, 1), split('d2', 1, 2)],
  );
});

const amounts: [text: string, cash: number | null][] = [
  ['0.26', 260_000],
  ['1', 1_000_000],
  ['0.0000005', null],
  ['0.0000015', 2],
  ['0.0000025', 2],
  ['1e-6', 1],
  ['0.1234565', 123_456],
  ['0.1234575', 123_458],
  ['1000000', 1_000_000_000_000],
  ['1000000.1', null],
  ['-1', null],
  ['0', null],
  ['', null],
  ['0x1', null],
];
for (const [text, cash] of amounts) {
  test(`a dividend of ${text || 'nothing'} is ${cash ?? 'none'}`, () =>
    assert.equal(cashOf(text), cash));
}
