import assert from 'node:assert/strict';
import type { SQLInputValue } from 'node:sqlite';
import { test } from 'node:test';
import { weekdays, weekdaysBefore } from '../../src/core/time/calendar.ts';
import type { Database } from '../../src/core/database/database.ts';
import { findJumps } from '../../src/core/prices/corporate-actions.ts';
import { asWarning, type Warning } from '../../src/core/domain/vocabulary.ts';
import { suspicionWarnings } from '../../src/core/prices/suspected.ts';
import type { Settings } from '../../src/core/settings/settings.ts';
import { insertTestJob } from '../support/jobs.ts';
import { faults } from '../support/price-server.ts';
import {
  ALPHA_KEY as KEY,
  series,
  startAlphaSupply as start,
  TODAY,
  WEEK,
} from '../support/price-supply.ts';
import { storePrices } from '../support/prices.ts';
import { assertLike, like, tableOf } from '../support/text-table.ts';

/** Weekdays up to the last one before today: more than the provider's compact answer has. */
const HISTORY = weekdaysBefore(TODAY, 150);

test('missing prices are downloaded once, and a second job requests nothing', async (t) => {
  const { server, supply } = await start(t, { prices: series('A B C', HISTORY) });
  const { marks, warnings } = await supply();
  assert.deepEqual([marks, warnings], ['+++++', []]);
  assert.deepEqual(server.requests, ['A compact', 'B compact', 'C compact']);
  assert.deepEqual((await supply()).warnings, []);
  assert.deepEqual(server.requests.length, 3);
});

test('compact reaches a hundred weekdays back; for earlier dates the whole history is requested', async (t) => {
  const { server, supply } = await start(t, { prices: series('A', HISTORY) });
  await supply({ universe: 'A', dates: [weekdaysBefore('2025-12-02', 100)[0] as string] });
  await supply({ universe: 'A', dates: [HISTORY[0] as string] });
  assert.deepEqual(server.requests, ['A compact', 'A full']);
});

test('members: what is listed later keeps no date from running, and is supplied; what lacks prices is named', async (t) => {
  const { supply } = await start(t, {
    prices: `${series('A', HISTORY)}\n${series('B', WEEK.slice(3))}`,
  });
  const all = { from: '2025-01-01', to: '9999-12-31' };
  const late = { symbol: 'B', from: '2025-11-20', to: '9999-12-31' };
  const members = [{ symbol: 'A', ...all }, late];
  const one = { universe: 'A B', downloadsLeft: 1 };
  assert.equal((await supply(one)).marks, '-----', 'B cannot be asked for today');
  assert.equal((await supply({ ...one, members, downloadsLeft: 0 })).marks, '+++--');
  const { marks, warnings } = await supply({ universe: 'A B', members });
  assert.deepEqual([marks, warnings], ['+++++', []]);
  const off = { settings: { autoDownloadPriceData: false } };
  assert.deepEqual((await supply({ universe: 'A B', members, ...off })).warnings, []);
  const gone = [...members, { symbol: 'C', ...all }];
  const found = await supply({ universe: 'A B C', members: gone });
  assert.equal(found.marks, '+++++');
  assert.match(found.warnings.join('\n'), /^1 of 3 symbols has no prices .*: C$/m);
});

test('holidays, weekends and symbols without a bar are not requested again', async (t) => {
  const open = HISTORY.filter((date) => date !== '2025-11-19');
  const { server, supply } = await start(t, {
    prices: `${series('A B', open)}\n${series('C', ['2025-11-20'])}`,
  });
  const { marks, dates, warnings } = await supply();
  assert.equal(marks, '++o++');
  assert.deepEqual([dates.flatMap(({ missing }) => missing), warnings], [[], []]);
  await supply();
  assert.equal(server.requests.length, 3);
});

test('a symbol that the provider does not know is covered, reported, and blocks nothing', async (t) => {
  const { server, supply } = await start(t, { prices: series('A B', HISTORY) });
  const { marks, warnings } = await supply({ universe: 'A B GONE' });
  assert.equal(marks, '+++++');
  assert.deepEqual(warnings, ['The price provider does not know 1 symbol: GONE']);
  await supply({ universe: 'A B GONE' });
  assert.equal(server.requests.length, 3);
});

