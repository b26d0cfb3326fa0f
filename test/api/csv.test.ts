import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Cell } from '../../src/core/text/csv.ts';
import { csvTable } from '../../src/core/api/handler.ts';

const write = (columns: string[], rows: Cell[][]) =>
  [...csvTable('x.csv', columns, rows).lines].join('');

const cells: [cell: Cell, written: string][] = [
  ['plain', 'plain'],
  ['', ''],
  [null, ''],
  [0, '0'],
  [-12.5, '-12.5'],
  [1e-4, '0.0001'],
  [true, 'true'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two\nlines"'],
  ['two\r\nlines', '"two\r\nlines"'],
  [' edge', '" edge"'],
  ['für 東京', 'für 東京'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', '"\'\r=1"'],
  ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
  ['a=1', 'a=1'],
];
for (const [cell, written] of cells)
  test(`a cell ${JSON.stringify(cell)} is written as ${JSON.stringify(written)}`, () => {
    assert.equal(write(['name'], [[cell, 'next']]), `name\r\n${written},next\r\n`);
  });

test('a table without rows is its header line', () => {
  assert.equal(write(['a', 'b'], []), 'a,b\r\n');
});

/** Reads RFC 4180 by its grammar, one character at a time. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (let at = 0; at < text.length; ) {
    let cell = '';
    if (text[at] === '"') {
      for (at += 1; text[at] !== '"' || text[at + 1] === '"'; at += 1) {
        if (text[at] === '"') at += 1;
        cell += text[at];
      }
      at += 1;
    } else while (at < text.length && text[at] !== ',' && text[at] !== '\r') cell += text[at++];
    row.push(cell);
    if (text[at] === ',') at += 1;
    else {
      assert.equal(text.slice(at, at + 2), '\r\n');
      at += 2;
      rows.push(row);
      row = [];
    }
  }
  return rows;
}

test('any text is read back in its place, and none begins like a formula', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', ',', '"', '\r', '\n', '=', '-', '@', '\t', ' ', 'é'),
  });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text)), (rows) => {
      const [, ...read] = readCsv(write(['one', 'two'], rows));
      assert.equal(read.length, rows.length);
      read.forEach((row, index) => {
        const found = row.map((cell) => cell.replace(/^'/, ''));
        assert.deepEqual(found, rows[index]);
        for (const cell of row) assert.doesNotMatch(cell, /^[=+\-@\t\r\n]/);
      });
    }),
  );
});
