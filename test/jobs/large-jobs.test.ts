import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextRound } from 'node:timers/promises';
import { type TestContext, test } from 'node:test';
import { type Database, openDatabase } from '../../src/database/database.ts';
import {
  addMissingModelDays,
  addModelDays,
  dateSpans,
  endedModelDays,
  finalStatus,
  isBeingCancelled,
  pendingModelDays,
  skipModelDays,
  skippedModelDays,
} from '../../src/database/job-days.ts';
import { statusOfJob, unfinishedJobId } from '../../src/database/jobs.ts';
import { diskIsFull } from '../../src/database/storage/faults.ts';
import { cancelJob } from '../../src/jobs/cancel.ts';
import { createJobs } from '../../src/jobs/jobs.ts';
import { runThroughFaults } from '../../src/jobs/through-faults.ts';
import { NO_DATES } from '../../src/worker/plan.ts';
import { silentLog } from '../../src/log.ts';
import { readSettings } from '../../src/settings.ts';
import type { WorkerContext } from '../../src/worker/context.ts';
import { workerLimits } from '../../src/worker/limits.ts';
import { scriptedAgent } from '../support/agents.ts';
import { atOnce } from '../support/at-once.ts';
import { storedStatus } from '../support/job-status.ts';
import { storePrices } from '../support/prices.ts';
import { TODAY, clockFrom, temporaryFolder } from '../support/service.ts';
import { until } from '../support/until.ts';

/** Two dates are a span of 1,400 model-days, so the job has three. */
const MODELS = Array.from({ length: 700 }, (_, index) => `model-${index}`);
const SPANS = [
  { from: '2025-11-10', to: '2025-11-11' },
  { from: '2025-11-12', to: '2025-11-13' },
  { from: '2025-11-14', to: '2025-11-14' },
];
const REQUEST = { startDate: '2025-11-10', endDate: '2025-11-14', models: MODELS, replaceExisting: false, universe: null };
const TOTAL = 3_500;
const NONE_RUN = { total_model_days: TOTAL, completed: 0, failed: 0, pending: TOTAL };

/** A job of 700 models on five dates, just created; only on the dates of `prices` are there any. */
async function createLargeJob(t: TestContext, prices = ''): Promise<{ context: WorkerContext; jobs: ReturnType<typeof createJobs>; jobId: string }> {
  const path = join(temporaryFolder(t), 'jobs.db');
  const configurationPath = join(path, '../config.json');
  writeFileSync(configurationPath, '{"models": [], "agent_config": {"stock_symbols": ["AAPL"]}}');
  const database = openDatabase(path, { isServing: true });
  t.after(() => database.close());
  storePrices(database, prices);
  const settings = { ...readSettings({}), configurationPath };
  const others = { clock: clockFrom(TODAY), log: silentLog, environment: {}, ...scriptedAgent({}), limits: workerLimits };
  const context = { database, settings, ...others };
  const jobs = createJobs(context);
  t.after(() => jobs.stop());
  return { context, jobs, jobId: (await jobs.submit(REQUEST)).jobId };
}

const countOf = ({ database }: WorkerContext, where = 'true') =>
  Number(database.statement(`SELECT count(*) AS count FROM job_details WHERE ${where}`).get()?.['count']);
const ended = ({ database }: WorkerContext) => until('the job to end', () => unfinishedJobId(database) === null);

test('a large job gets its model-days after it is created and before it runs', async (t) => {
  const { context, jobId } = await createLargeJob(t);
  assert.deepEqual(dateSpans(context.database, jobId), SPANS);
  assert.equal(countOf(context), 0);
  const { progress, status } = storedStatus(context.database, jobId);
  assert.deepEqual([progress, status], [NONE_RUN, 'pending'], 'the progress is that of all its model-days');
  await ended(context);
  const { details, ...job } = storedStatus(context.database, jobId);
  assert.deepEqual([job.status, job.error, job.progress.completed], ['failed', NO_DATES, TOTAL]);
  const warnings = String(context.database.statement('SELECT warnings FROM jobs').get()?.['warnings']);
  assert.match(warnings, /"Skipped 5 dates without price data: 2025-11-10, 2025-11-11, 2025-11-12, 2025-11-13, 2025-11-14"/);
  const days = details.map(({ date, model }: { date: string; model: string }) => `${date} ${model}`);
  assert.deepEqual([days.length, new Set(days).size], [TOTAL, TOTAL]);
});

test('a span has whole dates: as many as fit, and at least one', async (t) => {
  const { context, jobId } = await createLargeJob(t);
  const spans = (modelDays: number) => dateSpans(context.database, jobId, modelDays).map(({ from, to }) => `${from.slice(8)} to ${to.slice(8)}`);
  for (const fewer of [1, 699, 1_399]) assert.deepEqual(spans(fewer), ['10 to 10', '11 to 11', '12 to 12', '13 to 13', '14 to 14']);
  assert.deepEqual(spans(1_400), ['10 to 11', '12 to 13', '14 to 14']);
  assert.deepEqual(spans(3_499), ['10 to 13', '14 to 14']);
  assert.deepEqual(spans(3_500), ['10 to 14']);
});

