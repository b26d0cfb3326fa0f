import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { test, type TestContext } from 'node:test';
import type { StartChild } from '../../src/core/children/process.ts';
import { type CommandDatabase, openDatabase } from '../../src/core/database/database.ts';
import { weekdays } from '../../src/core/time/calendar.ts';
import { realAgentHere } from '../support/agent-here.ts';
import { description } from '../support/json-schema.ts';
import { inLongForm } from '../support/long.ts';
import { storePrices } from '../support/prices.ts';
import { ask, installProgram, startServer } from '../support/program.ts';
import { copyTemplate, startTestService } from '../support/service.ts';
import { askedRoutes, differences, readStudy } from '../support/studies.ts';
import { tableOf } from '../support/text-table.ts';
import { until } from '../support/until.ts';

/**
 * Studies do not mix: of several whose jobs came in turn, each is to the letter what a database has
 * that knows only its own jobs.
 */

const SYMBOLS = { AAPL: 230, AMD: 160, COST: 940, MSFT: 500, NVDA: 170 };
/** Each symbol goes a way of its own. */
const PRICES = Object.entries(SYMBOLS)
  .flatMap(([symbol, first], place) =>
    weekdays('2025-08-25', '2025-10-10').map((date, day) => {
      const priceAt = (at: number) => (first * (1 + Math.sin(at * (place + 1)) / 20)).toFixed(2);
      return `${symbol} ${date} ${priceAt(day)} ${priceAt(day + 0.5)}`;
    }),
  )
  .join('\n');
/** What is corrected after the third job of each study: days that rest on it are stale then. */
const CORRECTED = 'COST 2025-09-04 931 932';

const configuration = {
  models: [
    { signature: 'gpt', repeats: 2, enabled: true, notes: true, knowledge_cutoff: '2025-09-03' },
    { signature: 'unreliable-opus', enabled: true },
    { signature: 'dice', basemodel: 'baseline/random', enabled: true },
    { signature: 'holder', basemodel: 'baseline/buy-and-hold' },
  ],
  agent_config: { stock_symbols: ['AAPL', 'MSFT', 'NVDA'] },
  universes: { other: ['AAPL', 'AMD', 'COST'] },
  studies: {
    'hidden open': { open: 'hidden' },
    costly: {
      ...{ commission_bps: 10, slippage_bps: 5, limits: { max_weight: 0.6 }, universe: 'other' },
      models: ['holder', 'dice', 'gpt', 'unreliable-opus'],
    },
  },
};

interface Step {
  study: string;
  kind: string;
  start: string;
  end: string;
  models: string;
}

/**
 * The jobs in their order, five of each study, one of which has no name; without a start each model
 * continues. No job ends on a date on which `unreliable-opus` fails: the next job would run it
 * again, and what fails twice is shown in the order of the ids of its jobs.
 */
const STEPS: Step[] = tableOf<[string, string, string, string, string]>(`
  hidden open | run     | 2025-09-01 | 2025-09-12 | ${''}
  costly      | killed  | 2025-09-01 | 2025-09-10 | ${''}
  ${''}       | run     | 2025-09-01 | 2025-09-05 | ${''}
  hidden open | killed  | ${''}      | 2025-09-18 | ${''}
  costly      | run     | ${''}      | 2025-09-24 | ${''}
  ${''}       | replace | 2025-09-04 | 2025-09-08 | dice,gpt#2
  hidden open | discard | 2025-09-22 | 2025-09-23 | ${''}
  costly      | replace | 2025-09-09 | 2025-09-10 | gpt,holder
  ${''}       | discard | ${''}      | 2025-09-10 | ${''}
  hidden open | replace | 2025-09-10 | 2025-09-11 | gpt,unreliable-opus
  costly      | discard | ${''}      | 2025-09-26 | ${''}
  ${''}       | killed  | ${''}      | 2025-09-18 | ${''}
  hidden open | run     | ${''}      | 2025-10-02 | ${''}
  costly      | run     | ${''}      | 2025-10-03 | dice,gpt,unreliable-opus
  ${''}       | run     | ${''}      | 2025-10-01 | ${''}
`).map(([study, kind, start, end, models]) => ({ study, kind, start, end, models }));
/** What tells the terms of a study's jobs from those of the others. */
const TERMS: [study: string, stored: object][] = [
  ['hidden open', { open: 'hidden', commission_bps: 0, stock_symbols: ['AAPL', 'MSFT', 'NVDA'] }],
  ['costly', { open: 'shown', commission_bps: 10, stock_symbols: ['AAPL', 'AMD', 'COST'] }],
  ['', { open: 'shown', commission_bps: 0, stock_symbols: ['AAPL', 'MSFT', 'NVDA'] }],
];

/** A service, which can be ended while a job runs, and started again. */
interface Fragile {
  url: string;
  database: CommandDatabase;
  /** Triggers a job whose end the service does not live to see; resolves to its next life. */
  runKilled(trigger: () => Promise<string>): Promise<Fragile>;
}

