import assert from 'node:assert/strict';
import { test } from 'node:test';
import { axisSplits, paddedRange } from '../../src/browser/plot/scale.ts';
import { firstShown, lineNear, nearestDate, nextChoice } from '../../src/browser/plot/plot.ts';
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

test('of many lines a tip shows ten around the chosen one', () => {
  const cases: [rows: number, rank: number, first: number][] = [
    [3, 1, 0],
    [50, -1, 0],
    [50, 2, 0],
    [50, 20, 15],
    [50, 49, 40],
  ];
  for (const [rows, rank, first] of cases)
    assert.equal(firstShown(rows, rank), first, `${rank} of ${rows}`);
});

test('the pointer is on the shown line whose value on the date is nearest, within reach', () => {
  const lines = [
    [0, 100],
    [null, 40],
    [5, 41],
  ].map((values, place) => {
    return { label: `${place}`, colour: `series-${place}`, values };
  });
  // Of a plot only what is read: here values are pixels.
  const shownWith = (...hidden: number[]) =>
    ({
      options: { lines },
      hidden: new Set(hidden),
      scale: { y: (value: number) => value },
    }) as any;
  const hits: [index: number, top: number, hidden: number[], line: number | null][] = [
    [0, 2, [], 0],
    [0, 4, [], 2],
    [0, 4, [2], 0],
    [1, 40, [], 1],
    [1, 70, [], null],
    [1, 90, [], 0],
    [2, 40, [], null],
  ];
  for (const [index, top, hidden, line] of hits)
    assert.equal(lineNear(shownWith(...hidden), index, top), line, `${index} ${top} ${hidden}`);
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
    const [bottom, top] = paddedRange([-range, 0]);
    const labels = axisSplits(bottom, top, 150);
    assert.ok(labels.length >= 3 && labels.length <= 5, `${labels}`);
    assert.ok(labels.includes(0));
  }
});
