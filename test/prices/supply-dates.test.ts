import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { addDays, weekdays, weekdaysBefore } from '../../src/basics/calendar.ts';
import { openDatabase } from '../../src/database/database.ts';
import { storeDividends } from '../../src/database/splits-and-dividends.ts';
import { silentLog } from '../../src/basics/log.ts';
import { type PriceSupply, supplyPrices } from '../../src/prices/supply.ts';
import { readSettings, type Settings } from '../../src/basics/settings.ts';
import { nasdaq100 } from '../../src/basics/configuration-schema.ts';
import {
  MASSIVE_KEY,
  massiveFaults,
  type MassiveServerOptions,
  startMassiveServer,
} from '../support/massive-server.ts';
import { inLongForm, runs } from '../support/long.ts';
import { faults, startPriceServer } from '../support/price-server.ts';
import { storePrices } from '../support/prices.ts';

/** A Monday. */
const TODAY = '2025-12-01';
const WEEK = weekdays('2025-11-17', '2025-11-21');
const HISTORY = weekdaysBefore(TODAY, 60);
const NEAREST_FIRST = weekdaysBefore('2025-11-17', 10).reverse();

/** A bar for each symbol on each date, at 100 and 101. */
function series(
  symbols: string,
  dates: readonly string[],
  { open = 100, close = 101 } = {},
): string {
  return dates
    .flatMap((date) => symbols.split(' ').map((symbol) => `${symbol} ${date} ${open} ${close}`))
    .join('\n');
}

interface Setting {
  universe?: string;
  dates?: readonly string[];
  today?: string;
  settings?: Partial<Settings>;
  downloadsLeft?: number;
  waitsForHistory?: boolean;
}

/** A server whose limits are counted by a clock that only the waits of the downloads move. */
async function start(t: TestContext, options: MassiveServerOptions = {}) {
  const time = { ms: 0 };
  const limit = options.limit && { ...options.limit, now: () => time.ms };
  const server = await startMassiveServer(t, {
    prices: series('A B C', HISTORY),
    ...options,
    ...(limit && { limit }),
  });
  const database = openDatabase(':memory:');
  t.after(() => database.close());
  const supply = (setting: Setting = {}): Promise<PriceSupply> => {
    const { universe = 'A B C', dates = WEEK, today = TODAY, settings = {}, ...rest } = setting;
    const found = readSettings({ MASSIVE_API_KEY: MASSIVE_KEY, MASSIVE_BASE_URL: server.url });
    const context = {
      ...{ database, log: silentLog, settings: { ...found, priceHistoryDays: 0, ...settings } },
      clock: () => new Date(Date.parse(`${today}T12:00:00.000Z`) + time.ms),
      wait: async (ms: number) => void (time.ms += ms),
    };
    const signal = new AbortController().signal;
    return supplyPrices(context, {
      dates,
      universe: universe.split(' '),
      models: [],
      signal,
      ...rest,
    });
  };
  const column = (sql: string) =>
    database
      .statement(sql)
      .all()
      .map((row) => Object.values(row).join(' '));
  return { server, database, supply, time, column };
}

const availabilityOf = ({ dates }: PriceSupply) => dates.map(({ availability }) => availability);
const all = (availability: string, count = WEEK.length) =>
  Array.from({ length: count }, () => availability);
/** The requests of days, without those of lists. */
const daysOf = (requests: readonly string[]) => requests.filter((name) => /^\d/.test(name));

test('splits and dividends come first, then the dates; a second job requests nothing', async (t) => {
  const { server, supply, column } = await start(t, {
    splits: 'A 2025-11-18 1 2',
    dividends: 'B 2025-11-19 0.5\nB 2025-11-19 0.25',
  });
  const first = await supply();
  assert.deepEqual([availabilityOf(first), first.warnings], [all('available'), []]);
  assert.deepEqual(server.requests, ['splits', 'dividends', ...WEEK]);
  assert.deepEqual(
    column('SELECT symbol, date, numerator, denominator, source FROM stock_splits'),
    ['A 2025-11-18 2 1 massive'],
  );
  assert.deepEqual(column('SELECT symbol, ex_date, cash_e6, basis, source FROM dividends'), [
    'B 2025-11-19 750000 as_paid massive',
  ]);
  assert.deepEqual(column('SELECT DISTINCT start_date, end_date FROM price_data_coverage'), [
    '2025-11-15 2025-11-23',
  ]);
  assert.deepEqual((await supply()).warnings, []);
  assert.equal(server.requests.length, 7);
});

