import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readSettings } from '../../src/settings.ts';
import { childrenOf } from '../support/processes.ts';
import { ask, installProgram, runProgram, startServer, waitForJob } from '../support/program.ts';
import { PRICES } from '../support/prod.ts';
import { until } from '../support/until.ts';
import { hasEngine } from './install.ts';
import { type Engine, assertSameRecords, modelProcesses, serveThrough, startHeldModels, trigger } from './jobs.ts';
import { recipe } from './recipes.ts';
import { SLURM, type Slurm, startSlurm } from './slurm.ts';

/** Model-days through a real Slurm: one controller and three nodes on this machine, by the command in docs/scale.md. */

const THREE_DATES = { start_date: '2025-10-06', end_date: '2025-10-08' };
const HELD_DATE = '2025-10-07';
const SIDE_BY_SIDE = 60;
/** Beyond Slurm's own time to notice that a controller is away. */
const TRIES_WITHOUT_CONTROLLER = 2;

/** The same prices for the built program. */
const PRICE_FILE = `symbol,date,open,close\n${PRICES.replaceAll(' ', ',')}\n`;

test('Slurm', async (t) => {
  if (!hasEngine(t, SLURM)) return;
  const slurm = await startSlurm(t, 3);
  const command = recipe('srun', { '/usr/bin/node': process.execPath });
  const engineFor = async (test: TestContext): Promise<Engine> => ({ command, variables: await slurm.allocate(test) });
  const models = (names: readonly string[], baseUrl: string) =>
    names.map((signature) => ({ signature, openai_base_url: baseUrl }));
  const NAMES = ['alpha', 'beta', 'gamma'];

  await t.test('4 models on 10 dates leave the same records as direct ones', async (t) => {
    await assertSameRecords(t, await engineFor(t));
    assert.deepEqual(slurm.steps(), []);
  });

  await t.test(`${SIDE_BY_SIDE} models side by side, over all nodes`, async (t) => {
    const held = await startHeldModels(t, '2025-10-06');
    const names = Array.from({ length: SIDE_BY_SIDE }, (_, index) => `m${index + 1}`);
    const options = { models: models(names, held.baseUrl), settings: { maxParallelModels: SIDE_BY_SIDE } };
    const service = await serveThrough(t, await engineFor(t), options);
    const id = await trigger(service, { start_date: '2025-10-06', end_date: '2025-10-06' });
    await held.untilHeld(SIDE_BY_SIDE);
    const nodes = new Set(slurm.steps().map((step) => step.split(' ')[1]));
    assert.deepEqual([slurm.steps().length, nodes.size > 1], [SIDE_BY_SIDE, true], [...nodes].join());
    held.release();
    const { status, progress } = await service.waitForJob(id);
    assert.deepEqual([status, progress.completed], ['completed', SIDE_BY_SIDE]);
    assert.deepEqual(slurm.steps(), []);
  });

  await t.test('cancelling leaves no step and no process behind', async (t) => {
    const held = await startHeldModels(t, HELD_DATE);
    const service = await serveThrough(t, await engineFor(t), { models: models(NAMES, held.baseUrl) });
    const id = await trigger(service, THREE_DATES);
    await held.untilHeld(NAMES.length);
    assert.equal(slurm.steps().length, NAMES.length);
    assert.equal(NAMES.flatMap(modelProcesses).length, NAMES.length);
    await service.post(`/simulate/cancel/${id}`, {});
    await untilNothingIsLeft(slurm, NAMES);
  });

  await t.test('SIGTERM leaves no step behind, and the next start continues the job', async (t) => {
    const held = await startHeldModels(t, HELD_DATE);
    const { command, variables = {} } = await engineFor(t);
    const cwd = installProgram(t, {
      models: NAMES.map((signature) => ({ signature, enabled: true, openai_base_url: held.baseUrl })),
      agent_config: { stock_symbols: ['AAPL', 'MSFT'] },
    });
    writeFileSync(join(cwd, 'prices.csv'), PRICE_FILE);
    await runProgram(['import-prices', 'prices.csv'], { cwd });
    const named = { MODEL_DAY_COMMAND: JSON.stringify(command), MODEL_DAY_COMMAND_ENV: Object.keys(variables).join() };
    const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...named, ...variables };
    assert.deepEqual(readSettings(env).modelDayCommand, command);
    const server = await startServer(t, { cwd, env });
    const { job_id } = await ask(`${server.url}/simulate/trigger`, THREE_DATES);
    await held.untilHeld(NAMES.length);
    assert.equal(slurm.steps().length, NAMES.length);
    server.process.kill('SIGTERM');
    const { code, signal } = await server.ended;
    assert.deepEqual([code, signal], [0, null]);
    assert.deepEqual([slurm.steps(), NAMES.flatMap(modelProcesses)], [[], []]);
    held.release();
    const again = await startServer(t, { cwd, env });
    const { status, progress } = await waitForJob(again.url, job_id);
    assert.deepEqual([status, progress.completed], ['completed', 9]);
    assert.deepEqual(childrenOf(again.process.pid as number), []);
  });

  await t.test('a killed step daemon, for which srun waits for ever, costs one model-day its time limit', async (t) => {
    const held = await startHeldModels(t, HELD_DATE);
    const settings = { modelDayTimeoutMs: 20_000 };
    const service = await serveThrough(t, await engineFor(t), { models: models(['alpha'], held.baseUrl), settings });
    const id = await trigger(service, { start_date: HELD_DATE, end_date: HELD_DATE });
    await held.untilHeld(1);
    for (const node of slurm.nodes) slurm.killSteps(node);
    const { details } = await service.waitForJob(id);
    assert.match(details[0].error, /^The model-day took longer than 20 seconds/);
    await until('the end of its process', () => modelProcesses('alpha').length === 0);
  });

  await t.test('while the controller is away, what runs continues, and what cannot start is tried again', async (t) => {
    const held = await startHeldModels(t, HELD_DATE);
    const service = await serveThrough(t, await engineFor(t), { models: models(NAMES, held.baseUrl) });
    const id = await trigger(service, THREE_DATES);
    await held.untilHeld(NAMES.length);
    await slurm.stopController();
    held.release();
    const failed = () => service.logLines.filter(({ message }) => message === 'the machine ended a model process').length;
    await until('starts to fail', () => failed() >= TRIES_WITHOUT_CONTROLLER);
    await slurm.startController();
    const { status, progress, warnings } = await service.waitForJob(id);
    assert.deepEqual([status, progress.completed], ['completed', 9]);
    assert.ok(warnings.some((warning: string) => warning.startsWith('Model processes did not start through srun;')), warnings.join());
    await untilNothingIsLeft(slurm, NAMES);
  });

  await t.test('a node killed in mid-day costs the model-days on it, with a reason, and no other', async (t) => {
    const held = await startHeldModels(t, HELD_DATE);
    const names = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'];
    const options = { models: models(names, held.baseUrl) };
    const service = await serveThrough(t, await engineFor(t), options);
    const id = await trigger(service, THREE_DATES);
    await held.untilHeld(names.length);
    const steps = slurm.steps().map((step) => step.split(' ') as [string, string]);
    const [, lost] = steps[0] as [string, string];
    const victims = steps.flatMap(([model, node]) => (node === lost ? [model] : [])).sort();
    assert.ok(victims.length < names.length, JSON.stringify(steps));
    await slurm.killNode(lost);
    const seen = service.database.statement(`SELECT count(*) AS n FROM job_details WHERE job_id = ? AND status = 'failed'`);
    await until('the model-days of the node to fail', () => seen.get(id)?.['n'] === victims.length);
    held.release();
    const { details } = await service.waitForJob(id);
    const failures = details.filter(({ status }: any) => status !== 'completed');
    assert.deepEqual(failures.map(({ model, date }: any) => `${model} ${date}`).sort(), victims.map((model) => `${model} ${HELD_DATE}`));
    for (const { error } of failures)
      assert.match(error, new RegExp(`^The model process ended without an outcome \\(srun: exit code \\d+; .*Node failure on ${lost}`));
  });
});

async function untilNothingIsLeft(slurm: Slurm, names: readonly string[]): Promise<void> {
  await until(
    () => `no step and no process to be left: ${slurm.steps().join()}`,
    () => slurm.steps().length === 0 && names.flatMap(modelProcesses).length === 0,
  );
}
