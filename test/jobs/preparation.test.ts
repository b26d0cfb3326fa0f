import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { type CommandDatabase, openDatabase } from '../../src/database/database.ts';
import { loadJob, rememberTrigger, unfinishedJobId } from '../../src/database/jobs.ts';
import { createJobs, hashOf } from '../../src/jobs/queue.ts';
import { insertTestJob } from '../support/jobs.ts';
import { clockFrom, copyTemplate } from '../support/service.ts';
import { fillWithTrackRecords, modelNames } from '../support/track-records.ts';
import { workerContext } from '../support/worker-context.ts';
import { temporaryFolder } from '../support/folder.ts';

const RESUMING = {
  ...{ startDate: null, endDate: '2023-10-06', models: [], replaceExisting: false },
  universe: null,
};

/**
 * A database in which models have traded from 2 to 4 October; `beforeWrite` runs before each
 * transaction of the jobs.
 */
function start(t: TestContext, beforeWrite = (_database: CommandDatabase) => {}) {
  const folder = temporaryFolder();
  const path = join(folder, 'jobs.db');
  copyTemplate(path);
  fillWithTrackRecords(path, { models: modelNames(2), days: 3 });
  const own = openDatabase(path, { isServing: true });
  t.after(() => own.close());
  const database: CommandDatabase = {
    ...own,
    write(work, options) {
      beforeWrite(own);
      return own.write(work, options);
    },
  };
  const models = modelNames(2).map((signature) => ({ signature, enabled: true }));
  const context = { ...workerContext(database, { models }), clock: clockFrom('2023-10-10') };
  const jobs = createJobs(context);
  t.after(() => jobs.stop());
  return { jobs, context, database: own };
}

/** Where the runs of the unfinished job start. */
function starts({ database }: { database: CommandDatabase }): string[] {
  const { runs } = loadJob(database, unfinishedJobId(database) ?? '');
  return runs.map(({ model, startDate }) => `${model} ${startDate}`);
}

test('a job resumes after the days that its models have when it is created, not when it was prepared', async (t) => {
  const unchanged = start(t);
  await unchanged.jobs.submit(RESUMING);
  assert.deepEqual(starts(unchanged), ['model-0 2023-10-05', 'model-1 2023-10-05']);
  const supersede = `UPDATE trading_sessions SET status = 'superseded' WHERE model = 'model-1' AND date > '2023-10-02'`;
  const changed = start(t, (database) => void database.statement(supersede).run());
  const { totalModelDays } = await changed.jobs.submit(RESUMING);
  assert.deepEqual(starts(changed), ['model-0 2023-10-05', 'model-1 2023-10-03']);
  assert.equal(totalModelDays, 8);
});

test('rules refuse a job in its transaction, once it is known that its Idempotency-Key has not created it meanwhile', async (t) => {
  const done = { ...RESUMING, endDate: '2023-10-04' };
  const other = start(t);
  await assert.rejects(other.jobs.submit(done, 'key'), {
    code: 'invalid_dates',
    message: /^Nothing to resume up to 2023-10-04/,
  });
  const job = { jobId: 'meanwhile', totalModelDays: 2, message: '', warnings: [] };
  const create = (database: CommandDatabase) => {
    if (unfinishedJobId(database) !== null) return;
    const date = '2023-10-04';
    const day = { startDate: date, endDate: date, dates: [date], runs: [], createdAt: `${date}T` };
    const others = { replaceExisting: false, agentConfig: {}, warnings: [] };
    insertTestJob(database, { ...day, ...others, jobId: 'meanwhile' });
    const [requestHash, answer] = [hashOf(done), JSON.stringify(job)];
    rememberTrigger(database, 'key', { jobId: 'meanwhile', requestHash, answer });
  };
  const { jobs } = start(t, create);
  assert.deepEqual(await jobs.submit(done, 'key'), job);
});
