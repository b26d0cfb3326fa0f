import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type DateNeed, downloadOrder } from '../../src/prices/download-order.ts';
import { runs } from '../support/long.ts';

/** How many dates are complete when these symbols are there. */
function completedDates(needs: readonly DateNeed[], symbols: readonly string[]): number {
  return needs.filter(({ missing }) => missing.every((symbol) => symbols.includes(symbol))).length;
}

const SYMBOLS = ['A', 'B', 'C', 'D', 'E', 'F'];

/** A line per date: the symbols it misses. */
function needsOf(...lines: string[]): DateNeed[] {
  return lines.map((line, index) => ({
    date: `2025-01-${String(index + 6).padStart(2, '0')}`,
    missing: line === '' ? [] : line.split(' '),
  }));
}

const orders: [name: string, needs: DateNeed[], downloadsLeft: number | null, order: string][] = [
  ['nothing is missing', needsOf('', ''), null, ''],
  ['one symbol that all dates miss', needsOf('A', 'A'), null, 'A'],
  ['the date with the fewest missing symbols first', needsOf('A B C', 'D'), null, 'D A B C'],
  ['what is there already counts', needsOf('A B', 'A B C', 'D E'), null, 'A B C D E'],
  ['of equals the one that completes more dates', needsOf('A', 'B', 'B'), null, 'B A'],
  [
    'with two downloads one large set beats two small ones',
    needsOf('A', 'B C', 'B C', 'B C'),
    2,
    'B C A',
  ],
  ['with none left the order is the greedy one', needsOf('A B', 'C'), 0, 'C A B'],
];
for (const [name, needs, downloadsLeft, order] of orders) {
  test(name, () => assert.equal(downloadOrder(needs, downloadsLeft).join(' '), order));
}

/** The most dates that any choice of k symbols completes. */
function optimum(needs: readonly DateNeed[], k: number): number {
  let best = 0;
  for (let choice = 0; choice < 2 ** SYMBOLS.length; choice += 1) {
    const symbols = SYMBOLS.filter((_, index) => (choice >> index) & 1);
    if (symbols.length <= k) best = Math.max(best, completedDates(needs, symbols));
  }
  return best;
}

const arbitraryNeeds = fc
  .array(fc.subarray(SYMBOLS), { minLength: 1, maxLength: 6 })
  .map((dates) => needsOf(...dates.map((missing) => missing.join(' '))));

test('with the number of downloads known, no choice of symbols completes more dates', () => {
  fc.assert(
    fc.property(arbitraryNeeds, fc.integer({ min: 0, max: 6 }), (needs, k) => {
      const order = downloadOrder(needs, k);
      assert.equal(completedDates(needs, order.slice(0, k)), optimum(needs, k));
    }),
    { numRuns: runs(200, 500) },
  );
});

test('every missing symbol is requested once, and nothing else', () => {
  const downloadsLeft = fc.option(fc.integer({ min: 0, max: 7 }), { nil: null });
  fc.assert(
    fc.property(arbitraryNeeds, downloadsLeft, (needs, k) => {
      assert.deepEqual(
        downloadOrder(needs, k).sort(),
        [...new Set(needs.flatMap(({ missing }) => missing))].sort(),
      );
    }),
  );
});

test('with the number unknown, the greedy order stays near the optimum wherever it is cut', (t) => {
  const seen: { ratio: number; needs: DateNeed[]; k: number }[] = [];
  fc.assert(
    fc.property(arbitraryNeeds, (needs) => {
      const order = downloadOrder(needs, null);
      for (let k = 0; k <= order.length; k += 1) {
        const [reached, possible] = [completedDates(needs, order.slice(0, k)), optimum(needs, k)];
        if (possible > 0) seen.push({ ratio: reached / possible, needs, k });
      }
      assert.equal(completedDates(needs, order), needs.length);
    }),
    { numRuns: 1_000, seed: 1 },
  );
  const worst = seen.reduce((least, one) => (one.ratio < least.ratio ? one : least));
  const mean = seen.reduce((sum, { ratio }) => sum + ratio, 0) / seen.length;
  const dates = worst.needs.map(({ missing }) => missing.join('') || '-').join(' ');
  t.diagnostic(
    `greedy to optimum over ${seen.length} cuts: worst ${worst.ratio.toFixed(2)} (after ${worst.k} downloads for ${dates}), mean ${mean.toFixed(3)}`,
  );
  assert.ok(mean > 0.9);
});

test('a hundred symbols on a month of dates are ordered quickly', () => {
  const symbols = Array.from({ length: 100 }, (_, index) => `S${index}`);
  const needs = Array.from({ length: 30 }, (_, date) => ({
    date: `2025-01-${String(date + 1).padStart(2, '0')}`,
    missing: symbols.filter((_symbol, index) => (index * 7 + date * 13) % 11 < 5),
  }));
  assert.equal(downloadOrder(needs, 25).length, 100);
});
