import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../../src/database/database.ts';
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
} from '../../src/database/model-days.ts';
import { statusOfJob } from '../../src/database/jobs.ts';
import { diskIsFull } from '../../src/database/storage/faults.ts';
import { createJobs } from '../../src/jobs/queue.ts';
import { runThroughFaults } from '../../src/jobs/through-faults.ts';
import { NO_DATES } from '../../src/jobs/plan.ts';
import { atOnce } from '../../src/basics/turns.ts';
import { storedStatus } from '../support/job-status.ts';
import { until } from '../support/until.ts';
import {
  countOf,
  countsDuring,
  createIdleJob,
  createLargeJob,
  ended,
  MODELS,
  NONE_RUN,
  SPANS,
  TOTAL,
} from '../support/large-job.ts';
import { inLongForm } from '../support/long.ts';

test('a large job gets its model-days after it is created and before it runs', async (t) => {
  const { context, jobId } = await createLargeJob(t);
  assert.deepEqual(dateSpans(context.database, jobId), SPANS);
  assert.equal(countOf(context), 0);
  const { progress, status } = storedStatus(context.database, jobId);
  assert.deepEqual(
    [progress, status],
    [NONE_RUN, 'pending'],
    'the progress is that of all its model-days',
  );
  await ended(context);
  const { details, ...job } = storedStatus(context.database, jobId);
  const { completed, skipped } = job.progress;
  assert.deepEqual([job.status, completed, skipped], ['failed', TOTAL, TOTAL]);
  assert.ok(job.error.startsWith(NO_DATES));
  const warnings = String(
    context.database.statement('SELECT warnings FROM jobs').get()?.['warnings'],
  );
  assert.match(
    warnings,
    /"Skipped 5 dates without price data: 2025-11-10, 2025-11-11, 2025-11-12, 2025-11-13, 2025-11-14"/,
  );
  const days = details.map(
    ({ date, model }: { date: string; model: string }) => `${date} ${model}`,
  );
  assert.deepEqual([days.length, new Set(days).size], [TOTAL, TOTAL]);
});

test('a span has whole dates: as many as fit, and at least one', async (t) => {
  const { context, jobId } = await createLargeJob(t);
  const spans = (modelDays: number) =>
    dateSpans(context.database, jobId, modelDays).map(
      ({ from, to }) => `${from.slice(8)} to ${to.slice(8)}`,
    );
  for (const fewer of [1, 699, 1_399])
    assert.deepEqual(spans(fewer), ['10 to 10', '11 to 11', '12 to 12', '13 to 13', '14 to 14']);
  assert.deepEqual(spans(1_400), ['10 to 11', '12 to 13', '14 to 14']);
  assert.deepEqual(spans(3_499), ['10 to 13', '14 to 14']);
  assert.deepEqual(spans(3_500), ['10 to 14']);
});

test('other work runs between two spans, and model-days that are there already are not added again', async (t) => {
  const { context, jobs, jobId } = await createLargeJob(t);
  await jobs.stop();
  addModelDays(context.database, jobId, { from: '2025-11-10', to: '2025-11-10' }); // half a span, as a version with smaller spans leaves it
  const adding = addMissingModelDays(context.database, jobId, {
    signal: new AbortController().signal,
  });
  const seen = await countsDuring(adding, context);
  assert.deepEqual([...new Set([...seen, countOf(context)])], [1_400, 2_800, 3_500]);
});

