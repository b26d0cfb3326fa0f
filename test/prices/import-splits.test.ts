import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { describeImport } from '../../src/commands/import-prices.ts';
import { openDatabase } from '../../src/database/database.ts';
import { storedSplits } from '../../src/database/splits-and-dividends.ts';
import { importFile } from '../../src/prices/import.ts';
import { storePrices } from '../support/prices.ts';
import { temporaryFolder } from '../support/service.ts';

async function importText(t: TestContext, text: string, name = 'splits.csv') {
  const database = openDatabase(':memory:');
  t.after(() => database.close());
  storePrices(database, 'AAPL 2020-08-28 499 499\nAAPL 2020-08-31 127 129');
  const path = join(temporaryFolder(t), name);
  writeFileSync(path, text);
  const refused: string[] = [];
  const summary = await importFile(database, path, {
    clock: () => new Date('2025-07-01T12:00:00Z'),
    onRefused: (line, { reason, value }) => refused.push(`${line} ${reason}: ${value}`),
  });
  const stored = ['AAPL', 'NVDA', 'ORLY'].flatMap((symbol) =>
    storedSplits(database, symbol).map(
      ({ date, numerator, denominator }) => `${symbol} ${date} ${numerator}:${denominator}`,
    ),
  );
  return { summary, stored, refused };
}

const APPLE = 'AAPL 2020-08-31 4:1';
const files: [name: string, text: string, format: string, stored: string[], file?: string][] = [
  ['CSV', 'symbol,date,numerator,denominator\nAAPL,2020-08-31,4,1\n', 'CSV of splits', [APPLE]],
  [
    "CSV with Massive's columns, in another order",
    'split_from;ticker;split_to;execution_date\n1;AAPL;4;2020-08-31\n2;ORLY;3;2025-06-10\n',
    'CSV of splits',
    [APPLE, 'ORLY 2025-06-10 3:2'],
  ],
  [
    'CSV of one symbol, which its name has',
    'date,numerator,denominator\n2020-08-31,4,1\n',
    'CSV of splits',
    [APPLE],
    'AAPL.csv',
  ],
  [
    "Alpha Vantage's",
    '{"symbol": "AAPL", "data": [{"effective_date": "2020-08-31", "split_factor": "4.0000"}]}',
    'Alpha Vantage JSON of splits',
    [APPLE],
  ],
  [
    "Alpha Vantage's, a line per symbol",
    [
      '{"symbol": "AAPL", "data": [{"effective_date": "2020-08-31", "split_factor": "4.0000"}]}',
      '{"symbol": "NVDA", "data": [{"effective_date": "2024-06-10", "split_factor": "10.0000"}]}',
    ].join('\n'),
    'Alpha Vantage JSON of splits',
    [APPLE, 'NVDA 2024-06-10 10:1'],
  ],
  [
    "Massive's, over several lines",
    JSON.stringify(
      {
        status: 'OK',
        results: [
          { id: 'x', ticker: 'AAPL', execution_date: '2020-08-31', split_from: 1, split_to: 4 },
        ],
      },
      null,
      2,
    ),
    'Massive JSON of splits',
    [APPLE],
  ],
];

test('splits are imported as CSV and as providers return them', async (t) => {
  for (const [name, text, format, stored, file] of files) {
    const found = await importText(t, text, file);
    assert.deepEqual(
      [found.summary.format, found.stored, found.refused],
      [format, stored, []],
      name,
    );
  }
});

test('rows that are no splits are refused with their lines; the others are imported', async (t) => {
  const { summary, stored, refused } = await importText(
    t,
    [
      'symbol,date,numerator,denominator',
      'AAPL,2020-08-31,4,1',
      'AAPL,2020-08-31,8,2',
      'AAPL,2020-08-31,7,1',
      'not a symbol,2020-08-31,4,1',
      'NVDA,2024-06-31,10,1',
      'NVDA,1850-01-01,10,1',
      'NVDA,2024-06-10,2,2',
      'ORLY,2025-06-10,1,1',
      'ORLY,2025-06-10,15,1',
      'NVDA,2024-06-10,many,1',
      'NVDA,2024-06-10,10',
      '',
    ].join('\n'),
  );
  assert.deepEqual(stored, [APPLE]);
  assert.deepEqual(refused, [
    '4 another row has a different split of this symbol and date: AAPL 2020-08-31',
    '5 not a ticker symbol: not a symbol',
    '6 not a date YYYY-MM-DD: 2024-06-31',
    '7 a date before 1900-01-01: 1850-01-01',
    '8 not a plausible ratio: 2:2',
    '10 another row has a different split of this symbol and date: ORLY 2025-06-10',
    '11 not a plausible ratio: many:1',
    '12 not 4 columns: NVDA,2024-06-10,10',
  ]);
  assert.ok(summary.kind === 'splits');
  const { symbols, splits, none, contradicted } = summary;
  assert.deepEqual([symbols, splits, none, contradicted], [2, 2, 1, []]);
  assert.match(
    describeImport('splits.csv', summary),
    /imported 1 split and 1 line 1:1 \(no split\) of 2 symbols, 2020-08-31 to 2025-06-10\n/,
  );
});

const refusals: [name: string, text: string, message: RegExp][] = [
  [
    'a header without a date',
    'symbol,numerator,denominator\nA,4,1\n',
    /has splits and lacks date$/,
  ],
  [
    'two columns of one name',
    'symbol,ticker,date,numerator,denominator\nA,A,2020-08-31,4,1\n',
    /two columns for symbol$/,
  ],
  ['only a header', 'symbol,date,numerator,denominator\n', /it has no splits$/],
];

test('a file without splits changes nothing and says why', async (t) => {
  for (const [name, text, message] of refusals)
    await assert.rejects(importText(t, text), { code: 'invalid_file', message }, name);
});