test('other work runs between two spans, and model-days that are there already are not added again', async (t) => {
  const { context, jobs, jobId } = await createLargeJob(t);
  await jobs.stop();
  addModelDays(context.database, jobId, { from: '2025-11-10', to: '2025-11-10' }); // half a span, as a version with smaller spans leaves it
  const seen: number[] = [];
  const adding = addMissingModelDays(context.database, jobId, { signal: new AbortController().signal });
  for (let isDone = false; !isDone; isDone = await Promise.race([adding.then(() => true), nextRound(false)]))
    seen.push(countOf(context));
  assert.deepEqual([...new Set([...seen, countOf(context)])], [1_400, 2_800, 3_500]);
});

test('model-days are skipped 500 at a time, whatever their dates and reasons, and other work runs in between', async (t) => {
  const { context, jobs, jobId } = await createLargeJob(t);
  await jobs.stop();
  await addMissingModelDays(context.database, jobId, { signal: new AbortController().signal });
  context.database.statement(`UPDATE job_details SET status = 'running', started_at = 't' WHERE model = 'model-2'`).run();
  const modelDays = SPANS.flatMap((span) => pendingModelDays(context.database, jobId, span)).slice(0, 1_100);
  assert.deepEqual(modelDays.slice(0, 700).map(({ model }) => model), MODELS, 'in the order of the job, those that run too');
  const skips = modelDays.map((modelDay, index) => ({ reason: index % 2 === 0 ? 'Even' : 'Odd', modelDays: [modelDay] }));
  const seen: number[] = [];
  const skipping = skipModelDays(context.database, skips, { at: '2025-12-01T00:00:00.000Z' });
  for (let isDone = false; !isDone; isDone = await Promise.race([skipping.then(() => true), nextRound(false)]))
    seen.push(countOf(context, `status = 'skipped'`));
  assert.deepEqual([...new Set(seen)], [500, 1_000, 1_100]);
  const skipped = atOnce(skippedModelDays(context.database, jobId));
  assert.deepEqual(
    skipped.map(({ date, reason, modelDays }) => [date, reason, modelDays]),
    [['2025-11-10', 'Even', 350], ['2025-11-10', 'Odd', 350], ['2025-11-11', 'Even', 200], ['2025-11-11', 'Odd', 200]],
  );
  const stopped = { at: '2025-12-01T00:00:00.000Z', signal: AbortSignal.abort(new Error('enough')) };
  await assert.rejects(skipModelDays(context.database, skips, stopped), /enough/);
});

test('a large job is cancelled span by span, those that it has not got yet too', async (t) => {
  const { context, jobs, jobId } = await createLargeJob(t);
  assert.equal(await jobs.cancel(jobId), TOTAL);
  assert.equal(countOf(context, `status = 'skipped' AND error = 'Cancelled'`), TOTAL);
  const { status, progress } = storedStatus(context.database, jobId);
  assert.deepEqual([status, progress], ['cancelled', NONE_RUN]);
  const database = { ...context.database, write: () => assert.fail('no lock is taken for a job that was cancelled') };
  assert.equal(await cancelJob({ ...context, database }, jobId), null);
});

for (const [completed, cancelled] of [['2025-11-11', 1_400], ['2025-11-14', 0]] as const)
  test(`a job completed until ${completed} counts as being cancelled once something of it is, at the latest when it ends`, async (t) => {
    const { context, jobs, jobId } = await createLargeJob(t);
    await jobs.stop();
    await addMissingModelDays(context.database, jobId, { signal: new AbortController().signal });
    const complete = `UPDATE job_details SET status = 'completed', started_at = 't', completed_at = 't' WHERE date <= ?`;
    context.database.statement(complete).run(completed);
    const begun: number[] = [];
    await cancelJob(context, jobId, { onBegun: () => begun.push(countOf(context, `error = 'Cancelled'`)) });
    assert.deepEqual([begun, storedStatus(context.database, jobId).status], [[cancelled], 'cancelled']);
  });

