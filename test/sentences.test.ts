import assert from 'node:assert/strict';
import { test } from 'node:test';
import { weekdays } from '../src/calendar.ts';
import { count, list } from '../src/sentences.ts';

test('a count agrees with its noun', () => {
  assert.deepEqual([count(0, 'date'), count(1, 'date'), count(2, 'date')], ['0 dates', '1 date', '2 dates']);
});

test('of many names some are told and the others counted', () => {
  assert.match(list(weekdays('2025-01-06', '2025-02-18')), /^2025-01-06, .*2025-02-14 and 2 more$/);
  assert.equal(list(['A', 'B', 'C'], 2), 'A, B and 1 more');
  assert.equal(list(['A', 'B']), 'A, B');
});
