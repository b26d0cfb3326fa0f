import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createJobQueue } from '../../src/core/jobs/queue.ts';
import { type Script, scriptedAgent, scriptedProcess } from '../support/agents.ts';
import { childrenOf, noProc } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { workerContext } from '../support/worker-context.ts';

const PRICES = `
  AAPL 2025-11-10 100 101
  AAPL 2025-11-11 102 103
  AAPL 2025-11-12 102 103`;
const RANGE = { start_date: '2025-11-10', end_date: '2025-11-12' };

const serve = (t: TestContext, script: Script, agentOf = scriptedAgent) =>
  startTestService(t, {
    configuration: {
      models: [{ signature: 'model-a', enabled: true }],
      agent_config: { stock_symbols: ['AAPL'], max_steps: 5 },
    },
    agent: agentOf(script),
    prices: PRICES,
  });

async function untilRunning({ database }: TestService, jobId: string, date: string): Promise<void> {
  const detail = database.statement('SELECT status FROM job_details WHERE job_id = ? AND date = ?');
  await until(`${date} to run`, () => detail.get(jobId, date)?.['status'] === 'running');
}

test('cancelling stops the children, keeps what has completed and skips the rest, which a new job runs afresh at once', async (t) => {
  const service = await serve(t, {
    'model-a 2025-11-11': [[['buy', { symbol: 'AAPL', amount: 1 }]], [['wait', 400]]],
  });
  const { body: job } = await service.post('/simulate/trigger', RANGE);
  await untilRunning(service, job.job_id, '2025-11-11');
  const cancelled = await service.post(`/simulate/cancel/${job.job_id}`, {});
  assert.equal(cancelled.status, 200);
  assert.deepEqual(
    [cancelled.body.status, cancelled.body.message],
    ['cancelled', 'Job cancelled; 2 model-days will not be run'],
  );
  const { body: status } = await service.get(`/simulate/status/${job.job_id}`);
  assert.equal(status.status, 'cancelled');
  assert.deepEqual(Object.values(status.progress), [3, 1, 0, 2, 0, 2]);
  assert.deepEqual(
    status.details.map(({ date, status, error }: any) => `${date} ${status} ${error}`),
    ['2025-11-10 completed null', '2025-11-11 skipped Cancelled', '2025-11-12 skipped Cancelled'],
  );
  assert.equal((await service.get(`/results?job_id=${job.job_id}`)).body.count, 1);
  const again = await service.post(`/simulate/cancel/${job.job_id}`, {});
  assert.deepEqual([again.status, again.body.message], [200, 'The job was already cancelled']);
  const next = await service.runJob(RANGE);
  assert.equal(next.status, 'completed', 'it waits for no child of the other');
  assert.deepEqual(
    service.database
      .statement(`SELECT date, status, error FROM trading_sessions ORDER BY session_id`)
      .all()
      .map((row) => Object.values(row).filter(Boolean).join(' ')),
    ['2025-11-10 active', '2025-11-11 failed Cancelled', '2025-11-11 active', '2025-11-12 active'],
  );
});

test('a job that is cancelled in the same moment never starts', async (t) => {
  const { database } = await serve(t, {});
  const jobs = createJobQueue(
    workerContext(database, { models: [{ signature: 'a', enabled: true }] }),
  );
  const { jobId } = await jobs.submit({
    ...{ startDate: null, endDate: '2025-11-10', models: [], replaceExisting: false },
    universe: null,
  });
  assert.equal(await jobs.cancel(jobId), 1);
  await new Promise((resolve) => setImmediate(resolve));
  await jobs.stop();
  const row = database.statement('SELECT status FROM jobs WHERE job_id = ?').get(jobId);
  assert.equal(row?.['status'], 'cancelled');
  assert.deepEqual(database.statement('SELECT 1 FROM trading_sessions').all(), []);
});

test('only an unfinished job can be cancelled', async (t) => {
  const service = await serve(t, {});
  const { job_id: jobId } = await service.runJob(RANGE);
  const refused = await service.post(`/simulate/cancel/${jobId}`, {});
  assert.deepEqual(
    [refused.status, refused.body.detail],
    [409, `Cannot cancel job ${jobId}: its status is completed`],
  );
  const unknown = await service.post('/simulate/cancel/nothing', {});
  assert.deepEqual([unknown.status, unknown.body.detail], [404, 'Job nothing not found']);
});

test('no child is left after a cancellation', { skip: noProc }, async (t) => {
  const others = childrenOf(process.pid); // the bundler's, where a test has built the agent before
  const children = () => childrenOf(process.pid).filter((pid) => !others.includes(pid));
  const service = await serve(t, { '*': [[['wait', 60_000]]] }, scriptedProcess);
  const { body: job } = await service.post('/simulate/trigger', RANGE);
  await untilRunning(service, job.job_id, '2025-11-10');
  await until('a child', () => children().length > 0);
  await service.post(`/simulate/cancel/${job.job_id}`, {});
  await service.stop();
  assert.deepEqual(children(), []);
});