test('a day that is not published yet is requested again; one that others have is not', async (t) => {
  const yesterday = '2025-11-28';
  const pricesWith = (published: string, late: string) =>
    `${series(published, HISTORY)}\n${series(late, HISTORY.slice(0, -1))}`;
  const { server, supply } = await start(t, { prices: series('A B C', HISTORY.slice(0, -1)) });
  const again = (date: string) => `…all prices of 1 date yet…: ${date}`;
  const ask = async () => {
    const setting = { dates: ['2025-11-27', yesterday], today: '2025-11-29' };
    const { marks, warnings } = await supply(setting);
    assertLike(warnings, marks === '++' ? [] : [again(yesterday)]);
    return marks;
  };
  assert.equal(await ask(), '+-');
  server.set({ prices: pricesWith('A', 'B C') });
  assert.equal(await ask(), '+-', 'most symbols lack it');
  server.set({ prices: pricesWith('A B', 'C') });
  assert.equal(await ask(), '++', 'C did not trade');
  assert.equal(server.requests.length, 8);
  assert.equal(await ask(), '++');
  assert.equal(server.requests.length, 8);
  server.set({ fault: (name) => (name === 'C compact' ? faults.dailyQuota(KEY) : undefined) });
  const stopped = await supply({ dates: ['2025-12-01'], today: '2025-12-02' });
  assert.match(
    stopped.warnings.join('\n'),
    /^Rate limit reached: 2 of 3 symbols downloaded\n1 date left out: 2025-12-01; [^\n]*$/,
  );
  server.set({ fault: () => undefined });
  const dates = ['2025-12-02', '2025-12-03', '2025-12-04'];
  const { warnings } = await supply({ dates, today: '2025-12-06' });
  assertLike(warnings, [again('2025-12-04')], 'days further past had no trading');
});

test('of today only the open is stored, and the rest is fetched when New York has closed', async (t) => {
  const { server, rows, supply } = await start(t, { prices: series('A', [...HISTORY, TODAY]) });
  const close = () => rows(`SELECT close FROM price_data WHERE date = '${TODAY}'`).join();
  const setting = { universe: 'A', dates: [TODAY] };
  assert.equal((await supply(setting)).marks, '+');
  assert.equal(close(), '-');
  await supply({ ...setting, time: '20:59' });
  assert.equal(server.requests.length, 1);
  const { warnings } = await supply({ ...setting, time: '21:00' });
  assert.equal(close(), '101');
  assert.deepEqual(warnings, [], 'filling a partial bar is no revision');
  assert.equal(server.requests.length, 2);
});

test('the daily quota stops the downloads: complete dates run, the others are reported', async (t) => {
  const { server, supply } = await start(t, {
    prices: series('A B C D', HISTORY),
    fault: (_request, index) => (index >= 2 ? faults.dailyQuota(KEY) : undefined),
  });
  const { marks, warnings } = await supply({ universe: 'A B C D' });
  assert.equal(marks, '-----');
  assert.deepEqual(warnings, [
    'Rate limit reached: 2 of 4 symbols downloaded',
    `5 dates left out: ${WEEK.join(', ')}; try again tomorrow, when the provider's daily quota is reset`,
  ]);
  server.set({ fault: () => undefined });
  assert.equal((await supply({ universe: 'A B C D' })).marks, '+++++');
  const requested = server.requests.map((request) => request.replace(' compact', ''));
  assert.equal(requested.join(' '), 'A B C C D');
});

test('what completes the most dates is downloaded first', async (t) => {
  const { server, database, supply } = await start(t, {
    prices: series('A B C D', HISTORY),
    fault: (_request, index) => (index >= 1 ? faults.dailyQuota(KEY) : undefined),
  });
  // Of the week's last three days only D is missing.
  storePrices(database, series('A B C', WEEK.slice(2)));
  const { marks } = await supply({ universe: 'A B C D' });
  assert.deepEqual(server.requests, ['D compact', 'A compact']);
  assert.equal(marks, '--+++');
});