test('model-days are skipped 500 at a time, whatever their dates and reasons, and other work runs in between', async (t) => {
  const { context, jobId } = await createIdleJob(t);
  context.database
    .statement(
      `UPDATE job_details SET status = 'running', started_at = 't' WHERE model = 'model-2'`,
    )
    .run();
  const modelDays = SPANS.flatMap((span) => pendingModelDays(context.database, jobId, span)).slice(
    0,
    1_100,
  );
  assert.deepEqual(
    modelDays.slice(0, 700).map(({ model }) => model),
    MODELS,
    'in the order of the job, those that run too',
  );
  const skips = modelDays.map((modelDay, index) => ({
    reason: index % 2 === 0 ? 'Even' : 'Odd',
    modelDays: [modelDay],
  }));
  const skipping = skipModelDays(context.database, skips, { at: '2025-12-01T00:00:00.000Z' });
  assert.deepEqual(
    await countsDuring(skipping, context, `status = 'skipped'`),
    [500, 1_000, 1_100],
  );
  const skipped = atOnce(skippedModelDays(context.database, jobId));
  assert.deepEqual(
    skipped.map(({ date, reason, modelDays }) => [date, reason, modelDays]),
    [
      ['2025-11-10', 'Even', 350],
      ['2025-11-10', 'Odd', 350],
      ['2025-11-11', 'Even', 200],
      ['2025-11-11', 'Odd', 200],
    ],
  );
  const stopped = {
    at: '2025-12-01T00:00:00.000Z',
    signal: AbortSignal.abort(new Error('enough')),
  };
  await assert.rejects(skipModelDays(context.database, skips, stopped), /enough/);
});

/**
 * How all model-days of a job have ended but those of one date, how these have, the job's status
 * then, and whether it is being cancelled.
 */
const ends: [
  others: string,
  date: string,
  ofDate: string,
  status: string,
  isBeingCancelled: boolean,
][] = [
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
test(
  'what all spans of a large job have together: its status, whether it is being cancelled, how many model-days have ended',
  inLongForm,
  async (t) => {
    const { context, jobId } = await createIdleJob(t);
    const { database } = context;
    const end = (ended: string, from: string, to: string) => {
      const [status, error = 'failed'] = ended.split(': ');
      const update = `UPDATE job_details SET status = ?1, error = iif(?1 = 'completed', NULL, ?2), started_at = 't', completed_at = 't' WHERE date BETWEEN ? AND ?`;
      database.statement(update).run(String(status), error, from, to);
    };
    assert.equal(atOnce(endedModelDays(database, jobId)), 0);
    for (const [others, date, ofDate, status, isCancelled] of ends) {
      end(others, '2025-11-10', '2025-11-14');
      end(ofDate, date, date);
      const found = [
        atOnce(finalStatus(database, jobId)),
        atOnce(isBeingCancelled(database, jobId)),
      ];
      assert.deepEqual(found, [status, isCancelled], `${others}, but ${ofDate} on ${date}`);
    }
    assert.equal(atOnce(endedModelDays(database, jobId)), TOTAL);
  },
);

test('a large job that is given up after storage faults stays given up when another one interrupts that', async (t) => {
  const { context, jobs, jobId } = await createLargeJob(t);
  await jobs.stop();
  let [attempts, isInterrupted] = [0, false];
  const fail = () => {
    if (statusOfJob(context.database, jobId) === 'downloading_data') return (attempts += 1) > 0;
    return (
      countOf(context, `status = 'failed'`) > 1_400 && !isInterrupted && (isInterrupted = true)
    );
  };
  const write: Database['write'] = (work, options) =>
    context.database.write(() => {
      const result = work();
      if (fail()) diskIsFull();
      return result;
    }, options);
  const database = { ...context.database, write };
  await runThroughFaults({ ...context, database }, jobId, {
    signal: new AbortController().signal,
    retryMs: 1,
  });
  const { status, error, progress } = storedStatus(context.database, jobId);
  const reason = 'Cannot use the database: the disk is full, 5 times in a row';
  assert.deepEqual(
    [status, error, progress.failed, isInterrupted, attempts],
    ['failed', reason, TOTAL, true, 5],
  );
});

test('a large job that cannot continue fails span by span, with the reason', async (t) => {
  const { context, jobs, jobId } = await createLargeJob(t);
  await jobs.stop();
  context.database.statement('UPDATE jobs SET idle_restarts = 9, life_counts = 1').run();
  const next = createJobs(context);
  t.after(() => next.stop());
  await next.resume();
  const { status, error, progress } = storedStatus(context.database, jobId);
  assert.deepEqual(
    [status, error],
    ['failed', 'Given up after 10 restarts in a row without progress'],
  );
  assert.deepEqual(progress, {
    total_model_days: TOTAL,
    completed: 0,
    failed: TOTAL,
    pending: 0,
    skipped: 0,
  });
});

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
