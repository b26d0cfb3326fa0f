import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Format } from '../../src/handlers/handler.ts';
import { chooseFormat } from '../../src/http/negotiate.ts';

const rows: [accept: string | undefined, format: Format][] = [
  [undefined, 'json'],
  ['', 'json'],
  ['*/*', 'json'],
  ['application/json', 'json'],
  ['text/csv', 'csv'],
  ['TEXT/CSV; charset=utf-8; header=present', 'csv'],
  ['text/*', 'csv'],
  ['application/*', 'json'],
  ['text/csv, */*', 'csv'],
  ['*/*, text/csv', 'csv'],
  ['text/csv, application/json', 'json'],
  ['text/csv, application/json;q=0.9', 'csv'],
  ['text/csv;q=0.5, application/json', 'json'],
  ['text/csv;q=0.5, */*;q=0.1', 'csv'],
  ['text/csv;q=0', 'json'],
  ['text/csv;q=0, */*', 'json'],
  ['text/csv;q=banana', 'json'],
  ['text/html', 'json'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8', 'json'],
  [',;,=', 'json'],
];
for (const [accept, format] of rows)
  test(`Accept: ${accept} gets ${format}`, () => assert.equal(chooseFormat(undefined, accept), format));

test('what the query names counts before the header', () => {
  assert.equal(chooseFormat('csv', 'application/json'), 'csv');
  assert.equal(chooseFormat('json', 'text/csv'), 'json');
});
