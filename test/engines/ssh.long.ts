import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../support/until.ts';
import { hasEngine } from './install.ts';
import {
  type Engine,
  assertLost,
  assertSameRecords,
  assertSideBySide,
  assertSigterm,
  HELD_DATE,
  startHeldJob,
  THREE_DATES,
} from './jobs.ts';
import { recipe, sshOptions } from './recipes.ts';
import { SSH, startTwoMachines } from './ssh.ts';

/**
 * Model-days on another machine by ssh: from one network namespace to another, by the command and
 * the options in docs/scale.md.
 */

const NAMES = ['alpha', 'beta', 'gamma', 'delta'];

/** The launcher is named by its first word: here `ip`, which runs `ssh` on the first machine. */
const SSH_ENDED = /^The model process ended without an outcome \(ip: exit code 255/;
const SSH_DID_NOT_START = /^The model process did not start \(ip: exit code 255; ssh: connect to /;

test('ssh', async (t) => {
  if (!hasEngine(t, SSH)) return;
  const machines = await startTwoMachines(t, sshOptions());
  const [, ...words] = recipe('ssh', { '/opt/node/bin/node': process.execPath });
  const engine: Engine = { command: [...machines.ssh, ...words] };
  const left = () => machines.modelProcesses();

  await t.test('4 models on 10 dates leave the same records as direct ones', async (t) => {
    const provider = await machines.startProvider(t);
    provider.release();
    await assertSameRecords(t, engine, provider.baseUrl);
    await until('the end of its processes', () => left().length === 0);
  });

  await t.test('60 models side by side', async (t) => {
    await assertSideBySide(t, engine, await machines.startProvider(t), (names) =>
      assert.equal(left().length, names.length),
    );
  });

  await t.test('cancelling and SIGTERM leave no process behind on the other machine', async (t) => {
    const { service, id } = await startHeldJob(t, engine, {
      held: await machines.startProvider(t),
      names: NAMES,
    });
    assert.equal(left().length, NAMES.length);
    await service.post(`/simulate/cancel/${id}`, {});
    await until('the end of its processes', () => left().length === 0);
    await assertSigterm(t, engine, { held: await machines.startProvider(t), names: NAMES, left });
  });

  await t.test(
    'a model process killed in mid-day is one failed model-day with a reason',
    async (t) => {
      const held = await machines.startProvider(t);
      const job = await startHeldJob(t, engine, { held, names: NAMES });
      for (const pid of machines.modelProcesses('beta')) process.kill(pid, 'SIGKILL');
      await assertLost(job, { held, victims: ['beta'], reason: SSH_ENDED });
    },
  );

  await t.test(
    'a cut cable costs the model-days of that moment, with a reason, and no other',
    async (t) => {
      const held = await machines.startProvider(t);
      const request = { start_date: HELD_DATE, end_date: HELD_DATE };
      const job = await startHeldJob(t, engine, { held, names: NAMES, request });
      machines.setLink('down');
      await assertLost(job, { held, victims: NAMES, reason: SSH_ENDED });
      const cut = await job.service.runJob(request);
      assert.equal(cut.status, 'failed');
      for (const { error } of cut.details) assert.match(error, SSH_DID_NOT_START);
      machines.setLink('up');
      const { status, progress } = await job.service.runJob(THREE_DATES);
      assert.deepEqual([status, progress.completed], ['completed', 3 * NAMES.length]);
      await until('the end of its processes', () => left().length === 0);
    },
  );
});
