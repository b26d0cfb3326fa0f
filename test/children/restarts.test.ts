import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { openDatabase } from '../../src/core/database/database.ts';
import { silentLog } from '../../src/core/process/log.ts';
import { watchLifetime } from '../../src/core/jobs/active-job.ts';
import { workerLimits } from '../../src/core/children/places.ts';
import { type Script, scriptedAgent } from '../support/agents.ts';
import { createTestLoop, settled } from '../support/event-loop.ts';
import { insertTestJob } from '../support/jobs.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const DATE = '2025-11-10';
const DAY = { start_date: DATE, end_date: DATE };
const configuration = {
  models: [{ signature: 'model-a', enabled: true }],
  agent_config: { stock_symbols: ['AAPL'], max_steps: 5 },
};
const wait: Script[string][0] = [['wait', 60_000]];

/** A service of which every life counts, however short. */
const serve = (t: TestContext, script: Script, folder?: string) =>
  startTestService(t, {
    configuration,
    limits: { minLifetimeMs: 0 },
    agent: scriptedAgent(script),
    ...(folder === undefined ? { prices: 'AAPL 2025-11-10 100 101' } : { folder }),
  });

test('restarts are counted until there is progress, of which the first message is one', async (t) => {
  const first = await serve(t, { '*': [wait] });
  const { body } = await first.post('/simulate/trigger', DAY);
  const isLogged = (service: TestService, where: string) =>
    until('a message', () =>
      service.database.statement(`SELECT 1 FROM reasoning_logs WHERE ${where}`).get(),
    );
  await isLogged(first, 'true');
  await first.stop();
  /** How many restarts are counted when the job goes on. */
  const restart = async () => {
    const service = await serve(t, { '*': [wait] }, first.folder);
    await until('the job to go on', async () => {
      const found = await service.get(`/simulate/status/${body.job_id}`);
      return found.body.status === 'running';
    });
    const row = service.database.statement('SELECT idle_restarts AS count FROM jobs').get();
    await service.stop();
    return row?.['count'];
  };
  assert.deepEqual([await restart(), await restart(), await restart()], [0, 1, 2]);
  const trade: Script[string][0] = [['buy', { symbol: 'AAPL', amount: 1 }]];
  const service = await serve(t, { '*': [trade, wait] }, first.folder);
  await isLogged(service, `role = 'tool'`);
  await service.stop();
  assert.equal(await restart(), 0);
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
    const range = { startDate: DATE, endDate: DATE, dates: [DATE], runs: [], createdAt: 'now' };
    const job = { ...range, replaceExisting: false, agentConfig: {}, warnings: [] };
    insertTestJob(database, { ...job, jobId: 'job' });
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
    const mark = database.statement('SELECT life_counts AS mark FROM jobs').get();
    assert.equal(mark?.['mark'], Number(counts));
  });
}
