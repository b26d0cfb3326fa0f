import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { packageJob } from '../../src/commands/backup.ts';
import { createBooks } from '../support/books.ts';
import { runInProcess } from '../support/in-process.ts';
import { temporaryFolder } from '../support/service.ts';

/**
 * `check --prices`: what a reader's own files say of a package whose digests and manifest are all
 * as they should be.
 */

const DATES = ['2025-01-06', '2025-01-07', '2025-01-08', '2025-01-09'];
/** As they were: AAPL is split on the 8th, MSFT pays on the 9th. */
const REAL: Record<string, (readonly [open: number, close: number])[]> = {
  AAPL: [
    [100, 104],
    [104, 108],
    [27, 28],
    [28, 27.5],
  ],
  MSFT: [
    [400, 401],
    [402, 398.5],
    [399, 400.25],
    [398, 399],
  ],
  ORLY: [
    [90, 91],
    [91, 92],
    [92, 91.5],
    [91, 90],
  ],
};
const SPLIT = { symbol: 'AAPL', date: '2025-01-08', numerator: 4, denominator: 1 };
const DIVIDEND = { symbol: 'MSFT', exDate: '2025-01-09', cash: 0.83 };

/** The database of four model-days over these prices, with their digests. */
async function packaged(
  folder: string,
  factor = 1,
  perShareOfToday: { symbol: string; exDate: string; cash: number } | null = null,
): Promise<string> {
  const path = join(folder, `author-${factor}.db`);
  const books = createBooks(path);
  for (const [symbol, bars] of Object.entries(REAL))
    for (const [index, [open, close]] of bars.entries())
      books.setBar(symbol, DATES[index] ?? '', { open: open * factor, close: close * factor });
  books.setSplit(SPLIT.symbol, SPLIT.date, SPLIT.numerator, SPLIT.denominator);
  books.setDividend(DIVIDEND.symbol, DIVIDEND.exDate, DIVIDEND.cash * factor);
  if (perShareOfToday !== null) {
    const { symbol, exDate, cash } = perShareOfToday;
    books.setDividend(symbol, exDate, cash, 'split_adjusted');
  }
  await books.day('2025-01-06', [
    ['buy', 'AAPL', 10],
    ['buy', 'MSFT', 5],
  ]);
  await books.day('2025-01-07');
  await books.day('2025-01-08');
  await books.day('2025-01-09', [['sell', 'MSFT', 1]]);
  return path;
}

type Rows = readonly (readonly (string | number)[])[];
const csv = (header: string, rows: Rows) =>
  `${header}\n${rows.map((row) => row.join()).join('\n')}\n`;
const realRows: Rows = Object.entries(REAL).flatMap(([symbol, bars]) =>
  bars.map(([open, close], index) => [symbol, DATES[index] ?? '', open, close]),
);
const pricesCsv = (rows: Rows = realRows) => csv('symbol,date,open,close', rows);
const SPLITS = csv('symbol,date,numerator,denominator', [['AAPL', '2025-01-08', 4, 1]]);
const DIVIDENDS = csv('symbol,ex_date,amount', [['MSFT', '2025-01-09', 0.83]]);

const without = (symbol: string, date: string) =>
  realRows.filter(([own, day]) => own !== symbol || day !== date);
const changed = (symbol: string, date: string, column: number, value: number) =>
  realRows.map((row) =>
    row[0] === symbol && row[1] === date
      ? row.map((cell, index) => (index === column ? value : cell))
      : row,
  );

