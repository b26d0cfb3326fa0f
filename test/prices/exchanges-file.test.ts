import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../src/core/database/database.ts';
import { importText } from '../support/imports.ts';
import { like, tableOf } from '../support/text-table.ts';

/** Files of exchanges: what is stored of each row, and why a row is refused. */

const HEADER = 'symbol,date,cash,into,numerator,denominator,remains';
const importRows = (rows: string, options: Parameters<typeof importText>[1] = {}) =>
  importText(`${HEADER}\n${rows.replaceAll(' / ', '\n')}\n`, options);

const accepted = tableOf<[rows: string, stored: string]>(`
  TWTR,2022-10-28,54.20,,,,           | TWTR 2022-10-28 54200000  - leaves
  FB,2022-06-09,,META,1,1,            | FB 2022-06-09 0 META 1:1 leaves
  GE,2024-04-02,,GEV,1,4,yes          | GE 2024-04-02 0 GEV 1:4 remains
  SIVB,2023-03-28,0,,,,               | SIVB 2023-03-28 0  - leaves
  A,2024-01-02,$5.000001,b,2,4,No     | A 2024-01-02 5000001 B 1:2 leaves
  A,20240102,5.0000000,B,0.7,1,FALSE  | A 2024-01-02 5000000 B 7:10 leaves
  brk.b,2024-01-02,,B,3,3,TRUE        | BRK.B 2024-01-02 0 B 1:1 remains
  A,2024-01-02,,B,1,1, / A,2024-01-02,0,B,2,2,no | A 2024-01-02 0 B 1:1 leaves
  A,2024-01-02,,B,1,1,yes / A,2024-01-02,,C,1,1,yes | A 2024-01-02 0 B 1:1 remains; A 2024-01-02 0 C 1:1 remains
  A,2024-01-02,,B,1,1, / B,2024-01-03,,A,1,1, | A 2024-01-02 0 B 1:1 leaves; B 2024-01-03 0 A 1:1 leaves
  A,2024-01-02,,B,1,1, / C,2024-01-02,,B,1,1, / B,2024-01-02,9,,,, | A 2024-01-02 0 B 1:1 leaves; B 2024-01-02 9000000  - leaves; C 2024-01-02 0 B 1:1 leaves
  A,2024-01-02,,A,1,1,                |
  A,2024-01-02,0,A,2,2,no             |
`);
test('each row that is accepted is stored', async () => {
  const database = openDatabase(':memory:');
  for (const [rows, stored] of accepted) {
    const found = await importRows(rows, { database });
    database.statement('DELETE FROM exchanges').run();
    assert.deepEqual(found.refused, [], rows);
    const lines = stored === '' ? [] : stored.split('; ').map((own) => `exchange ${own}`);
    assert.deepEqual(found.stored, lines, rows);
  }
});

