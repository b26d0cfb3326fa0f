import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ComparedModel } from '../../src/comparison/participants.ts';
import { sharedDays } from '../../src/experiments/shared-days.ts';

/**
 * A model with returns on these days, each from the day before, or from the given one: `[6, 3]`; 0
 * is the initial cash.
 */
const model = (name: string, ...days: (number | [day: number, start: number])[]): ComparedModel => {
  const returns = days.map((own) => {
    const [day, start] = typeof own === 'number' ? [own, own - 1] : own;
    return [day, 0.01, start === 0 ? null : start] as const;
  });
  return { model: name, runs: [{ run: name, returns }], isDeterministic: false, unusable: null };
};
const many = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);
const leftOutOf = (models: readonly ComparedModel[]) =>
  sharedDays(models, []).leftOut.map(({ day, runs }) => [day, ...runs]);

test('a model with twenty days does not lose any to one with fewer; without such a model all count', () => {
  const [long, short] = [model('long', ...many(1, 25)), model('short', ...many(24, 30))];
  const { days, own, reasons, leftOut } = sharedDays([long, short], [model('other', 1, 2)]);
  assert.deepEqual([days, leftOut], [many(1, 25), []]);
  assert.deepEqual(own.get('short'), many(24, 30), 'as by itself');
  assert.deepEqual(
    [...reasons],
    [
      ['short', 'Needs 20 days with a return; it has 7'],
      ['other', 'On 23 of the 25 days compared it has no return that starts from the same close'],
    ],
  );
  const few = sharedDays([model('a', 1, 2, 3), model('b', 2, 3, 4)], []);
  assert.deepEqual([few.days, [...few.reasons]], [[2, 3], []]);
  assert.deepEqual(sharedDays([], []).days, []);
});

test('days on which a model has no return are left out by name', () => {
  const models = [model('a', 1, 2, 3, 6, 7), model('b', 1, 3, 6, 7), model('c', 1, 3, 7, 8)];
  assert.deepEqual(sharedDays(models, []).days, [1, 3, 7]);
  assert.deepEqual(leftOutOf(models), [
    [2, 'b', 'c'],
    [6, 'c'],
    [8, 'a', 'b'],
  ]);
});

test('a day counts only if every model started it from the same close: of several that of most, of equally many the latest', () => {
  const models = [model('a', 1, 2, 3, 6), model('b', 1, [3, 1], 6), model('c', 1, 2, 3, [6, 4])];
  assert.deepEqual(sharedDays(models, []).days, [1]);
  assert.deepEqual(leftOutOf(models), [
    [2, 'b'],
    [3, 'b'],
    [6, 'c'],
  ]);
  assert.deepEqual(leftOutOf([model('one', [3, 1]), model('two', [3, 2])]), [[3, 'one']]);
  const [early, late] = [model('early', 1, 2, 3), model('late', [2, 0], 3)];
  const { days } = sharedDays([early, late], []);
  assert.deepEqual(days, [3], 'the first day of a model is measured from the open');
  assert.deepEqual(leftOutOf([early, late]), [
    [1, 'late'],
    [2, 'late'],
  ]);
});
