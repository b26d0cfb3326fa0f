import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addDays, weekdays, weekdaysBefore } from '../../src/core/time/calendar.ts';
import { storeDividends } from '../../src/core/database/splits-and-dividends.ts';
import { MASSIVE_KEY, massiveFaults } from '../support/massive-server.ts';
import { runs } from '../support/long.ts';
import { faults, startPriceServer } from '../support/price-server.ts';
import { series, startMassiveSupply, TODAY, WEEK } from '../support/price-supply.ts';
import { storePrices } from '../support/prices.ts';
import { emptyTables } from '../support/tables.ts';
import { assertLike, like, tableOf } from '../support/text-table.ts';

const HISTORY = weekdaysBefore(TODAY, 60);
const NEAREST_FIRST = weekdaysBefore('2025-11-17', 10).reverse();
const without = (...days: string[]) => HISTORY.filter((date) => !days.includes(date));

const start: typeof startMassiveSupply = (t, options) =>
  startMassiveSupply(t, { prices: series('A B C', HISTORY), ...options });

/** The requests of days, without those of lists. */
const daysOf = (requests: readonly string[]) => requests.filter((name) => /^\d/.test(name));

test('splits and dividends come first, then the dates; a second job requests nothing', async (t) => {
  const { server, supply, rows } = await start(t, {
    splits: 'A 2025-11-18 1 2',
    dividends: 'B 2025-11-19 0.5\nB 2025-11-19 0.25',
  });
  const { marks, warnings } = await supply();
  assert.deepEqual([marks, warnings], ['+++++', []]);
  assert.deepEqual(server.requests, ['splits', 'dividends', ...WEEK]);
  const splits = rows('SELECT symbol, date, numerator, denominator, source FROM stock_splits');
  assert.deepEqual(splits, ['A 2025-11-18 2 1 massive']);
  const dividends = rows('SELECT symbol, ex_date, cash_e6, basis, source FROM dividends');
  assert.deepEqual(dividends, ['B 2025-11-19 750000 as_paid massive']);
  const covered = rows('SELECT DISTINCT start_date, end_date FROM price_data_coverage');
  assert.deepEqual(covered, ['2025-11-15 2025-11-23']);
  assert.deepEqual((await supply()).warnings, []);
  assert.equal(server.requests.length, 7);
});

test('a download that brings a split which stored prices contradict says so, and so does every job with that symbol', async (t) => {
  const { database, supply } = await start(t, {
    splits: 'A 2025-11-18 1 4\nB 2025-11-18 1 4\nC 2025-11-18 1 4',
  });
  const before = weekdays('2025-11-03', '2025-11-17');
  const after = weekdays('2025-11-18', '2025-11-28');
  const all = [...before, ...after];
  const adjusted = `${series('A', before, { open: 400, close: 404 })}\n${series('A', after)}`;
  storePrices(database, adjusted, 'file-split-adjusted');
  storePrices(database, series('B', all), 'csv');
  storePrices(database, series('C', all), 'yahoo');
  const warnings = [
    'Prices of A are stored as split-adjusted, which a split contradicts: A split 4:1 on 2025-11-18, and closed at 404 on 2025-11-17 and at 101 on 2025-11-18; import all of them again with --as raw',
    'Prices of B are stored as raw, which a split contradicts: B split 4:1 on 2025-11-18, and closed at 101 on 2025-11-17 and at 101 on 2025-11-18; import all of them again with --as split-adjusted',
  ];
  assert.deepEqual((await supply()).warnings, warnings);
  const later = await supply({ dates: ['2025-11-27'] });
  assert.deepEqual(later.warnings, warnings, 'on later dates too');
  assert.deepEqual((await supply({ universe: 'B C' })).warnings, warnings.slice(1));
});

test('a job waits for nothing once its dates are complete; a download does, and requests nothing twice', async (t) => {
  const { server, supply } = await start(t, { perMinute: 7 });
  const setting = { settings: { priceHistoryDays: 10 } };
  await supply(setting);
  assert.equal(server.requests.length, 14, 'what the limit of the minute allows beside');
  assert.equal((await supply({ ...setting, waitsForHistory: true })).warnings.length, 1);
  assert.deepEqual(server.requests.slice(7), NEAREST_FIRST);
  assert.deepEqual((await supply(setting)).warnings, []);
  assert.equal(server.requests.length, 17);
});

