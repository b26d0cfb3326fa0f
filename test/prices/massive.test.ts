import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { addDays } from '../../src/core/time/calendar.ts';
import { parseCash, combineSplits, parseRatio } from '../../src/core/prices/amounts.ts';
import type { Problem } from '../../src/core/prices/provider.ts';
import { createMassive } from '../../src/core/prices/massive.ts';
import {
  MASSIVE_KEY,
  massiveFaults,
  type MassiveServerOptions,
  startMassiveServer,
} from '../support/massive-server.ts';
import type { Fault } from '../support/price-server.ts';
import { like, tableOf } from '../support/text-table.ts';

const never = new AbortController().signal;
const DATE = '2025-11-17';
const PERIOD = { from: '2025-11-03', to: '2025-11-28' };

/** The values of records, with a space between them. */
const rowsOf = (records: readonly object[] | undefined) =>
  records?.map((record) => Object.values(record).join(' '));

const connect = (baseUrl: string, today = '2025-12-01', closed = addDays(today, -1)) =>
  createMassive({ baseUrl, apiKey: MASSIVE_KEY, today: () => today, closedThrough: () => closed });

/** What is read where the provider responds with this; for AAPL, unless other symbols are named. */
async function reading(t: TestContext, fault: Fault) {
  const server = await startMassiveServer(t, { fault: () => fault });
  const massive = connect(server.url);
  const asked = { ...PERIOD, symbols: ['AAPL'] };
  return {
    server,
    bars: (symbols = ['AAPL']) => massive.bars(DATE, symbols, never),
    splits: () => massive.splits(asked, null, never),
    dividends: () => massive.dividends(asked, null, never),
  };
}

/** What `String()` throws at. */
const NO_TEXT = { toString: 1, valueOf: 1 };
const adjusted = { status: 'OK', adjusted: true, results: [{ T: 'AAPL', o: 1 }] };
const badNext = { status: 'OK', next_url: NO_TEXT };

const responses: Record<string, unknown> = {
  ...massiveFaults,
  list: massiveFaults.json([1]),
  noStatus: massiveFaults.json({ results: [] }),
  adjusted: massiveFaults.json(adjusted), // of bars only
  noWords: massiveFaults.json({ status: 'OK', error: { code: 1 } }),
  oddStatus: massiveFaults.json({ status: NO_TEXT }),
  badNext: massiveFaults.json(badNext), // of lists only
  coded: ((response) =>
    response.writeHead(200, { 'content-encoding': 'compress' }).end('x')) satisfies Fault,
};
const answers = tableOf<[response: string, problem: Problem, message: string]>(`
  unknownKey   | bad_key     | status 401: Unknown API Key
  keyInWords   | bad_key     | status 401: Unknown API Key [key]
  keyAtTheCut  | unreachable | status 500: ${'x'.repeat(290)}[key]
  beyondPlan   | beyond_plan | status 403: Your plan doesn't include this data timeframe…
  limit        | short_limit | status 429: You've exceeded the maximum requests per minute…
  limitWith200 | short_limit | …maximum requests per minute…
  rateWith200  | short_limit | …rate limit exceeded…
  html         | unreadable  | …not a JSON object (text/html): …Welcome to the hotel…
  list         | unreadable  | …not a JSON object…
  noStatus     | unreadable  | no status: …
  notAList     | unreadable  | results that are not a list: "AAPL"
  adjusted     | unreadable  | …adjusted…
  noWords      | unreadable  | OK: {"status":"OK","error":{"code":1}}
  oddStatus    | unreadable  | {"toString":1,"valueOf":1}: {"status"…
  badNext      | unreadable  | a next_url that cannot be followed: {"toString":1,"valueOf":1}
  coded        | unreadable  | its content coding, compress, is unknown…
  notFound     | unreadable  | status 404: no such route
  unavailable  | unreachable | status 503: upstream is away
  redirect     | unreadable  | status 302…
  cut          | unreachable | …cut in the middle of the response…`);
for (const [response, problem, message] of answers) {
  test(`of Massive, the response ${response} is recognised`, async (t) => {
    const { bars, dividends } = await reading(t, responses[response] as Fault);
    const answers = [
      ...(response === 'badNext' ? [] : [await bars()]),
      ...(response === 'adjusted' ? [] : [await dividends()]),
    ];
    for (const answer of answers) {
      assert.equal(answer.problem, problem);
      assert.match(answer.message ?? '', like(message));
      assert.ok(!JSON.stringify(answer).includes(MASSIVE_KEY.slice(0, 8)), 'no part of the key');
    }
  });
}

