import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createWriteStream, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { describeImport } from '../../src/features/price-files/import-prices.ts';
import { addDays } from '../../src/core/time/calendar.ts';
import { openDatabase } from '../../src/core/database/database.ts';
import { storeBars } from '../../src/core/database/prices.ts';
import { importFile } from '../../src/features/price-files/import.ts';
import { writeInTurns } from '../../src/features/price-files/store-staged.ts';
import { importBesideServer, importText, storedIn, TODAY } from '../support/imports.ts';
import { clockFrom } from '../support/service.ts';
import { storePrices } from '../support/prices.ts';
import { noProc } from '../support/processes.ts';
import { until } from '../support/until.ts';
import { rowsAsText } from '../support/tables.ts';
import { like, tableOf } from '../support/text-table.ts';
import { inLongForm } from '../support/long.ts';
import { temporaryFolder } from '../support/folder.ts';

const HEADER = 'symbol,date,open,high,low,close,volume';
const OPTIONS = { clock: clockFrom(TODAY) };
const series = (name: string) => `{"Meta Data": {"2. Symbol": "A"}, "${name}": {}}`;

const intraday = (span: string) =>
  `its bars are intraday, "Time Series (${span})"; daily ones are needed, "Time Series (Daily)"`;
const NO_SERIES = 'it has no "Meta Data" with a symbol and no "Time Series (Daily)"';
/** A file, with ⏎ where a line ends, and why it cannot be imported. */
const unreadable = tableOf<[name: string, text: string, message: string]>(`
  an empty file                          |                                      | it is empty
  bytes                                  | \0\u0001\u0002                       | …as CSV of prices its header lacks date, open, close…
  prose                                  | Good morning,⏎here are the prices.   | …its header lacks …columns are Good morning…
  prices without a close                 | Date,Open,Settle⏎2025-09-02,1,1⏎     | … lacks close …Settle
  a close and no open                    | symbol,date,close⏎A,2025-09-02,1⏎    | …its header lacks open (…
  a close beside dividends, no open      | symbol,ex_date,amount,close⏎A,2025-09-02,1,1⏎ | …its header lacks date, open (dividends need ex_date and amount,…
  an ex-date without amounts             | symbol,ex_date,cash⏎A,2024-06-07,1⏎  | …columns are …, cash
  dividends on other dates, adjusted     | Date,Dividends,Stock Splits⏎2024-06-07,1,0⏎ | … lacks open, clo…
  splits without dates                   | symbol,numerator,denominator⏎A,4,1⏎  | …lacks date, open, close…
  two columns of one name                | date,open,OPEN,close⏎2025-01-06,1,2,1⏎ | …two columns for open
  a header and nothing else              | date,open,close⏎                     | it has no rows
  a header of dividends and nothing else | symbol,ex_date,amount⏎               | it has no rows
  a series without days                  | ${series('Time Series (Daily)')}     | it has no rows
  an intraday series                     | ${series('Time Series (5min)')}      | ${intraday('5min')}
  a weekly series                        | ${series('Weekly Adjusted Time Series')} | ${NO_SERIES}
  hourly lines                           | ${series('Time Series (60min)')}⏎${series('Time Series (60min)')} | ${intraday('60min')}
  JSON of something else                 | {"a": 1}                             | ${NO_SERIES}
  the provider's rate limit              | {"Note": "Thank you"}                | …message instead of prices: Thank you
  the provider's error                   | {"Error Message": "Invalid"}         | …message instead of prices: Invalid
  a list on one line                     | [{"date":"2025-09-02","open":1,"close":1}] | it is a JSON list, which is not read: write it as CSV with a header
  a list with a mark over two lines      | \ufeff[⏎{"date":"2025-09-02"}]        | it is a JSON list, which is not read: …
  a list with NaN on one line            | \ufeff[{"date":"2025-09-02","open":NaN}] | it begins as JSON and is not: NaN on line 1; JSON has null for what is unknown
  one symbol twice in a table of several | Price,Open,Close,Open⏎Ticker,A,A,A⏎Date,,,⏎2025-09-02,1,1,1⏎ | its header has two columns for A Open
  half a JSON document                   | ${series('x').slice(0, -1)}          | it begins as JSON and is not: …JSON…
  NaN in a JSON document                 | ${series('x').replaceAll(',', ',⏎').replace('{}', 'NaN')} | it begins as JSON and is not: NaN on line 2; JSON has null for what is unknown
  NaN in a JSON document after a blank line | ⏎${series('x').replaceAll(',', ',⏎').replace('{}', 'NaN')} | it begins as JSON and is not: NaN on line 3; JSON has null for what is unknown
`);
for (const [name, text, message] of unreadable) {
  test(`${name} changes nothing and says why`, async () => {
    const database = openDatabase(':memory:');
    const refused = { code: 'invalid_file', message: like(message) };
    await assert.rejects(importText(text.replaceAll('⏎', '\n'), { database }), refused);
    assert.deepEqual(storedIn(database), []);
  });
}

