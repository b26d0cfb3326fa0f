import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDollars, fromDollars, microDollars, money, toDollars } from '../src/basics/money.ts';

test('dollars become integers of 1/10000 and come back with at most four decimals', () => {
  for (const dollars of [0.1 + 0.2, 0.0001, 101.4801, 9_999_999.9999, 0]) {
    assert.equal(toDollars(fromDollars(dollars)), Math.round(dollars * 10_000) / 10_000);
  }
  assert.equal(fromDollars(1.00005), 10_001);
});

test('an amount that no integer represents exactly is an error, not rounded', () => {
  assert.throws(() => money(2 ** 53), RangeError);
  assert.throws(() => money(0.5), RangeError);
  assert.throws(() => money(NaN), RangeError);
});

test('people read at least cents', () => {
  assert.equal(formatDollars(fromDollars(1234.5)), '1,234.50');
  assert.equal(formatDollars(fromDollars(0.0123)), '0.0123');
});

const microAmounts: [text: string, units: number | null][] = [
  ['0', 0],
  ['1.67', 1_670_000],
  ['.000001', 1],
  ['5.', 5_000_000],
  ['0.29', 290_000],
  ['1e-6', 1],
  ['2.5E-6', 2],
  ['3.5e-6', 4],
  ['0.0000005', 0],
  ['0.00000050000000000000000001', 1],
  ['1.0000015', 1_000_002],
  ['12.5e+1', 125_000_000],
  ['9007199254.740991', Number.MAX_SAFE_INTEGER],
  ['9007199254.740992', null],
  ['1e400', null],
  ['', null],
  ['.', null],
  ['e5', null],
  ['-1', null],
  ['+1', null],
  ['1,5', null],
  ['0x10', null],
  ['1 ', null],
  ['NaN', null],
  ['1'.repeat(1_000_000), null],
  [`0.${'3'.repeat(200)}`, null],
];
test('decimal text becomes millionths of a dollar exactly, and finer amounts are rounded half to even', () => {
  for (const [text, units] of microAmounts)
    assert.equal(microDollars(text), units, text.slice(0, 40));
});