const cases: [name: string, files: string[], differences: string[]][] = [
  ['the same', [pricesCsv(), SPLITS, DIVIDENDS], []],
  [
    "splits as Alpha Vantage's and dividends as its too",
    [
      pricesCsv(),
      '{"symbol": "AAPL", "data": [{"effective_date": "2025-01-08", "split_factor": "4.0000"}]}',
      '{"symbol": "MSFT", "data": [{"ex_dividend_date": "2025-01-09", "amount": "0.83"}]}',
    ],
    [],
  ],
  [
    "splits as Massive's",
    [
      pricesCsv(),
      '{"results": [{"ticker": "AAPL", "execution_date": "2025-01-08", "split_from": 1, "split_to": 4}]}',
      DIVIDENDS,
    ],
    [],
  ],
  [
    'a line that says there was no split, where none is known',
    [pricesCsv(), `${SPLITS}MSFT,2025-01-08,1,1\n`, DIVIDENDS],
    [],
  ],
  [
    'a line that says there was no split, where one is known',
    [pricesCsv(), SPLITS.replace('4,1', '1,1'), DIVIDENDS],
    ['AAPL 2025-01-08: split 4:1 in the database, none in your files'],
  ],
  [
    'a close that a model-day used',
    [pricesCsv(changed('AAPL', '2025-01-07', 3, 108.5)), SPLITS, DIVIDENDS],
    ['AAPL 2025-01-07: close 108.0000 in the database, 108.5000 in your files'],
  ],
  [
    'a bar that only the author has, and one that only the reader has',
    [
      pricesCsv([...without('ORLY', '2025-01-07'), ['ORLY', '2024-12-30', 80, 81]]),
      SPLITS,
      DIVIDENDS,
    ],
    ['ORLY 2025-01-07: open 91.0000 in the database, none in your files'],
  ],
  [
    'another split, and another dividend',
    [pricesCsv(), SPLITS.replace('4,1', '2,1'), DIVIDENDS.replace('0.83', '0.84')],
    [
      'AAPL 2025-01-08: split 4:1 in the database, 2:1 in your files',
      'MSFT 2025-01-09: dividend 0.83 in the database, 0.84 in your files',
    ],
  ],
  [
    'neither split nor dividend, and some that the author left out',
    [
      pricesCsv(),
      csv('symbol,date,numerator,denominator', [
        ['MSFT', '2025-01-07', 2, 1],
        ['ORLY', '2025-01-07', 3, 1],
      ]),
      csv('symbol,ex_date,amount', [
        ['AAPL', '2025-01-07', 0.25],
        ['ORLY', '2025-01-07', 1],
      ]),
    ],
    [
      'AAPL 2025-01-07: dividend none in the database, 0.25 in your files',
      'AAPL 2025-01-08: split 4:1 in the database, none in your files',
      'MSFT 2025-01-07: split none in the database, 2:1 in your files',
      'MSFT 2025-01-09: dividend 0.83 in the database, none in your files',
    ],
  ],
];

test('prices, splits and dividends that differ from files of your own, or that one of both lacks, are named', async (t) => {
  const cwd = temporaryFolder(t);
  const path = await packaged(cwd);
  for (const [name, files, differences] of cases) {
    const names = files.map((text, index) => {
      const extension = text.startsWith('{') ? 'json' : 'csv';
      writeFileSync(join(cwd, `own-${index}.${extension}`), text);
      return `own-${index}.${extension}`;
    });
    const before = readFileSync(path);
    const args = ['check', ...names.flatMap((file) => ['--prices', file]), path];
    const { code, stdout, stderr } = await runInProcess(args, { cwd });
    assert.equal(stderr, '', name);
    assert.match(stdout, /^own-0\.csv: CSV\nown-1\./m);
    assert.doesNotMatch(stdout, /import|stored/, 'nothing is imported');
    const found = stdout
      .split('\n')
      .flatMap((line) => /^ {2}(\S+ \d{4}-\d\d-\d\d: .*)/.exec(line)?.[1] ?? []);
    assert.deepEqual(found, differences, name);
    assert.equal(code, differences.length === 0 ? 0 : 1, name);
    const result =
      differences.length === 0
        ? 'all as in 3 files of your own'
        : `${differences.length} difference`;
    assert.ok(
      stdout.includes(`prices: 12 bars, 1 split and 1 dividend that model-days used, ${result}`),
      stdout,
    );
    assert.deepEqual(readFileSync(path), before, 'the file stays as it is');
  }
});

test('a symbol of which the database has no bars is not compared: no model-day could use it', async (t) => {
  const cwd = temporaryFolder(t);
  const path = await packaged(cwd);
  const database = new DatabaseSync(path);
  database.exec(`DELETE FROM price_data WHERE symbol = 'ORLY'`);
  database.close();
  writeFileSync(join(cwd, 'prices.csv'), pricesCsv());
  writeFileSync(join(cwd, 'splits.csv'), SPLITS);
  writeFileSync(join(cwd, 'dividends.csv'), DIVIDENDS);
  const own = ['prices.csv', 'splits.csv', 'dividends.csv'].flatMap((file) => ['--prices', file]);
  const { code, stdout } = await runInProcess(['check', ...own, path], { cwd });
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^prices: 8 bars, 1 split and 1 dividend that model-days used, all as in/m);
});