test('a short limit is waited out within the bound, and past it stops the downloads', async (t) => {
  const { supply, server } = await start(t, { prices: series('A B', HISTORY) });
  const settings = { maxRateLimitWaitMs: 0 };
  for (const [fault, when] of [
    [faults.perSecond, 'in a few minutes'],
    [faults.rateLimit, 'in a few minutes'],
    [faults.dailyFrequency, "tomorrow, when the provider's daily quota is reset"],
  ] as const) {
    server.set({ fault: (request) => (request.startsWith('B') ? fault : undefined) });
    const { marks, warnings } = await supply({ universe: 'A B', settings });
    assert.match(warnings[0] ?? '', /^Rate limit reached: [01] of [12] symbols? downloaded$/);
    assert.equal(warnings[1], `5 dates left out: ${WEEK.join(', ')}; try again ${when}`);
    assert.equal(marks, '-----', 'no date runs with some of its symbols');
  }
  const { length } = server.requests;
  server.set({ fault: (_request, index) => (index === length ? faults.perMinute : undefined) });
  const { marks, warnings } = await supply({ universe: 'A B' });
  assert.deepEqual(warnings, ["Waited 2 seconds at the price provider's rate limit"]);
  assert.equal(marks, '+++++');
});

test('where the whole history is for paying customers, the last hundred days are used and older dates stay missing', async (t) => {
  const { server, supply } = await start(t, {
    prices: series('A B', HISTORY),
    fault: (request) => (request.endsWith('full') ? faults.premium : undefined),
  });
  const dates = [HISTORY[0] as string, '2025-11-20'];
  const { marks, warnings } = await supply({ universe: 'A B', dates });
  assert.equal(marks, '-+');
  assertLike(warnings, ['…100 trading days. Older dates…import-prices…']);
  assert.deepEqual(server.requests, ['A full', 'A compact', 'B compact']);
});

const useless = tableOf<[fault: 'cut' | 'badKey' | 'premium' | 'html', warning: string]>(`
  cut     | The price provider cannot be reached (…): 0 of 3 symbols downloaded
  badKey  | The price provider rejects the key in ALPHAADVANTAGE_API_KEY…
  premium | The price provider limits daily prices to paying customers…
  html    | The price provider cannot be reached (a response that is not JSON…`);
for (const [fault, warning] of useless) {
  test(`where every response is ${fault} the job continues with the stored prices`, async (t) => {
    const { database, supply } = await start(t, { fault: () => faults[fault] });
    storePrices(database, series('A', WEEK));
    const { marks, warnings } = await supply({ universe: 'A B C D' });
    assert.equal(marks, '+++++');
    const isSaid = warnings.some((sentence) => like(warning).test(sentence));
    assert.ok(isSaid, warnings.join('\n'));
    assert.match(warnings.join('\n'), /^3 of 4 symbols have no prices .*: B, C, D$/m);
    assert.ok(!warnings.join().includes(KEY));
  });
}

const off: [settings: Partial<Settings>, reason: string][] = [
  [{ autoDownloadPriceData: false }, 'AUTO_DOWNLOAD_PRICE_DATA is false'],
  [{ alphaVantageApiKey: null }, 'neither MASSIVE_API_KEY nor ALPHAADVANTAGE_API_KEY is set'],
];
for (const [settings, reason] of off) {
  test(`${reason}: no request is made, one bar is enough`, async (t) => {
    const { server, database, supply } = await start(t, { prices: series('A B C', HISTORY) });
    storePrices(database, series('A', WEEK));
    const { marks, warnings } = await supply({ settings });
    assert.equal(marks, '+++++');
    assertLike(warnings, [`…not downloaded: ${reason}`, '2 of 3 symbols have no prices…: B, C']);
    assert.deepEqual(server.requests, []);
  });
}

test('an unreadable response loses only its own symbol', async (t) => {
  const { supply } = await start(t, {
    prices: series('A B C', HISTORY),
    fault: (request) => (request.startsWith('B') ? faults.html : undefined),
  });
  const { marks, warnings } = await supply();
  assert.equal(marks, '+++++');
  assert.match(warnings[0] ?? '', like('…for B: a response that is not JSON…'));
});

