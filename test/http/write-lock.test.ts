import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { startTestService } from '../support/service.ts';

const ONE_DAY = { end_date: '2025-11-10', models: ['model-a'] };
const FOUR_MODEL_DAYS = { start_date: '2025-11-10', end_date: '2025-11-11' };
const ONLY_READ = [
  ...['/health', '/jobs', '/results', '/reasoning', '/performance?common=true&details=true'],
  ...['/holdings?model=model-a', '/models', '/prices/coverage'],
];

/** A service, and another program that can hold SQLite's write lock. */
async function startBesideLock(t: TestContext) {
  const service = await startTestService(t);
  const other = new DatabaseSync(service.settings.databasePath);
  t.after(() => other.close());
  const readAll = async () => {
    for (const path of ONLY_READ) assert.ok((await service.get(path)).status < 500, path);
    assert.equal((await service.get('/health')).body.status, 'healthy');
  };
  const [hold, release] = ['BEGIN IMMEDIATE', 'COMMIT'].map((sql) => () => other.exec(sql));
  return { service, readAll, hold: hold as () => void, release: release as () => void };
}

test('while another program holds the write lock, reads respond and a trigger waits for the lock', async (t) => {
  const { service, hold, readAll, release } = await startBesideLock(t);
  hold();
  const order: string[] = [];
  const trigger = service.post('/simulate/trigger', ONE_DAY).finally(() => order.push('triggered'));
  await readAll();
  order.push('released');
  release();
  const { status, body } = await trigger;
  assert.deepEqual([status, order], [200, ['released', 'triggered']]);
  assert.equal((await service.waitForJob(body.job_id)).status, 'completed');
});

test('a job continues where the lock stopped it: nothing fails or starts over, and its cancellation waits too', async (t) => {
  const { service, hold, release } = await startBesideLock(t);
  const { body } = await service.post('/simulate/trigger', FOUR_MODEL_DAYS);
  // Held for one read at a time: on a busy machine all of them take longer than a write waits for
  // the lock.
  for (let round = 0; round < 5; round += 1) {
    for (const path of [...ONLY_READ, `/simulate/status/${body.job_id}`]) {
      hold();
      assert.ok((await service.get(path)).status < 500, path);
      release();
    }
  }
  const { status, warnings, progress } = await service.waitForJob(body.job_id);
  assert.deepEqual([status, warnings, progress.failed], ['completed', null, 0]);
  const request = { ...FOUR_MODEL_DAYS, replace_existing: true };
  const { job_id: again } = (await service.post('/simulate/trigger', request)).body;
  hold();
  const cancelled = service.post(`/simulate/cancel/${again}`, {});
  assert.equal((await service.get('/health')).body.status, 'healthy');
  release();
  assert.equal((await cancelled).status, 200);
  assert.equal((await service.get(`/simulate/status/${again}`)).body.status, 'cancelled');
  for (const { message } of service.logLines)
    assert.doesNotMatch(message, /waits until|unexpected|set aside/);
});

test('one Idempotency-Key makes one job, also of triggers that wait for the lock side by side', async (t) => {
  const { service, hold, readAll, release } = await startBesideLock(t);
  const send = async (key: string) => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': key };
    const init = { method: 'POST', headers, body: JSON.stringify(ONE_DAY) };
    const response = await fetch(`${service.url}/simulate/trigger`, init);
    return (await response.json()) as { job_id: string };
  };
  hold();
  const both = [send('a'), send('a')];
  await readAll();
  release();
  const [first, second] = await Promise.all(both);
  assert.equal(first?.job_id, second?.job_id);
  hold();
  assert.equal((await send('a')).job_id, first?.job_id, 'what was answered before is only read');
  release();
  await service.waitForJob(String(first?.job_id));
});
