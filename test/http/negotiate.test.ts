import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseCoding, chooseFormat, prefersHtml } from '../../src/core/http/negotiate.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8';

/** What is chosen, and the headers that choose it, separated by `|`; `-` for none. */
const formats = {
  json: `-||*/*|application/json|application/*|text/csv, application/json|text/csv;q=0
    |text/csv;q=0.5, application/json|text/csv;q=0, */*|text/csv;q=banana|text/html|,;,=|${BROWSER}`,
  csv: `text/csv|TEXT/CSV; charset=utf-8; header=present|text/*|text/csv, */*|*/*, text/csv
    |text/csv, application/json;q=0.9|text/csv;q=0.5, */*;q=0.1`,
};
const readers = {
  true: `${BROWSER}|text/html|text/*;q=0.5, */*;q=0.1`,
  false: '-|text/html, application/json|application/json, text/html;q=0.9|*/*',
};
const codings = {
  null: `-||gzip;q=0|*;q=0|identity|identity;q=1, gzip;q=0.5|identity;q=0.5, *;q=0.4|identity;q=0
    |identity, *;q=0|deflate, compress|gzip;q=banana|gzip;q=2|x-gzippy, brr|,;,=`,
  gzip: `gzip|GZIP|x-gzip|gzip, deflate|gzip;q=1.0, zstd;q=0.5|gzip; q=0.001|identity, gzip
    |zstd;q=0, br;q=0.0, *;q=0.1|identity;q=0.5, gzip;q=1|gzip, identity;q=0|gzip;q=0.1, *;q=0`,
  br: 'gzip, deflate, br',
  zstd: 'gzip, deflate, br, zstd|gzip;q=0, *|*',
};

function assertChoices(
  table: Record<string, string>,
  choose: (header: string | undefined) => unknown,
): void {
  for (const [wanted, headers] of Object.entries(table))
    for (const header of headers.split('|').map((one) => one.trim()))
      assert.equal(String(choose(header === '-' ? undefined : header)), wanted, header);
}

test('the format of an Accept header; that of the query takes precedence', () => {
  assertChoices(formats, (accept) => chooseFormat(undefined, accept));
  assert.equal(chooseFormat('csv', 'application/json'), 'csv');
  assert.equal(chooseFormat('json', 'text/csv'), 'json');
});

test('who prefers HTML is a person, not a program', () => {
  assertChoices(readers, prefersHtml);
});

test('the coding of an Accept-Encoding header', () => {
  assertChoices(codings, (accept) => chooseCoding(accept, ['zstd', 'br', 'gzip']));
});
