import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { packageJob } from '../../src/features/backup/backup-command.ts';
import { createBooks } from '../support/books.ts';
import { runInProcess } from '../support/in-process.ts';
import { temporaryFolder } from '../support/folder.ts';

/**
 * `check --prices`: what a reader's own files say of a package whose digests and manifest are all
 * as they should be.
 */

/** As they were: AAPL is split on the 8th, MSFT pays on the 9th. */
const PRICES = `symbol,date,open,close
AAPL,2025-01-06,100,104
AAPL,2025-01-07,104,108
AAPL,2025-01-08,27,28
AAPL,2025-01-09,28,27.5
MSFT,2025-01-06,400,401
MSFT,2025-01-07,402,398.5
MSFT,2025-01-08,399,400.25
MSFT,2025-01-09,398,399
ORLY,2025-01-06,90,91
ORLY,2025-01-07,91,92
ORLY,2025-01-08,92,91.5
ORLY,2025-01-09,91,90
`;
const SPLITS = 'symbol,date,numerator,denominator\nAAPL,2025-01-08,4,1\n';
const DIVIDENDS = 'symbol,ex_date,amount\nMSFT,2025-01-09,0.83\n';

/** The database of four model-days over these prices, with their digests. */
async function packaged(folder: string, { factor = 1, paysPerShareOfToday = false } = {}) {
  const path = join(folder, `author-${factor}.db`);
  const books = createBooks(path);
  for (const line of PRICES.trim().split('\n').slice(1)) {
    const [symbol = '', date = '', open, close] = line.split(',');
    books.setBar(symbol, date, { open: Number(open) * factor, close: Number(close) * factor });
  }
  books.setSplit('AAPL', '2025-01-08', 4, 1);
  books.setDividend('MSFT', '2025-01-09', 0.83 * factor);
  if (paysPerShareOfToday) books.setDividend('AAPL', '2025-01-07', 0.1, 'split_adjusted');
  await books.day('2025-01-06', [
    ['buy', 'AAPL', 10],
    ['buy', 'MSFT', 5],
  ]);
  await books.day('2025-01-07');
  await books.day('2025-01-08');
  await books.day('2025-01-09', [['sell', 'MSFT', 1]]);
  return path;
}

/** Compares a database with own files of these texts. */
function compared(
  cwd: string,
  path: string,
  files: readonly string[] = [PRICES, SPLITS, DIVIDENDS],
) {
  const names = files.map((text, index) => {
    const name = `own-${index}.${text.startsWith('{') ? 'json' : 'csv'}`;
    writeFileSync(join(cwd, name), text);
    return name;
  });
  return runInProcess(['check', ...names.flatMap((name) => ['--prices', name]), path], { cwd });
}

const own = (change: { prices?: string; splits?: string; dividends?: string }) => [
  ...[change.prices ?? PRICES, change.splits ?? SPLITS, change.dividends ?? DIVIDENDS],
];
const cases: [name: string, files: string[], ...differences: string[]][] = [
  ['the same', own({})],
  [
    "splits as Alpha Vantage's and dividends as its too",
    own({
      splits:
        '{"symbol": "AAPL", "data": [{"effective_date": "2025-01-08", "split_factor": "4.0000"}]}',
      dividends:
        '{"symbol": "MSFT", "data": [{"ex_dividend_date": "2025-01-09", "amount": "0.83"}]}',
    }),
  ],
  [
    "splits as Massive's",
    own({
      splits:
        '{"results": [{"ticker": "AAPL", "execution_date": "2025-01-08", "split_from": 1, "split_to": 4}]}',
    }),
  ],
  ['no split, where none is known', own({ splits: `${SPLITS}MSFT,2025-01-08,1,1\n` })],
  [
    'no split, where one is known',
    own({ splits: SPLITS.replace('4,1', '1,1') }),
    'AAPL 2025-01-08: split 4:1 in the database, none in your files',
  ],
  [
    'a close that a model-day used',
    own({ prices: PRICES.replace('104,108', '104,108.5') }),
    'AAPL 2025-01-07: close 108.0000 in the database, 108.5000 in your files',
  ],
  [
    'a bar that only the author has, and one that only the reader has',
    own({ prices: PRICES.replace('ORLY,2025-01-07,91,92', 'ORLY,2024-12-30,80,81') }),
    'ORLY 2025-01-07: open 91.0000 in the database, none in your files',
  ],
  [
    'neither split nor dividend, and some that the author left out',
    own({
      splits: 'symbol,date,numerator,denominator\nMSFT,2025-01-07,2,1\nORLY,2025-01-07,3,1\n',
      dividends: 'symbol,ex_date,amount\nAAPL,2025-01-07,0.25\nORLY,2025-01-07,1\n',
    }),
    'AAPL 2025-01-07: dividend none in the database, 0.25 in your files',
    'AAPL 2025-01-08: split 4:1 in the database, none in your files',
    'MSFT 2025-01-07: split none in the database, 2:1 in your files',
    'MSFT 2025-01-09: dividend 0.83 in the database, none in your files',
  ],
];

