import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { startChildBy } from '../../src/worker/launcher.ts';
import { inProcesses } from '../support/agent-here.ts';
import { type Behaviour, type ModelRequest, calls, says, startModelServer, whereIs } from '../support/model-server.ts';
import { type ProdOptions, startProdService } from '../support/prod.ts';
import { recordsOf } from '../support/records.ts';
import { type TestService, realAgent } from '../support/service.ts';
import { until } from '../support/until.ts';

/** Jobs through an engine. */

/** What the service is given: MODEL_DAY_COMMAND, and the values of the variables that MODEL_DAY_COMMAND_ENV names. */
export interface Engine {
  command: string[];
  variables?: Record<string, string>;
}

/** The settings and the agent of a service whose model-days run through an engine. */
export async function through({ command, variables = {} }: Engine) {
  const settings = { modelDayCommand: command, modelDayCommandVariables: Object.keys(variables) };
  const environment = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...variables };
  return { settings, agent: { ...inProcesses(await realAgent()), startChild: startChildBy(settings, environment) } };
}

/** A service in PROD through an engine, over stored prices. */
export async function serveThrough(t: TestContext, engine: Engine, options: ProdOptions): Promise<TestService> {
  const { settings, agent } = await through(engine);
  return startProdService(t, { ...options, agent, settings: { ...settings, ...options.settings } });
}

/** Ten weekdays, and what a model does on each of them. */
export const TEN_DATES = { start_date: '2025-10-06', end_date: '2025-10-17' };
export function trade(request: ModelRequest) {
  const { date, step } = whereIs(request);
  const day = Number(date.slice(8));
  if (step === 1) return calls(['buy', { symbol: 'AAPL', amount: day }], ['buy', { symbol: 'MSFT', amount: 1_000 }]);
  if (step === 2) return calls(['sell', { symbol: 'AAPL', amount: 2 }]);
  return says(`Traded on ${date}.`);
}

/**
 * Asserts that a job of four models on ten dates, three of a provider and a rule, leaves the same records through an engine as
 * directly. `urlThere`: where the engine's children reach such a provider, if not where direct ones do.
 */
export async function assertSameRecords(t: TestContext, engine: Engine, urlThere?: string): Promise<void> {
  const { baseUrl } = await startModelServer(t, trade);
  const optionsWith = (openai_base_url: string) => {
    const providers = ['model-a', 'model-b', 'model-c'].map((signature) => ({ signature, openai_base_url }));
    return { models: [...providers, { signature: 'rule', basemodel: 'baseline/momentum' }] };
  };
  const direct = await startProdService(t, { ...optionsWith(baseUrl), agent: inProcesses(await realAgent()) });
  const other = await serveThrough(t, engine, optionsWith(urlThere ?? baseUrl));
  const [one, two] = await Promise.all([direct.runJob(TEN_DATES), other.runJob(TEN_DATES)]);
  assert.deepEqual([one.status, two.status], ['completed', 'completed'], JSON.stringify(two.details).slice(0, 2_000));
  const records = recordsOf(direct.database, one.job_id);
  assert.equal(records.length, 40);
  assert.ok(records.some((record) => record.includes('"buy"')));
  assert.deepEqual(recordsOf(other.database, two.job_id), records);
}

/** A provider that stops answering on a date, in the middle of a model-day, until it is released. */
export async function startHeldModels(t: TestContext, heldDate: string) {
  const released = Promise.withResolvers<void>();
  let held = 0;
  const behave: Behaviour = async (request) => {
    const { date, step } = whereIs(request);
    if (date === heldDate && step === 2) {
      held += 1;
      await released.promise;
    }
    return trade(request);
  };
  const server = await startModelServer(t, behave);
  t.after(() => released.resolve());
  const untilHeld = (count: number) => until(`${count} models to be in mid-day`, () => held >= count);
  return { ...server, untilHeld, release: () => released.resolve() };
}

/** The processes of this machine, wherever they run on it, that are at a model-day of this model. */
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

export async function trigger(service: TestService, request: object): Promise<string> {
  const { status, body } = await service.post('/simulate/trigger', request);
  assert.equal(status, 200, JSON.stringify(body));
  return body.job_id;
}
