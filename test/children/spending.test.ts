import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../src/database/database.ts';
import { endJob } from '../../src/database/jobs.ts';
import { addUsage } from '../../src/database/usage.ts';
import { createSpending, isOverCostLimit } from '../../src/jobs/cost-limits.ts';
import { insertTestJob } from '../support/jobs.ts';

const [FIRST, SECOND, THIRD] = ['2025-11-10', '2025-11-11', '2025-11-12'] as const;
const USAGE = {
  steps: 1,
  requests: 1,
  promptTokens: null,
  completionTokens: null,
  cachedTokens: null,
  reasoningTokens: null,
};

test('what a family has cost: all its runs, on the dates before and on the one that runs, each cost once', () => {
  const database = openDatabase(':memory:');
  const runs = ['a-1', 'a-2', 'b'].map((model) => ({
    model,
    startDate: FIRST,
    family: model.replace(/-.*/, ''),
  }));
  const range = { startDate: FIRST, endDate: THIRD, dates: [FIRST, SECOND, THIRD] };
  const others = {
    replaceExisting: false,
    agentConfig: {},
    createdAt: '2025-12-01T00:00:00.000Z',
    warnings: [],
  };
  insertTestJob(database, { jobId: 'earlier', ...range, runs, ...others });
  for (const date of range.dates)
    addUsage(database, { jobId: 'earlier', date, model: 'a-1' }, { ...USAGE, costUsd: 1_000 });
  endJob(database, 'earlier', { status: 'completed', error: null, at: others.createdAt });
  insertTestJob(database, { jobId: 'job', ...range, runs, ...others });
  const spend = (date: string, model: string, costUsd: number) =>
    addUsage(database, { jobId: 'job', date, model }, { ...USAGE, costUsd });
  const spending = createSpending(database, 'job');
  const costs = (date: string) => {
    spending.reach(date);
    return ['a', 'b', 'unknown'].map((family) => spending.of(family, date));
  };

  assert.deepEqual(costs(FIRST), [0, 0, 0]);
  spend(FIRST, 'a-1', 0.1);
  assert.deepEqual(costs(FIRST), [0.1, 0, 0], 'it counts at once');
  spend(FIRST, 'a-2', 0.2);
  spend(FIRST, 'b', 5);
  assert.deepEqual(costs(SECOND), [0.3, 5, 0]);
  spend(SECOND, 'a-1', 0.3);
  assert.deepEqual(costs(THIRD), [0.6, 5, 0], 'nothing is lost to rounding');
  assert.deepEqual(costs(THIRD), [0.6, 5, 0]);

  const afterRestart = createSpending(database, 'job');
  afterRestart.reach(THIRD);
  assert.equal(afterRestart.of('a', THIRD), 0.6);
});

test('a cost limit is reached once as much has been spent, and without one nothing is too much', () => {
  const spending = {
    reach: () => {},
    of: (family: string, date: string) => (family === 'a' && date === SECOND ? 1 : 9),
  };
  const isOver = (max_cost_usd: number | null) =>
    isOverCostLimit({ spending }, { signature: 'a', max_cost_usd }, SECOND);
  assert.deepEqual([0.99, 1, 1.01, null].map(isOver), [true, true, false, false]);
});