test('for the closes before the first morning a limit is waited out; of older days a warning says what is missing', async (t) => {
  const { server, supply } = await start(t, { perMinute: 7 });
  const { warnings } = await supply({ settings: { priceHistoryDays: 10 } });
  assert.deepEqual(server.requests.slice(7), NEAREST_FIRST.slice(0, 7));
  assert.match(warnings[0] ?? '', /7 of the 10 trading days before 2025-11-17 have prices/);
});

test('one trading day before the first is counted as one', async (t) => {
  const plan = { from: '2025-11-14', to: '2025-12-31' };
  const { supply } = await start(t, { prices: series('A', ['2025-11-14', ...WEEK]), plan });
  const { warnings } = await supply({ universe: 'A', settings: { priceHistoryDays: 2 } });
  assertLike(warnings, ['…1 of the 2 trading days before 2025-11-17 has prices…']);
});

test('past the longest wait the job continues with the dates that are complete, the earliest', async (t) => {
  const { server, supply } = await start(t, { perMinute: 5 });
  const { marks, warnings } = await supply({ settings: { maxRateLimitWaitMs: 0 } });
  assert.equal(marks, '+++--');
  assert.deepEqual(warnings, [
    'Rate limit reached: 3 of 5 days downloaded',
    '2 dates left out: 2025-11-20, 2025-11-21; try again in a few minutes',
  ]);
  assert.equal(server.limited, 1);
});

test('a wait that the provider asks for is kept', async (t) => {
  const { supply, time } = await start(t, {
    fault: (_name, index) => (index === 3 ? massiveFaults.limitFor('17') : undefined),
  });
  const { warnings } = await supply();
  assert.deepEqual(warnings, ["Waited 17 seconds at the price provider's rate limit"]);
  assert.equal(time.ms, 17_000);
});

test('a holiday is one when it is two days past, or when a later day has bars; otherwise the day is requested again', async (t) => {
  const published = without('2025-11-19').filter((date) => date < '2025-11-27');
  const { server, supply } = await start(t, { prices: series('A B C', published) });
  const dates = ['2025-11-19', '2025-11-26', '2025-11-27', '2025-11-28'];
  const early = await supply({ dates, today: '2025-11-29' });
  assert.equal(early.marks, 'o+o-', 'Thursday is two days past');
  assertLike(early.warnings, ['…all prices of 1 date yet…: 2025-11-28']);
  server.set({ prices: series('A B C', without('2025-11-19', '2025-11-27')) });
  assert.equal((await supply({ dates, today: '2025-11-29' })).marks, 'o+o+');
  assert.deepEqual(daysOf(server.requests), [...dates, '2025-11-28']);
});

test('yesterday without bars is not a holiday until a later day has some', async (t) => {
  const { server, supply } = await start(t, { prices: series('A B C', HISTORY.slice(0, -2)) });
  const dates = ['2025-11-27', '2025-11-28'];
  assert.equal((await supply({ dates, today: '2025-11-28' })).marks, '--');
  server.set({ prices: series('A B C', without('2025-11-27')) });
  assert.equal((await supply({ dates, today: '2025-11-28' })).marks, 'o+');
  assert.deepEqual(daysOf(server.requests), [...dates, ...dates]);
});

test('a day that is out for few symbols covers none of the others until it is two days past', async (t) => {
  const { server, supply } = await start(t, { prices: `A 2025-11-28 1 1` });
  const dates = ['2025-11-28'];
  assert.equal((await supply({ dates, today: '2025-11-29' })).marks, '-');
  assert.equal((await supply({ dates, today: '2025-11-30' })).marks, '+');
  assert.deepEqual(daysOf(server.requests), ['2025-11-28', '2025-11-28']);
});

test('of today only the open is stored, and the rest is fetched when the day is over', async (t) => {
  const { server, supply, rows } = await start(t, { prices: series('A', [...HISTORY, TODAY]) });
  const setting = { universe: 'A', dates: [TODAY] };
  assert.equal((await supply(setting)).marks, '+');
  assert.deepEqual(rows('SELECT open, close FROM price_data'), ['100 -']);
  assert.deepEqual((await supply({ ...setting, today: '2025-12-02' })).warnings, []);
  assert.deepEqual(rows('SELECT open, close FROM price_data'), ['100 101']);
  assert.deepEqual(daysOf(server.requests), [TODAY, TODAY]);
});

