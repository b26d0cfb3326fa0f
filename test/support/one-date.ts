import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { parseConfiguration } from '../../src/core/settings/configuration.ts';
import { type Database, openDatabase } from '../../src/core/database/database.ts';
import { type Log, silentLog } from '../../src/core/process/log.ts';
import type { WorkerContext } from '../../src/core/jobs/active-job.ts';
import { type WorkerLimits, workerLimits } from '../../src/core/children/places.ts';
import type { StartChild } from '../../src/core/children/process.ts';
import { agentHere, inProcesses, type TestAgent } from './agent-here.ts';
import { agentFixture, scriptedAgent } from './agents.ts';
import { storedStatus } from './job-status.ts';
import { insertTestJob } from './jobs.ts';
import { ledger } from './ledger.ts';
import { storePrices } from './prices.ts';
import { workerContext } from './worker-context.ts';
import { temporaryFolder } from './folder.ts';

/** A job of one date, whose children misbehave in turn. */

const DATE = '2025-11-10';
const { agent_config: agentConfig } = parseConfiguration(
  { models: [], agent_config: { stock_symbols: ['AAPL'] } },
  'test',
);
const buy: [string, unknown][] = [['buy', { symbol: 'AAPL', amount: 1 }]];
const AGENTS: Record<string, TestAgent> = {
  buys: scriptedAgent({ '*': [buy, buy] }),
  'killed-after-a-trade': scriptedAgent({ '*': [buy, [['killed', 1]], buy] }),
  'killed-always': scriptedAgent({ '*': [buy, [['killed', 1_000]], buy] }),
};
/** Whether a child that hangs does anything is seen only of a process. */
const fixtureOf = (name: string): TestAgent =>
  (name === 'hangs' ? inProcesses : agentHere)(agentFixture(name));

/** What a model has done that bought twice, whatever came between. */
export const LEDGER = ledger(`
  ${DATE} buy AAPL 1 100 => 9900 10001 1 AAPL:1
  ${DATE} buy AAPL 1 100 => 9800 10002 2 AAPL:2`);

/** Limits of the worker, and what else a job may have. */
export interface Options extends Partial<WorkerLimits> {
  models?: readonly string[];
  log?: Log;
  modelDayTimeoutMs?: number;
}

interface Prepared {
  context: WorkerContext;
  database: Database;
  /** How many children were started. */
  starts(): number;
}

/**
 * A job of one date; its children run these programs, one after another, and then the last again
 * and again.
 */
export function prepare(
  t: TestContext,
  programs: readonly string[],
  { models = ['model-a'], log = silentLog, modelDayTimeoutMs = 3_600_000, ...limits }: Options = {},
): Prepared {
  const path = join(temporaryFolder(), 'jobs.db');
  const database = openDatabase(path);
  t.after(() => database.close());
  storePrices(database, `AAPL ${DATE} 100 101`);
  database.transaction(() =>
    insertTestJob(database, {
      jobId: 'job',
      startDate: DATE,
      endDate: DATE,
      dates: [DATE],
      runs: models.map((model) => ({ model, startDate: DATE })),
      replaceExisting: false,
      agentConfig,
      createdAt: '2025-12-01T00:00:00.000Z',
      warnings: [],
    }),
  );
  let starts = 0;
  const startNext: StartChild = (_program, rights, modelDay) => {
    const name = programs[Math.min(starts, programs.length - 1)] as string;
    starts += 1;
    const { agentProgram, startChild } = AGENTS[name] ?? fixtureOf(name);
    return startChild(agentProgram, rights, modelDay);
  };
  const common = workerContext(database);
  const context = {
    ...{ ...common, log, startChild: startNext },
    settings: { ...common.settings, modelDayTimeoutMs },
    limits: { ...workerLimits, restartPauseMs: 1, ...limits },
  };
  return { context, database, starts: () => starts };
}

/** The status of the job and of its first model-day. */
export function statusOf(database: Database) {
  const { status, details } = storedStatus(database, 'job');
  const { warnings } = database.statement('SELECT warnings FROM jobs').get() ?? {};
  return {
    status,
    error: details[0].error,
    steps: details[0].steps,
    modelDay: details[0].status,
    warnings: warnings && JSON.parse(String(warnings)),
  };
}
