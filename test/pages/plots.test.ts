import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineAt, nearestDate, nextChoice } from '../../src/browser/plot/choosing.ts';
import { axisSplits, paddedRange } from '../../src/browser/plot/scale.ts';
import { nearest, roomFor } from '../../src/browser/plot/reading.ts';
import { datesFromStart, rankOrder, valuesFromStart } from '../../src/browser/plot/lines.ts';

test('curves start together: each has its value at the start on the date before its first', () => {
  assert.deepEqual(
    datesFromStart(['2025-10-06', '2025-10-07']),
    ['2025-10-03', '2025-10-06', '2025-10-07'],
    'over a weekend',
  );
  assert.deepEqual(datesFromStart(['2025-10-07']), ['2025-10-06', '2025-10-07']);
  assert.deepEqual(datesFromStart([]), []);
  const dates = ['2025-10-03', '2025-10-06', '2025-10-07', '2025-10-08'];
  const from = (first: string, ...values: number[]) =>
    valuesFromStart(
      dates,
      values.map((value, index) => ({ date: dates[dates.indexOf(first) + index] ?? '', value })),
      100,
    );
  assert.deepEqual(from('2025-10-06', 101, 102, 103), [100, 101, 102, 103]);
  assert.deepEqual(from('2025-10-08', 99), [null, null, 100, 99], 'a model that starts later');
  assert.deepEqual(from('2025-10-06'), [null, null, null, null]);
  assert.deepEqual(
    from('2025-10-03', 98, 99),
    [98, 99, null, null],
    'dates without a start before them',
  );
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

test('a tooltip shows the values nearest to the pointer in rank order, never more than its plot has room for', () => {
  const rows = [5, 1, 4, 2, 3].map((distance) => ({ distance }));
  assert.deepEqual(nearest(rows, 3), {
    shown: [{ distance: 1 }, { distance: 2 }, { distance: 3 }],
    more: 2,
  });
  assert.deepEqual(nearest(rows, 5), { shown: rows, more: 0 });
  assert.deepEqual([340, 280, 150, 90, 10].map(roomFor), [10, 10, 4, 1, 1]);
});

test('the pointer is on the nearest curve within reach, between its points too, and chooses the nearest day', () => {
  const points = (...ys: (number | null)[]) =>
    ys.flatMap((y, index) => (y === null ? [] : [{ index, x: index * 100, y }]));
  const lines = [
    { line: 0, points: points(0, 100, 0) },
    { line: 3, points: points(null, 40, 50) },
  ];
  const hits: [x: number, y: number, line: number | null, index?: number][] = [
    [0, 5, 0, 0],
    [45, 45, 0, 0],
    [55, 55, 0, 1],
    [160, 46, 3, 2],
    [100, 48, 3, 1],
    [50, 80, null],
    [91, 40, 3, 1],
    [89, 34, null],
    [206, 4, 0, 2],
    [215, 0, null],
  ];
  for (const [x, y, line, index] of hits)
    assert.deepEqual(lineAt(lines, { x, y }), line === null ? null : { line, index }, `${x} ${y}`);
  assert.equal(lineAt([], { x: 0, y: 0 }), null);
  assert.equal(lineAt([{ line: 0, points: [] }], { x: 0, y: 0 }), null);
});

test('the pointer reads the nearest date, also beyond the first and the last', () => {
  const xs = [10, 20, 40];
  assert.deepEqual(
    [-5, 10, 14, 16, 29, 31, 90].map((x) => nearestDate(xs, x)),
    [0, 0, 0, 1, 1, 2, 2],
  );
  assert.equal(nearestDate([], 3), null);
});

test('up and down choose a line by rank, and Escape none', () => {
  const places = [4, 0, 2];
  const steps: [chosen: number | null, key: string, next: number | null][] = [
    [null, 'ArrowDown', 4],
    [null, 'ArrowUp', 2],
    [4, 'ArrowDown', 0],
    [2, 'ArrowDown', 2],
    [4, 'ArrowUp', 4],
    [9, 'ArrowDown', 4],
    [0, 'ArrowLeft', 0],
    [0, 'Escape', null],
  ];
  for (const [chosen, key, next] of steps)
    assert.equal(nextChoice(places, chosen, key), next, `${chosen} ${key}`);
  assert.equal(nextChoice([], null, 'ArrowDown'), null);
});

test('every axis has at least two labels, and that of a drawdown at least three', () => {
  for (let exponent = -5; exponent < 5; exponent += 0.037) {
    const range = 10 ** exponent;
    for (const low of [0, range * 0.3, 97.3, 10_000])
      for (const height of [100, 150, 340])
        assert.ok(
          axisSplits(low, low + range, height).length >= 2,
          `${low} to ${low + range} in ${height}`,
        );
    const [bottom, top] = paddedRange(-range, 0, { isLog: false, fromZero: true });
    const labels = axisSplits(bottom, top, 150);
    assert.ok(labels.length >= 3 && labels.length <= 5, `${labels}`);
    assert.ok(labels.includes(0));
  }
  assert.deepEqual(
    paddedRange(0, 0, { isLog: false, fromZero: true }),
    [-0.01, 0.01],
    'no drawdown at all',
  );
});