test('where the plan begins within the job, its first date is found with few refused requests', async (t) => {
  const dates = weekdays('2025-11-03', '2025-11-28');
  const { server, supply } = await start(t, { plan: { from: '2025-11-12', to: '2025-11-30' } });
  const { marks, warnings } = await supply({ dates });
  assert.equal(marks, '-------+++++++++++++');
  assert.match(
    warnings[0] ?? '',
    /^The price provider's plan does not include 7 dates \(status 403: Your plan doesn't include this data timeframe\..*\): 2025-11-03, /,
  );
  const refused = daysOf(server.requests).filter((date) => date < '2025-11-12');
  assert.ok(refused.length <= 5, refused.join());
  assert.equal(new Set(server.requests).size, server.requests.length);
});

test('a date that is too new for the plan is left out, the ones before it are not', async (t) => {
  const { supply } = await start(t, { plan: { from: '2025-01-01', to: '2025-11-27' } });
  const dates = ['2025-11-26', '2025-11-27', '2025-11-28'];
  const { marks, warnings } = await supply({ dates, today: '2025-11-29' });
  assert.equal(marks, '++-');
  assert.match(warnings[0] ?? '', /does not include 1 date \(.*\): 2025-11-28$/);
});

test('beyond the plan, what is stored has to do', async (t) => {
  const { database, supply } = await start(t, { plan: { from: '2025-11-18', to: '2025-11-30' } });
  storePrices(database, series('A B', WEEK));
  const { marks, warnings } = await supply();
  assert.equal(marks, '+++++');
  assertLike(warnings, ['1 of 3 symbols has no prices…: C']);
});

const useless = tableOf<[fault: 'unknownKey' | 'cut' | 'html', warning: string]>(`
  unknownKey | The price provider rejects the key in MASSIVE_API_KEY (status 401: …): 0 of 5 days downloaded
  cut        | The price provider cannot be reached (…): 0 of 5 days downloaded
  html       | The price provider cannot be reached (a response that is not a JSON object…`);
for (const [fault, warning] of useless) {
  test(`where every response is ${fault} the job continues with the stored prices`, async (t) => {
    const { server, database, supply } = await start(t, { fault: () => massiveFaults[fault] });
    storePrices(database, series('A', WEEK));
    const supplied = await supply();
    assert.equal(supplied.marks, '+++++');
    const isSaid = supplied.warnings.some((sentence) => like(warning).test(sentence));
    assert.ok(isSaid, supplied.warnings.join('\n'));
    assert.ok(!JSON.stringify(supplied).includes(MASSIVE_KEY));
    if (fault === 'unknownKey') assert.equal(server.requests.length, 1, 'tried once');
  });
}

test('splits and dividends that the plan does not include are named in a warning, and the job continues', async (t) => {
  const { supply } = await start(t, {
    fault: (name) => (/^\d/.test(name) ? undefined : massiveFaults.notEntitled),
  });
  const { marks, warnings } = await supply();
  const reason = 'status 403: You are not entitled to this data. Please upgrade your plan.';
  const said = (kind: string) =>
    `The price provider's plan does not include ${kind}, so none are known (${reason})`;
  assert.deepEqual([marks, ...warnings], ['+++++', said('splits'), said('dividends')]);
});

test('pages are followed on our own base to the last', async (t) => {
  const dividends = WEEK.map((date) => `A ${date} 0.1`).join('\n');
  const pages = { pageSize: 2, nextHost: 'https://api.massive.com' };
  const { server, supply, rows } = await start(t, { dividends, ...pages });
  assert.deepEqual((await supply()).warnings, []);
  const requested = ['dividends', 'dividends page 2', 'dividends page 3'];
  assert.deepEqual(server.requests.slice(1, 4), requested);
  assert.equal(rows('SELECT ex_date FROM dividends').length, 5);
});

const dividend = (id: number | string, ex_dividend_date = '2025-11-18', cash_amount = 1) => ({
  ...{ id: `E${id}`, ticker: 'A', ex_dividend_date, cash_amount, currency: 'USD' },
});

test('a dividend that is on two pages counts once, and one outside the period not at all', async (t) => {
  const pages: Record<string, object[]> = {
    dividends: [dividend(1), dividend(2)],
    'dividends page 2': [dividend(2), dividend(3), dividend(4, '2025-12-30')],
  };
  const { supply, rows } = await start(t, {
    fault(name) {
      const results = pages[name];
      const next = name === 'dividends' && { next_url: '/stocks/v1/dividends?cursor=2' };
      return results && massiveFaults.json({ status: 'OK', results, ...next });
    },
  });
  assert.deepEqual((await supply()).warnings, []);
  assert.deepEqual(rows('SELECT ex_date, cash_e6 FROM dividends'), ['2025-11-18 3000000']);
});

