import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openDatabase } from '../../src/database/database.ts';
import { unfinishedJobId } from '../../src/database/jobs.ts';
import { createJobs } from '../../src/jobs/jobs.ts';
import { silentLog } from '../../src/log.ts';
import { readSettings } from '../../src/settings.ts';
import type { WorkerContext } from '../../src/worker/context.ts';
import { workerLimits } from '../../src/worker/limits.ts';
import { scriptedAgent } from './agents.ts';
import { storePrices } from './prices.ts';
import { TODAY, clockFrom, temporaryFolder } from './service.ts';
import { until } from './until.ts';

/** Two dates are a span of 1,400 model-days, so the job has three. */
export const MODELS = Array.from({ length: 700 }, (_, index) => `model-${index}`);
export const SPANS = [
  { from: '2025-11-10', to: '2025-11-11' },
  { from: '2025-11-12', to: '2025-11-13' },
  { from: '2025-11-14', to: '2025-11-14' },
];
const REQUEST = { startDate: '2025-11-10', endDate: '2025-11-14', models: MODELS, replaceExisting: false, universe: null };
export const TOTAL = 3_500;
export const NONE_RUN = { total_model_days: TOTAL, completed: 0, failed: 0, pending: TOTAL };

/** A job of 700 models on five dates, just created; only on the dates of `prices` are there any. */
export async function createLargeJob(t: TestContext, prices = ''): Promise<{ context: WorkerContext; jobs: ReturnType<typeof createJobs>; jobId: string }> {
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

export const countOf = ({ database }: WorkerContext, where = 'true') =>
  Number(database.statement(`SELECT count(*) AS count FROM job_details WHERE ${where}`).get()?.['count']);
export const ended = ({ database }: WorkerContext) => until('the job to end', () => unfinishedJobId(database) === null);
