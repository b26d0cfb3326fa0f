import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { openDatabase } from '../../src/core/database/database.ts';
import { unfinishedJobId } from '../../src/core/database/job-queries.ts';
import { createJobQueue } from '../../src/core/jobs/queue.ts';
import type { WorkerContext } from '../../src/core/jobs/active-job.ts';
import { storePrices } from './prices.ts';
import { PROD } from './prod.ts';
import { until } from './until.ts';
import { workerContext } from './worker-context.ts';
import { temporaryFolder } from './folder.ts';

export const MODELS = Array.from({ length: 700 }, (_, index) => `model-${index}`);
const REQUEST = {
  startDate: '2025-11-10',
  endDate: '2025-11-14',
  models: MODELS,
  replaceExisting: false,
  universe: null,
};
export const TOTAL = 3_500;
export const NONE_RUN = {
  total_model_days: TOTAL,
  completed: 0,
  failed: 0,
  pending: TOTAL,
  skipped: 0,
  cancelled: 0,
};

export interface LargeJob {
  context: WorkerContext;
  jobs: ReturnType<typeof createJobQueue>;
  jobId: string;
}

/** A job of 700 models on five dates, just created; there are no prices but these. */
export async function createLargeJob(t: TestContext, prices = ''): Promise<LargeJob> {
  const database = openDatabase(join(temporaryFolder(), 'jobs.db'), { isServing: true });
  t.after(() => database.close());
  storePrices(database, prices);
  const agent_config = { stock_symbols: ['AAPL'] };
  const common = workerContext(database, { models: [], agent_config });
  const context = { ...common, settings: { ...common.settings, ...PROD } };
  const jobs = createJobQueue(context);
  t.after(() => jobs.stop());
  return { context, jobs, jobId: (await jobs.submit(REQUEST)).jobId };
}

/** A large job that no worker runs. */
export async function createIdleJob(t: TestContext): Promise<LargeJob> {
  const job = await createLargeJob(t);
  await job.jobs.stop();
  return job;
}

/** The number of model-days that fulfil a condition in SQL. */
export function countOf({ database }: WorkerContext, where = 'true'): number {
  return Number(
    database.statement(`SELECT count(*) AS count FROM job_details WHERE ${where}`).get()?.['count'],
  );
}

/**
 * The different numbers of such model-days that other work sees in the rounds of the event loop,
 * until this work is done.
 */
export async function countsDuring(
  work: Promise<unknown>,
  context: WorkerContext,
  where?: string,
): Promise<number[]> {
  const seen = new Set<number>();
  for (
    let isDone = false;
    !isDone;
    isDone = await Promise.race([work.then(() => true), nextRound(false)])
  )
    seen.add(countOf(context, where));
  return [...seen];
}

/** Resolves when the job has ended. */
export function ended({ database }: WorkerContext): Promise<unknown> {
  return until('the job to end', () => unfinishedJobId(database) === null);
}
