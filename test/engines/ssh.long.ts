import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { until } from '../support/until.ts';
import { hasEngine } from './install.ts';
import { type Engine, assertSameRecords, serveThrough, trigger } from './jobs.ts';
import { recipe, sshOptions } from './recipes.ts';
import { SSH, type TwoMachines, startTwoMachines } from './ssh.ts';

/** Model-days on another machine by ssh: from one network namespace to another, by the command and the options in docs/scale.md. */

const RANGE = { start_date: '2025-10-06', end_date: '2025-10-08' };
const HELD_DATE = '2025-10-07';
const NAMES = Array.from({ length: 4 }, (_, index) => `model-${index + 1}`);

test('ssh', async (t) => {
  if (!hasEngine(t, SSH)) return;
  const machines = await startTwoMachines(t, sshOptions());
  const [, ...words] = recipe('ssh', { '/opt/node/bin/node': process.execPath });
  const engine: Engine = { command: [...machines.ssh, ...words] };

  await t.test('4 models on 10 dates leave the same records as direct ones', async (t) => {
    await assertSameRecords(t, engine, await machines.startProvider(t, 'never'));
    await until('the end of its processes', () => machines.modelProcesses().length === 0);
  });

  await t.test('cancelling leaves no process behind on the other machine', async (t) => {
    const { service, id } = await startHeldJob(t, engine, machines);
    await service.post(`/simulate/cancel/${id}`, {});
    await until('the end of its processes', () => machines.modelProcesses().length === 0);
  });

  await t.test('a cut cable costs the model-days of that moment, with a reason, and no other', async (t) => {
    const { service, id } = await startHeldJob(t, engine, machines);
    machines.setLink('down');
    const progress = async () => (await service.get(`/simulate/status/${id}`)).body.progress;
    await until('the model-days to fail', async () => (await progress()).failed === NAMES.length);
    machines.setLink('up');
    const { details, progress: last } = await service.waitForJob(id);
    assert.deepEqual([last.completed, last.failed], [2 * NAMES.length, NAMES.length], JSON.stringify(details));
    for (const { status, date, error } of details) {
      assert.equal(status, date === HELD_DATE ? 'failed' : 'completed');
      if (error !== null) assert.match(error, /^The model process ended without an outcome \(ip: exit code 255/);
    }
    await until('the end of its processes', () => machines.modelProcesses().length === 0);
  });
});

/** A job of which all models are in the middle of the held date, on the other machine. */
async function startHeldJob(t: TestContext, engine: Engine, machines: TwoMachines) {
  const openai_base_url = await machines.startProvider(t, HELD_DATE);
  const service = await serveThrough(t, engine, { models: NAMES.map((signature) => ({ signature, openai_base_url })) });
  const id = await trigger(service, RANGE);
  const steps = service.database.statement(`SELECT count(*) AS n FROM job_details WHERE date = ? AND status = 'running' AND steps = 1`);
  await until('all models to be in mid-day', () => steps.get(HELD_DATE)?.['n'] === NAMES.length);
  assert.equal(machines.modelProcesses().length, NAMES.length);
  return { service, id };
}
