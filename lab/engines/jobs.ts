import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Database, openDatabase } from '../../src/core/database/database.ts';
import { createChildStarter } from '../../src/core/children/launcher.ts';
import { inProcesses } from '../../test/support/agent-here.ts';
import {
  type Behaviour,
  calls,
  type ModelRequest,
  says,
  startModelServer,
  whereIs,
} from '../../test/support/model-server.ts';
import { PRICES, type ProdOptions, startProdService } from '../../test/support/prod.ts';
import {
  ask,
  installProgram,
  runProgram,
  startServer,
  waitForJob,
} from '../../test/support/program.ts';
import { recordsOf } from '../../test/support/records.ts';
import { realAgent, type TestService } from '../../test/support/service.ts';
import { until } from '../../test/support/until.ts';

/** Jobs through an engine. */

/**
 * What the service is given: MODEL_DAY_COMMAND, and the values of the variables that
 * MODEL_DAY_COMMAND_ENV names.
 */
export interface Engine {
  command: string[];
  variables?: Record<string, string>;
}

/** A service in PROD through an engine, over stored prices. */
async function serveThrough(
  t: TestContext,
  { command, variables = {} }: Engine,
  options: ProdOptions,
): Promise<TestService> {
  const own = { modelDayCommand: command, modelDayCommandVariables: Object.keys(variables) };
  const environment = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...variables };
  const agent = {
    agentProgram: await realAgent(),
    startChild: createChildStarter(own, environment),
  };
  return startProdService(t, { ...options, agent, settings: { ...own, ...options.settings } });
}

/** Ten weekdays, and what a model does on each of them. */
const TEN_DATES = { start_date: '2025-10-06', end_date: '2025-10-17' };
export function trade(request: ModelRequest) {
  const { date, step } = whereIs(request);
  const day = Number(date.slice(8));
  const tooMany = { symbol: 'MSFT', amount: 1_000 };
  if (step === 1) return calls(['buy', { symbol: 'AAPL', amount: day }], ['buy', tooMany]);
  if (step === 2) return calls(['sell', { symbol: 'AAPL', amount: 2 }]);
  return says(`Traded on ${date}.`);
}

/** An engine on trial. */
export interface Trial {
  engine(t: TestContext): Engine | Promise<Engine>;
  /** A provider, where the engine's children reach one. */
  startModels(t: TestContext): Promise<Held>;
  /** Models' names that tests may take. */
  names: readonly string[];
  /** What is there of model-days on the engine's machines. */
  left(): unknown[];
  /** Looks, while so many models wait for their provider. */
  lookAt(names: readonly string[]): void;
}

/** What holds through every engine. */
export async function tryEngine(t: TestContext, trial: Trial): Promise<void> {
  const { names, left } = trial;
  const untilNothing = () => until('nothing to be left', () => left().length === 0);
  await t.test('4 models on 10 dates leave the same records as direct ones', async (t) => {
    const provider = await trial.startModels(t);
    provider.release();
    await assertSameRecords(t, await trial.engine(t), provider.baseUrl);
    await untilNothing();
  });
  await t.test('60 models side by side', async (t) => {
    const held = await trial.startModels(t);
    const many = Array.from({ length: SIDE_BY_SIDE }, (_, index) => ownModel(`side-${index + 1}`));
    const settings = { maxParallelModels: SIDE_BY_SIDE };
    const job = { held, names: many, request: ONE_DATE, settings };
    const { service, id } = await startHeldJob(t, await trial.engine(t), job);
    trial.lookAt(many);
    held.release();
    const { status, progress } = await service.waitForJob(id);
    assert.deepEqual([status, progress.completed], ['completed', SIDE_BY_SIDE]);
    await untilNothing();
  });
  await t.test('cancelling leaves no process behind', async (t) => {
    const held = await trial.startModels(t);
    const { service, id } = await startHeldJob(t, await trial.engine(t), { held, names });
    assert.ok(left().length >= names.length);
    await service.post(`/simulate/cancel/${id}`, {});
    await untilNothing();
  });
  await t.test(
    'SIGTERM leaves no process behind, and the next start continues the job',
    async (t) => {
      const held = await trial.startModels(t);
      await assertSigterm(t, await trial.engine(t), { held, names, left });
      await untilNothing();
    },
  );
}

/**
 * Asserts that a job of four models on ten dates, three of a provider and a rule, leaves the same
 * records through an engine as directly. `urlThere`: where the engine's children reach the
 * provider.
 */
async function assertSameRecords(t: TestContext, engine: Engine, urlThere: string): Promise<void> {
  const { baseUrl } = await startModelServer(t, trade);
  const modelsAt = (openai_base_url: string) => [
    ...['model-a', 'model-b', 'model-c'].map((signature) => ({ signature, openai_base_url })),
    { signature: 'rule', basemodel: 'baseline/momentum' },
  ];
  const agent = inProcesses(await realAgent());
  const direct = await startProdService(t, { models: modelsAt(baseUrl), agent });
  const other = await serveThrough(t, engine, { models: modelsAt(urlThere) });
  const [one, two] = await Promise.all([direct.runJob(TEN_DATES), other.runJob(TEN_DATES)]);
  const words = JSON.stringify(two.details).slice(0, 2_000);
  assert.deepEqual([one.status, two.status], ['completed', 'completed'], words);
  const records = recordsOf(direct.database, one.job_id);
  assert.equal(records.length, 40);
  assert.ok(records.some((record) => record.includes('"buy"')));
  assert.deepEqual(recordsOf(other.database, two.job_id), records);
}

/**
 * A provider that does not answer in the middle of the model-days of one date, until it is
 * released.
 */
export interface Held {
  baseUrl: string;
  release(): void;
}

