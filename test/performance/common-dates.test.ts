import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CalendarDate } from '../../src/basics/calendar.ts';
import { commonDatesOf } from '../../src/performance/choice.ts';

const day = (number: number): CalendarDate => `2025-10-${String(number).padStart(2, '0')}`;
/**
 * A model with returns on these days of a month, each from the day before, or from the given one:
 * `[6, 3]`.
 */
const model = (name: string, ...days: (number | [date: number, start: number])[]) => ({
  model: name,
  days: days.map((own) => {
    const [date, start] = typeof own === 'number' ? [own, own - 1] : own;
    return { date: day(date), startDate: start === 0 ? null : day(start) };
  }),
});

function sharedBy(models: readonly ReturnType<typeof model>[]) {
  const returns = models.flatMap(({ days }, place) => days.map((own) => ({ ...own, place })));
  const byDate = [...Map.groupBy(returns, ({ date }) => date)].map(([date, ofDate]) => {
    const byStart = [...Map.groupBy(ofDate, ({ startDate }) => startDate)].map(
      ([start, own]) => [start, own.map(({ place }) => place)] as const,
    );
    return [date, new Map(byStart)] as const;
  });
  return { models: models.map(({ model: name }) => name), byDate: new Map(byDate) };
}

const commonOf = (models: readonly ReturnType<typeof model>[]) => commonDatesOf(sharedBy(models));

test('days on which a ranked model has no return are left out by name; one with few days costs the others none', () => {
  const models = [
    model('a', 1, 2, 3, 6, 7),
    model('b', 1, 3, 6, 7),
    model('c', 1, 3, 7, 8),
    model('late', 7),
  ];
  const { dates, leftOut, leftOutDays } = commonOf(models);
  assert.deepEqual([...dates], [1, 3, 7].map(day));
  assert.deepEqual(
    leftOut.map(({ model }) => model),
    ['late'],
  );
  assert.deepEqual(leftOutDays, [
    { date: day(2), missing: 2, models: ['b', 'c'] },
    { date: day(6), missing: 1, models: ['c'] },
    { date: day(8), missing: 2, models: ['a', 'b'] },
  ]);
  assert.deepEqual(commonOf([]).leftOutDays, []);
});

test('at most five models are named for a day, and all are counted', () => {
  const others = Array.from({ length: 9 }, (_, index) => model(`m${index}`, 1, 2));
  const [left] = commonOf([...others, model('more', 1, 2, 3)]).leftOutDays;
  assert.deepEqual(left, { date: day(3), missing: 9, models: ['m0', 'm1', 'm2', 'm3', 'm4'] });
});

test('a day is common only if every model started it from the same close: after a missed day a return covers both', () => {
  const models = [model('a', 1, 2, 3, 6), model('b', 1, [3, 1], 6), model('c', 1, 2, 3, [6, 4])];
  const { dates, leftOutDays } = commonOf(models);
  assert.deepEqual([...dates], [1].map(day));
  assert.deepEqual(leftOutDays, [
    { date: day(2), missing: 1, models: ['b'] },
    { date: day(3), missing: 1, models: ['b'] },
    { date: day(6), missing: 1, models: ['c'] },
  ]);
  const late = commonOf([model('early', 1, 2, 3), model('late', [2, 0], 3)]);
  assert.deepEqual([...late.dates], [day(3)], 'the first day of a model is measured from the open');
});