const LATE = 'Thu, 01 Jan 2099 00:00:00 GMT';
const waits = Object.entries({ 7: 7_000, 0.5: 500, [LATE]: 3_600_000, soon: undefined });
test('a limit names its wait in Retry-After, of which an hour is believed at most', async (t) => {
  for (const [text, ms] of waits) {
    const { bars } = await reading(t, massiveFaults.limitFor(text));
    const answer = await bars();
    assert.equal(answer.problem === undefined ? null : answer.retryAfterMs, ms, text);
  }
});

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
  const { server, bars } = await reading(t, massiveFaults.json({ status: 'DELAYED', results }));
  const { value } = await bars(['BRK-B', 'AAPL', 'MSFT', 'NVDA', 'BACPB']);
  const taken = [`BRK-B ${DATE} 500.1235 501 499 500.5 3200000.5`, `AAPL ${DATE} 270    `];
  assert.deepEqual(rowsOf(value?.bars), taken);
  assert.deepEqual(value?.refused, [
    { symbol: 'MSFT', reason: 'open is below 0.0001 dollar, the unit of money: 0.00004' },
    { symbol: 'NVDA', reason: `open is not a plausible number: ${JSON.stringify(NO_TEXT)}` },
  ]);
  assert.equal(value?.others, 4);
  const target = `/v2/aggs/grouped/locale/us/market/stocks/${DATE}?adjusted=false`;
  assert.deepEqual(server.targets, [target]);
});

test('of today only the open is taken while trading is not over, and a day without trading has no bars', async (t) => {
  const server = await startMassiveServer(t, { prices: `AAPL ${DATE} 100 101` });
  const barsAt = async (...days: string[]) =>
    (await connect(server.url, ...days).bars(DATE, ['AAPL'], never)).value;
  const open = { symbol: 'AAPL', date: DATE, open: 100 };
  const unknown = { high: null, low: null, close: null, volume: null };
  assert.deepEqual((await barsAt(DATE))?.bars, [{ ...open, ...unknown }]);
  assert.equal((await barsAt(DATE, DATE))?.bars[0]?.close, 101, 'in the evening');
  for (const fault of [massiveFaults.nullResults, massiveFaults.noResults]) {
    server.set({ fault: () => fault });
    assert.deepEqual(await barsAt(), { bars: [], refused: [], others: 0 });
  }
});