test('prices that are doubled before everything was made are found by nothing else', async (t) => {
  const cwd = temporaryFolder(t);
  const target = join(cwd, 'paper.db');
  await packageJob({ path: await packaged(cwd, 2), jobId: 'job-4', target });
  writeFileSync(join(cwd, 'prices.csv'), pricesCsv());
  writeFileSync(join(cwd, 'splits.csv'), SPLITS);
  writeFileSync(join(cwd, 'dividends.csv'), DIVIDENDS);
  const replayed = await runInProcess(['check', '--replay', target], { cwd });
  assert.equal(replayed.code, 0);
  assert.match(replayed.stdout, /all \d+ tables are as its manifest states them/);
  const own = ['prices.csv', 'splits.csv', 'dividends.csv'].flatMap((file) => ['--prices', file]);
  const compared = await runInProcess(['check', ...own, target], { cwd });
  assert.equal(compared.code, 1);
  for (const words of [
    'AAPL 2025-01-09: open 56.0000 in the database, 28.0000 in your files',
    'MSFT 2025-01-09: open 796.0000 in the database, 398.0000 in your files',
    'MSFT 2025-01-09: dividend 1.66 in the database, 0.83 in your files',
  ])
    assert.ok(compared.stdout.includes(words), compared.stdout);
});

const refusals: [name: string, args: string[], code: number, message: RegExp][] = [
  ['no file', ['--prices', 'none.csv'], 1, /^Cannot compare none\.csv: ENOENT/],
  ['a file that is none', ['--prices', 'words.txt'], 1, /Cannot compare words\.txt: /],
  ['a word for the prices', ['--as', 'real', '--prices', 'prices.csv'], 2, /--as is one of raw/],
  ['a word without prices', ['--as', 'raw'], 2, /--as says what the files of --prices are/],
  ['nothing', ['--prices'], 2, /--prices needs a value: --prices OWN-FILE/],
];

test('files that cannot be compared are refused in words, and nothing stays behind', async (t) => {
  const cwd = temporaryFolder(t);
  const path = await packaged(cwd);
  writeFileSync(join(cwd, 'words.txt'), 'neither prices\nnor anything\n');
  writeFileSync(join(cwd, 'prices.csv'), pricesCsv());
  const before = readdirSync(cwd);
  for (const [name, args, code, message] of refusals) {
    const ended = await runInProcess(['check', path, ...args], { cwd });
    assert.match(ended.stderr, message, name);
    assert.equal(ended.code, code, name);
  }
  assert.deepEqual(readdirSync(cwd), before);
});

test('dividends per share of today are compared with those that were paid at the time', async (t) => {
  const cwd = temporaryFolder(t);
  const path = await packaged(cwd, 1, { symbol: 'AAPL', exDate: '2025-01-07', cash: 0.1 });
  writeFileSync(join(cwd, 'prices.csv'), pricesCsv());
  writeFileSync(join(cwd, 'splits.csv'), SPLITS);
  const paid = (cash: number) =>
    csv('symbol,ex_date,amount', [
      ['MSFT', '2025-01-09', 0.83],
      ['AAPL', '2025-01-07', cash],
    ]);
  for (const [cash, code] of [
    [0.4, 0],
    [0.41, 1],
  ] as const) {
    writeFileSync(join(cwd, 'dividends.csv'), paid(cash));
    const own = ['prices.csv', 'splits.csv', 'dividends.csv'].flatMap((file) => ['--prices', file]);
    const ended = await runInProcess(['check', ...own, path], { cwd });
    assert.equal(ended.code, code, ended.stdout);
    if (code === 1)
      assert.match(ended.stdout, /AAPL 2025-01-07: dividend 0\.4 in the database, 0\.41 in/);
  }
});

test('adjusted prices are not compared with raw ones', async (t) => {
  const cwd = temporaryFolder(t);
  const path = await packaged(cwd);
  writeFileSync(join(cwd, 'prices.csv'), pricesCsv());
  const args = ['check', '--prices', 'prices.csv', '--as', 'split-adjusted', path];
  const { code, stdout } = await runInProcess(args, { cwd });
  assert.equal(code, 1);
  assert.match(
    stdout,
    /^ {2}AAPL 2025-01-06: raw prices in the database, split-adjusted ones in your files; give/m,
  );
});
