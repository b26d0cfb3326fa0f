import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { SYMBOLS, datesOf, fillWithModelDays } from '../../bench/large-database.ts';
import { addDays } from '../../src/calendar.ts';
import { openDatabase } from '../../src/database/database.ts';
import { folderOfProcess } from '../support/folder.ts';
import { insertWholeJob } from '../support/whole-job.ts';

/** The databases that the benches are run on. */

test('a job that is too large for one span has all its model-days as soon as it is inserted', (t) => {
  const database = openDatabase(':memory:');
  t.after(() => database.close());
  const dates = Array.from({ length: 30 }, (_none, index) => addDays('2025-01-01', index));
  const runs = Array.from({ length: 100 }, (_none, index) => ({
    model: `model-${index}`,
    startDate: '2025-01-01',
  }));
  const range = { startDate: '2025-01-01', endDate: '2025-01-30', dates, runs };
  const rest = {
    replaceExisting: false,
    agentConfig: {},
    createdAt: '2025-02-01T00:00:00.000Z',
    warnings: [],
  };
  database.transaction(() => insertWholeJob(database, { jobId: 'large', ...range, ...rest }));
  const counts = database
    .statement(
      'SELECT count(*) AS days, count(DISTINCT date) AS dates, max(date) AS last FROM job_details',
    )
    .get();
  assert.deepEqual({ ...counts }, { days: 3_000, dates: 30, last: '2025-01-30' });
});

test('on the morning of every second date all models of a large database hold every symbol', (t) => {
  const path = join(folderOfProcess(), 'large.db');
  const size = { models: 3, days: 5, positionsPerDay: 20 };
  fillWithModelDays(path, size);
  const database = openDatabase(path);
  t.after(() => database.close());
  const held = database
    .statement(
      'SELECT date, count(*) AS holders FROM session_prices WHERE held_since IS NOT NULL GROUP BY date, symbol ORDER BY date, symbol',
    )
    .all();
  const mornings = datesOf(size).filter((_date, index) => index % 2 === 1);
  assert.deepEqual(
    held.map((row) => ({ ...row })),
    mornings.flatMap((date) => SYMBOLS.map(() => ({ date, holders: 3 }))),
  );
});
