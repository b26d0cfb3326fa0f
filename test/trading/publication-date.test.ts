import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { publicationDate } from '../../src/core/trading/news.ts';
import { anyTextUpTo } from '../support/any-text.ts';

const certain: [stamp: string, date: string][] = [
  ['2025-01-05', '2025-01-05'],
  [' 2025-01-05 ', '2025-01-05'],
  ['2025-01-05T23:30:00Z', '2025-01-05'],
  ['2025-01-05T23:30:00.123456Z', '2025-01-05'],
  ['2025-01-05T23:30:00+00:00', '2025-01-05'],
  // An offset decides the day; without one the date stands as it is.
  ['2025-01-05T23:30:00-05:00', '2025-01-06'],
  ['2025-01-06T04:00:00+0900', '2025-01-05'],
  ['2025-01-06T04:00+09', '2025-01-05'],
  ['2025-01-05 19:00:00 -05:00', '2025-01-06'],
  ['2025-01-05 18:59 -05:00', '2025-01-05'],
  ['2025-01-05T23:30:00', '2025-01-05'],
  ['2024-12-31T23:59:60Z', '2024-12-31'],
  ['2024-12-31T20:00:00-05:00', '2025-01-01'],
  ['2024-02-29', '2024-02-29'],
  ['Sun, 05 Jan 2025 23:30:00 GMT', '2025-01-05'],
  ['Sun, 5 Jan 2025 23:30:00 +0000', '2025-01-05'],
  ['05 Jan 2025 23:30 -0500', '2025-01-06'],
  ['Sun, 05 Jan 2025 19:00:00 EST', '2025-01-06'],
  ['Sun, 06 Jul 2025 19:59:00 EDT', '2025-07-06'],
  ['Sun, 06 Jul 2025 20:00:00 EDT', '2025-07-07'],
  ['Sun, 05 Jan 2025 16:00:00 PST', '2025-01-06'],
  ['Jan 5, 2025', '2025-01-05'],
  ['Jan. 5, 2025', '2025-01-05'],
  ['January 5, 2025', '2025-01-05'],
  ['JANUARY 5 2025', '2025-01-05'],
  ['Sunday, January 5, 2025', '2025-01-05'],
  ['Wednesday, January 8, 2025', '2025-01-08'],
  ['Sept 5, 2025', '2025-09-05'],
  ['5 January 2025', '2025-01-05'],
  ['05 Jan 2025', '2025-01-05'],
];
test('a date, with or without a time and its offset, is its day in UTC', () => {
  for (const [stamp, date] of certain) assert.equal(publicationDate(stamp), date, stamp);
});

const uncertain: unknown[] = [
  ...`3 days ago|1 day ago|17 hours ago|an hour ago|yesterday|today|just now|last week|2 months ago
    |Updated Jan 5, 2025|before January 5, 2025|Jan 5|January 2025|2025|5 Jan 25|1/5/2025|05.01.2025
    |2025-1-5|2025-13-01|2025-02-29|Feb 30, 2025|31 April 2025|Jab 5, 2025|2025-01-05T25:00:00Z
    |2025-01-05T10:61:00Z|2025-01-05T10:00:00+25:00|2025-01-05T10:00:00 CEST|5 janv. 2025
    |2025-01-05 and then some|2025年1月5日`.split(/\n? *\|/),
  // The zero of a clock is no date of publication.
  ...`1970-01-01T00:00:00Z|Thu, 01 Jan 1970 00:00:00 GMT|0001-01-01T00:00:00Z
    |0000-01-01T00:00:00+14:00|9999-12-31T23:00:00-05:00`.split(/\n? *\|/),
  ...['', ' ', `2025-01-05${' '.repeat(100)}`, null, undefined, 1_736_035_200],
  ...[{ date: '2025-01-05' }, ['2025-01-05']],
];
test('a stamp that leaves the day uncertain has no date', () => {
  for (const stamp of uncertain) assert.equal(publicationDate(stamp), null, JSON.stringify(stamp));
});

test('every instant with every offset is its date in UTC', () => {
  const anyInstant = fc.date({
    min: new Date('1990-01-02T00:00Z'),
    max: new Date('2099-12-30T00:00Z'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(anyInstant, fc.integer({ min: -14 * 60, max: 14 * 60 }), (instant, offset) => {
      const local = new Date(instant.getTime() + offset * 60_000).toISOString().slice(0, 19);
      const [hours, minutes] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60];
      const zone = `${offset < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`;
      assert.equal(publicationDate(local + zone), instant.toISOString().slice(0, 10));
    }),
  );
});

test('any other text is not a date, and never an error', () => {
  fc.assert(fc.property(anyTextUpTo(80), (text) => void publicationDate(text)));
});
