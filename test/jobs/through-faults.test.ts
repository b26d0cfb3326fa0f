import assert from 'node:assert/strict';
import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { parseConfiguration } from '../../src/core/settings/configuration.ts';
import { like } from '../support/text-table.ts';
import { openDatabase } from '../../src/core/database/database.ts';
import { jobStatus } from '../../src/core/database/records/job-records.ts';
import { runThroughFaults, cancelJob } from '../../src/core/jobs/queue.ts';
import { silentLog } from '../../src/core/process/log.ts';
import type { WorkerContext } from '../../src/core/jobs/active-job.ts';
import { finishJob } from '../../src/core/jobs/run.ts';
import { scriptedAgent } from '../support/agents.ts';
import { storedStatus } from '../support/job-status.ts';
import { insertTestJob } from '../support/jobs.ts';
import { storePrices } from '../support/prices.ts';
import { staleNow } from '../support/stale.ts';
import { FIRST_DATE, fillWithTrackRecords, recordDates } from '../support/track-records.ts';
import { workerContext } from '../support/worker-context.ts';
import { temporaryFolder } from '../support/folder.ts';

const DATES = ['2025-11-10', '2025-11-11'];
const PAGE_BYTES = 4_096;
const { agent_config: agentConfig } = parseConfiguration(
  { models: [], agent_config: { stock_symbols: ['AAPL'] } },
  'test',
);
const JOB = {
  ...{ jobId: 'job', startDate: '2025-11-10', endDate: '2025-11-11', dates: DATES },
  ...{ runs: [{ model: 'model-a', startDate: '2025-11-10' }], replaceExisting: false },
  ...{ agentConfig, createdAt: '2025-12-01T00:00:00.000Z', warnings: [] },
};
const buyer = scriptedAgent({ '*': [[['buy', { symbol: 'AAPL', amount: 1 }]]] });

/** A database with a job of two days, not yet begun; `damage` is done to its file. */
function contextOf(t: TestContext, damage: (path: string) => void = () => {}): WorkerContext {
  const path = join(temporaryFolder(), 'jobs.db');
  const made = openDatabase(path);
  storePrices(made, 'AAPL 2025-11-10 100 101\nAAPL 2025-11-11 102 103');
  made.transaction(() => insertTestJob(made, JOB));
  made.close();
  damage(path);
  const database = openDatabase(path);
  t.after(() => database.close());
  return { ...workerContext(database), ...buyer };
}

const statusOf = ({ database }: WorkerContext) => storedStatus(database, 'job');

test('a job whose database stays damaged is failed after some attempts, with the reason', async (t) => {
  const context = contextOf(t, (path) => {
    const database = openDatabase(path);
    const page = database
      .statement(`SELECT rootpage FROM sqlite_schema WHERE name = 'tool_usage'`)
      .get()?.['rootpage'];
    database.close();
    const file = openSync(path, 'r+');
    writeSync(file, Buffer.alloc(PAGE_BYTES, 0xff), 0, PAGE_BYTES, (Number(page) - 1) * PAGE_BYTES);
    closeSync(file);
  });
  await runThroughFaults(context, 'job', { signal: new AbortController().signal, retryMs: 1 });
  const { status, error, details } = statusOf(context);
  const fault =
    'Cannot use the database: its file is damaged (database disk image is malformed); restore a backup';
  assert.equal(status, 'failed');
  assert.match(String(error), like(`…10 times…: ${fault}…`));
  assert.deepEqual(
    details.map((detail: any) => [detail.status, detail.error]),
    DATES.map(() => ['failed', error]),
  );
});

test('a job whose database file is missing waits until it is back', async (t) => {
  const context = contextOf(t);
  const { path } = context.database;
  renameSync(path, `${path}.away`);
  const waiting = Promise.withResolvers<void>();
  const log = { ...silentLog, error: () => waiting.resolve() };
  const done = runThroughFaults({ ...context, log }, 'job', {
    signal: new AbortController().signal,
    retryMs: 1,
  });
  await waiting.promise;
  renameSync(`${path}.away`, path);
  await done;
  assert.equal(statusOf(context).status, 'completed');
});

test('a job that waits for its database stops on request', async (t) => {
  const context = contextOf(t);
  renameSync(context.database.path, `${context.database.path}.away`);
  const stopping = new AbortController();
  const log = { ...silentLog, error: () => stopping.abort() };
  await runThroughFaults({ ...context, log }, 'job', { signal: stopping.signal });
  assert.equal(statusOf(context).completed_at, null);
});

test('an error that is not of the storage is not waited for', async (t) => {
  const context = contextOf(t);
  const broken = { ...context, log: { ...silentLog, info: () => assert.fail('a bug') } };
  await assert.rejects(
    runThroughFaults(broken, 'job', { signal: new AbortController().signal }),
    /a bug/,
  );
});

test('of many stale model-days the first 20 are named, by model and date, and the others counted', async (t) => {
  const models = ['model-b', 'model-a', 'model-c'];
  const runs = models.map((model) => ({ model, startDate: '2025-11-10' }));
  const context = contextOf(t);
  const { database } = context;
  await finishJob(context, 'job', { error: 'Given up' });
  fillWithTrackRecords(database.path, { models, days: 12 });
  await database.write(() => {
    database.statement('UPDATE price_data SET close = close + 1').run();
    insertTestJob(database, { ...JOB, jobId: 'next', runs });
  });
  await finishJob(context, 'next', { error: 'Given up' });
  const { warnings } = jobStatus(database, 'next') ?? {};
  const stale = staleNow(database);
  assert.ok(stale.length > 20 && stale[19]?.startsWith('model-b'), String(stale));
  const named = `${stale.slice(0, 20).join(', ')} and ${stale.length - 20} more`;
  const sentence = `${stale.length} model-days are stale, …: ${named}`;
  const last = recordDates(12).at(-1);
  const [warning = ''] = JSON.parse(warnings ?? '');
  assert.match(
    warning.replace(/--terms-of \S+/, '--terms-of JOB'),
    like(
      `${sentence}; npx trading-simulation-service trigger --start ${FIRST_DATE} --end ${last} --models model-a,model-b,model-c --terms-of JOB --replace runs them again`,
    ),
  );
});

test('a job that is cancelled names the stale model-days', async (t) => {
  const context = contextOf(t);
  const { database } = context;
  await runThroughFaults(context, 'job', { signal: new AbortController().signal });
  await database.write(() => {
    insertTestJob(database, { ...JOB, jobId: 'cancelled', replaceExisting: true });
    database.statement(`UPDATE price_data SET open = 99 WHERE date = '2025-11-10'`).run();
  });
  assert.equal(await cancelJob(context, 'cancelled'), 2);
  const { status, warnings } =
    database.statement(`SELECT status, warnings FROM jobs WHERE job_id = 'cancelled'`).get() ?? {};
  assert.equal(status, 'cancelled');
  assert.match(String(warnings), /1 model-day is stale/);
});
