import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { setImmediate as nextRound } from 'node:timers/promises';
import { test } from 'node:test';
import { isBeingCancelled } from '../../src/database/model-days.ts';
import { unfinishedJobId } from '../../src/database/jobs.ts';
import { cancelJob } from '../../src/jobs/cancel.ts';
import { createJobs } from '../../src/jobs/queue.ts';
import { silentLog } from '../../src/basics/log.ts';
import type { WorkerContext } from '../../src/jobs/active-job.ts';
import { atOnce } from '../../src/basics/turns.ts';
import { storedStatus } from '../support/job-status.ts';
import {
  countOf,
  createIdleJob,
  createLargeJob,
  ended,
  type LargeJob,
  NONE_RUN,
  TOTAL,
} from '../support/large-job.ts';

test('a large job is cancelled span by span, those that it has not got yet too', async (t) => {
  const { context, jobs, jobId } = await createLargeJob(t);
  assert.equal(await jobs.cancel(jobId), TOTAL);
  assert.equal(countOf(context, `status = 'skipped' AND error = 'Cancelled'`), TOTAL);
  const { status, progress } = storedStatus(context.database, jobId);
  assert.deepEqual([status, progress], ['cancelled', NONE_RUN]);
  const database = {
    ...context.database,
    write: () => assert.fail('no lock is taken for a job that was cancelled'),
  };
  assert.equal(await cancelJob({ ...context, database }, jobId), null);
});

for (const [completed, cancelled] of [
  ['2025-11-11', 1_400],
  ['2025-11-14', 0],
] as const)
  test(`a job completed until ${completed} counts as being cancelled once something of it is, at the latest when it ends`, async (t) => {
    const { context, jobId } = await createIdleJob(t);
    const complete = `UPDATE job_details SET status = 'completed', started_at = 't', completed_at = 't' WHERE date <= ?`;
    context.database.statement(complete).run(completed);
    const begun: number[] = [];
    await cancelJob(context, jobId, {
      onBegun: () => begun.push(countOf(context, `error = 'Cancelled'`)),
    });
    assert.deepEqual(
      [begun, storedStatus(context.database, jobId).status],
      [[cancelled], 'cancelled'],
    );
  });

test('of two requests that cancel a large job at the same time, one cancels it and the other learns that it was cancelled', async (t) => {
  const { context, jobs, jobId } = await createLargeJob(t);
  await jobs.stop();
  const begun: number[] = [];
  const cancel = (name: number) => cancelJob(context, jobId, { onBegun: () => begun.push(name) });
  assert.deepEqual(await Promise.all([cancel(1), cancel(2)]), [TOTAL, null]);
  assert.deepEqual(begun, [1], 'the other stops nothing, as the next job may run already');
  assert.equal(storedStatus(context.database, jobId).status, 'cancelled');
  assert.equal(countOf(context, `error = 'Cancelled'`), TOTAL);
});

/** Cancels the first span of a job, as a process does that ends in the middle. */
async function beginToCancel(context: WorkerContext, jobId: string): Promise<void> {
  const end = new AbortController();
  const cancelling = cancelJob(context, jobId, { onBegun: () => end.abort(), signal: end.signal });
  await assert.rejects(cancelling, { name: 'AbortError' });
  assert.equal(countOf(context, `error = 'Cancelled'`), 1_400);
  assert.equal(unfinishedJobId(context.database), jobId);
  assert.equal(atOnce(isBeingCancelled(context.database, jobId)), true);
}

test('a cancellation that the end of the process interrupted is finished at the next start, and nothing runs', async (t) => {
  const { context, jobs, jobId } = await createLargeJob(t);
  await jobs.stop();
  await beginToCancel(context, jobId);
  const next = createJobs(context);
  t.after(() => next.stop());
  await next.resume();
  await ended(context);
  assert.equal(storedStatus(context.database, jobId).status, 'cancelled');
  assert.equal(countOf(context, `error = 'Cancelled'`), TOTAL);
});

/**
 * Cancels a job whose database file is moved away after the first span. The function returned moves
 * the file back.
 */
async function cancelIntoFault({ context, jobs, jobId }: LargeJob): Promise<() => void> {
  const { path } = context.database;
  const cancelling = jobs.cancel(jobId);
  // The first span is written by now, and the next one is not.
  renameSync(path, `${path}.away`);
  await assert.rejects(cancelling, { code: 'storage_fault' });
  assert.equal(countOf(context, `error = 'Cancelled'`), 1_400);
  return () => renameSync(`${path}.away`, path);
}

test('a cancellation that a storage fault interrupts is an error, and is finished when the database can be written again', async (t) => {
  const job = await createLargeJob(t);
  const { context, jobId } = job;
  const moveBack = await cancelIntoFault(job);
  moveBack();
  await ended(context);
  assert.equal(storedStatus(context.database, jobId).status, 'cancelled');
  assert.equal(countOf(context, `error = 'Cancelled'`), TOTAL);
});

test('a service that stops finishes a cancellation first', async (t) => {
  const { context, jobs, jobId } = await createLargeJob(t);
  const cancelling = jobs.cancel(jobId);
  await jobs.stop();
  assert.equal(storedStatus(context.database, jobId).status, 'cancelled');
  assert.equal(await cancelling, TOTAL);
});

/** Rounds of the event loop: far more than a stop needs. */
const MANY_ROUNDS = 1_000;

test('a service that stops does not wait for a storage fault that interrupted a cancellation', async (t) => {
  const job = await createLargeJob(t);
  const { context, jobs, jobId } = job;
  const moveBack = await cancelIntoFault(job);
  await nextRound();
  let isStopped = false;
  const stopping = jobs.stop().then(() => (isStopped = true));
  for (let rounds = 0; rounds < MANY_ROUNDS && !isStopped; rounds += 1) await nextRound();
  const wasStopped = isStopped;
  moveBack();
  await stopping; // a worker that was not stopped waits for the file
  assert.ok(wasStopped);
  assert.equal(unfinishedJobId(context.database), jobId);
});

test('a large job that is cancelled while it is given up at the start is cancelled, and the service starts', async (t) => {
  const { context, jobs, jobId } = await createLargeJob(t);
  await jobs.stop();
  context.database.statement('UPDATE jobs SET idle_restarts = 9, life_counts = 1').run();
  let cancelling: Promise<number | null> = Promise.resolve(null);
  const info = (message: string) => {
    if (message === 'job resumed') cancelling = next.cancel(jobId);
  };
  const next = createJobs({ ...context, log: { ...silentLog, info } });
  t.after(() => next.stop());
  await next.resume();
  assert.equal(await cancelling, TOTAL);
  assert.equal(storedStatus(context.database, jobId).status, 'cancelled');
});
