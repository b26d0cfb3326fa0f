import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { agentFixture } from '../../test/support/agents.ts';
import { until } from '../../test/support/until.ts';
import { hasEngine } from './install.ts';
import {
  assertLost,
  modelProcesses,
  ownModel,
  startHeldJob,
  startHeldModels,
  tryEngine,
} from './jobs.ts';
import { recipe } from './recipes.ts';
import { temporaryFolder } from '../../test/support/folder.ts';

/** Model-days in a sandbox each, by the command in docs/guides/many-machines.md. */

const BUBBLEWRAP = { programs: ['bwrap'], packages: ['bubblewrap'] };
const NAMES = ['alpha', 'beta', 'gamma'].map(ownModel);

test('bubblewrap', async (t) => {
  if (!hasEngine(t, BUBBLEWRAP)) return;
  const command = recipe('bwrap', { '/usr/bin/node': process.execPath });
  const [program = '', ...args] = command;
  const { status, stderr } = spawnSync(program, [...args, '--version'], { encoding: 'utf8' });
  if (status !== 0) return t.skip(`bubblewrap cannot make a sandbox here: ${stderr.trim()}`);

  await tryEngine(t, {
    engine: () => ({ command }),
    startModels: startHeldModels,
    names: NAMES,
    left: () => NAMES.flatMap(modelProcesses),
    lookAt: (names) => assert.equal(modelProcesses(ownModel('side-')).length, names.length),
  });

  await t.test(
    'a model process killed in mid-day is one failed model-day with a reason',
    async (t) => {
      const held = await startHeldModels(t);
      const job = await startHeldJob(t, { command }, { held, names: NAMES });
      for (const pid of modelProcesses(ownModel('beta'))) process.kill(pid, 'SIGKILL');
      const reason = /^The model process ended without an outcome \(bwrap: exit code 137\)$/;
      await assertLost(job, { held, victims: [ownModel('beta')], reason });
    },
  );

  /**
   * What native code could do, which our confinement does not hold: plain Node, without the
   * permission model, attacks the process that started it.
   */
  await t.test(
    'a child that broke out of its confinement finds no parent to signal, and no file to write',
    async (t) => {
      const folder = temporaryFolder();
      const attack = join(folder, 'attack.cjs');
      writeFileSync(attack, agentFixture('attacks-machine'));
      const run = (launcher: readonly string[]) => {
        const aims = [String(process.pid), join(folder, 'written')];
        const [program = '', ...args] = [...launcher, attack, ...aims];
        const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
        assert.equal(stderr, '');
        const { signal, inspector, write, environment, parentSeen } = JSON.parse(stdout);
        return [signal, inspector, write, environment, parentSeen];
      };
      let heard = 0;
      const hear = () => void (heard += 1); // with a listener, Node opens no inspector
      process.on('SIGUSR1', hear);
      t.after(() => process.off('SIGUSR1', hear));
      const free = run([process.execPath]);
      await until('the signal of the free one', () => heard === 1);
      assert.deepEqual(free, ['done', 'done', 'done', 'done', true]);
      assert.deepEqual(run(command), ['ESRCH', 'ESRCH', 'EROFS', 'ENOENT', false]);
      assert.equal(heard, 1);
    },
  );
});
