import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatDollars,
  fromDollars,
  microDollars,
  money,
  toDollars,
} from '../src/core/money/money.ts';

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

/** Decimal text, and the millionths that it is. */
const microAmounts = `0=0 1.67=1670000 .000001=1 5.=5000000 0.29=290000 1e-6=1 2.5E-6=2 3.5e-6=4
  0.0000005=0 0.00000050000000000000000001=1 1.0000015=1000002 12.5e+1=125000000
  9007199254.740991=${Number.MAX_SAFE_INTEGER}`;
const noAmounts = ['9007199254.740992', '1e400', '', '.', 'e5', '-1', '+1', '1,5', '0x10', '1 '];
noAmounts.push('NaN', '1'.repeat(1_000_000), `0.${'3'.repeat(200)}`);
test('decimal text becomes millionths of a dollar exactly, and finer amounts are rounded half to even', () => {
  for (const [text = '', units] of microAmounts.split(/\s+/).map((pair) => pair.split('=')))
    assert.equal(microDollars(text), Number(units), text);
  for (const text of noAmounts) assert.equal(microDollars(text), null, text.slice(0, 40));
});
