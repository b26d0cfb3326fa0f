import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDollars, fromDollars, money, toDollars } from '../src/money.ts';

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
