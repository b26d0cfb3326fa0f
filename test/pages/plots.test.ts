import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  datesFromStart,
  rankOrder,
  valuesFromStart,
} from '../../src/features/pages/browser/plot/lines.ts';
import {
  firstTipRow,
  nearestLine,
  nearestDate,
  nextLine,
} from '../../src/features/pages/browser/plot/plot.ts';

test('curves start together: each has its value at the start on the date before its first', () => {
  const dates = ['2025-10-03', '2025-10-06', '2025-10-07', '2025-10-08'];
  const [friday = '', monday = '', tuesday = '', wednesday = ''] = dates;
  assert.deepEqual(datesFromStart([monday, tuesday]), [friday, monday, tuesday], 'over a weekend');
  assert.deepEqual(datesFromStart([tuesday]), [monday, tuesday]);
  assert.deepEqual(datesFromStart([]), []);
  const from = (first: string, ...values: number[]) => {
    const place = dates.indexOf(first);
    const points = values.map((value, index) => ({ date: dates[place + index] ?? '', value }));
    return valuesFromStart(dates, points, 100);
  };
  assert.deepEqual(from(monday, 101, 102, 103), [100, 101, 102, 103]);
  assert.deepEqual(from(wednesday, 99), [null, null, 100, 99], 'a model that starts later');
  assert.deepEqual(from(monday), [null, null, null, null]);
  assert.deepEqual(from(friday, 98, 99), [98, 99, null, null], 'without a date before them');
});

test('lines are ranked by their last value; those without any come last', () => {
  const lines = [
    [1, 5],
    [9, null],
    [null, null],
    [2, 7],
  ].map((values) => ({ values }));
  assert.deepEqual(rankOrder(lines), [1, 3, 0, 2]);
  assert.deepEqual(rankOrder([]), []);
});

test('of many lines a tip shows ten around the chosen one', () => {
  assert.equal(firstTipRow(3, 1), 0);
  const first = [-1, 2, 20, 49].map((rank) => firstTipRow(50, rank));
  assert.deepEqual(first, [0, 0, 15, 40]);
});

test('the pointer is on the shown line whose value on the date is nearest, within reach', () => {
  const values = [
    [0, 100],
    [null, 40],
    [5, 41],
  ];
  const lines = values.map((values, place) => {
    return { label: `${place}`, colour: `series-${place}`, values };
  });
  const scale = { y: (value: number) => value };
  // Of a plot only what is read: here values are pixels.
  const near = (index: number, top: number, ...hidden: number[]) =>
    nearestLine({ options: { lines }, hidden: new Set(hidden), scale } as any, index, top);
  assert.deepEqual([near(0, 2), near(0, 4), near(0, 4, 2)], [0, 2, 0]);
  assert.deepEqual([near(1, 40), near(1, 70), near(1, 90), near(2, 40)], [1, null, 0, null]);
});

test('the pointer reads the nearest date, also beyond the first and the last', () => {
  const places = [-5, 10, 14, 16, 29, 31, 90].map((x) => nearestDate([10, 20, 40], x));
  assert.deepEqual(places, [0, 0, 0, 1, 1, 2, 2]);
  assert.equal(nearestDate([], 3), null);
});

test('up and down choose a line by rank, and Escape none', () => {
  const next = (chosen: number | null, key: string) => nextLine([4, 0, 2], chosen, key);
  assert.deepEqual(
    [null, 4, 2, 9].map((chosen) => next(chosen, 'ArrowDown')),
    [4, 0, 2, 4],
  );
  assert.deepEqual([next(null, 'ArrowUp'), next(4, 'ArrowUp')], [2, 4]);
  assert.deepEqual([next(0, 'ArrowLeft'), next(0, 'Escape')], [0, null]);
  assert.equal(nextLine([], null, 'ArrowDown'), null);
});