test('a download that brings a split which stored prices contradict says so, and so does every job with that symbol', async (t) => {
  const { database, supply } = await start(t, {
    splits: 'A 2025-11-18 1 4\nB 2025-11-18 1 4\nC 2025-11-18 1 4',
  });
  const [before, after] = [
    weekdays('2025-11-03', '2025-11-17'),
    weekdays('2025-11-18', '2025-11-28'),
  ];
  storePrices(
    database,
    `${series('A', before, { open: 400, close: 404 })}\n${series('A', after)}`,
    'file-split-adjusted',
  );
  storePrices(database, series('B', [...before, ...after]), 'csv');
  storePrices(database, series('C', [...before, ...after]), 'yahoo');
  const sentence = (symbol: string, meaning: string, close: number, other: string) =>
    `Prices of ${symbol} are stored as ${meaning}, which a split contradicts: ${symbol} split 4:1 on 2025-11-18, and closed at ${close}` +
    ` on 2025-11-17 and at 101 on 2025-11-18; import all of them again with --as ${other}`;
  const warnings = [
    sentence('A', 'split-adjusted', 404, 'raw'),
    sentence('B', 'raw', 101, 'split-adjusted'),
  ];
  assert.deepEqual((await supply()).warnings, warnings);
  assert.deepEqual(
    (await supply({ dates: ['2025-11-27'] })).warnings,
    warnings,
    'on later dates too',
  );
  assert.deepEqual((await supply({ universe: 'B C' })).warnings, warnings.slice(1));
});

test('twenty dates of the NASDAQ-100 on the free plan', inLongForm, async (t) => {
  const dates = weekdaysBefore('2025-11-29', 20);
  const holiday = weekdaysBefore(dates[0] as string, 4)[0] as string;
  const prices = series(
    nasdaq100.join(' '),
    HISTORY.filter((date) => date !== holiday),
  );
  const { server, supply, time } = await start(t, {
    prices,
    others: 20,
    limit: { requests: 5, windowMs: 60_000, now: () => 0 },
  });
  const settings = { priceHistoryDays: 10 };
  const supplied = await supply({ universe: nasdaq100.join(' '), dates, settings });
  assert.deepEqual(availabilityOf(supplied), all('available', 20));
  assert.deepEqual(server.requests.slice(0, 22), ['splits', 'dividends', ...dates]);
  assert.ok(
    server.requests.length <= 31 && time.ms < 300_000,
    `${server.requests.length} requests in ${time.ms} ms`,
  );
  assert.equal(server.requests.length, 25, 'the job waits for nothing once its dates are complete');
  assert.deepEqual(supplied.warnings, [
    `Of the 10 trading days before ${dates[0]}, only 3 have prices: models have less to look back on`,
    `Waited ${time.ms / 1000} seconds at the price provider's rate limit`,
  ]);
  assert.ok(server.limited <= 10, `${server.limited} requests above the limit`);
  time.ms += 60_000;
  assert.deepEqual(
    (await supply({ universe: nasdaq100.join(' '), dates, settings, waitsForHistory: true }))
      .warnings.length,
    1,
  );
  const history = weekdaysBefore(dates[0] as string, 11).reverse();
  assert.deepEqual(
    server.requests,
    ['splits', 'dividends', ...dates, ...history],
    'nothing twice; the holiday is not one of the ten',
  );
  assert.equal(daysOf(server.requests).length, 31);
  assert.deepEqual((await supply({ universe: nasdaq100.join(' '), dates, settings })).warnings, []);
  assert.equal(server.requests.length, 33);
});

test('for the closes before the first morning a limit is waited out; of older days a warning says what is missing', async (t) => {
  const { server, supply } = await start(t, {
    limit: { requests: 7, windowMs: 60_000, now: () => 0 },
  });
  const supplied = await supply({ settings: { priceHistoryDays: 10 } });
  assert.deepEqual(server.requests.slice(7), NEAREST_FIRST.slice(0, 7));
  assert.match(
    supplied.warnings[0] ?? '',
    /^Of the 10 trading days before 2025-11-17, only 7 have prices/,
  );
});

