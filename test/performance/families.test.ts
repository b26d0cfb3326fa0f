import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportFamilies } from '../../src/performance/comparability.ts';

const run = (model: string, family: string, total_return: number | null) => ({
  model,
  family,
  model_days: 3,
  total_return,
});

test('a family with several runs has the mean and the spread of their returns', () => {
  const runs = [
    run('a', 'a', 0.031),
    run('b', 'b', 0.5),
    run('a#2', 'a', 0.012),
    run('a#3', 'a', null),
  ];
  assert.deepEqual(reportFamilies(runs), [
    {
      family: 'a',
      runs: [
        { model: 'a', model_days: 3, total_return: 0.031 },
        { model: 'a#2', model_days: 3, total_return: 0.012 },
        { model: 'a#3', model_days: 3, total_return: null },
      ],
      mean_total_return: 0.0215,
      total_return_deviation: 0.0134350288, // 0.019 / sqrt 2
      lowest_total_return: 0.012,
      highest_total_return: 0.031,
      unavailable: {},
    },
  ]);
});

test('with one return there is no spread', () => {
  const [family] = reportFamilies([run('a', 'a', 0.031), run('a#2', 'a', null)]);
  assert.equal(family?.mean_total_return, null);
  assert.equal(family?.unavailable.total_return_deviation, 'Needs 2 runs with a return, has 1');
});