test('two requests that cancel a large job at the same time: one of them does, the other says that it was done', async (t) => {
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

test('a cancellation that a storage fault interrupts is an error, and is finished when the database can be written again', async (t) => {
  const { context, jobs, jobId } = await createLargeJob(t);
  const { path } = context.database;
  const cancelling = jobs.cancel(jobId);
  // The first span is written by now, and the next one is not.
  renameSync(path, `${path}.away`);
  await assert.rejects(cancelling, { code: 'storage_fault' });
  assert.equal(countOf(context, `error = 'Cancelled'`), 1_400);
  renameSync(`${path}.away`, path);
  await ended(context);
  assert.equal(storedStatus(context.database, jobId).status, 'cancelled');
  assert.equal(countOf(context, `error = 'Cancelled'`), TOTAL);
});

/** How all model-days of a job have ended but those of one date, how these have, the job's status then, and whether it is being cancelled. */
const ends: [others: string, date: string, ofDate: string, status: string, isBeingCancelled: boolean][] = [
  ['completed', '2025-11-10', 'failed', 'partial', false],
  ['completed', '2025-11-14', 'failed', 'partial', false],
  ['failed', '2025-11-10', 'completed', 'partial', false],
  ['failed', '2025-11-14', 'completed', 'partial', false],
  ['failed', '2025-11-14', 'skipped: No price data', 'failed', false],
  ['skipped: No price data', '2025-11-14', 'skipped: Already completed', 'completed', false],
  ['completed', '2025-11-10', 'failed: Cancelled', 'partial', false],
  ['completed', '2025-11-10', 'skipped: Cancelled', 'completed', true],
  ['completed', '2025-11-14', 'skipped: Cancelled', 'completed', true],
];
test('what all spans of a large job have together: its status, whether it is being cancelled, how many model-days have ended', async (t) => {
  const { context, jobs, jobId } = await createLargeJob(t);
  await jobs.stop();
  const { database } = context;
  await addMissingModelDays(database, jobId, { signal: new AbortController().signal });
  const end = (ended: string, from: string, to: string) => {
    const [status, error = 'failed'] = ended.split(': ');
    const update = `UPDATE job_details SET status = ?1, error = iif(?1 = 'completed', NULL, ?2), started_at = 't', completed_at = 't' WHERE date BETWEEN ? AND ?`;
    database.statement(update).run(String(status), error, from, to);
  };
  assert.equal(atOnce(endedModelDays(database, jobId)), 0);
  for (const [others, date, ofDate, status, isCancelled] of ends) {
    end(others, '2025-11-10', '2025-11-14');
    end(ofDate, date, date);
    const found = [atOnce(finalStatus(database, jobId)), atOnce(isBeingCancelled(database, jobId))];
    assert.deepEqual(found, [status, isCancelled], `${others}, but ${ofDate} on ${date}`);
  }
  assert.equal(atOnce(endedModelDays(database, jobId)), TOTAL);
});

test('a service that stops finishes a cancellation first', async (t) => {
  const { context, jobs, jobId } = await createLargeJob(t);
  const cancelling = jobs.cancel(jobId);
  await jobs.stop();
  assert.equal(storedStatus(context.database, jobId).status, 'cancelled');
  assert.equal(await cancelling, TOTAL);
});

test('a service that stops does not wait for a storage fault that interrupted a cancellation', async (t) => {
  const { context, jobs, jobId } = await createLargeJob(t);
  const { path } = context.database;
  const cancelling = jobs.cancel(jobId);
  renameSync(path, `${path}.away`);
  await assert.rejects(cancelling, { code: 'storage_fault' });
  await nextRound();
  await jobs.stop();
  renameSync(`${path}.away`, path);
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

test('a large job that is given up after storage faults stays given up when another one interrupts that', async (t) => {
  const { context, jobs, jobId } = await createLargeJob(t);
  await jobs.stop();
  let [attempts, isInterrupted] = [0, false];
  const fail = () => {
    if (statusOfJob(context.database, jobId) === 'downloading_data') return (attempts += 1) > 0;
    return countOf(context, `status = 'failed'`) > 1_400 && !isInterrupted && (isInterrupted = true);
  };
  const write: Database['write'] = (work, options) =>
    context.database.write(() => {
      const result = work();
      if (fail()) diskIsFull();
      return result;
    }, options);
  const database = { ...context.database, write };
  await runThroughFaults({ ...context, database }, jobId, { signal: new AbortController().signal, retryMs: 1 });
  const { status, error, progress } = storedStatus(context.database, jobId);
  const reason = 'Cannot use the database: the disk is full, 5 times in a row';
  assert.deepEqual([status, error, progress.failed, isInterrupted, attempts], ['failed', reason, TOTAL, true, 5]);
});

test('a large job that cannot continue fails span by span, with the reason', async (t) => {
  const { context, jobs, jobId } = await createLargeJob(t);
  await jobs.stop();
  context.database.statement('UPDATE jobs SET idle_restarts = 9, life_counts = 1').run();
  const next = createJobs(context);
  t.after(() => next.stop());
  await next.resume();
  const { status, error, progress } = storedStatus(context.database, jobId);
  assert.deepEqual([status, error], ['failed', 'Given up after 10 restarts in a row without progress']);
  assert.deepEqual(progress, { total_model_days: TOTAL, completed: 0, failed: TOTAL, pending: 0 });
});

test('hundreds of models that fail at once do not hold up other work', async (t) => {
  const { context, jobs } = await createLargeJob(t, 'AAPL 2025-11-14 100 101');
  let most = 0;
  for (let before = 0; before < MODELS.length; await nextRound()) {
    const failed = countOf(context, `status = 'failed'`);
    most = Math.max(most, failed - before);
    before = failed;
  }
  assert.ok(most < MODELS.length / 4, `${most} of ${MODELS.length} failed in one round of the event loop`);
  await jobs.stop();
});
