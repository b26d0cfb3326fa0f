import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { agentFixture } from '../support/agents.ts';
import { temporaryFolder } from '../support/service.ts';
import { until } from '../support/until.ts';
import { hasEngine } from './install.ts';
import {
  assertLost,
  assertSameRecords,
  assertSideBySide,
  assertSigterm,
  modelProcesses,
  ownModel,
  startHeldJob,
  startHeldModels,
} from './jobs.ts';
import { recipe } from './recipes.ts';

/** Model-days in a sandbox each, by the command in docs/scale.md. */

const BUBBLEWRAP = { programs: ['bwrap'], packages: ['bubblewrap'] };
const NAMES = ['alpha', 'beta', 'gamma'].map(ownModel);

/** Skips the test where there is no bubblewrap, or the system lets it make no namespaces. */
function sandbox(t: TestContext): string[] | null {
  if (!hasEngine(t, BUBBLEWRAP)) return null;
  const command = recipe('bwrap', { '/usr/bin/node': process.execPath });
  const [program = '', ...args] = command;
  const { status, stderr } = spawnSync(program, [...args, '--version'], { encoding: 'utf8' });
  if (status !== 0) t.skip(`bubblewrap cannot make a sandbox here: ${stderr.trim()}`);
  return status === 0 ? command : null;
}

test('bubblewrap: 4 models on 10 dates leave the same records as direct ones', async (t) => {
  const command = sandbox(t);
  if (command !== null) await assertSameRecords(t, { command });
});

test('bubblewrap: 60 models side by side', async (t) => {
  const command = sandbox(t);
  if (command === null) return;
  await assertSideBySide(t, { command }, await startHeldModels(t), (names) =>
    assert.equal(modelProcesses(ownModel('side-')).length, names.length),
  );
});

test('bubblewrap: cancelling and SIGTERM leave no process behind', async (t) => {
  const command = sandbox(t);
  if (command === null) return;
  const left = () => NAMES.flatMap(modelProcesses);
  const { service, id } = await startHeldJob(
    t,
    { command },
    { held: await startHeldModels(t), names: NAMES },
  );
  assert.equal(left().length, NAMES.length);
  await service.post(`/simulate/cancel/${id}`, {});
  await until('the end of its processes', () => left().length === 0);
  await assertSigterm(t, { command }, { held: await startHeldModels(t), names: NAMES, left });
});

test('bubblewrap: a model process killed in mid-day is one failed model-day with a reason', async (t) => {
  const command = sandbox(t);
  if (command === null) return;
  const held = await startHeldModels(t);
  const job = await startHeldJob(t, { command }, { held, names: NAMES });
  for (const pid of modelProcesses(ownModel('beta'))) process.kill(pid, 'SIGKILL');
  const reason = /^The model process ended without an outcome \(bwrap: exit code 137\)$/;
  await assertLost(job, { held, victims: [ownModel('beta')], reason });
});

/**
 * What native code could do, which our confinement does not hold: plain Node, without the
 * permission model, attacks the process that started it.
 */
test('bubblewrap: a child that broke out of its confinement finds no parent to signal, and no file to write', async (t) => {
  const command = sandbox(t);
  if (command === null) return;
  const folder = temporaryFolder(t);
  const attack = join(folder, 'attack.cjs');
  writeFileSync(attack, agentFixture('attacks-machine'));
  const run = (launcher: readonly string[]) => {
    const [program = '', ...args] = [
      ...launcher,
      attack,
      String(process.pid),
      join(folder, 'written'),
    ];
    const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
    assert.equal(stderr, '');
    return JSON.parse(stdout);
  };
  let heard = 0;
  const hear = () => void (heard += 1); // with a listener, Node opens no inspector
  process.on('SIGUSR1', hear);
  t.after(() => process.off('SIGUSR1', hear));
  const free = run([process.execPath]);
  await until('the signal of the free one', () => heard === 1);
  assert.deepEqual(free, {
    signal: 'done',
    inspector: 'done',
    write: 'done',
    environment: 'done',
    parentSeen: true,
  });
  const held = run(command);
  assert.deepEqual(held, {
    signal: 'ESRCH',
    inspector: 'ESRCH',
    write: 'EROFS',
    environment: 'ENOENT',
    parentSeen: false,
  });
  assert.equal(heard, 1);
});