export const HELD_DATE = '2025-10-07';
export const THREE_DATES = { start_date: '2025-10-06', end_date: '2025-10-08' };
export const ONE_DATE = { start_date: HELD_DATE, end_date: HELD_DATE };
const SIDE_BY_SIDE = 60;
/**
 * However fast this machine is, engines take their time: Slurm starts the next step a minute after
 * its controller has come back, and notices a dead node after up to half a minute; ssh notices a
 * cut cable after 15 to 20 seconds.
 */
export const ENGINE_PATIENCE_MS = 200_000;

export function isHeld(request: ModelRequest): boolean {
  const { date, step } = whereIs(request);
  return date === HELD_DATE && step === 2;
}

export async function startHeldModels(t: TestContext): Promise<Held> {
  const released = Promise.withResolvers<void>();
  const behave: Behaviour = async (request) => {
    if (isHeld(request)) await released.promise;
    return trade(request);
  };
  const { baseUrl } = await startModelServer(t, behave);
  t.after(() => released.resolve());
  return { baseUrl, release: () => released.resolve() };
}

const MID_DAY = `SELECT count(*) AS n FROM job_details WHERE date = '${HELD_DATE}' AND status = 'running' AND steps = 1`;

function untilMidDay(database: Database, count: number): Promise<unknown> {
  const statement = database.statement(MID_DAY);
  return until(`${count} models to be in mid-day`, () => statement.get()?.['n'] === count);
}

const entries = (names: readonly string[], { baseUrl }: Held) =>
  names.map((signature) => ({ signature, openai_base_url: baseUrl }));

/** A job of which all models are in the middle of the held date. */
export async function startHeldJob(
  t: TestContext,
  engine: Engine,
  { held, names, request = THREE_DATES, settings = {} }: HeldJob,
): Promise<{ service: TestService; id: string }> {
  const service = await serveThrough(t, engine, { models: entries(names, held), settings });
  const { status, body } = await service.post('/simulate/trigger', request);
  assert.equal(status, 200, JSON.stringify(body));
  await untilMidDay(service.database, names.length);
  return { service, id: body.job_id };
}

interface HeldJob {
  held: Held;
  names: readonly string[];
  request?: object;
  settings?: ProdOptions['settings'];
}

/** Resolves when `count` model-days have failed. */
export function untilFailed({ database }: TestService, count: number): Promise<unknown> {
  const failed = database.statement(
    `SELECT count(*) AS n FROM job_details WHERE status = 'failed'`,
  );
  return until(
    `${count} model-days to fail`,
    () => failed.get()?.['n'] === count,
    ENGINE_PATIENCE_MS,
  );
}

/**
 * Asserts that model-days which something kills in mid-day are the only ones that fail, each with a
 * reason.
 */
export async function assertLost(
  { service, id }: { service: TestService; id: string },
  { held, victims, reason }: { held: Held; victims: readonly string[]; reason: RegExp },
): Promise<void> {
  await untilFailed(service, victims.length);
  held.release();
  const { details } = await service.waitForJob(id);
  const failures = details.filter(({ status }: any) => status !== 'completed');
  assert.deepEqual(
    failures.map(({ model, date }: any) => `${model} ${date}`),
    [...victims].sort().map((model) => `${model} ${HELD_DATE}`),
  );
  for (const { error } of failures) assert.match(error, reason);
}

/**
 * Asserts that SIGTERM ends the built program with code 0 and leaves nothing of its model-days, as
 * `left` sees it, and that the next start continues the job.
 */
async function assertSigterm(
  t: TestContext,
  { command, variables = {} }: Engine,
  { held, names, left }: { held: Held; names: readonly string[]; left: () => unknown[] },
): Promise<void> {
  const models = entries(names, held).map((entry) => ({ ...entry, enabled: true }));
  const cwd = installProgram({ models, agent_config: { stock_symbols: ['AAPL', 'MSFT'] } });
  const csv = `symbol,date,open,close\n${PRICES.replaceAll(' ', ',')}\n`;
  writeFileSync(join(cwd, 'prices.csv'), csv);
  await runProgram(['import-prices', '--as', 'raw', 'prices.csv'], { cwd });
  const env = {
    ...{ PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...variables },
    MODEL_DAY_COMMAND: JSON.stringify(command),
    MODEL_DAY_COMMAND_ENV: Object.keys(variables).join(),
  };
  const server = await startServer(t, { cwd, env });
  const { job_id } = await ask(`${server.url}/simulate/trigger`, THREE_DATES);
  const database = openDatabase(join(cwd, 'data/jobs.db'));
  await untilMidDay(database, names.length);
  database.close();
  assert.ok(left().length >= names.length);
  server.process.kill('SIGTERM');
  const { code, signal } = await server.ended;
  assert.deepEqual([code, signal], [0, null]);
  await until('nothing to be left', () => left().length === 0);
  held.release();
  const again = await startServer(t, { cwd, env });
  const { status, progress } = await waitForJob(again.url, job_id);
  assert.deepEqual([status, progress.completed], ['completed', 3 * names.length]);
}

/**
 * A model's name that no other service on this machine has. Tests find processes on the whole
 * machine by the name of their model, and kill some: a service beside them may have models with the
 * same plain names.
 */
export function ownModel(name: string): string {
  return `${process.pid}-${name}`;
}

/**
 * The processes of this machine, wherever they run on it, that are at a model-day of a model whose
 * name begins so.
 */
export function modelProcesses(model: string): number[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const title = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
      return /^model-day \S+ /.test(title) && title.includes(` ${model}`) ? [Number(pid)] : [];
    } catch {
      return []; // not a process, or one that has ended
    }
  });
}