const same = () => [dividend(1)];
/** Lists without an end: the next page of each, the dividends that it has, and when it is given up. */
type Page<Value> = (page: number) => Value;
const endless: [next: Page<number>, has: Page<object[]>, reason: string, atMost: number][] = [
  [() => 1, same, 'its next page is the same page', 2],
  [(page) => page, same, 'its pages repeat what they have', 2],
  [(page) => page, () => [], 'an empty page has a next one', 1],
  [(page) => page, (page) => [dividend(page)], 'it has more than 50 pages', 50],
];
for (const [next, has, reason, atMost] of endless) {
  test(`a list is given up where ${reason}, and its span stays unknown`, async (t) => {
    const { server, supply, rows } = await start(t, {
      fault(request, index) {
        const next_url = `/stocks/v1/dividends?cursor=${next(index + 2)}`;
        const body = { status: 'OK', results: has(index + 2), next_url };
        return request.startsWith('dividends') ? massiveFaults.json(body) : undefined;
      },
    });
    const { marks, warnings } = await supply();
    assert.equal(marks, '+++++');
    assert.ok(warnings[0]?.includes(reason), warnings[0]);
    const known = 'SELECT * FROM dividends UNION ALL SELECT *, 1, 1 FROM dividend_coverage';
    assert.deepEqual(rows(known), []);
    // The limit of the minute must not be used up by a list without an end: no date would ever be
    // downloaded.
    const requests = server.requests.filter((request) => request.startsWith('dividends'));
    assert.equal(requests.length, atMost);
  });
}