test('a missing file says so', async () => {
  const missing = importFile(openDatabase(':memory:'), '/nonexistent.csv', OPTIONS);
  await assert.rejects(missing, /ENOENT.*nonexistent\.csv/);
});

test('the symbol has many names', async () => {
  for (const name of ['Name', 'tic', 'act_symbol', 'ts_code', 'Ticker', 'SYMBOL', 'code']) {
    const text = `${name},date,open,close\nA,2025-09-02,1,1\nB,2025-09-02,2,2\n`;
    const { summary, refused } = await importText(text, { name: 'all_stocks_5yr.csv' });
    assert.deepEqual([summary.symbols, refused], [['A', 'B'], []], name);
  }
});

test('CSV has a mark, quotes and CRLF', async () => {
  const text =
    '\ufeffclose,"symbol",date,open,note,volume,low,high\r\n10.5,aapl,2025-01-06,10,"a, ""b""",281949.44,9,12\r\n';
  const { stored } = await importText(text);
  assert.equal(stored[0], 'AAPL 2025-01-06 10 12 9 10.5 281949.44 file-split-adjusted');
});

// A file is read in pieces of 128 KiB: the last character of the first one is the first of a line
// end.
test('a line ends with CR, LF or both, wherever a file is cut', inLongForm, async () => {
  const dates = Array.from({ length: 9_000 }, (_, index) => addDays('2000-01-01', index));
  const rows = dates.map((date) => `AAPL,${date},10,12,9,10.5,1000`);
  const lines = [HEADER, '', ...rows, 'AAPL,2025-01-06,x,12,9,10.5,1000'];
  for (const end of ['\n', '\r', '\r\n']) {
    const textWith = (blanks: number) =>
      lines.join(end).replace('1000', `1000${' '.repeat(blanks)}`) + end;
    const blanks = lines.findIndex((_, count) => textWith(count)[128 * 1024 - 1] === end[0]);
    const { summary, refused } = await importText(textWith(blanks), { as: 'raw' });
    const refusal = `${lines.length}: open is not a plausible number: x`;
    assert.deepEqual([summary.bars, refused], [9_000, [refusal]], JSON.stringify(end));
  }
});

// In a stream that can be read only once.
test('rows far apart contradict each other', inLongForm, async () => {
  const path = join(temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [path]);
  const many = Array.from({ length: 6_000 }, (_, index) => `S${index},2025-09-02,1,1\n`).join('');
  const text = `symbol,date,open,close\nA,2025-09-02,1,1\n${many}A,2025-09-02,2,2\n`;
  createWriteStream(path).end(text);
  const refused: number[] = [];
  const onRefused = (line: number) => refused.push(line);
  const summary = await importFile(openDatabase(':memory:'), path, { ...OPTIONS, onRefused });
  assert.deepEqual([refused, summary.bars], [[2, 6_003], 6_000]);
});

