import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { lastStartTime } from '../../src/core/database/job-queries.ts';
import { scriptedAgent } from '../support/agents.ts';
import { clockFrom, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const FOUR_DAYS_MS = 4 * 86_400_000;
const WAIT_MS = 50;
const REQUEST = { start_date: '2025-11-10', end_date: '2025-11-11', models: ['model-a'] };

/** A service whose clock can be set back, and whose model waits on the first of two days. */
async function start(t: TestContext, { folder, waitMs }: { folder?: string; waitMs: number }) {
  const real = clockFrom('2025-11-20');
  let backMs = folder === undefined ? 0 : FOUR_DAYS_MS;
  const service = await startTestService(t, {
    ...(folder !== undefined && { folder }),
    clock: () => new Date(real().getTime() - backMs),
    agent: scriptedAgent({ 'model-a 2025-11-10': [[['wait', waitMs]]] }),
  });
  return { ...service, setBack: () => void (backMs = FOUR_DAYS_MS) };
}

/** Starts a job; resolves to its id once its first model-day runs. */
async function begin({ post, database }: TestService): Promise<string> {
  const { body } = await post('/simulate/trigger', REQUEST);
  const running = database.statement(`SELECT 1 FROM trading_sessions WHERE status = 'running'`);
  await until('the first model-day to run', () => running.get() !== undefined);
  return body.job_id;
}

/** The seconds that its model-days took, and all of it. */
function secondsOf(status: any): number[] {
  const days = status.details.flatMap(({ duration_seconds: seconds }: any) => seconds ?? []);
  return [...days, status.total_duration_seconds];
}

test('a clock that is set back during a model-day changes no duration', async (t) => {
  const service = await start(t, { waitMs: WAIT_MS });
  const jobId = await begin(service);
  service.setBack();
  const status = await service.waitForJob(jobId);
  const [first = 0, second = 0, total = 0] = secondsOf(status);
  assert.ok(
    first > 0 && second >= 0 && total >= first + second && total < 60,
    `${secondsOf(status)}`,
  );
  const logged = service.database
    .statement('SELECT timestamp FROM reasoning_logs ORDER BY session_id, message_index')
    .all();
  const times = logged.map(({ timestamp }) => String(timestamp));
  assert.deepEqual(times, times.toSorted());
  const next = await service.runJob(REQUEST);
  assert.ok(next.created_at < status.created_at, 'the next job has the time that the clock shows');
});

test('a job that is cancelled, or resumed by another process, after the clock was set back did not take less than nothing', async (t) => {
  const service = await start(t, { waitMs: 60_000 });
  const jobId = await begin(service);
  await service.stop();
  const resumed = await start(t, { folder: service.folder, waitMs: 60_000 });
  const isRunning = resumed.database.statement(
    `SELECT 1 FROM job_details WHERE status = 'running'`,
  );
  await until('the job to continue', () => isRunning.get() !== undefined);
  await resumed.post(`/simulate/cancel/${jobId}`, {});
  const status = await resumed.waitForJob(jobId);
  assert.equal(status.status, 'cancelled');
  const begun = lastStartTime(resumed.database, jobId);
  assert.equal(begun, status.started_at, 'without a running session');
  assert.ok(
    secondsOf(status).every((seconds) => seconds >= 0 && seconds < 60),
    `${secondsOf(status)}`,
  );
});
