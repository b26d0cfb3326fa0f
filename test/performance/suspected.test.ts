import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CommandDatabase } from '../../src/core/database/database.ts';
import { activeDays } from '../../src/features/performance/queries.ts';
import { heldSymbols } from '../../src/core/database/suspicion-queries.ts';
import { createSuspicionSearch } from '../../src/core/prices/suspected.ts';
import { importFile } from '../../src/features/price-files/import.ts';
import { jumpWarnings, currentWarnings } from '../../src/core/prices/warnings.ts';
import { auditOf, type Books, createBooks, replayOf } from '../support/books.ts';
import { readPrices } from '../support/prices.ts';
import { temporaryFolder } from '../support/folder.ts';

/** A weekend lies between the two closes; MSFT falls less than a split would. */
const FALL = `
  ORLY 2025-01-02 1340 1345
  ORLY 2025-01-03 1345 1348
  ORLY 2025-01-06 90 91
  ORLY 2025-01-07 91 92
  MSFT 2025-01-03 200 200
  MSFT 2025-01-06 141 140`;

type Bars = { [Property in 'source' | 'prices']?: string };

/** Three days that hold ORLY over its fall, if they bought it on the first. */
async function booksOf(
  { source = 'csv', prices = FALL }: Bars = {},
  orders: [symbol: string, date: string][] = [['ORLY', '2025-01-03']],
): Promise<Books> {
  const books = createBooks();
  for (const { symbol, date, ...bar } of readPrices(prices))
    books.setBar(symbol, date, { ...bar, source });
  for (const date of ['2025-01-03', '2025-01-06', '2025-01-07']) {
    const own = orders.filter(([, day]) => day === date);
    await books.day(
      date,
      own.map(([symbol]) => ['buy', symbol, 2]),
    );
  }
  return books;
}

const suspected = ({ database }: Books) =>
  [...activeDays(database, ['model-a'], {})]
    .flatMap(([model, days]) =>
      createSuspicionSearch(database, heldSymbols(database), { from: '', to: '~' })(days).map(
        (one) => ({ ...one, model }),
      ),
    )
    .map(({ model, kind, symbol, date, to, days }) => {
      const on = days.length > 1 ? `${days.length} days` : days[0]?.date;
      return `${model} ${on} ${symbol} ${date} ${kind === 'split' ? '' : `${kind} `}${to}`;
    });

const FOUND = ['model-a 2025-01-06 ORLY 2025-01-06 90'];
const LARGE = ['model-a 2025-01-06 ORLY 2025-01-06 dividend 1250'];
const SPAN = `INSERT INTO stock_split_spans VALUES ('ORLY', 'massive', ?, '2025-01-10', 't')`;
const COVERED = `INSERT INTO stock_split_coverage VALUES ('ORLY', ?, 'alpha-vantage', 't')`;
const run = (sql: string, value: string) => (books: Books) =>
  void books.database.statement(sql).run(value);

const nights: [name: string, learn: (books: Books) => void, expected: string[]][] = [
  ['a fall that nothing explains', () => {}, FOUND],
  ['a split', (books) => books.setSplit('ORLY', '2025-01-06', 15, 1), []],
  ['a split on the weekend', (books) => books.setSplit('ORLY', '2025-01-04', 15, 1), []],
  ['a split of the day before', (books) => books.setSplit('ORLY', '2025-01-03', 15, 1), FOUND],
  ['a dividend of the fall', (books) => books.setDividend('ORLY', '2025-01-06', 1250), LARGE],
  ['an ordinary dividend', (books) => books.setDividend('ORLY', '2025-01-06', 12), FOUND],
  ['a provider of spans that knows the night', run(SPAN, '2025-01-04'), []],
  ['a provider of spans that knows a part of the night', run(SPAN, '2025-01-05'), FOUND],
  ['a provider of symbols that was asked since', run(COVERED, '2025-01-06'), []],
  ['a provider of symbols that was asked before', run(COVERED, '2025-01-05'), FOUND],
];

test('a model-day is suspected when it held a symbol over a jump that nothing explains', async () => {
  for (const [name, learn, expected] of nights) {
    const books = await booksOf();
    learn(books);
    assert.deepEqual(suspected(books), expected, name);
  }
  const rise = FALL.replace('90 91', '2700 2700').replace('91 92', '2700 2700');
  const days: [name: string, Parameters<typeof booksOf>, string[]][] = [
    ['bought after the fall', [{}, [['ORLY', '2025-01-06']]], []],
    ['another symbol', [{}, [['MSFT', '2025-01-03']]], []],
    ['prices that are adjusted for splits', [{ source: 'yahoo' }], []],
    ['a reverse split', [{ prices: rise }], ['model-a 2025-01-06 ORLY 2025-01-06 2700']],
    [
      'a fall on a day without a model-day',
      [{ prices: FALL.replace('2025-01-06 90 91', '2025-01-05 90 91') }],
      ['model-a 2025-01-06 ORLY 2025-01-05 90'],
    ],
  ];
  for (const [name, books, expected] of days)
    assert.deepEqual(suspected(await booksOf(...books)), expected, name);
});

