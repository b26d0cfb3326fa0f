import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../test/support/until.ts';
import { hasEngine } from './install.ts';
import { assertLost, type Engine, ONE_DATE, startHeldJob, THREE_DATES, tryEngine } from './jobs.ts';
import { recipe, sshOptions } from './recipes.ts';
import { SSH, startTwoMachines } from './ssh.ts';

/**
 * Model-days on another machine by ssh: from one network namespace to another, by the command and
 * the options in docs/guides/many-machines.md.
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

  await tryEngine(t, {
    engine: () => engine,
    startModels: machines.startProvider,
    names: NAMES,
    left,
    lookAt: (names) => assert.equal(left().length, names.length),
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
      const job = await startHeldJob(t, engine, { held, names: NAMES, request: ONE_DATE });
      machines.setLink('down');
      await assertLost(job, { held, victims: NAMES, reason: SSH_ENDED });
      const cut = await job.service.runJob(ONE_DATE);
      assert.equal(cut.status, 'failed');
      for (const { error } of cut.details) assert.match(error, SSH_DID_NOT_START);
      machines.setLink('up');
      const { status, progress } = await job.service.runJob(THREE_DATES);
      assert.deepEqual([status, progress.completed], ['completed', 3 * NAMES.length]);
      await until('the end of its processes', () => left().length === 0);
    },
  );
});