test('a series that is adjusted for splits gets no raw bars, and blocks nothing', async (t) => {
  const { server, database, supply } = await start(t, { prices: series('A B', HISTORY) });
  storePrices(database, series('B', WEEK.slice(0, 2)), 'yahoo');
  const { marks, warnings } = await supply({ universe: 'A B' });
  assert.deepEqual(server.requests, ['A compact']);
  assert.equal(marks, '+++++');
  assertLike(warnings, ['1 of 2 symbols has no prices…: B']);
});

test('real prices replace synthetic ones, which never count as known beside a provider', async (t) => {
  const { database, supply, rows } = await start(t, { prices: series('A', HISTORY) });
  storePrices(database, series('A', ['2024-01-02', ...WEEK]), 'synthetic');
  const { warnings } = await supply({ universe: 'A', settings: { deploymentMode: 'DEV' } });
  assertLike(warnings, ['…1 symbol: A']);
  for (const table of ['price_data', 'price_data_coverage'])
    assert.deepEqual(rows(`SELECT DISTINCT source FROM ${table}`), ['alpha-vantage']);
});

const SPLIT_DAY = WEEK[2] as string;
/** 1,500 before the split day, 100 from it on, as it traded. */
const RAW = HISTORY.map((date) =>
  series('A', [date], date < SPLIT_DAY ? { open: 1500, close: 1500 } : { open: 100, close: 100 }),
).join('\n');
const SPLITS = 'SELECT symbol, date, numerator, denominator FROM stock_splits';

test('splits are requested once, where raw prices jump', async (t) => {
  const { server, rows, supply } = await start(t, {
    prices: `${RAW}\n${series('B', HISTORY)}`,
    splits: `A ${SPLIT_DAY} 15.0000`,
  });
  assert.deepEqual((await supply({ universe: 'A B' })).warnings, []);
  assert.deepEqual(server.requests, ['A compact', 'B compact', 'A splits']);
  assert.deepEqual(rows(SPLITS), [`A ${SPLIT_DAY} 15 1`]);
  await supply({ universe: 'A B' });
  assert.equal(server.requests.length, 3);
});

test('a jump that the provider does not call a split is real, and not requested again', async (t) => {
  const { server, supply } = await start(t, { prices: RAW });
  assert.deepEqual((await supply({ universe: 'A' })).warnings, []);
  await supply({ universe: 'A' });
  assert.deepEqual(server.requests, ['A compact', 'A splits']);
});

const JUMP = {
  kind: 'split',
  date: SPLIT_DAY,
  last: '',
  from: 1500,
  to: 100,
  isCovered: 1,
} as const;
const possibleSplit = (symbol: string) => suspicionWarnings([{ ...JUMP, symbol }])[0];

test('until the provider has answered, the job warns of a possible split', async (t) => {
  const { server, rows, supply } = await start(t, {
    prices: RAW,
    splits: `A ${SPLIT_DAY} 15`,
    fault: (request) => (request.endsWith('splits') ? faults.dailyQuota(KEY) : undefined),
  });
  const warningsOf = async (settings = {}) => (await supply({ universe: 'A', settings })).coded;
  assert.deepEqual(await warningsOf(), [possibleSplit('A')]);
  assert.deepEqual(await warningsOf({ alphaVantageApiKey: null }), [possibleSplit('A')]);
  server.set({ fault: () => undefined });
  assert.deepEqual(await warningsOf(), []);
  assert.deepEqual(rows(SPLITS), [`A ${SPLIT_DAY} 15 1`]);
});