/** Imports lines of a file of splits. */
async function importSplits(books: Books, ...lines: string[]): Promise<void> {
  const path = join(temporaryFolder(), 'splits.csv');
  writeFileSync(path, ['symbol,date,numerator,denominator', ...lines, ''].join('\n'));
  await importFile(books.database as CommandDatabase, path, {
    clock: () => new Date(books.now()),
    onRefused: (line, { reason }) => assert.fail(`line ${line}: ${reason}`),
  });
}

const splitRecords = ({ database }: Books) =>
  database.statement(`SELECT symbol FROM positions WHERE action_type = 'split'`).all();

test('a line of a file settles it: the split makes the day stale, 1:1 changes nothing', async () => {
  const books = await booksOf();
  await books.day('2025-01-06');
  await books.day('2025-01-07');
  assert.deepEqual(suspected(books), FOUND, 'once, though the day ran twice');
  await importSplits(books, 'ORLY,2025-01-06,1,1');
  assert.deepEqual(suspected(books), []);
  const { stale, problems, unverifiable } = await auditOf(books.database);
  assert.deepEqual([stale, problems, unverifiable], [[], [], []]);
  assert.equal((await replayOf(books.database)).same, '3 of 3');
  await books.day('2025-01-06');
  assert.deepEqual(splitRecords(books), []);
  assert.deepEqual(suspected(books), [], 'nor is the day suspected when it is repeated');

  await importSplits(books, 'ORLY,2025-01-06,15,1');
  assert.deepEqual(suspected(books), []);
  const days = ['model-a 2025-01-06']; // the next one rests on a close that was made again alike
  assert.deepEqual((await auditOf(books.database)).stale, days);
});

test('1:1 takes back a split that was stored: the day that applied it is stale, and suspected no more', async () => {
  const books = createBooks();
  for (const { symbol, date, ...bar } of readPrices(FALL)) books.setBar(symbol, date, bar);
  await books.day('2025-01-03', [['buy', 'ORLY', 2]]);
  await importSplits(books, 'ORLY,2025-01-06,15,1');
  await books.day('2025-01-06');
  await importSplits(books, 'ORLY,2025-01-06,1,1');
  assert.deepEqual(suspected(books), []);
  const { stale, problems } = await auditOf(books.database);
  assert.deepEqual([stale, problems], [['model-a 2025-01-06'], []]);
});

test('the warning of a job says how to settle the jumps that are left, and which were settled since', async () => {
  const books = await booksOf();
  const on = '2025-01-06';
  const orly = { symbol: 'ORLY', date: on, previousClose: 1348, open: 90 };
  const gone = { symbol: 'MSFT', date: on, previousClose: 200, open: 99 }; // of earlier prices
  const other = { symbol: 'A', date: on, previousClose: 10, open: 3.5 };
  const ten = Array.from({ length: 10 }, () => orly);
  const said = (...jumps: (typeof orly)[]) => {
    const [code, about] = [null, undefined];
    const all = [...jumpWarnings(jumps), { code, message: 'Documents' }];
    const warningCodes = JSON.stringify(all.map((one) => ({ about, ...one })));
    const warnings = JSON.stringify(all.map(({ message }) => message));
    const now = currentWarnings(books.database, { warnings, warningCodes });
    assert.equal(now?.pop()?.message, 'Documents');
    return now?.map((one) => (one.code === null ? one.message : one));
  };
  const settled = (...symbols: string[]) =>
    `Possible splits, settled since: ${symbols.map((symbol) => `${symbol} on ${on}`).join(', ')}`;
  books.setBar('A', '2025-01-03', { open: 10, close: 10 });
  books.setBar('A', on, { open: 3.5, close: 4 });
  assert.deepEqual(said(orly, other), jumpWarnings([orly, other]));
  assert.deepEqual(said(gone), [settled('MSFT')]);
  assert.deepEqual(said(orly, gone, other), [...jumpWarnings([orly, other]), settled('MSFT')]);
  await importSplits(books, 'ORLY,2025-01-06,15,1');
  assert.deepEqual(said(orly, gone, other), [...jumpWarnings([other]), settled('ORLY', 'MSFT')]);
  assert.deepEqual(said(orly), [settled('ORLY')]);
  assert.deepEqual(said(...ten, other), jumpWarnings([...ten, other]));
  assert.equal(currentWarnings(books.database, { warnings: null, warningCodes: '[]' }), undefined);
});
