import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { renameSync } from 'node:fs';
import { test } from 'node:test';
import { type Database, openDatabase } from '../../src/core/database/database.ts';
import { finalStatus, recordRestart } from '../../src/core/database/model-days.ts';
import { statusOfJob, unfinishedJobId } from '../../src/core/database/job-queries.ts';
import { throwDiskFull } from '../../src/core/database/storage/faults.ts';
import { cancelJob, createJobQueue, runThroughFaults } from '../../src/core/jobs/queue.ts';
import { NO_DATES } from '../../src/core/jobs/run.ts';
import { storedStatus } from '../support/job-status.ts';
import { like, tableOf } from '../support/text-table.ts';
import { until } from '../support/until.ts';
import {
  countOf,
  countsDuring,
  createIdleJob,
  createLargeJob,
  ended,
  MODELS,
  NONE_RUN,
  TOTAL,
} from '../support/large-job.ts';
import { inLongForm } from '../support/long.ts';

const CANCELLED = `status = 'skipped' AND error = 'Cancelled'`;

test('a large job has its model-days from the beginning, and they all end in one transaction', async (t) => {
  const { context, jobId } = await createLargeJob(t);
  assert.equal(countOf(context), TOTAL);
  const { progress, status } = storedStatus(context.database, jobId);
  assert.deepEqual([progress, status], [NONE_RUN, 'pending']);
  const seen = await countsDuring(ended(context), context, `status = 'skipped'`);
  assert.deepEqual([...new Set([...seen, TOTAL])], [0, TOTAL]);
  const { details, ...job } = storedStatus(context.database, jobId);
  const { completed, skipped } = job.progress;
  assert.deepEqual([job.status, completed, skipped], ['failed', TOTAL, TOTAL]);
  assert.ok(job.error.startsWith(NO_DATES));
  const { warnings } = context.database.statement('SELECT warnings FROM jobs').get() ?? {};
  assert.match(String(warnings), /"Skipped 5 dates without prices: 2025-11-10, .*2025-11-14"/);
  const days = new Set(details.map(({ date, model }: any) => `${date} ${model}`));
  assert.deepEqual([details.length, days.size], [TOTAL, TOTAL]);
});

/** How all model-days of a job have ended but those of one date, how these have, and its status. */
const ends = tableOf<[others: string, date: string, ofDate: string, status: string]>(`
  completed              | 2025-11-10 | failed                     | partial
  completed              | 2025-11-14 | failed                     | partial
  failed                 | 2025-11-10 | completed                  | partial
  failed                 | 2025-11-14 | completed                  | partial
  failed                 | 2025-11-14 | skipped: No price data     | failed
  skipped: No price data | 2025-11-14 | skipped: Already completed | completed
  completed              | 2025-11-10 | skipped: Cancelled         | completed
`);
test('the status of a job whose model-days have all ended', async (t) => {
  const { context, jobId } = await createIdleJob(t);
  const { database } = context;
  const end = (ended: string, from: string, to: string) => {
    const [status, error = 'failed'] = ended.split(': ');
    const update = `UPDATE job_details SET status = ?1, error = iif(?1 = 'completed', NULL, ?2), started_at = 't', completed_at = 't' WHERE date BETWEEN ? AND ?`;
    database.statement(update).run(String(status), error, from, to);
  };
  for (const [others, date, ofDate, status] of ends) {
    end(others, '2025-11-10', '2025-11-14');
    end(ofDate, date, date);
    assert.equal(finalStatus(database, jobId), status, `${others}, but ${ofDate} on ${date}`);
  }
});

test('a large job that is given up after storage faults is given up once the database can be written', async (t) => {
  const { context, jobId } = await createIdleJob(t);
  let [attempts, isInterrupted] = [0, false];
  const fail = () => {
    if (statusOfJob(context.database, jobId) === 'downloading_data') return (attempts += 1) > 0;
    return countOf(context, `status = 'failed'`) > 0 && !isInterrupted && (isInterrupted = true);
  };
  const write: Database['write'] = (work, options) =>
    context.database.write(() => {
      const result = work();
      if (fail()) throwDiskFull();
      return result;
    }, options);
  const database = { ...context.database, write };
  await runThroughFaults({ ...context, database }, jobId, {
    signal: new AbortController().signal,
    retryMs: 1,
  });
  const { status, error, progress } = storedStatus(context.database, jobId);
  const fault = 'Cannot use the database: the disk is full';
  assert.match(error, like(`…10 times…: ${fault}…`));
  assert.deepEqual([status, progress.failed, isInterrupted, attempts], ['failed', TOTAL, true, 10]);
});

test('a large job that cannot continue fails with all its model-days, with the reason', async (t) => {
  const { context, jobId } = await createIdleJob(t);
  context.database.statement('UPDATE jobs SET idle_restarts = 9, life_counts = 1').run();
  const next = createJobQueue(context);
  t.after(() => next.stop());
  next.resume();
  await ended(context);
  const { status, error, progress } = storedStatus(context.database, jobId);
  assert.equal(status, 'failed');
  assert.match(error, /10 times/);
  assert.deepEqual(progress, { ...NONE_RUN, failed: TOTAL, pending: 0 });
});