test('importing again changes nothing, a partial bar is filled, another value is a revision', async () => {
  const database = openDatabase(':memory:');
  const rowsOf = async (...rows: string[]) => {
    const text = `${HEADER}\n${rows.join('\n')}\n`;
    const { summary, stored } = await importText(text, { database, as: 'raw' });
    return [summary.bars, summary.changed, ...stored];
  };
  const WHOLE = 'AAPL 2025-01-07 10 12 9 11 5 csv';
  const [known, covered] = [
    'AAPL 2025-01-06 10 12 9 10.5 5 csv',
    'covered AAPL 2025-01-06..2025-01-07 csv',
  ];
  assert.deepEqual(await rowsOf('AAPL,2025-01-07,10,,,,', 'AAPL,2025-01-06,10,12,9,10,5'), [
    2,
    2,
    'AAPL 2025-01-06 10 12 9 10 5 csv',
    'AAPL 2025-01-07 10 - - - - csv',
    'covered AAPL 2025-01-06..2025-01-06 csv',
  ]);
  assert.deepEqual((await rowsOf('AAPL,2025-01-06,10,12,9,10,5')).slice(0, 2), [1, 0]);
  const later = await rowsOf('AAPL,2025-01-07,10,12,9,11,5', 'AAPL,2025-01-06,10,12,9,10.5,5');
  assert.deepEqual(later, [2, 2, known, WHOLE, covered]);
  assert.deepEqual(await rowsOf('AAPL,2025-01-07,10,,,,'), [1, 0, known, WHOLE, covered]);
  const log = 'SELECT date, close FROM price_revisions ORDER BY date';
  assert.deepEqual(rowsAsText(database, log), ['2025-01-06 10', '2025-01-07 -']);
});

test('real prices replace the synthetic ones of their symbol, and the summary says so', async () => {
  const database = openDatabase(':memory:');
  const made = 'AAPL 2025-01-03 1 1\nAAPL 2025-01-06 1 1\nMSFT 2025-01-06 1 1';
  storePrices(database, made, 'synthetic');
  const text = `${HEADER}\nAAPL,2025-01-06,10,12,9,10.5,1000\n`;
  const { stored, summary } = await importText(text, { database, as: 'raw' });
  assert.deepEqual(stored, [
    'AAPL 2025-01-06 10 12 9 10.5 1000 csv',
    'MSFT 2025-01-06 1 1 1 1 1000 synthetic',
    'covered AAPL 2025-01-06..2025-01-06 csv',
    'covered MSFT 2025-01-06..2025-01-06 synthetic',
  ]);
  assert.equal(summary.syntheticReplaced, 1);
});

test('the prices of a control market are nothing but adjusted for splits', async () => {
  const text = `${HEADER},source\nQXKZVA,2025-01-06,10,12,9,10.5,1000,disguise\n`;
  const message = 'the prices of a control market are split-adjusted';
  await assert.rejects(importText(text, { as: 'raw' }), { code: 'invalid_file', message });
});

/** Dividends: what a file names replaces what was stored from its first to its last ex-date. */

test('a later file replaces dividends within its dates, keeps the others, and the old values are kept', async () => {
  const database = openDatabase(':memory:');
  const rowsOf = async (...rows: string[]) => {
    const text = ['symbol,ex_date,amount', ...rows.map((row) => `KO,${row}`), ''].join('\n');
    const { summary, stored } = await importText(text, { database });
    const paid = stored.filter((row) => row.startsWith('dividend '));
    return [summary.changed, ...paid.map((row) => row.split(' ').slice(2, 4).join(' '))];
  };
  const first = [
    ...['2023-11-30 460000', '2024-03-14 400000', '2024-06-13 485000'],
    ...['2024-06-14 485000', '2024-09-13 485000'],
  ];
  const rows = ['2024-03-14,0.4', '2024-06-13,0.485', '2024-06-14,0.485', '2024-09-13,0.485'];
  assert.deepEqual(await rowsOf(...rows, '2023-11-30,0.46'), [5, ...first]);
  assert.deepEqual(await rowsOf('2024-03-14,0.4'), [0, ...first]);
  const later = ['2023-11-30 460000', '2024-03-14 485000'];
  assert.deepEqual(await rowsOf('2024-03-14,0.485', '2024-06-14,0.485'), [
    2,
    ...later,
    '2024-06-14 485000',
    '2024-09-13 485000',
  ]);
  const revisions = 'SELECT ex_date, cash_e6 FROM dividend_revisions ORDER BY ex_date';
  assert.deepEqual(rowsAsText(database, revisions), ['2024-03-14 400000', '2024-06-13 485000']);
  const doubtful = await rowsOf('2024-03-14,0.485', '2024-09-13,', '2024-12-01,0.1');
  assert.deepEqual(doubtful, [2, ...later, '2024-09-13 485000', '2024-12-01 100000']);
});