const refused = tableOf<[rows: string, reasons: string]>(`
  A,2024-01-02,,,,,                   | 2: incomplete: neither cash nor into; a worthless end says cash 0: A
  A,2024-01-02,,,,,yes                | 2: incomplete: …
  A,2024-01-02,1,,,,yes               | 2: cash with shares that remain is a dividend: import it with ex_date and amount: 1
  A,2024-01-02,,A,2,1,                | 2: an exchange into the symbol itself; 1:1 without cash says that there was none: A
  A,2024-01-02,1,A,1,1,               | 2: an exchange into the symbol itself; …
  A,2024-01-02,,a,1,1,yes             | 2: an exchange into the symbol itself; …
  A,2024-01-02,,,1,4,                 | 2: numerator or denominator without into: 1:4
  A,2024-01-02,5,,,4,                 | 2: numerator or denominator without into: :4
  A,2024-01-02,,B,,,                  | 2: into without numerator and denominator: :
  A,2024-01-02,,B,1,,                 | 2: into without numerator and denominator: 1:
  A,2024-01-02,,B,0,1,                | 2: not a plausible ratio: 0:1
  A,2024-01-02,,B,1,-4,               | 2: not a plausible ratio: 1:-4
  A,2024-01-02,,B,2000001,1,          | 2: not a plausible ratio: 2000001:1
  A,2024-01-02,,B,x,x,                | 2: not a plausible ratio: x:x
  A,2024-01-02,1.1234567,,,,          | 2: cash has more than six decimals: 1.1234567
  A,2024-01-02,-1,,,,                 | 2: cash is not a plausible number: -1
  A,2024-01-02,1000001,,,,            | 2: cash is not a plausible number: 1000001
  A,2024-01-02,,B C,1,1,              | 2: into is not a ticker symbol: B C
  A,2024-01-02,1,,,,perhaps           | 2: remains is neither yes nor no: perhaps
  ,2024-01-02,1,,,,                   | 2: not a ticker symbol: 
  A,soon,1,,,,                        | 2: not a date YYYY-MM-DD: soon
  A,2024-01-02T10:00:00Z,1,,,,        | 2: not a daily bar…
  A,2024-01-02,1                      | 2: not 7 columns: A,2024-01-02,1
  A,2024-01-02,1,,,, / A,2024-01-02,2,,,, | 2: rows of one symbol and date contradict each other: …: A 2024-01-02 on lines 2 and 3; 3: rows of …
  A,2024-01-02,,B,1,1, / A,2024-01-02,,B,1,2, | 2: rows of …; 3: rows of …
  A,2024-01-02,,B,1,1, / A,2024-01-02,,C,1,2,yes | 2: rows of …; 3: rows of …
  A,2024-01-02,,A,1,1, / A,2024-01-02,3,,,, | 2: rows of …; 3: rows of …
  A,2024-01-02,,B,1,1, / B,2024-01-02,,A,1,1, | 2: a circle of exchanges on one date: 2024-01-02 A into B, A; 3: a circle of exchanges on one date: 2024-01-02 B into A, B
  A,2024-01-02,,B,1,1,yes / B,2024-01-02,,C,1,1, / C,2024-01-02,,A,1,1, | 2: a circle … A into B, C, A; 3: a circle … B into C, A, B; 4: a circle …
`);
test('each row that is refused says why, and nothing of it is stored', async () => {
  const database = openDatabase(':memory:');
  for (const [rows, reasons] of refused) {
    const found = await importRows(rows, { database });
    assert.match(found.refused.join('; ').trim(), like(reasons), rows);
    assert.deepEqual(found.stored, [], rows);
  }
});

test('a row of the same key replaces what is stored, and one into itself takes back all of its symbol and date', async () => {
  const first = await importRows(
    'A,2024-01-02,,B,1,1, / A,2024-01-02,3,,,, / A,2024-01-03,,C,1,1,',
  );
  const { database } = first;
  assert.equal(first.summary.changed, 3);
  const again = await importRows('A,2024-01-02,,B,1,1,', { database });
  assert.equal(again.summary.changed, 0);
  const other = await importRows('A,2024-01-02,,B,2,1,', { database });
  assert.equal(other.summary.changed, 1);
  assert.equal(other.stored[1], 'exchange A 2024-01-02 0 B 2:1 leaves');
  const circle = await importRows('X,2024-01-02,,A,1,1, / B,2024-01-02,,X,1,1,', { database });
  assert.equal(circle.refused.length, 2);
  assert.equal(
    circle.refused[0],
    '2: a circle of exchanges on one date: 2024-01-02 X into A, B, X',
  );
  const back = await importRows('A,2024-01-02,,A,1,1, / B,2024-01-02,,A,1,1,', { database });
  assert.deepEqual(back.refused, [], 'what the same file takes back is in no circle');
  assert.deepEqual(back.stored, [
    'exchange A 2024-01-03 0 C 1:1 leaves',
    'exchange B 2024-01-02 0 A 1:1 leaves',
  ]);
  const { changed, exchanges, symbols, firstDate } = back.summary;
  assert.deepEqual([changed, exchanges, symbols], [3, { stored: 1, none: 1 }, ['A', 'B']]);
  assert.equal(firstDate, '2024-01-02');
  const kept = database.statement('SELECT count(*) AS rows FROM exchange_revisions').all();
  assert.deepEqual(
    kept.map((row) => row['rows']),
    [3],
  );
});