/** In this process; what is held is a model-day whose child falls silent after its first answer. */
async function startHere(t: TestContext, folder?: string): Promise<Fragile> {
  let isHeld = false;
  const { agentProgram, startChild } = await realAgentHere();
  const start: StartChild = (program, rights, modelDay) => {
    const started = startChild(program, rights, modelDay);
    const { stdout } = started.child;
    if (isHeld && modelDay.model.endsWith('#2') && stdout !== null)
      started.child.stdout = stdout.pipe(silentAfter(2)).once('close', () => stdout.destroy());
    return started;
  };
  const service = await startTestService(t, {
    configuration,
    agent: { agentProgram, startChild: start },
    // One after another, so that messages have one order.
    settings: { autoDownloadPriceData: false, maxParallelModels: 1 },
    ...(folder === undefined ? { prices: PRICES } : { folder }),
  });
  const begun = service.database.statement(
    `SELECT 1 FROM trading_sessions JOIN reasoning_logs USING (session_id)
     WHERE model LIKE '%#2' AND status = 'running' AND role = 'assistant'`,
  );
  const runKilled: Fragile['runKilled'] = async (trigger) => {
    isHeld = true;
    await trigger();
    await until('a model-day to have begun', () => begun.get());
    await service.stop();
    return startHere(t, service.folder);
  };
  return { url: service.url, database: service.database, runKilled };
}

/** Passes so many lines on. */
function silentAfter(lines: number): Transform {
  let left = lines;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const own = String(chunk).split(/(?<=\n)/);
      done(null, own.filter(() => left-- > 0).join(''));
    },
  });
}

/** How many messages a job has logged when the built program is killed: once in each life. */
const KILLED_AFTER = [1, 12, 40];
const ENVIRONMENT = {
  ...{ DEPLOYMENT_MODE: 'DEV', PRESERVE_DEV_DATA: 'true', AUTO_DOWNLOAD_PRICE_DATA: 'false' },
  MAX_PARALLEL_MODELS: '1',
};

interface Built extends Fragile {
  restart(): Promise<Built>;
}

/** The built program, ended by SIGKILL wherever it is. */
async function startBuilt(t: TestContext, installed?: string): Promise<Built> {
  const cwd = installed ?? installProgram(configuration);
  const path = join(cwd, 'data/jobs_dev.db');
  if (installed === undefined) copyTemplate(path);
  const database = openDatabase(path, { durability: 'process-end' });
  t.after(() => database.close());
  if (installed === undefined) storePrices(database, PRICES);
  const { url, process: child, ended } = await startServer(t, { cwd, env: ENVIRONMENT });
  const restart = async () => {
    child.kill('SIGKILL');
    await ended;
    return startBuilt(t, cwd);
  };
  const isFarther = database.statement(
    `SELECT 1 FROM jobs WHERE job_id = ?1 AND (completed_at IS NOT NULL OR ?2 <=
       (SELECT count(*) FROM reasoning_logs JOIN trading_sessions USING (session_id) WHERE job_id = ?1))`,
  );
  const runKilled: Fragile['runKilled'] = async (trigger) => {
    const jobId = await trigger();
    let life: Built = built;
    for (const messages of KILLED_AFTER) {
      await until(`${messages} messages`, () => isFarther.get(jobId, messages));
      life = await life.restart();
    }
    return life;
  };
  const built = { url, database, runKilled, restart };
  return built;
}

/** What is left of these jobs, whose services are killed or not. */
async function runSteps(start: () => Promise<Fragile>, steps: readonly Step[], areKilled: boolean) {
  let service = await start();
  const jobs = new Map<string, string[]>();
  for (const { study, kind, start: first, end, models } of steps) {
    const own = jobs.get(study) ?? [];
    jobs.set(study, own);
    const trigger = async () => {
      const { job_id: jobId, detail } = await ask(`${service.url}/simulate/trigger`, {
        ...{ study, start_date: first || null, end_date: end },
        ...{ models: models.split(',').filter(Boolean), replace_existing: kind === 'replace' },
      });
      assert.equal(detail, undefined);
      own.push(jobId);
      return jobId;
    };
    if (kind === 'killed' && areKilled) service = await service.runKilled(trigger);
    else await trigger();
    const [jobId = ''] = own.slice(-1);
    const ended = service.database.statement(
      'SELECT progress_mark > 0 AS isResumed FROM jobs WHERE job_id = ? AND completed_at IS NOT NULL',
    );
    const job = await until('a job to end', () => ended.get(jobId));
    assert.equal(job['isResumed'], Number(kind === 'killed' && areKilled));
    if (kind === 'discard') await fetch(`${service.url}/jobs/${jobId}`, { method: 'DELETE' });
    if (own.length === 3 && jobs.values().every(({ length }) => length === 3))
      storePrices(service.database, CORRECTED);
  }
  return service;
}

async function assertApart(start: () => Promise<Fragile>): Promise<void> {
  const all = await runSteps(start, STEPS, true);
  for (const [study, terms] of TERMS) {
    const own = STEPS.filter((step) => step.study === study);
    const separate = await runSteps(start, own, false);
    const read = await readStudy(all, study);
    const expected = await readStudy(separate, study);
    assert.deepEqual(differences(read, expected), [], `study ${study}`);
    const jobs = JSON.parse(read.get('jobs') ?? '');
    assert.equal(jobs.length, 5);
    for (const { agent_config } of jobs)
      assert.partialDeepStrictEqual(JSON.parse(agent_config), terms);
  }
}

test('studies whose jobs come in turn, are replaced, discarded and killed: each is what it is on its own', (t) =>
  assertApart(() => startHere(t)));

test('so are those of the built program, which SIGKILL ends wherever it is', inLongForm, (t) =>
  assertApart(() => startBuilt(t)),
);

test('every GET that takes a study is among those that are read', () => {
  const routes = Object.entries<any>(description['paths']).flatMap(([path, { get }]) =>
    get?.parameters?.some(({ name }: any) => name === 'study') ? path : [],
  );
  assert.deepEqual(new Set(routes), askedRoutes);
});