const refusals: [name: string, args: string[], code: number, message: RegExp][] = [
  [
    'no file',
    ['--prices', 'none.csv'],
    1,
    /^Cannot compare none\.csv: there is no such file or folder/m,
  ],
  ['a file that is none', ['--prices', 'words.txt'], 1, /Cannot compare words\.txt: /],
  ['a word for the prices', ['--as', 'real', '--prices', 'own-0.csv'], 2, /--as is one of raw/],
  ['a word without prices', ['--as', 'raw'], 2, /--as says what the files of --prices are/],
  ['nothing', ['--prices'], 2, /--prices needs a value: --prices OWN-FILE/],
  [
    'adjusted prices beside raw ones',
    ['--prices', 'own-0.csv', '--as', 'split-adjusted'],
    1,
    /^ {2}AAPL 2025-01-06: raw prices in the database, split-adjusted ones in your files; give/m,
  ],
];

test('prices that differ from your own files, or that either side lacks, are named; files that cannot be compared are refused', async () => {
  const cwd = temporaryFolder();
  const path = await packaged(cwd);
  const before = readFileSync(path);
  for (const [name, files, ...differences] of cases) {
    const { code, stdout, stderr } = await compared(cwd, path, files);
    assert.equal(stderr, '', name);
    assert.match(stdout, /^own-0\.csv: CSV\nown-1\./m);
    assert.doesNotMatch(stdout, /import|stored/, 'nothing is imported');
    const found = [...stdout.matchAll(/^ {2}(\S+ \d{4}-\d\d-\d\d: .*)/gm)].map(([, line]) => line);
    assert.deepEqual(found, differences, name);
    const { length } = differences;
    assert.equal(code, length === 0 ? 0 : 1, name);
    const result = length === 0 ? 'all as in 3 files of your own' : `${length} difference`;
    const used = 'prices: 12 bars, 1 split and 1 dividend that model-days used';
    assert.ok(stdout.includes(`${used}, ${result}`), stdout);
  }
  writeFileSync(join(cwd, 'words.txt'), 'neither prices\nnor anything\n');
  const there = readdirSync(cwd);
  for (const [name, args, code, message] of refusals) {
    const ended = await runInProcess(['check', path, ...args], { cwd });
    assert.match(ended.stdout + ended.stderr, message, name);
    assert.equal(ended.code, code, name);
  }
  assert.deepEqual(readdirSync(cwd), there);
  assert.deepEqual(readFileSync(path), before, 'the file stays as it is');
  // No model-day could use a symbol of which the database has no bars.
  const database = new DatabaseSync(path);
  database.exec(`DELETE FROM price_data WHERE symbol = 'ORLY'`);
  database.close();
  const { code, stdout } = await compared(cwd, path);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^prices: 8 bars, 1 split and 1 dividend that model-days used, all as in/m);
});

