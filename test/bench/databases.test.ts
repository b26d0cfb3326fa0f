import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addDays } from '../../src/calendar.ts';
import { openDatabase } from '../../src/database/database.ts';
import { insertWholeJob } from '../support/whole-job.ts';

/** The databases that the benches are run on. */

test('a job that is too large for one span has all its model-days as soon as it is inserted', (t) => {
  const database = openDatabase(':memory:');
  t.after(() => database.close());
  const dates = Array.from({ length: 30 }, (_none, index) => addDays('2025-01-01', index));
  const runs = Array.from({ length: 100 }, (_none, index) => ({ model: `model-${index}`, startDate: '2025-01-01' }));
  const range = { startDate: '2025-01-01', endDate: '2025-01-30', dates, runs };
  const rest = { replaceExisting: false, agentConfig: {}, createdAt: '2025-02-01T00:00:00.000Z', warnings: [] };
  database.transaction(() => insertWholeJob(database, { jobId: 'large', ...range, ...rest }));
  const counts = database.statement('SELECT count(*) AS days, count(DISTINCT date) AS dates, max(date) AS last FROM job_details').get();
  assert.deepEqual({ ...counts }, { days: 3_000, dates: 30, last: '2025-01-30' });
});