test('into or remains makes a file one of exchanges, in any order and spelling; what lacks a column says which', async () => {
  const spin = 'Remains;Denominator;Numerator;INTO;Ticker;Ex Date\nyes;4;1;GEV;GE;2024-04-02\n';
  assert.deepEqual((await importText(spin)).stored, ['exchange GE 2024-04-02 0 GEV 1:4 remains']);
  const cash = await importText('remains,Cash_per_share,"Date",symbol\nno,9,2024-01-02,A\n');
  assert.equal(cash.summary.format, 'CSV of exchanges');
  const split = await importText('symbol,date,numerator,denominator\nA,2024-01-02,4,1\n');
  assert.equal(split.summary.format, 'CSV of splits');
  const lines: [text: string, message: string][] = [
    [
      'into,date\nB,2024-01-02\n',
      '…as CSV of exchanges its header lacks symbol; its columns are into, date',
    ],
    ['symbol,into,into,date\n', '…its header has two columns for into'],
    [`${HEADER}\n`, 'it has no rows'],
    [
      'symbol,date,cash\nA,2024-01-02,1\n',
      '…exchanges into or remains); its columns are symbol, date, cash',
    ],
  ];
  for (const [text, message] of lines)
    await assert.rejects(importText(text), { message: like(message) });
});

test('a second end of a share is refused beside one that is stored, in another file; a second spin-off is not', async () => {
  const reason = 'another exchange of this symbol and date is stored, which a file with both keeps';
  for (const [stored, row, isRefused] of [
    ['A,2024-01-02,,B,1,1,', 'A,2024-01-02,40.5,,,,', true],
    ['A,2024-01-02,40.5,,,,', 'A,2024-01-02,,B,1,1,', true],
    ['A,2024-01-02,,B,1,1,', 'A,2024-01-02,,C,1,1,yes', true],
    ['A,2024-01-02,,B,1,1,yes', 'A,2024-01-02,,C,1,1,', true],
    ['A,2024-01-02,,B,1,1,yes', 'A,2024-01-02,,C,1,1,yes', false],
    ['A,2024-01-02,,B,1,1,', 'A,2024-01-02,,B,1,1, / A,2024-01-02,40.5,,,,', false],
    ['A,2024-01-02,,B,1,1,', 'A,2024-01-03,40.5,,,,', false],
    // Another row of what is stored, beside one that it contradicts, or agrees with.
    ['A,2024-01-02,,B,1,1,yes / A,2024-01-02,,C,1,1,yes', 'A,2024-01-02,,B,1,1,no', true],
    ['A,2024-01-02,,B,1,1, / A,2024-01-02,40.5,,,,', 'A,2024-01-02,,B,1,1,yes', true],
    ['A,2024-01-02,,B,1,1,yes / A,2024-01-02,,C,1,1,yes', 'A,2024-01-02,,B,2,1,yes', false],
    ['A,2024-01-02,,B,1,1, / A,2024-01-02,40.5,,,,', 'A,2024-01-02,,B,2,1,', false],
    ['A,2024-01-02,,B,1,1,yes', 'A,2024-01-02,,B,1,1,no', false],
    [
      'A,2024-01-02,,B,1,1,yes / A,2024-01-02,,C,1,1,yes',
      'A,2024-01-02,,B,1,1, / A,2024-01-02,,C,1,1,',
      false,
    ],
    ['B,2024-01-02,,C,1,1,', 'A,2024-01-02,40.5,,,,', false],
  ] as const) {
    const { database } = await importRows(stored);
    const { refused } = await importRows(row, { database });
    assert.deepEqual(
      [refused.length, refused[0]?.includes(reason) ?? false],
      isRefused ? [1, true] : [0, false],
      row,
    );
  }
});

const oddRows: [row: string, reason: string | null][] = [
  ['A,2999-01-02,1,,,,', 'a date more than a year ahead'],
  ['A,2024-01-02,,B,Infinity,Infinity,', 'not a plausible ratio'],
  ['A,2024-01-02,,B,0x10,16,', 'not a plausible ratio'],
  ['600519.SHH,2024-01-02,,600519.SH,2,1,', 'an exchange into the symbol itself'],
  ['600519.SH,2024-01-02,,600520.SHH,1.5,1.5,', null],
];
test('dates far ahead, odd numbers and other spellings of a symbol', async () => {
  for (const [row, reason] of oddRows) {
    const { refused, stored } = await importRows(row);
    assert.equal(refused.length, reason === null ? 0 : 1, row);
    if (reason === null)
      assert.deepEqual(stored, ['exchange 600519.SH 2024-01-02 0 600520.SH 1:1 leaves']);
    else assert.ok(refused[0]?.includes(reason), refused[0]);
  }
});
