import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { type Database, openDatabase } from '../../src/database/database.ts';
import { silentLog } from '../../src/basics/log.ts';
import { watchLifetime } from '../../src/jobs/lifetime.ts';
import { workerLimits } from '../../src/children/places.ts';
import { type Script, scriptedAgent } from '../support/agents.ts';
import { createTestLoop, settled } from '../support/event-loop.ts';
import { startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { inLongForm } from '../support/long.ts';

const PRICES = 'AAPL 2025-11-10 100 101';
const DAY = { start_date: '2025-11-10', end_date: '2025-11-10' };
const configuration = {
  models: [{ signature: 'model-a', enabled: true }],
  agent_config: { stock_symbols: ['AAPL'], max_steps: 5 },
};
/** Longer than any test runs. */
const NEVER_MS = 1_000_000_000;
const everyLife = { lifeCountsAfterMs: 0 };
const noLife = { lifeCountsAfterMs: NEVER_MS };

const serve = (t: TestContext, { script = {}, folder, limits = everyLife }: Options) =>
  startTestService(t, {
    configuration,
    limits,
    agent: scriptedAgent(script),
    ...(folder === undefined ? { prices: PRICES } : { folder }),
  });

interface Options {
  script?: Script;
  folder?: string;
  limits?: { lifeCountsAfterMs: number };
}

const waiting: Script = { '*': [[['wait', 60_000]]] };

/**
 * A job whose one model-day has said its first message and waits; restarted once, so that its
 * progress is noted.
 */
async function interruptedJob(t: TestContext): Promise<{ folder: string; jobId: string }> {
  const first = await serve(t, { script: waiting });
  const { body } = await first.post('/simulate/trigger', DAY);
  await until('the first message', () =>
    first.database.statement('SELECT 1 FROM reasoning_logs').get(),
  );
  await first.stop();
  const { folder } = first;
  assert.equal(
    (await restart(t, { folder, jobId: body.job_id })).status,
    'running',
    'its one message was progress',
  );
  return { folder, jobId: body.job_id };
}

async function restart(
  t: TestContext,
  {
    folder,
    jobId,
    limits = everyLife,
  }: { folder: string; jobId: string; limits?: Options['limits'] },
): Promise<any> {
  const service = await serve(t, { script: waiting, folder, limits });
  const body = await until('the job to go on or to end', async () => {
    const { body: found } = await service.get(`/simulate/status/${jobId}`);
    return found.status !== 'downloading_data' && found;
  });
  await service.stop();
  return body;
}

/** How many idle restarts the database has counted. */
function counted(folder: string): unknown {
  const database = new DatabaseSync(`${folder}/jobs.db`, { readOnly: true });
  const row = database
    .prepare('SELECT idle_restarts AS count FROM jobs ORDER BY created_at LIMIT 1')
    .get();
  database.close();
  return row?.['count'];
}

test(
  'ten restarts in a row without progress end a job, nine do not; a later job starts afresh',
  inLongForm,
  async (t) => {
    const job = await interruptedJob(t);
    for (let restarts = 1; restarts < 10; restarts += 1) {
      assert.equal((await restart(t, job)).status, 'running');
      assert.equal(counted(job.folder), restarts);
    }
    const ended = await restart(t, job);
    assert.deepEqual(
      [ended.status, ended.error],
      ['failed', 'Given up after 10 restarts in a row without progress'],
    );
    assert.equal(ended.details[0].error, 'Given up after 10 restarts in a row without progress');
    const service = await serve(t, { folder: job.folder });
    assert.equal((await service.runJob(DAY)).status, 'completed');
  },
);

test(
  'runs too short to count fail no job, and neither add to the restarts nor reset them',
  inLongForm,
  async (t) => {
    const job = await interruptedJob(t);
    await restart(t, job);
    assert.equal(counted(job.folder), 1);
    // The life before the first of these counted; theirs do not, and the last restart comes after one
    // of theirs.
    for (let restarts = 0; restarts < 12; restarts += 1)
      assert.equal((await restart(t, { ...job, limits: noLife })).status, 'running');
    assert.equal(counted(job.folder), 2);
    await restart(t, job);
    assert.equal(counted(job.folder), 2);
    await restart(t, job);
    assert.equal(counted(job.folder), 3);
  },
);

test('progress resets the count of restarts', async (t) => {
  const job = await interruptedJob(t);
  await restart(t, job);
  await restart(t, job);
  assert.equal(counted(job.folder), 2);
  const script: Script = { '*': [[['buy', { symbol: 'AAPL', amount: 1 }]], [['wait', 60_000]]] };
  const service = await serve(t, { folder: job.folder, script });
  await until('a trade', () =>
    service.database.statement(`SELECT 1 FROM reasoning_logs WHERE role = 'tool'`).get(),
  );
  await service.stop();
  assert.equal((await restart(t, job)).status, 'running');
  assert.equal(counted(job.folder), 0);
});

/**
 * `+N` lets so many seconds pass; `start` and `end` are those of a child. Expected is whether the
 * life counts then.
 */
const lives: [name: string, events: string[], counts: boolean][] = [
  ['that has just begun', [], false],
  ['just below its limit', ['+29.999'], false],
  ['as long as its limit', ['+30'], true],
  ['whose child runs for less than its limit', ['+5', 'start', '+9.999'], false],
  ['whose child runs for as long as its limit', ['+5', 'start', '+10'], true],
  ['whose child ends just before its limit', ['start', '+9.999', 'end', '+1'], false],
  ['whose long child has ended', ['start', '+10', 'end'], false],
  ['whose one long child of two has ended', ['start', 'start', '+10', 'end'], true],
  ['that is long, after its long child', ['start', '+10', 'end', '+20'], true],
  ['that ends its long child as it stops', ['start', '+10', 'abort', 'end'], true],
  ['that is stopped before its limit', ['+20', 'stop', '+20'], false],
];
for (const [name, events, counts] of lives) {
  test(`a run ${name} ${counts ? 'counts' : 'does not count'}`, async (t) => {
    const database = openDatabase(':memory:');
    t.after(() => database.close());
    const loop = createTestLoop();
    const abort = new AbortController();
    // The mark is what the next start reads; any row of jobs will do.
    insertJobRow(database);
    const life = watchLifetime({ database, log: silentLog, limits: workerLimits }, 'job', {
      signal: abort.signal,
      loop,
    });
    const ends: (() => void)[] = [];
    for (const event of events) {
      if (event === 'start') ends.push(life.childStarted());
      else if (event === 'end') ends.pop()?.();
      else if (event === 'abort') abort.abort();
      else if (event === 'stop') life.stop();
      else await loop.pass(Number(event) * 1000);
    }
    await settled();
    assert.equal(
      database.statement('SELECT life_counts AS mark FROM jobs').get()?.['mark'],
      counts ? 1 : 0,
    );
  });
}

function insertJobRow(database: Database): void {
  database
    .statement(
      `INSERT INTO jobs (job_id, status, start_date, end_date, dates, replace_existing, agent_config, deployment_mode,
         created_at, completed_at)
       VALUES ('job', 'completed', '2025-11-10', '2025-11-10', '[]', 0, '{}', 'PROD', 'now', 'now')`,
    )
    .run();
}
