import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../src/core/database/database.ts';
import { endJob } from '../../src/core/database/job-queries.ts';
import { addUsage, costsBefore } from '../../src/core/database/usage.ts';
import { spentOverLimit } from '../../src/core/jobs/model-day.ts';
import { insertTestJob } from '../support/jobs.ts';

const [FIRST, SECOND, THIRD] = ['2025-11-10', '2025-11-11', '2025-11-12'] as const;
const USAGE = {
  ...{ steps: 1, requests: 1, promptTokens: null, completionTokens: null },
  ...{ cachedTokens: null, reasoningTokens: null },
};

test('a cost limit counts what all runs of a family have cost, on the dates before and on the one that runs, each cost once', () => {
  const database = openDatabase(':memory:');
  const runs = ['a-1', 'a-2', 'b'].map((model) => {
    return { model, startDate: FIRST, family: model.replace(/-.*/, '') };
  });
  const range = { startDate: FIRST, endDate: THIRD, dates: [FIRST, SECOND, THIRD] };
  const createdAt = '2025-12-01T00:00:00.000Z';
  const others = { replaceExisting: false, agentConfig: {}, createdAt, warnings: [] };
  insertTestJob(database, { jobId: 'earlier', ...range, runs, ...others });
  for (const date of range.dates)
    addUsage(database, { jobId: 'earlier', date, model: 'a-1' }, { ...USAGE, costUsd: 1_000 });
  endJob(database, 'earlier', { status: 'completed', error: null, at: createdAt });
  insertTestJob(database, { jobId: 'job', ...range, runs, ...others });
  const spend = (date: string, model: string, costUsd: number) =>
    addUsage(database, { jobId: 'job', date, model }, { ...USAGE, costUsd });
  const before = (date: string) => costsBefore(database, 'job', date);
  const isOver = (date: string, family: string, limit: number | null) =>
    spentOverLimit(
      database,
      { family, entry: { max_cost_usd: limit } },
      { modelDay: { jobId: 'job', date, model: family }, spentBefore: before(date) },
    ) !== null;
  /** A limit is reached once as much has been spent. */
  const check = (date: string, costs: Record<string, number>) => {
    for (const [family, cost] of Object.entries(costs)) {
      const over = [cost - 0.01, cost, cost + 0.01, null].map((limit) =>
        isOver(date, family, limit),
      );
      assert.deepEqual(over, [true, true, false, false], `${family} on ${date}`);
    }
  };

  check(FIRST, { a: 0, b: 0, unknown: 0 });
  spend(FIRST, 'a-1', 0.1);
  check(FIRST, { a: 0.1, b: 0 }); // it counts at once
  spend(FIRST, 'a-2', 0.2);
  spend(FIRST, 'b', 5);
  check(SECOND, { a: 0.3, b: 5, unknown: 0 });
  spend(SECOND, 'a-1', 0.3);
  check(THIRD, { a: 0.6, b: 5 }); // nothing is lost to rounding
});