test('one job warns of a possible split before its dates; every job warns of one on its own dates', async (t) => {
  const { database, supply } = await start(t, { prices: RAW });
  storePrices(database, `${RAW}\n${RAW.replaceAll(/\bA\b/g, 'BA')}`);
  const settings = { alphaVantageApiKey: null };
  const warningsOf = async (universe: string, dates = weekdays('2025-11-24', '2025-11-26')) => {
    const { coded } = await supply({ universe, dates, settings });
    return coded.filter((one) => asWarning(one).code === 'possible_split');
  };
  const endWith = (warnings: readonly (string | Warning)[]) => {
    const [date = ''] = WEEK;
    insertTestJob(database, {
      ...{ jobId: crypto.randomUUID(), startDate: date, endDate: date, dates: [date], runs: [] },
      ...{ replaceExisting: false, agentConfig: {}, createdAt: TODAY, warnings },
    });
    database.statement(`UPDATE jobs SET status = 'completed', completed_at = ?`).run(TODAY);
  };
  endWith(['Skipped 1 date']);
  endWith(await warningsOf('BA'));
  const other = await warningsOf('A');
  assert.deepEqual(other, [possibleSplit('A')], 'another symbol, of which no job has warned');
  assert.deepEqual(await warningsOf('BA'), []);
  const own = await warningsOf('BA', WEEK.slice(2));
  assert.deepEqual(own, [possibleSplit('BA')], 'it is in the results of this job too');
  assert.deepEqual(await warningsOf('BA', WEEK.slice(3)), []);
});

test('a history of decades is stored in slices, and another request is answered between them', async (t) => {
  const long = weekdays('2010-01-04', '2025-11-28');
  const { rows, supply } = await start(t, { prices: series('A', long) });
  let turns = 0;
  const ticking = setInterval(() => (turns += 1), 0);
  await supply({ universe: 'A', dates: [long[0] as string] });
  clearInterval(ticking);
  assert.deepEqual(rows('SELECT count(*) FROM price_data'), [String(long.length)]);
  assert.ok(turns > 1);
});

const MANY = Array.from({ length: 100 }, (_, index) => `S${index}`).join(' ');

test('a long job over many symbols is examined 2,000 bars at a time', async (t) => {
  const dates = weekdaysBefore(TODAY, 50);
  const { database, supply } = await start(t, { prices: '' });
  storePrices(database, series(MANY, dates.slice(0, 39)));
  const { watched, sizes } = watchRows(database);
  const settings = { alphaVantageApiKey: null };
  const { marks } = await supply({ database: watched, universe: MANY, dates, settings });
  assert.equal(marks, '+'.repeat(39) + '-'.repeat(11));
  assert.equal(Math.max(...sizes), 2_000);
});

test('of dates that lie far apart no bars between them are read', async (t) => {
  const dates = weekdaysBefore(TODAY, 250);
  const { database, supply } = await start(t, { prices: '' });
  storePrices(database, series('S1 S2', dates));
  const { watched, sizes } = watchRows(database);
  const apart = dates.filter((_, index) => index % 100 === 0);
  const settings = { alphaVantageApiKey: null };
  const { marks } = await supply({ database: watched, universe: MANY, dates: apart, settings });
  assert.equal(marks, '+++');
  assert.equal(Math.max(...sizes), 2);
});

test('jumps are looked for in 20 symbols at a time, or in fewer over years', async (t) => {
  const { database } = await start(t, { prices: '' });
  const { watched, symbols } = watchRows(database);
  const universe = Array.from({ length: 25 }, (_, index) => `S${index}`);
  for (const from of ['2025-01-02', '2016-01-04'])
    await findJumps(watched, universe, { from, to: '2025-11-28' });
  assert.deepEqual(symbols, [20, 5, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1]);
});

/**
 * A database that notes how many rows each list of rows has, and in how many symbols each statement
 * looks for jumps.
 */
function watchRows(database: Database): { watched: Database; sizes: number[]; symbols: number[] } {
  const [sizes, symbols]: [number[], number[]] = [[], []];
  const statement: Database['statement'] = (sql, rows) => {
    const prepared = database.statement(sql, rows);
    const list = (...values: SQLInputValue[]) => {
      const found = prepared.all(...values);
      sizes.push(found.length);
      return found;
    };
    const iterate = (...values: SQLInputValue[]) => {
      if (sql.includes('nights')) symbols.push(JSON.parse(String(values[0])).length);
      return prepared.iterate(...values);
    };
    const noted: Record<PropertyKey, unknown> = { all: list, iterate };
    return new Proxy(prepared, {
      get: (target, name) => noted[name] ?? Reflect.get(target, name).bind(target),
    });
  };
  return { watched: { ...database, statement }, sizes, symbols };
}