test('one trading day before the first is counted as one', async (t) => {
  const { supply } = await start(t, {
    prices: series('A', ['2025-11-14', ...WEEK]),
    plan: { from: '2025-11-14', to: '2025-12-31' },
  });
  const { warnings } = await supply({ universe: 'A', settings: { priceHistoryDays: 2 } });
  assert.deepEqual(warnings, [
    'Of the 2 trading days before 2025-11-17, only 1 has prices: models have less to look back on',
  ]);
});

test('past the longest wait the job continues with the dates that are complete, the earliest', async (t) => {
  const { server, supply } = await start(t, {
    limit: { requests: 5, windowMs: 60_000, now: () => 0 },
  });
  const supplied = await supply({ settings: { maxRateLimitWaitMs: 0 } });
  assert.deepEqual(availabilityOf(supplied), [...all('available', 3), ...all('missing', 2)]);
  assert.deepEqual(supplied.warnings, [
    'Rate limit reached: 3 of 5 days downloaded',
    '2 dates left out: 2025-11-20, 2025-11-21; try again in a few minutes',
  ]);
  assert.equal(server.limited, 1);
});

test('a wait that the provider asks for is kept', async (t) => {
  const { supply, time } = await start(t, {
    fault: (_name, index) => (index === 3 ? massiveFaults.limitFor('17') : undefined),
  });
  assert.deepEqual((await supply()).warnings, [
    "Waited 17 seconds at the price provider's rate limit",
  ]);
  assert.equal(time.ms, 17_000);
});

test('a holiday is one when it is two days past, or when a later day has bars; otherwise the day is requested again', async (t) => {
  const published = HISTORY.filter((date) => date !== '2025-11-19' && date < '2025-11-27');
  const { server, supply } = await start(t, { prices: series('A B C', published) });
  const dates = ['2025-11-19', '2025-11-26', '2025-11-27', '2025-11-28'];
  const early = await supply({ dates, today: '2025-11-29' });
  assert.deepEqual(
    availabilityOf(early),
    ['no_trading', 'available', 'no_trading', 'missing'],
    'Thursday is two days past',
  );
  assert.deepEqual(early.warnings, [
    'The price provider does not have all prices yet of 1 date, and is asked again: 2025-11-28',
  ]);
  server.set({
    prices: series(
      'A B C',
      HISTORY.filter((date) => date !== '2025-11-19' && date !== '2025-11-27'),
    ),
  });
  assert.deepEqual(availabilityOf(await supply({ dates, today: '2025-11-29' })), [
    'no_trading',
    'available',
    'no_trading',
    'available',
  ]);
  assert.deepEqual(daysOf(server.requests), [...dates, '2025-11-28']);
});

test('yesterday without bars is not a holiday until a later day has some', async (t) => {
  const { server, supply } = await start(t, { prices: series('A B C', HISTORY.slice(0, -2)) });
  const dates = ['2025-11-27', '2025-11-28'];
  assert.deepEqual(availabilityOf(await supply({ dates, today: '2025-11-28' })), all('missing', 2));
  server.set({
    prices: series(
      'A B C',
      HISTORY.filter((date) => date !== '2025-11-27'),
    ),
  });
  assert.deepEqual(availabilityOf(await supply({ dates, today: '2025-11-28' })), [
    'no_trading',
    'available',
  ]);
  assert.deepEqual(daysOf(server.requests), [...dates, ...dates]);
});

test('a day that is out for few symbols covers none of the others until it is two days past', async (t) => {
  const { server, supply } = await start(t, { prices: `A 2025-11-28 1 1` });
  const ask = async (today: string) =>
    availabilityOf(await supply({ dates: ['2025-11-28'], today }));
  assert.deepEqual(
    [await ask('2025-11-29'), await ask('2025-11-30')],
    [['missing'], ['available']],
  );
  assert.deepEqual(daysOf(server.requests), ['2025-11-28', '2025-11-28']);
});

test('of today only the open is stored, and the rest is fetched when the day is over', async (t) => {
  const { server, supply, column } = await start(t, { prices: series('A', [...HISTORY, TODAY]) });
  assert.deepEqual(availabilityOf(await supply({ universe: 'A', dates: [TODAY] })), ['available']);
  assert.deepEqual(column('SELECT open, close FROM price_data'), ['100 ']);
  assert.deepEqual(
    (await supply({ universe: 'A', dates: [TODAY], today: '2025-12-02' })).warnings,
    [],
  );
  assert.deepEqual(column('SELECT open, close FROM price_data'), ['100 101']);
  assert.deepEqual(daysOf(server.requests), [TODAY, TODAY]);
});

