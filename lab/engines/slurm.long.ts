import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { until } from '../../test/support/until.ts';
import { hasEngine } from './install.ts';
import {
  assertLost,
  ENGINE_PATIENCE_MS,
  type Engine,
  HELD_DATE,
  modelProcesses,
  ONE_DATE,
  ownModel,
  startHeldJob,
  startHeldModels,
  tryEngine,
  untilFailed,
} from './jobs.ts';
import { recipe } from './recipes.ts';
import { SLURM, startSlurm } from './slurm.ts';

/**
 * Model-days through a real Slurm: one controller and three nodes on this machine, by the command
 * in docs/guides/many-machines.md.
 */

const NAMES = ['alpha', 'beta', 'gamma'].map(ownModel);
const SIX_NAMES = [...NAMES, ...['delta', 'epsilon', 'zeta'].map(ownModel)];

test('Slurm', async (t) => {
  if (!hasEngine(t, SLURM)) return;
  const slurm = await startSlurm(t, 3);
  const command = recipe('srun', { '/usr/bin/node': process.execPath });
  const engineFor = async (test: TestContext): Promise<Engine> => ({
    command,
    variables: await slurm.allocate(test),
  });
  const left = () => [...slurm.steps(), ...SIX_NAMES.flatMap(modelProcesses)];

  await tryEngine(t, {
    engine: engineFor,
    startModels: startHeldModels,
    names: NAMES,
    left,
    lookAt(names) {
      const steps = slurm.steps().map((step) => step.split(' '));
      assert.deepEqual(steps.map(([name]) => name).sort(), [...names].sort());
      assert.ok(new Set(steps.map(([, node]) => node)).size > 1, 'over several nodes');
    },
  });

  await t.test(
    'a killed step daemon, for which srun waits forever, costs one model-day its time limit',
    async (t) => {
      const settings = { modelDayTimeoutMs: 20_000 };
      const own = { names: [ownModel('alpha')], settings, request: ONE_DATE };
      const job = { held: await startHeldModels(t), ...own };
      const { service, id } = await startHeldJob(t, await engineFor(t), job);
      for (const node of slurm.nodes) slurm.killSteps(node);
      const { details } = await service.waitForJob(id);
      assert.match(details[0].error, /^The model-day took longer than 20 seconds/);
      await until('the end of its process', () => modelProcesses(ownModel('alpha')).length === 0);
    },
  );

  await t.test(
    'while the controller is away, what runs continues, and what cannot start fails with what srun says',
    async (t) => {
      const held = await startHeldModels(t);
      const { service, id } = await startHeldJob(t, await engineFor(t), { held, names: NAMES });
      await slurm.stopController();
      held.release();
      await untilFailed(service, NAMES.length);
      await slurm.startController();
      const { status, details } = await service.waitForJob(id, ENGINE_PATIENCE_MS);
      assert.equal(status, 'partial');
      const failures = details.filter((detail: any) => detail.status !== 'completed');
      for (const { error, date } of failures) {
        assert.ok(date > HELD_DATE, 'what ran has continued');
        assert.match(
          error,
          /^The model process did not start \(srun: exit code \d+; srun: error: /,
        );
      }
      await until('nothing to be left', () => left().length === 0, ENGINE_PATIENCE_MS);
    },
  );

  await t.test(
    'a node killed in mid-day costs the model-days on it, with a reason, and no other',
    async (t) => {
      const held = await startHeldModels(t);
      const job = await startHeldJob(t, await engineFor(t), { held, names: SIX_NAMES });
      const steps = slurm.steps().map((step) => step.split(' '));
      const [, node = ''] = steps[0] ?? [];
      const victims = steps.flatMap(([model = '', of]) => (of === node ? [model] : []));
      assert.ok(victims.length > 0 && victims.length < SIX_NAMES.length, JSON.stringify(steps));
      await slurm.killNode(node);
      const reason = new RegExp(
        `^The model process ended without an outcome \\(srun: exit code \\d+; .*Node failure on ${node}`,
      );
      await assertLost(job, { held, victims, reason });
    },
  );
});