test('a restart is idle unless a model-day has ended since the one before; after a short life it changes nothing', async (t) => {
  const { context, jobId } = await createIdleJob(t);
  const { database } = context;
  const restart = (counts: number) => {
    database.statement('UPDATE jobs SET life_counts = ?').run(counts);
    return recordRestart(database, jobId);
  };
  assert.deepEqual([restart(1), restart(0), restart(1), restart(0)], [1, 1, 2, 2]);
  const end = `UPDATE job_details SET status = 'failed', error = 'e', completed_at = 't' WHERE date = ? AND model = 'model-7'`;
  database.statement(end).run('2025-11-12');
  assert.deepEqual([restart(1), restart(1)], [0, 1]);
});

test('of two requests that cancel a job at the same time, one cancels it and the other stops nothing, as the next job may run already', async (t) => {
  const { context, jobs, jobId } = await createLargeJob(t);
  const other = openDatabase(context.database.path);
  other.statement('BEGIN IMMEDIATE').run(); // so that both wait for the write lock
  const cancelling = Promise.all([jobs.cancel(jobId), jobs.cancel(jobId)]);
  other.statement('COMMIT').run();
  other.close();
  const seen = await countsDuring(cancelling, context, CANCELLED);
  assert.deepEqual([...new Set([0, ...seen, TOTAL])], [0, TOTAL], 'in one transaction');
  assert.deepEqual((await cancelling).sort(), [TOTAL, null]);
  const { status, progress } = storedStatus(context.database, jobId);
  assert.deepEqual([status, progress], ['cancelled', { ...NONE_RUN, cancelled: TOTAL }]);
  assert.equal(countOf(context, CANCELLED), TOTAL);
  assert.equal(await cancelJob(context, jobId), null);
});

test('a cancellation that a storage fault prevents is an error, and the job continues', async (t) => {
  const { context, jobs, jobId } = await createLargeJob(t);
  const { path } = context.database;
  renameSync(path, `${path}.away`);
  await assert.rejects(jobs.cancel(jobId), { code: 'storage_fault' });
  renameSync(`${path}.away`, path);
  await ended(context);
  assert.equal(countOf(context, CANCELLED), 0);
  assert.equal(storedStatus(context.database, jobId).status, 'failed', 'for lack of prices');
});

/** Runs a program that is killed within its first transaction, once all of that is written. */
function killWhile(path: string, work: string): void {
  const program = `
    import { openDatabase } from './src/core/database/database.ts';
    import { cancelJob } from './src/core/jobs/queue.ts';
    import { finishJob } from './src/core/jobs/run.ts';
    import { insertTestJob } from './test/support/jobs.ts';
    const own = openDatabase(process.argv[1]);
    own.statement('PRAGMA cache_size = 10').run(); // so that much of it is in the log before the commit
    const write = (work) => own.write(() => {
      work();
      process.kill(process.pid, 'SIGKILL');
    });
    const context = { database: { ...own, write }, clock: () => new Date(), log: { info() {} } };
    ${work}`;
  const cwd = new URL('../..', import.meta.url).pathname;
  const args = ['--input-type=module', '--eval', program, path];
  const { signal, stderr } = spawnSync(process.execPath, args, { cwd });
  assert.equal(signal, 'SIGKILL', String(stderr));
}

test(
  'a process that is killed while it creates, cancels or ends a large job leaves none of it',
  inLongForm,
  async (t) => {
    const { context, jobId } = await createIdleJob(t);
    const { database } = context;
    const before = database.statement('SELECT * FROM jobs').all();
    const [cancel, fail] = [
      `await cancelJob(context, '${jobId}');`,
      `await finishJob(context, '${jobId}', { error: 'Given up' });`,
    ];
    for (const work of [cancel, fail]) {
      killWhile(database.path, work);
      assert.deepEqual(database.statement('SELECT * FROM jobs').all(), before);
      assert.equal(countOf(context, `status = 'pending'`), TOTAL);
    }
    assert.equal(await cancelJob(context, jobId), TOTAL);
    killWhile(
      database.path,
      `const runs = Array.from({ length: 700 }, (_, index) => ({ model: 'model-' + index, startDate: '2025-11-10' }));
     const dates = ['2025-11-10', '2025-11-11'];
     const job = { jobId: 'next', startDate: dates[0], endDate: dates[1], dates, runs, replaceExisting: false, agentConfig: {}, createdAt: 't', warnings: [] };
     await context.database.write(() => insertTestJob(own, job));`,
    );
    assert.equal(unfinishedJobId(database), null);
    assert.equal(countOf(context, `job_id = 'next'`), 0);
  },
);

test('hundreds of models that fail at once do not hold up other work', inLongForm, async (t) => {
  const { context, jobs } = await createLargeJob(t, 'AAPL 2025-11-14 100 101');
  const failed = `status = 'failed'`;
  const allFailed = until('all models to fail', () => countOf(context, failed) === MODELS.length);
  const seen = [0, ...(await countsDuring(allFailed, context, failed)), MODELS.length];
  const most = Math.max(...seen.slice(1).map((count, index) => count - (seen[index] ?? 0)));
  assert.ok(
    most < MODELS.length / 4,
    `${most} of ${MODELS.length} failed in one round of the event loop`,
  );
  await jobs.stop();
});