test('prices that are doubled before everything was made are found by nothing else', async () => {
  const cwd = temporaryFolder();
  const target = join(cwd, 'paper.db');
  await packageJob({ path: await packaged(cwd, { factor: 2 }), jobId: 'job-4', target });
  const replayed = await runInProcess(['check', '--replay', target], { cwd });
  assert.equal(replayed.code, 0);
  assert.match(replayed.stdout, /all \d+ tables are as its manifest states them/);
  const { code, stdout } = await compared(cwd, target);
  assert.equal(code, 1);
  for (const words of [
    'AAPL 2025-01-09: open 56.0000 in the database, 28.0000 in your files',
    'MSFT 2025-01-09: open 796.0000 in the database, 398.0000 in your files',
    'MSFT 2025-01-09: dividend 1.66 in the database, 0.83 in your files',
  ])
    assert.ok(stdout.includes(words), stdout);
});

test('dividends per share of today are compared with those that were paid at the time', async () => {
  const cwd = temporaryFolder();
  const path = await packaged(cwd, { paysPerShareOfToday: true });
  const paid = (cash: number) => `${DIVIDENDS}AAPL,2025-01-07,${cash}\n`;
  const same = await compared(cwd, path, [PRICES, SPLITS, paid(0.4)]);
  assert.equal(same.code, 0, same.stdout);
  const other = await compared(cwd, path, [PRICES, SPLITS, paid(0.41)]);
  assert.equal(other.code, 1);
  assert.match(other.stdout, /AAPL 2025-01-07: dividend 0\.4 in the database, 0\.41 in/);
});

test('the exchanges that model-days used are compared too', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'author.db');
  const books = createBooks(path);
  for (const line of PRICES.trim().split('\n').slice(1)) {
    const [symbol = '', date = '', open, close] = line.split(',');
    books.setBar(symbol, date, { open: Number(open), close: Number(close) });
  }
  books.setExchange('AAPL', '2025-01-08', 'MSFT', [1, 4], { cash: 0.5, remains: true });
  await books.day('2025-01-06', [['buy', 'AAPL', 10]]);
  for (const date of ['2025-01-07', '2025-01-08']) await books.day(date);
  const header = 'symbol,date,cash,into,numerator,denominator,remains\n';
  const told = 'in the database, 0.4 in cash, 1:4, the old share remains in your files';
  for (const [rows, said] of [
    ['AAPL,2025-01-08,0.5,MSFT,1,4,yes\n', null],
    [
      'AAPL,2025-01-08,0.4,MSFT,1,4,yes\n',
      `exchange into MSFT 0.5 in cash, 1:4, the old share remains ${told}`,
    ],
    [
      'AAPL,2025-01-08,0.5,MSFT,1,3,yes\n',
      'exchange into MSFT 0.5 in cash, 1:4, the old share remains in the database, 0.5 in cash, 1:3, the old share remains in your files',
    ],
    [
      '',
      'exchange into MSFT 0.5 in cash, 1:4, the old share remains in the database, none in your files',
    ],
    [
      'AAPL,2025-01-08,0.5,MSFT,1,4,yes\nAAPL,2025-01-08,,ORLY,1,1,yes\n',
      'exchange into ORLY none in the database, 1:1, the old share remains in your files',
    ],
    ['AAPL,2025-01-08,0.5,MSFT,1,4,yes\nORLY,2025-01-08,,AAPL,1,1,yes\n', null],
  ] as const) {
    const { stdout } = await compared(folder, path, [
      PRICES,
      DIVIDENDS,
      ...(rows ? [header + rows] : []),
    ]);
    assert.match(stdout, /dividends and 1 exchange that model-days used/);
    const lines = stdout.split('\n').filter((line) => line.includes('exchange into'));
    assert.deepEqual(lines, said === null ? [] : [`  AAPL 2025-01-08: ${said}`]);
  }
});
