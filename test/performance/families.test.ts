import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportFamilies } from '../../src/features/performance/model-reports.ts';

const run = (
  model: string,
  family: string,
  total_return: number | null,
  growths: readonly number[] = [],
) => ({
  model,
  family,
  model_days: 3,
  total_return,
  curve: growths.map((growth, index) => ({ date: `2025-09-0${index + 1}`, growth })),
});
const withCurves = false;

test('a family with several runs has the mean and the spread of their returns', () => {
  const own = [run('a', 'a', 0.031), run('a#2', 'a', 0.012), run('a#3', 'a', null)];
  assert.deepEqual(reportFamilies([run('b', 'b', 0.5), ...own], { withCurves }), [
    {
      family: 'a',
      runs: own.map(({ model, model_days, total_return }) => ({ model, model_days, total_return })),
      mean_total_return: 0.0214558238, // sqrt(1.031 * 1.012) - 1
      total_return_deviation: 0.0134350288, // 0.019 / sqrt 2
      lowest_total_return: 0.012,
      highest_total_return: 0.031,
      unavailable: {},
    },
  ]);
});

test('with one return there is no spread', () => {
  const [family] = reportFamilies([run('a', 'a', 0.031), run('a#2', 'a', null)], { withCurves });
  assert.equal(family?.mean_total_return, null);
  assert.equal(family?.unavailable.total_return_deviation, 'Needs 2 runs with a return, has 1');
});

test('by entry each has its return, and several runs have a curve: their mean between the lowest and the highest', () => {
  const runs = [
    run('a', 'a', 1, [1, 2]),
    run('a#2', 'a', 7, [4, 8]),
    run('b', 'b', -1, [1, 0]),
    run('c', 'c', 0, [1, 1]),
    run('c#2', 'c', -1, [1, 0]),
  ];
  const families = reportFamilies(runs, { withCurves: true });
  assert.deepEqual(
    families.map(({ family, curve, mean_total_return: mean }) => [
      family,
      mean,
      ...(curve ?? []).map(({ growth, low, high }) => [low, growth, high]),
    ]),
    [
      ['a', 3, [1, 2, 4], [2, 4, 8]],
      ['b', -1],
      ['c', -1, [1, 1, 1], [0, 0, 1]],
    ],
  );
});

test('a run that is also chosen by itself has other dates: the curve is on those that all runs share', () => {
  const late = { ...run('a#2', 'a', 7), curve: [{ date: '2025-09-02', growth: 8 }] };
  const [family] = reportFamilies([run('a', 'a', 1, [1, 2]), late], { withCurves: true });
  assert.deepEqual(family?.curve, [{ date: '2025-09-02', growth: 4, low: 2, high: 8 }]);
});