test('dividends in other currencies and ones that cannot be read are in the warnings; the latter leave their date unknown', async (t) => {
  const { supply, rows } = await start(t, {
    dividends: 'A 2025-11-18 0.5 EUR\nB 2025-11-18 -1\nC 2025-11-18 0.5',
  });
  const { warnings } = await supply();
  assert.match(
    warnings[0] ?? '',
    /Rejected 2 .*splits and dividends: A \(a dividend in EUR\), B \(.* 2025-11-18 is unknown: /,
  );
  assert.deepEqual(rows('SELECT symbol FROM dividends'), ['C']);
  const spans = `SELECT symbol, start_date, end_date FROM dividend_coverage WHERE symbol <> 'C' ORDER BY 1, 2`;
  const known = ['A 2025-11-17 2025-11-21', 'B 2025-11-17 2025-11-17', 'B 2025-11-19 2025-11-21'];
  assert.deepEqual(rows(spans), known);
});

test('what the provider takes back is removed, and what it corrects is revised', async (t) => {
  const { server, supply, rows } = await start(t, {
    splits: 'A 2025-11-18 1 2\nB 2025-11-18 1 3',
    dividends: 'A 2025-11-18 0.5\nB 2025-11-18 0.6',
  });
  await supply();
  server.set({ splits: 'A 2025-11-18 1 4', dividends: 'A 2025-11-18 0.7' });
  await supply({ dates: [...WEEK, '2025-12-01'], today: '2025-12-02' });
  assert.deepEqual(rows('SELECT symbol, numerator FROM stock_splits'), ['A 4']);
  assert.deepEqual(rows('SELECT symbol, cash_e6 FROM dividends'), ['A 700000']);
  const revised = 'SELECT 1 FROM stock_split_revisions UNION ALL SELECT 1 FROM dividend_revisions';
  assert.equal(rows(revised).length, 4);
});

test('a day that was answered soon after it was is requested once more, and a correction is a revision', async (t) => {
  const { server, supply, rows } = await start(t);
  const ask = (date: string, today: string) =>
    supply({ dates: [date], today, universe: 'A B', settings: { priceHistoryDays: 2 } });
  assert.deepEqual((await ask('2025-11-18', '2025-11-19')).warnings, []);
  const corrected = series('A B', HISTORY).replace('A 2025-11-18 100 101', 'A 2025-11-18 100 105');
  server.set({ prices: corrected });
  assert.deepEqual((await ask('2025-11-19', '2025-11-20')).warnings, []);
  assertLike((await ask('2025-11-20', '2025-11-21')).warnings, [
    '…corrected 1 daily price (A)…price_revisions…',
  ]);
  const close = `SELECT close FROM price_data WHERE symbol = 'A' AND date = '2025-11-18'`;
  assert.deepEqual(rows(close), ['105']);
  await ask('2025-11-21', '2025-11-24');
  assert.deepEqual(daysOf(server.requests), [
    ...['2025-11-18', '2025-11-17', '2025-11-14'],
    ...['2025-11-19', '2025-11-17'],
    ...['2025-11-20', '2025-11-18'],
    ...['2025-11-21', '2025-11-19', '2025-11-20'],
  ]);
});

test('bars of other sources and adjusted series are not changed, and real bars replace synthetic ones', async (t) => {
  const { database, supply, rows } = await start(t, { prices: series('A B C D', HISTORY) });
  const other = { open: 90, close: 90 };
  storePrices(database, series('A', WEEK, other));
  storePrices(database, series('B', WEEK.slice(0, 1), other), 'yahoo');
  storePrices(database, series('D', WEEK, other), 'synthetic');
  const { warnings } = await supply({ universe: 'A B C D' });
  assert.deepEqual(
    rows('SELECT symbol, source, count(*) FROM price_data GROUP BY symbol, source'),
    ['A csv 5', 'B yahoo 1', 'C massive 5', 'D massive 5'],
  );
  assertLike(warnings, ['…1 symbol: D', '1 of 4 symbols has no prices…: B']);
});

test('a symbol without any prices is named in a warning, and blocks nothing', async (t) => {
  const { supply } = await start(t);
  const { marks, warnings } = await supply({ universe: 'A B GONE' });
  assert.equal(marks, '+++++');
  assert.deepEqual(warnings, ['The price provider has no prices of 1 symbol on these dates: GONE']);
});

test('a bar that is not plausible is named with the reason', async (t) => {
  const prices = `${series('A', WEEK)}\n${series('B', WEEK, { open: 0.00004, close: 0.00004 })}`;
  const { supply, rows } = await start(t, { prices });
  const { warnings } = await supply({ universe: 'A B' });
  assert.match(
    warnings[1] ?? '',
    like('…5 implausible…: B (open is below 0.0001 dollar…: 0.00004)'),
  );
  assert.deepEqual(rows('SELECT DISTINCT symbol FROM price_data'), ['A']);
});

test('a day that cannot be read loses only itself', async (t) => {
  const { supply } = await start(t, {
    fault: (name) => (name === '2025-11-19' ? massiveFaults.notAList : undefined),
  });
  const { marks, warnings } = await supply();
  assert.equal(marks, '++-++');
  assertLike(warnings, ['…2025-11-19: results that are not a list: "AAPL"']);
});

test('of prices that are adjusted for splits all splits up to today are known, and none of their bars is requested', async (t) => {
  const { database, server, supply, rows } = await start(t, {
    splits: 'A 2025-11-26 1 2\nA 2025-12-03 1 3',
  });
  storePrices(database, series('A', WEEK), 'yahoo');
  await supply({ universe: 'A' });
  assert.deepEqual(rows('SELECT date FROM stock_splits'), ['2025-11-26']);
  await supply({ universe: 'A', today: '2025-12-05' });
  assert.deepEqual(rows('SELECT date FROM stock_splits'), ['2025-11-26', '2025-12-03']);
  assert.deepEqual(server.requests, ['splits', 'dividends', 'splits']);
});

for (const source of ['disguise', 'stooq'] as const) {
  test(`splits and dividends of ${source} prices are not requested, so those of files stay`, async (t) => {
    const { database, server, supply, rows } = await start(t);
    storePrices(database, series('CODE', WEEK), source);
    const [symbol, exDate] = ['CODE', '2025-11-18'];
    const list = {
      dividends: [{ symbol, exDate, cash: 1 }],
      spans: [{ symbol, startDate: exDate, endDate: exDate }],
      basis: 'as_paid',
    } as const;
    storeDividends(database, list, { source: 'csv', recordedAt: `${TODAY}T00:00:00.000Z` });
    await supply({ universe: 'CODE' });
    assert.deepEqual(server.requests, []);
    assert.deepEqual(rows('SELECT symbol, ex_date FROM dividends'), ['CODE 2025-11-18']);
    await supply({ universe: 'CODE A' });
    const covered = "SELECT DISTINCT symbol FROM dividend_coverage WHERE source = 'massive'";
    assert.deepEqual(rows(covered), ['A']);
  });
}

/** Alpha Vantage beside Massive, and the settings that name it. */
async function startAlpha(t: Parameters<typeof start>[0], options = {}) {
  const alpha = await startPriceServer(t, { prices: series('A B C', HISTORY), ...options });
  const settings = { alphaVantageApiKey: 'KEY', alphaVantageBaseUrl: alpha.url };
  return { requests: alpha.requests, settings };
}

test('--limit bounds what both providers download together, without dates that are refused', async (t) => {
  const plan = { from: '2025-11-20', to: '2025-11-30' };
  const { server, supply, rows } = await start(t, { plan });
  const { requests, settings } = await startAlpha(t);
  await supply({ settings, downloadsLeft: 1 });
  assert.deepEqual([rows('SELECT COUNT(*) FROM market_days'), requests], [['1'], []]);
  await supply({ settings, downloadsLeft: 3 });
  assert.deepEqual(rows('SELECT COUNT(*) FROM market_days'), ['2']);
  assert.deepEqual(requests, ['A compact', 'B compact']);
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
  const plan = { from: '2025-11-19', to: '2025-11-30' };
  const { server, supply, rows } = await start(t, { plan });
  const alpha = await startAlpha(t);
  // The days before the first date are beyond Massive's plan too, and come with Alpha Vantage's
  // responses.
  const settings = { ...alpha.settings, priceHistoryDays: 2 };
  const { marks, warnings } = await supply({ settings });
  assert.deepEqual([marks, warnings], ['+++++', []]);
  assert.deepEqual(alpha.requests, ['A compact', 'B compact', 'C compact']);
  const between = `date BETWEEN '${WEEK[0]}' AND '${WEEK[4]}'`;
  assert.deepEqual(
    rows(`SELECT DISTINCT date, source FROM price_data WHERE ${between} ORDER BY date`),
    WEEK.map((date) => `${date} ${date < '2025-11-19' ? 'alpha-vantage' : 'massive'}`),
  );
  const [days, symbols] = [server.requests.length, alpha.requests.length];
  await supply({ settings });
  assert.deepEqual([server.requests.length, alpha.requests.length], [days, symbols]);
});

test('with both keys Alpha Vantage steps in where Massive cannot be used, and not at its rate limit', async (t) => {
  const { server, supply } = await start(t, { fault: () => massiveFaults.limit });
  const alpha = await startAlpha(t, { fault: () => faults.dailyQuota('KEY') });
  const settings = { ...alpha.settings, maxRateLimitWaitMs: 0 };
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

test('whatever is late, closed, refused or limited: a trading day is never taken for a holiday, and nothing known is requested', async (t) => {
  const { server, supply, database } = await startMassiveSupply(t);
  const settings = { priceHistoryDays: 4, maxRateLimitWaitMs: 0 };
  await fc.assert(
    fc.asyncProperty(arbitraryMarket, async ({ holidays, late, begin, jobs }) => {
      emptyTables(database);
      const answeredOn = new Map<string, string>();
      const plan = { from: SPAN[begin] as string, to: '2025-12-31' };
      for (const { first, length, age, limitAfter } of jobs.toSorted((a, b) => a.first - b.first)) {
        const dates = SPAN.slice(first, first + length);
        const today = addDays(dates.at(-1) as string, age);
        const isOut = (date: string) => date < (late.includes(date) ? addDays(today, -1) : today);
        const traded = SPAN.filter((date) => !holidays.includes(date));
        const before = server.requests.length;
        server.set({
          ...{ plan, prices: series('A B', traded.filter(isOut)) },
          fault: (_name, index) => (index - before >= limitAfter ? massiveFaults.limit : undefined),
        });
        const supplied = await supply({ dates, today, universe: 'A B', settings });
        const requested = server.requests.slice(before, before + limitAfter);
        for (const date of daysOf(requested).filter((name) => name >= plan.from)) {
          const last = answeredOn.get(date);
          const wasSettled = last !== undefined && last >= addDays(date, 3);
          assert.ok(!wasSettled, `${date} was settled on ${last} and is requested on ${today}`);
          const isTwice = last !== undefined && last >= today && isOut(date);
          assert.ok(!isTwice, `${date} is requested twice on ${today}`);
          if (!traded.includes(date) ? today >= addDays(date, 2) : isOut(date))
            answeredOn.set(date, today);
        }
        for (const { date, availability } of supplied.dates) {
          const [right, wrong] = traded.includes(date)
            ? ['available', 'no_trading']
            : ['no_trading', 'available'];
          assert.notEqual(availability, wrong, date);
          if (answeredOn.has(date)) assert.equal(availability, right, date);
        }
      }
    }),
    { numRuns: runs(4, 300) },
  );
});