/** A file, with ⏎ where a line ends, and the lines of its summary. */
const described = tableOf<[name: string, text: string, lines: string]>(`
  dividends            | symbol,ex_date,amount⏎KO,2024-03-14,0.4⏎KO,2024-05-01,⏎KO,2024-06-14,0.4⏎PEP,2024-06-31,1⏎PEP,2024-03-01,1⏎ | imported 3 dividends (3 new, changed or removed) of 2 symbols, ex-dates 2024-03-01 to 2024-06-14⏎dividends of 1 symbol …⏎dividends … 1 ex-date…: KO 2024-05-01⏎refused 1 row: no dividend and no split⏎refused 1 row: not a date YYYY-MM-DD
  splits               | symbol,date,numerator,denominator⏎AAPL,2020-08-31,4,1⏎ORLY,2025-06-10,1,1⏎ | imported 1 split and 1 line 1:1 (no split) of 2 symbols, 2020-08-31 to 2025-06-10
  dividends and splits | symbol,ex_date,amount,numerator,denominator⏎A,2024-06-07,0.5,,⏎A,2024-06-10,,10,1⏎ | imported 1 dividend (1 new, changed or removed) and 1 split of 1 symbol, 2024-06-07 to 2024-06-10`);
test('the summary of a file without prices says what it had', async () => {
  for (const [name, text, lines] of described) {
    const { summary } = await importText(text.replaceAll('⏎', '\n'));
    const said = describeImport('f', summary).trimEnd().replaceAll('\n  ', '⏎');
    assert.match(said, like(`f: CSV of ${name}⏎${lines}`));
  }
});

test('rows that span reads and transactions stay whole', inLongForm, async () => {
  const rows = Array.from({ length: 12_000 }, (_, index) => {
    const day = String((index / 1000 + 1) | 0).padStart(2, '0');
    return `S${index % 1000}X,2024-12-${day},10.${index % 10},12,9,10.5,1000`;
  });
  const { summary } = await importText(`${HEADER}\n${rows.join('\n')}`, { as: 'raw' });
  const { bars, changed, symbols, dates, refused } = summary;
  assert.deepEqual(
    [bars, changed, symbols.length, dates, refused.size],
    [12_000, 12_000, 1000, 12, 0],
  );
});

test('a stored bar is written only when something about it is new', () => {
  const database = openDatabase(':memory:');
  const unknown = { high: null, low: null, close: null, volume: null };
  const bar = { symbol: 'A', date: '2025-01-06', open: 1, ...unknown };
  const store = (changes: object) =>
    storeBars(database, [{ ...bar, ...changes }], { source: 'csv' }).changed;
  assert.deepEqual([store({}), store({}), store({ close: 2 }), store({})], [1, 0, 1, 0]);
  assert.equal(database.statement('SELECT written FROM price_data').get()?.['written'], 3);
});

test('a server that waits for the write lock of an import gets it after one transaction', async () => {
  const path = join(temporaryFolder(), 'prices.csv');
  const rows = Array.from({ length: 1_000 }, (_, number) => `S${number},2025-01-02,10,11,9,10,1`);
  writeFileSync(path, [HEADER, ...rows].join('\n'));
  await importBesideServer((database, time) => importFile(database, path, { ...OPTIONS, time }));
});

test('an import never sleeps for less than no time, which Node warns of', async () => {
  let nowMs = 0;
  const now = () => (nowMs += 11); // a slow machine: two looks take longer than the pause
  const slept: number[] = [];
  const sleep = async (ms: number) => void (slept.push(ms), (nowMs += ms));
  await writeInTurns(openDatabase(':memory:'), [null].values(), { now, sleep });
  assert.ok(slept.length > 0 && slept.every((ms) => ms > 0), slept.join());
});

test('a file that is not read to its end is closed', { skip: noProc }, async () => {
  for (const start of ['name,colour\n', 'symbol,ex_date,colour\n', '{"colour": 1}\n']) {
    const path = join(temporaryFolder(), 'large.csv');
    writeFileSync(path, start + 'x,1\n'.repeat(200_000));
    await assert.rejects(importFile(openDatabase(':memory:'), path, OPTIONS));
    const isOpen = () =>
      readdirSync('/proc/self/fd').some((file) => linkOf(`/proc/self/fd/${file}`) === path);
    await until('the file to be closed', () => !isOpen());
  }
});

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null; // closed since its folder was listed
  }
}

test('a database that is open is not read as a file', async () => {
  const path = join(temporaryFolder(), 'prices.db');
  const database = openDatabase(path);
  const message = 'it is a database';
  await assert.rejects(importFile(database, path, OPTIONS), { message });
  database.close();
});