test('an action that cannot be read is counted outside the dates asked for; inside it leaves its date unknown, or without one all of them', async (t) => {
  const dates = ['1999-05-06', '1899-05-06', '2025-11-10', '2025-11-20', null, '2030-01-01'];
  const amounts = [null, null, 0.26, null, 1, 1];
  const results = dates.map((ex_dividend_date, index) => ({
    ...{ ticker: 'AAPL', ex_dividend_date, cash_amount: amounts[index], currency: 'USD' },
  }));
  const { dividends } = await reading(t, massiveFaults.json({ status: 'OK', results }));
  const { value: page } = await dividends();
  const taken = page?.actions.map(({ action: { exDate } }) => exDate);
  assert.deepEqual(taken, ['2025-11-10']);
  assert.deepEqual(
    page?.refused.map(({ date, reason }) => `${date}: ${reason.replace(/: .*/, '')}`),
    [
      '2025-11-20: a dividend that cannot be read, so only 2025-11-20 is unknown',
      'null: a dividend that cannot be read',
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
  const { splits } = await reading(t, massiveFaults.json({ status: 'OK', results: [row] }));
  assert.match((await splits()).value?.refused[0]?.reason ?? '', /"key":"\[key\]"/);
});

test('splits are ratios of two integers, dividends cash as it was paid, each within the period', async (t) => {
  const server = await startMassiveServer(t, actions);
  const massive = connect(`${server.url}/`);
  const symbols = ['AAPL', 'MSFT', 'ASML', 'BRK-B', 'ORLY', 'XYZ', 'ABC'];
  const splits = (await massive.splits({ ...PERIOD, symbols }, null, never)).value;
  const ratios = rowsOf(splits?.actions.map(({ action }) => action));
  assert.deepEqual(ratios, ['ORLY 2025-11-10 15 1', 'XYZ 2025-11-17 1 20', 'ABC 2025-11-18 21 20']);
  const dividends = (await massive.dividends({ ...PERIOD, symbols }, null, never)).value;
  const amounts = rowsOf(dividends?.actions.map(({ action }) => action));
  assert.deepEqual(amounts, ['AAPL 2025-11-10 260000', 'MSFT 2025-11-20 910001']);
  assert.deepEqual(
    dividends?.refused.map(({ symbol, date, isUnreadable }) => `${symbol} ${date} ${isUnreadable}`),
    ['ASML 2025-11-20 false', 'BRK-B 2025-11-21 true'],
  );
  assert.deepEqual(dividends?.refused[0]?.reason, 'a dividend in EUR');
  const named = '&ticker.any_of=AAPL%2CMSFT%2CASML%2CBRK.B%2CORLY%2CXYZ%2CABC&limit=5000';
  const targetOf = (list: string, date: string) =>
    `/stocks/v1/${list}?${date}.gte=2025-11-03&${date}.lte=2025-11-28${named}&sort=${date}.asc`;
  const lists = [targetOf('splits', 'execution_date'), targetOf('dividends', 'ex_dividend_date')];
  assert.deepEqual(server.targets, lists);
});

/** Where the next page is, and whether it is requested: always of our own base, without a key. */
const nextUrls = tableOf(`
  https://api.massive.com/stocks/v1/dividends?cursor=2              | followed
  http://evil.example/stocks/v1/dividends?cursor=2                  | followed
  https://x.example/stocks/v1/dividends?cursor=2&apiKey=mine        | followed
  /stocks/v1/dividends?cursor=2                                     | followed
  https://mirror.example/massive/stocks/v1/dividends?cursor=2       | followed
  https://api.massive.com/v1/account?cursor=2                       | refused
  http://                                                           | refused
  7                                                                 | refused
  /${'x'.repeat(280)}?apiKey=KEY                                    | refused`);
const NOT_FOLLOWED = /^a next_url that cannot be followed: /;
for (const [url = '', what] of nextUrls) {
  test(`a next_url of ${url.slice(0, 80)} is ${what}`, async (t) => {
    const next_url = url === '7' ? 7 : url.replace('KEY', MASSIVE_KEY);
    const body = { status: 'OK', results: [], next_url };
    const { dividends } = await reading(t, massiveFaults.json(body));
    const answer = await dividends();
    if (what === 'followed') assert.equal(answer.value?.next, '/stocks/v1/dividends?cursor=2');
    else assert.match(String(answer.problem && answer.message), NOT_FOLLOWED);
    assert.ok(!JSON.stringify(answer).includes(MASSIVE_KEY.slice(0, 8)), 'no part of the key');
  });
}

test('with more symbols than fit into a URL, none is named, and the list is reduced here', async (t) => {
  const server = await startMassiveServer(t, actions);
  const symbols = ['ORLY', ...Array.from({ length: 250 }, (_, index) => `S${index}`)];
  const { value } = await connect(server.url).splits({ ...PERIOD, symbols }, null, never);
  const found = value?.actions.map(({ action }) => action.symbol);
  assert.deepEqual(found, ['ORLY']);
  assert.ok(!server.targets[0]?.includes('any_of'));
});

/** New shares for old ones, and the ratio of integers that they are. */
const ratios = `15:1=15/1 4.0:1.0=4/1 1:20=1/20 1.1:1=11/10 3:2=3/2 1.281:1=1281/1000
  0.333333333:1=1/3 1.0333333333333:1=31/30 1000000:1=1000000/1 1e2:1=100/1`;
test('new shares for old ones are a ratio of integers, or not a split', () => {
  for (const [to = '', from = '', ratio] of ratios.split(/\s+/).map((one) => one.split(/[:=]/))) {
    const found = parseRatio(to, from);
    assert.equal(`${found?.numerator}/${found?.denominator}`, ratio, `${to} for ${from}`);
  }
  for (const to of ['1e7', '1', '0', '-2', '', 'NaN']) assert.equal(parseRatio(to, '1'), null, to);
});

test('every ratio of integers that the database holds is stored exactly', () => {
  const shares = fc.integer({ min: 1, max: 1_000_000 });
  fc.assert(
    fc.property(shares, shares, (to, from) => {
      const ratio = parseRatio(String(to), String(from));
      if (to === from) return assert.equal(ratio, null);
      assert.equal(
        BigInt(ratio?.numerator ?? 0) * BigInt(from),
        BigInt(ratio?.denominator ?? 0) * BigInt(to),
      );
    }),
  );
});

test('a split that is named twice counts once, and two of one day multiply', () => {
  const splits = (text: string) =>
    text.split(', ').map((split) => {
      const [date = '', numerator, denominator] = split.split(' ');
      return { symbol: 'A', date, numerator: Number(numerator), denominator: Number(denominator) };
    });
  assert.deepEqual(
    combineSplits(splits('d1 2 1, d1 2 1, d2 1 50, d2 25 1, d3 1 50, d3 50 1')),
    splits('d1 2 1, d2 1 2'),
  );
});

const amounts = `0.26=260000 1=1000000 0.0000015=2 0.0000025=2 1e-6=1 0.1234565=123456
  0.1234575=123458 1000000=1000000000000`;
test('a dividend is a positive number of millionths of a dollar, or none', () => {
  for (const [text = '', cash] of amounts.split(/\s+/).map((pair) => pair.split('=')))
    assert.equal(parseCash(text), Number(cash), text);
  for (const text of ['0.0000005', '1000000.1', '-1', '0', '', '0x1'])
    assert.equal(parseCash(text), null, text);
});