test('where the plan begins within the job, its first date is found with few refused requests', async (t) => {
  const dates = weekdays('2025-11-03', '2025-11-28');
  const { server, supply } = await start(t, { plan: { from: '2025-11-12', to: '2025-11-30' } });
  const supplied = await supply({ dates });
  const beyond = dates.filter((date) => date < '2025-11-12');
  assert.deepEqual(availabilityOf(supplied), [
    ...all('missing', beyond.length),
    ...all('available', dates.length - beyond.length),
  ]);
  assert.match(
    supplied.warnings[0] ?? '',
    /^The price provider's plan does not include 7 dates \(status 403: Your plan doesn't include this data timeframe\..*\): 2025-11-03, /,
  );
  const refused = daysOf(server.requests).filter((date) => date < '2025-11-12');
  assert.ok(refused.length <= 5, refused.join());
  assert.equal(new Set(server.requests).size, server.requests.length);
});

test('a date that is too new for the plan is left out, the ones before it are not', async (t) => {
  const { supply } = await start(t, { plan: { from: '2025-01-01', to: '2025-11-27' } });
  const supplied = await supply({
    dates: ['2025-11-26', '2025-11-27', '2025-11-28'],
    today: '2025-11-29',
  });
  assert.deepEqual(availabilityOf(supplied), ['available', 'available', 'missing']);
  assert.match(supplied.warnings[0] ?? '', /does not include 1 date \(.*\): 2025-11-28$/);
});

test('beyond the plan, what is stored has to do', async (t) => {
  const { database, supply } = await start(t, { plan: { from: '2025-11-18', to: '2025-11-30' } });
  storePrices(database, series('A B', WEEK));
  const supplied = await supply();
  assert.deepEqual(availabilityOf(supplied), all('available'));
  assert.deepEqual(supplied.warnings, ['1 of 3 symbols have no price data on some of the dates']);
});

