import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Format } from '../../src/api/handler.ts';
import { chooseCoding, chooseFormat, type Coding, prefersHtml } from '../../src/http/negotiate.ts';

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
  test(`Accept: ${accept} gets ${format}`, () =>
    assert.equal(chooseFormat(undefined, accept), format));

const readers: [accept: string | undefined, isPerson: boolean][] = [
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8', true],
  ['text/html', true],
  ['text/html, application/json', false],
  ['application/json, text/html;q=0.9', false],
  ['*/*', false],
  ['text/*;q=0.5, */*;q=0.1', true],
  [undefined, false],
];
for (const [accept, isPerson] of readers)
  test(`Accept: ${accept} is ${isPerson ? 'a person' : 'a program'}`, () =>
    assert.equal(prefersHtml(accept), isPerson));

test('the format in the query takes precedence over the header', () => {
  assert.equal(chooseFormat('csv', 'application/json'), 'csv');
  assert.equal(chooseFormat('json', 'text/csv'), 'json');
});

const codings: [accept: string | undefined, coding: Coding | null][] = [
  [undefined, null],
  ['', null],
  ['gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['x-gzip', 'gzip'],
  ['gzip, deflate', 'gzip'],
  ['gzip, deflate, br, zstd', 'zstd'],
  ['gzip, deflate, br', 'br'],
  ['gzip;q=1.0, zstd;q=0.5', 'gzip'],
  ['gzip; q=0.001', 'gzip'],
  ['gzip;q=0', null],
  ['gzip;q=0, *', 'zstd'],
  ['zstd;q=0, br;q=0.0, *;q=0.1', 'gzip'],
  ['*', 'zstd'],
  ['*;q=0', null],
  ['identity', null],
  ['identity, gzip', 'gzip'],
  ['identity;q=1, gzip;q=0.5', null],
  ['identity;q=0.5, gzip;q=1', 'gzip'],
  ['identity;q=0.5, *;q=0.4', null],
  ['identity;q=0', null],
  ['gzip, identity;q=0', 'gzip'],
  ['gzip;q=0.1, *;q=0', 'gzip'],
  ['identity, *;q=0', null],
  ['deflate, compress', null],
  ['gzip;q=banana', null],
  ['gzip;q=2', null],
  ['x-gzippy, brr', null],
  [',;,=', null],
];
for (const [accept, coding] of codings)
  test(`Accept-Encoding: ${accept} gets ${coding ?? 'no coding'}`, () =>
    assert.equal(chooseCoding(accept, ['zstd', 'br', 'gzip']), coding));