for (const [name, fault, warning] of [
  [
    'a key that is not accepted',
    massiveFaults.unknownKey,
    /^The price provider does not accept the key in MASSIVE_API_KEY \(status 401: .*\): 0 of 5 days downloaded$/,
  ],
  [
    'an unreachable provider',
    massiveFaults.cut,
    /^The price provider cannot be reached \(.*\): 0 of 5 days downloaded$/,
  ],
  [
    'nothing but pages',
    massiveFaults.html,
    /^The price provider cannot be reached \(a response that is not a JSON object/,
  ],
] as const) {
  test(`with ${name} the job continues with the stored prices`, async (t) => {
    const { database, supply } = await start(t, { fault: () => fault });
    storePrices(database, series('A', WEEK));
    const supplied = await supply();
    assert.deepEqual(availabilityOf(supplied), all('available'));
    assert.ok(
      supplied.warnings.some((sentence) => warning.test(sentence)),
      supplied.warnings.join('\n'),
    );
    assert.ok(!JSON.stringify(supplied).includes(MASSIVE_KEY));
  });
}

test('a bad key is tried once', async (t) => {
  const { server, supply } = await start(t, { fault: () => massiveFaults.unknownKey });
  await supply();
  assert.equal(server.requests.length, 1);
});

test('splits and dividends that the plan does not include are named in a warning, and the job continues', async (t) => {
  const { supply } = await start(t, {
    fault: (name) => (/^\d/.test(name) ? undefined : massiveFaults.notEntitled),
  });
  const supplied = await supply();
  assert.deepEqual(availabilityOf(supplied), all('available'));
  assert.deepEqual(supplied.warnings, [
    "The price provider's plan does not include splits, so none are known (status 403: You are not entitled to this data. Please upgrade your plan.)",
    "The price provider's plan does not include dividends, so none are known (status 403: You are not entitled to this data. Please upgrade your plan.)",
  ]);
});

test('pages are followed on our own base to the last', async (t) => {
  const dividends = WEEK.map((date) => `A ${date} 0.1`).join('\n');
  const { server, supply, column } = await start(t, {
    dividends,
    pageSize: 2,
    nextHost: 'https://api.massive.com',
  });
  assert.deepEqual((await supply()).warnings, []);
  assert.deepEqual(server.requests.slice(1, 4), [
    'dividends',
    'dividends page 2',
    'dividends page 3',
  ]);
  assert.equal(column('SELECT ex_date FROM dividends').length, 5);
});

test('a dividend that is on two pages counts once, and one outside the period not at all', async (t) => {
  const row = (id: string, date = '2025-11-18') => ({
    id,
    ticker: 'A',
    ex_dividend_date: date,
    cash_amount: 0.1,
    currency: 'USD',
  });
  const pages = {
    dividends: [row('E1'), row('E2')],
    'dividends page 2': [row('E2'), row('E3'), row('E4', '2025-12-30')],
  };
  const { supply, column } = await start(t, {
    fault(name) {
      const results = pages[name as keyof typeof pages];
      const next = name === 'dividends' && { next_url: '/stocks/v1/dividends?cursor=2' };
      return results && massiveFaults.json({ status: 'OK', results, ...next });
    },
  });
  assert.deepEqual((await supply()).warnings, []);
  assert.deepEqual(column('SELECT ex_date, cash_e6 FROM dividends'), ['2025-11-18 300000']);
});

const dividend = (index: number) => ({
  id: `E${index}`,
  ticker: 'A',
  ex_dividend_date: '2025-11-18',
  cash_amount: 1,
  currency: 'USD',
});

for (const [name, pageOf, { reason, atMost }] of [
  [
    'the same page again',
    () => ({ next: 1, results: [dividend(1)] }),
    { reason: /its next page is the same page/, atMost: 2 },
  ],
  [
    'the same dividends on ever new pages',
    (page) => ({ next: page, results: [dividend(1)] }),
    { reason: /its pages repeat what they have/, atMost: 2 },
  ],
  [
    'ever new pages without dividends',
    (page) => ({ next: page, results: [] }),
    { reason: /an empty page has a next one/, atMost: 1 },
  ],
  [
    'ever new dividends',
    (page) => ({ next: page, results: [dividend(page)] }),
    { reason: /it has more than 50 pages/, atMost: 50 },
  ],
] as [
  string,
  (page: number) => { next: number; results: unknown[] },
  { reason: RegExp; atMost: number },
][]) {
  test(`a list with ${name} is given up, and its span stays unknown`, async (t) => {
    const { server, supply, column } = await start(t, {
      fault(request, index) {
        const { next, results } = pageOf(index + 2);
        const body = { status: 'OK', results, next_url: `/stocks/v1/dividends?cursor=${next}` };
        return request.startsWith('dividends') ? massiveFaults.json(body) : undefined;
      },
    });
    const supplied = await supply();
    assert.deepEqual(availabilityOf(supplied), all('available'));
    assert.match(supplied.warnings[0] ?? '', reason);
    assert.deepEqual(
      column('SELECT * FROM dividends UNION ALL SELECT *, 1 FROM dividend_coverage'),
      [],
    );
    // The limit of the minute must not be used up by a list without an end: no date would ever be
    // downloaded.
    assert.equal(
      server.requests.filter((request) => request.startsWith('dividends')).length,
      atMost,
    );
  });
}

test('dividends in other currencies and ones that cannot be read are in the warnings; the latter leave their date unknown', async (t) => {
  const { supply, column } = await start(t, {
    dividends: 'A 2025-11-18 0.5 EUR\nB 2025-11-18 -1\nC 2025-11-18 0.5',
  });
  const { warnings } = await supply();
  assert.match(
    warnings[0] ?? '',
    /^2 of the provider's splits and dividends could not be used: A \(a dividend in EUR\), B \(a dividend that cannot be read, so only 2025-11-18 is unknown: /,
  );
  assert.deepEqual(column('SELECT symbol FROM dividends'), ['C']);
  assert.deepEqual(
    column(
      `SELECT symbol, start_date, end_date FROM dividend_coverage WHERE symbol <> 'C' ORDER BY symbol, start_date`,
    ),
    ['A 2025-11-17 2025-11-21', 'B 2025-11-17 2025-11-17', 'B 2025-11-19 2025-11-21'],
  );
});

test('what the provider takes back is removed, and what it corrects is revised', async (t) => {
  const { server, supply, column } = await start(t, {
    splits: 'A 2025-11-18 1 2\nB 2025-11-18 1 3',
    dividends: 'A 2025-11-18 0.5\nB 2025-11-18 0.6',
  });
  await supply();
  server.set({ splits: 'A 2025-11-18 1 4', dividends: 'A 2025-11-18 0.7' });
  await supply({ dates: [...WEEK, '2025-12-01'], today: '2025-12-02' });
  assert.deepEqual(column('SELECT symbol, numerator FROM stock_splits'), ['A 4']);
  assert.deepEqual(column('SELECT symbol, cash_e6 FROM dividends'), ['A 700000']);
  assert.equal(
    column('SELECT 1 FROM stock_split_revisions UNION ALL SELECT 1 FROM dividend_revisions').length,
    4,
  );
});

test('a day that was answered soon after it was is requested once more, and a correction is a revision', async (t) => {
  const { server, supply, column } = await start(t);
  const ask = (dates: string[], today: string) =>
    supply({ dates, today, universe: 'A B', settings: { priceHistoryDays: 2 } });
  assert.deepEqual((await ask(['2025-11-18'], '2025-11-19')).warnings, []);
  server.set({
    prices: series('A B', HISTORY).replace('A 2025-11-18 100 101', 'A 2025-11-18 100 105'),
  });
  assert.deepEqual((await ask(['2025-11-19'], '2025-11-20')).warnings, []);
  const { warnings } = await ask(['2025-11-20'], '2025-11-21');
  assert.deepEqual(warnings, [
    '1 bar differ from those stored before (A); the old values are kept in price_revisions',
  ]);
  assert.deepEqual(
    column(`SELECT close FROM price_data WHERE symbol = 'A' AND date = '2025-11-18'`),
    ['105'],
  );
  await ask(['2025-11-21'], '2025-11-24');
  assert.deepEqual(daysOf(server.requests), [
    ...['2025-11-18', '2025-11-17', '2025-11-14'],
    ...['2025-11-19', '2025-11-17'],
    ...['2025-11-20', '2025-11-18'],
    ...['2025-11-21', '2025-11-19', '2025-11-20'],
  ]);
});

test('bars of other sources and adjusted series are not changed, and real bars replace synthetic ones', async (t) => {
  const { database, supply, column } = await start(t, { prices: series('A B C D', HISTORY) });
  storePrices(database, series('A', WEEK, { open: 90, close: 90 }));
  storePrices(database, series('B', WEEK.slice(0, 1), { open: 90, close: 90 }), 'yahoo');
  storePrices(database, series('D', WEEK, { open: 90, close: 90 }), 'synthetic');
  const { warnings } = await supply({ universe: 'A B C D' });
  assert.deepEqual(
    column('SELECT symbol, source, count(*) FROM price_data GROUP BY symbol, source'),
    [...['A csv 5', 'B yahoo 1', 'C massive 5', 'D massive 5']],
  );
  assert.deepEqual(warnings, [
    'Synthetic prices of 1 symbol were replaced by real ones: D',
    '1 of 4 symbols have no price data on some of the dates',
  ]);
});

test('a symbol without any prices is named in a warning, and blocks nothing', async (t) => {
  const { supply } = await start(t);
  const supplied = await supply({ universe: 'A B GONE' });
  assert.deepEqual(availabilityOf(supplied), all('available'));
  assert.deepEqual(supplied.warnings, [
    'The price provider has no prices of 1 symbol on these dates: GONE',
  ]);
});

test('a bar that is not plausible is named with the reason', async (t) => {
  const prices = `${series('A', WEEK)}\n${series('B', WEEK, { open: 0.00004, close: 0.00004 })}`;
  const { supply, column } = await start(t, { prices });
  const { warnings } = await supply({ universe: 'A B' });
  assert.equal(
    warnings[1],
    '5 bars were not plausible and not stored: B (open is below 0.0001 dollar, the unit of money: 0.00004)',
  );
  assert.deepEqual(column('SELECT DISTINCT symbol FROM price_data'), ['A']);
});

test('a day that cannot be read loses only itself', async (t) => {
  const { supply } = await start(t, {
    fault: (name) => (name === '2025-11-19' ? massiveFaults.notAList : undefined),
  });
  const supplied = await supply();
  assert.deepEqual(availabilityOf(supplied), [
    'available',
    'available',
    'missing',
    'available',
    'available',
  ]);
  assert.deepEqual(supplied.warnings, [
    `The price provider's responses for 2025-11-19 could not be used: results that are not a list: "AAPL"`,
  ]);
});

test('of prices that are adjusted for splits all splits up to today are known, and none of their bars is requested', async (t) => {
  const { database, server, supply, column } = await start(t, {
    splits: 'A 2025-11-26 1 2\nA 2025-12-03 1 3',
  });
  storePrices(database, series('A', WEEK), 'yahoo');
  await supply({ universe: 'A' });
  assert.deepEqual(column('SELECT date FROM stock_splits'), ['2025-11-26']);
  await supply({ universe: 'A', today: '2025-12-05' });
  assert.deepEqual(column('SELECT date FROM stock_splits'), ['2025-11-26', '2025-12-03']);
  assert.deepEqual(server.requests, ['splits', 'dividends', 'splits']);
});

for (const source of ['disguise', 'stooq'] as const) {
  test(`splits and dividends of ${source} prices are not requested, so those of files stay`, async (t) => {
    const { database, server, supply, column } = await start(t);
    storePrices(database, series('CODE', WEEK), source);
    const span = { symbol: 'CODE', startDate: '2025-11-18', endDate: '2025-11-18' };
    const list = {
      dividends: [{ symbol: 'CODE', exDate: '2025-11-18', cash: 1 }],
      spans: [span],
      basis: 'as_paid',
    } as const;
    storeDividends(database, list, { source: 'csv', recordedAt: `${TODAY}T00:00:00.000Z` });
    await supply({ universe: 'CODE' });
    assert.deepEqual(
      [server.requests, column('SELECT symbol, ex_date FROM dividends')],
      [[], ['CODE 2025-11-18']],
    );
    await supply({ universe: 'CODE A' });
    assert.deepEqual(
      column("SELECT DISTINCT symbol FROM dividend_coverage WHERE source = 'massive'"),
      ['A'],
    );
  });
}

test('--limit bounds the days', async (t) => {
  const { server, supply } = await start(t);
  await supply({ downloadsLeft: 2, settings: { priceHistoryDays: 10 } });
  assert.deepEqual(daysOf(server.requests), WEEK.slice(0, 2));
});

test('--limit bounds what both providers download together, without dates that are refused', async (t) => {
  const { server, supply, column } = await start(t, {
    plan: { from: '2025-11-20', to: '2025-11-30' },
  });
  const alpha = await startPriceServer(t, { prices: series('A B C', HISTORY) });
  const settings = { alphaVantageApiKey: 'KEY', alphaVantageBaseUrl: alpha.url };
  await supply({ settings, downloadsLeft: 1 });
  assert.deepEqual([column('SELECT COUNT(*) FROM market_days'), alpha.requests], [['1'], []]);
  await supply({ settings, downloadsLeft: 3 });
  assert.deepEqual(
    [column('SELECT COUNT(*) FROM market_days'), alpha.requests],
    [['2'], ['A compact', 'B compact']],
  );
  assert.ok(server.requests.length > 4, 'refused dates were requested too');
});

test('splits of jumps in older prices are requested too', async (t) => {
  const { database, server, supply } = await start(t, { splits: 'A 2025-09-15 1 2' });
  storePrices(database, 'A 2025-09-12 200 200\nA 2025-09-15 100 100');
  assert.deepEqual((await supply({ universe: 'A' })).warnings, []);
  assert.deepEqual((await supply({ universe: 'A' })).warnings, []);
  assert.deepEqual(server.requests.filter((name) => name === 'splits').length, 2);
});

test('with both keys Massive supplies the dates that its plan includes, and Alpha Vantage those beyond it', async (t) => {
  const { server, supply, column } = await start(t, {
    plan: { from: '2025-11-19', to: '2025-11-30' },
  });
  const alpha = await startPriceServer(t, {
    prices: series('A B C', HISTORY, { open: 100, close: 102 }),
  });
  // The days before the first date are beyond Massive's plan too, and come with Alpha Vantage's
  // responses.
  const settings = {
    alphaVantageApiKey: 'KEY',
    alphaVantageBaseUrl: alpha.url,
    priceHistoryDays: 2,
  };
  const supplied = await supply({ settings });
  assert.deepEqual([availabilityOf(supplied), supplied.warnings], [all('available'), []]);
  assert.deepEqual(alpha.requests, ['A compact', 'B compact', 'C compact']);
  assert.deepEqual(
    column(
      `SELECT DISTINCT date, source FROM price_data WHERE date BETWEEN '${WEEK[0]}' AND '${WEEK[4]}' ORDER BY date`,
    ),
    [...WEEK.map((date) => `${date} ${date < '2025-11-19' ? 'alpha-vantage' : 'massive'}`)],
  );
  const [days, symbols] = [server.requests.length, alpha.requests.length];
  await supply({ settings });
  assert.deepEqual([server.requests.length, alpha.requests.length], [days, symbols]);
});

test('with both keys Alpha Vantage steps in where Massive cannot be used, and not at its rate limit', async (t) => {
  const { server, supply } = await start(t, { fault: () => massiveFaults.limit });
  const alpha = await startPriceServer(t, {
    prices: series('A B C', HISTORY),
    fault: () => faults.dailyQuota('KEY'),
  });
  const settings = {
    alphaVantageApiKey: 'KEY',
    alphaVantageBaseUrl: alpha.url,
    maxRateLimitWaitMs: 0,
  };
  await supply({ settings });
  assert.deepEqual(alpha.requests, []);
  server.set({ fault: () => massiveFaults.unknownKey });
  const { warnings } = await supply({ settings });
  assert.deepEqual(alpha.requests, ['A compact']);
  assert.match(warnings[0] ?? '', /MASSIVE_API_KEY/);
  assert.match(warnings[1] ?? '', /^Rate limit reached: 0 of 3 symbols downloaded$/);
});

/**
 * Two months of a made-up market: which weekdays are holidays, and which days are published a day
 * late.
 */
const SPAN = weekdays('2025-10-01', '2025-11-28');
const arbitraryMarket = fc.record({
  holidays: fc.subarray(SPAN, { maxLength: 8 }),
  late: fc.subarray(SPAN, { maxLength: 8 }),
  begin: fc.integer({ min: 0, max: 12 }),
  jobs: fc.array(
    fc.record({
      first: fc.integer({ min: 5, max: SPAN.length - 2 }),
      length: fc.integer({ min: 1, max: 6 }),
      age: fc.integer({ min: 1, max: 5 }),
      limitAfter: fc.integer({ min: 1, max: 30 }),
    }),
    { minLength: 1, maxLength: 6 },
  ),
});

test('whatever is late, closed, refused or limited: nothing is taken for a holiday that is none, and nothing known is requested', async (t) => {
  const server = await startMassiveServer(t, {});
  const settings = {
    ...readSettings({
      MASSIVE_API_KEY: MASSIVE_KEY,
      MASSIVE_BASE_URL: server.url,
      PRICE_HISTORY_DAYS: '4',
    }),
    maxRateLimitWaitMs: 0,
  };
  await fc.assert(
    fc.asyncProperty(arbitraryMarket, async ({ holidays, late, begin, jobs }) => {
      const database = openDatabase(':memory:');
      const answeredOn = new Map<string, string>();
      const plan = { from: SPAN[begin] as string, to: '2025-12-31' };
      for (const { first, length, age, limitAfter } of [...jobs].sort(
        (one, other) => one.first - other.first,
      )) {
        const dates = SPAN.slice(first, first + length);
        const today = addDays(dates.at(-1) as string, age);
        const isOut = (date: string) => date < (late.includes(date) ? addDays(today, -1) : today);
        const traded = SPAN.filter((date) => !holidays.includes(date));
        const before = server.requests.length;
        server.set({
          ...{ plan, prices: series('A B', traded.filter(isOut)) },
          fault: (_name, index) => (index - before >= limitAfter ? massiveFaults.limit : undefined),
        });
        const context = {
          database,
          log: silentLog,
          settings,
          clock: () => new Date(`${today}T12:00:00.000Z`),
          wait: async () => {},
        };
        const supplied = await supplyPrices(context, {
          dates,
          universe: ['A', 'B'],
          models: [],
          signal: new AbortController().signal,
        });
        const answered = server.requests
          .slice(before, before + limitAfter)
          .filter((name) => /^\d/.test(name) && name >= plan.from);
        for (const date of answered) {
          const last = answeredOn.get(date);
          const wasSettled = last !== undefined && last >= addDays(date, 3);
          assert.ok(!wasSettled, `${date} was settled on ${last} and is requested on ${today}`);
          assert.ok(
            last === undefined || last < today || !isOut(date),
            `${date} is requested twice on ${today}`,
          );
          if (!traded.includes(date) ? today >= addDays(date, 2) : isOut(date))
            answeredOn.set(date, today);
        }
        for (const { date, availability } of supplied.dates) {
          const isTraded = traded.includes(date);
          assert.ok(
            availability !== (isTraded ? 'no_trading' : 'available'),
            `${date} is ${availability}`,
          );
          if (answeredOn.has(date))
            assert.equal(availability, isTraded ? 'available' : 'no_trading', date);
        }
      }
      database.close();
    }),
    { numRuns: runs(6, 300) },
  );
});
