import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { parseConfiguration } from '../../src/basics/configuration.ts';
import { type Database, openDatabase } from '../../src/database/database.ts';
import { readWarnings } from '../../src/database/jobs.ts';
import { createLog, type Log, silentLog } from '../../src/basics/log.ts';
import { readSettings } from '../../src/basics/settings.ts';
import type { WorkerContext } from '../../src/jobs/active-job.ts';
import { watchSilence } from '../../src/children/launch.ts';
import {
  createPlaces,
  createShortage,
  type WorkerLimits,
  workerLimits,
} from '../../src/children/shortage.ts';
import type { StartChild } from '../../src/children/process.ts';
import { runJob } from '../../src/jobs/run.ts';
import { inProcesses, type TestAgent } from '../support/agent-here.ts';
import { agentFixture, scriptedAgent } from '../support/agents.ts';
import { createTestLoop } from '../support/event-loop.ts';
import { storedStatus } from '../support/job-status.ts';
import { insertTestJob } from '../support/jobs.ts';
import { ledger, ledgerOf } from '../support/ledger.ts';
import { storePrices } from '../support/prices.ts';
import { noProc } from '../support/processes.ts';
import { clockFrom, temporaryFolder, TODAY } from '../support/service.ts';
import { until } from '../support/until.ts';

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
const LEDGER = ledger(`
  ${DATE} buy AAPL 1 100 => 9900 10001 1 AAPL:1
  ${DATE} buy AAPL 1 100 => 9800 10002 2 AAPL:2`);

interface Options extends Partial<WorkerLimits> {
  models?: readonly string[];
  log?: Log;
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
function prepare(
  t: TestContext,
  programs: readonly string[],
  { models = ['model-a'], log = silentLog, ...limits }: Options = {},
): Prepared {
  const path = join(temporaryFolder(t), 'jobs.db');
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
  const configurationPath = join(path, '../config.json');
  writeFileSync(configurationPath, '{"models": []}');
  let starts = 0;
  const startNext: StartChild = (_program, rights, modelDay) => {
    const name = programs[Math.min(starts, programs.length - 1)] as string;
    starts += 1;
    const { agentProgram, startChild } = AGENTS[name] ?? inProcesses(agentFixture(name));
    return startChild(agentProgram, rights, modelDay);
  };
  const context: WorkerContext = {
    database,
    settings: { ...readSettings({ DEPLOYMENT_MODE: 'DEV' }), configurationPath },
    clock: clockFrom(TODAY),
    log,
    environment: {},
    limits: { ...workerLimits, restartPauseMs: 1, ...limits },
    agentProgram: '',
    startChild: startNext,
  };
  return { context, database, starts: () => starts };
}

async function runDay(
  t: TestContext,
  programs: readonly string[],
  limits: Partial<WorkerLimits> = {},
) {
  const { context, database, starts } = prepare(t, programs, limits);
  await runJob(context, 'job', new AbortController().signal);
  return { ...statusOf(database), starts: starts(), database };
}

function statusOf(database: Database) {
  const { status, details } = storedStatus(database, 'job');
  const warnings = readWarnings(
    database.statement('SELECT warnings FROM jobs').get()?.['warnings'],
  );
  return {
    status,
    error: details[0].error,
    steps: details[0].steps,
    modelDay: details[0].status,
    warnings,
  };
}

const SILENT =
  'The machine is short of processes or memory: model processes did not start; they are started again after a pause, with fewer side by side';
const KILLED =
  'The machine is short of processes or memory: the system killed model processes; their model-days continue where their logs end, with fewer side by side';

const recoveries: [
  name: string,
  programs: string[],
  warnings: string[],
  limits?: Partial<WorkerLimits>,
][] = [
  [
    'hang before they speak',
    ['hangs', 'hangs', 'buys'],
    [SILENT],
    { firstLineMs: 200, maxStarts: 10 },
  ],
  ['end before they speak', ['exits', 'crashes', 'exits', 'crashes', 'exits', 'buys'], [SILENT]],
  ['are killed after they spoke', ['killed-after-a-trade'], [KILLED]],
  [
    'fail to start before and after one of them spoke',
    ['exits', 'exits', 'killed-after-a-trade', 'exits', 'exits', 'buys'],
    [SILENT, KILLED],
    { maxStarts: 3 },
  ],
  [
    'are killed before and after they spoke',
    ['exits', 'killed-after-a-trade', 'exits', 'buys'],
    [SILENT, KILLED],
  ],
];
for (const [name, programs, warnings, limits] of recoveries) {
  test(`a model-day whose children ${name} is completed, and its job says why it took longer`, async (t) => {
    const ended = await runDay(t, programs, limits);
    assert.deepEqual([ended.status, ended.error, ended.warnings], ['completed', null, warnings]);
    assert.deepEqual(ledgerOf(ended.database, 'model-a'), LEDGER);
    assert.equal(ended.steps, 3, 'no step was taken twice');
  });
}

test('children that were lost at the same moment are started again at different ones, later after each loss', () => {
  const lost = { status: 'lost', hasSpoken: false, error: 'it could not be started' } as const;
  const shortages = Array.from({ length: 100 }, () => createShortage(workerLimits));
  for (const [least, most] of [
    [250, 500],
    [500, 1_000],
    [1_000, 2_000],
  ] as const) {
    const pauses = shortages.map((shortage) => (shortage.note(lost), shortage.pauseMs()));
    assert.ok(
      pauses.every((ms) => ms >= least && ms <= most),
      String(pauses),
    );
    assert.ok(new Set(pauses).size > 90, 'spread');
    assert.ok(
      Math.max(...pauses) - Math.min(...pauses) > (most - least) / 2,
      'over the whole span',
    );
  }
});

test('one try and one time are said in the singular', () => {
  const limits = { ...workerLimits, maxStarts: 1, maxResumptions: 0 };
  const reasonOf = (hasSpoken: boolean) =>
    createShortage(limits).note({ status: 'lost', hasSpoken, error: 'it sent nothing' });
  assert.match(String(reasonOf(false)), /did not start in 1 try; the last time, it sent nothing\./);
  assert.match(
    String(reasonOf(true)),
    /the system killed the model process 1 time; the last time,/,
  );
});

const failures: [name: string, program: string, starts: number, error: RegExp][] = [
  [
    'never speak',
    'exits',
    workerLimits.maxStarts,
    /^The machine is short of processes or memory: the model process did not start in 6 tries; the last time, it ended by itself \(exit code 3\)\. Give the machine more .* MAX_PARALLEL_MODELS; then run this day again$/,
  ],
  [
    'are killed again and again',
    'killed-always',
    workerLimits.maxResumptions + 1,
    /^The machine is short of processes or memory: the system killed the model process 6 times; the last time, it ended by itself \(SIGKILL\)\. Give the machine more /,
  ],
  [
    'end by their own fault after they spoke',
    'exits-later',
    1,
    /ended without an outcome \(exit code 3\)$/,
  ],
];
for (const [name, program, starts, error] of failures) {
  test(`a model-day whose children ${name} fails after ${starts} starts, with the reason`, async (t) => {
    const ended = await runDay(t, [program]);
    assert.deepEqual([ended.status, ended.starts], ['failed', starts]);
    assert.match(ended.error, error);
    const sessions = ended.database.statement('SELECT status FROM trading_sessions').all();
    assert.deepEqual(
      sessions.map((row) => row['status']),
      ['failed'],
      'all in one session',
    );
    assert.deepEqual(ended.warnings?.length ?? 0, starts === 1 ? 0 : 1);
  });
}

test('after losses fewer children run side by side', async (t) => {
  const sizes: number[] = [];
  const write = (line: string) => sizes.push(JSON.parse(line).sideBySide);
  const log = createLog({ level: 'WARNING', json: true, write, clock: () => new Date() });
  const models = ['model-a', 'model-b', 'model-c'];
  const { context, database } = prepare(t, ['exits', 'exits', 'exits', 'buys'], { models, log });
  await runJob(context, 'job', new AbortController().signal);
  assert.equal(statusOf(database).status, 'completed');
  assert.deepEqual(sizes, [2, 1, 1]);
});

test('a job that is stopped while a model-day pauses ends immediately and leaves it unfinished', async (t) => {
  const { context, database, starts } = prepare(t, ['exits'], { restartPauseMs: 1_000_000 });
  const abort = new AbortController();
  const running = runJob(context, 'job', abort.signal);
  await until('the warning', () => statusOf(database).warnings);
  abort.abort('The service is stopping');
  await running;
  const { status, modelDay } = statusOf(database);
  assert.deepEqual([status, modelDay, starts()], ['running', 'running', 1]);
});

/**
 * `j` joins, `l` leaves after a loss, `w` leaves well; expected is how many run then, and how many
 * may.
 */
const sequences: [name: string, events: string, running: number, size: number][] = [
  ['holds at most its size', 'jjjjjj', 4, 4],
  ['goes down to what the machine carried beside the lost one', 'jjjjl', 3, 3],
  ['goes down loss by loss', 'jjjjlll', 1, 1],
  ['keeps one place whatever is lost', 'jjjjlllljlj', 1, 1],
  ['gives the place of a lost one to no other', 'jjjjjl', 3, 3],
  ['gives the place of a good one to the next', 'jjjjjw', 4, 4],
  ['grows after twice as many good ends as at first', `jjl${'jw'.repeat(6)}`, 1, 2],
  ['does not grow before', `jjl${'jw'.repeat(5)}`, 1, 1],
  ['asks for more good ends after each loss', `jjl${'jw'.repeat(6)}jl${'jw'.repeat(11)}`, 1, 1],
  ['grows to its first size and no further', `jjl${'w'}${'jw'.repeat(100)}jjjjj`, 4, 4],
];
for (const [name, events, running, size] of sequences) {
  test(`a count of places ${name}`, async () => {
    const places = createPlaces(4, { ...workerLimits, goodEndsToGrow: 3 });
    let joined = 0;
    let left = 0;
    for (const event of events) {
      if (event === 'j') void places.join().then(() => (joined += 1));
      else places.leave(event === 'l' ? 'lost' : 'well');
      left += event === 'j' ? 0 : 1;
      await Promise.resolve();
    }
    await Promise.resolve();
    assert.deepEqual([joined - left, places.size], [running, size]);
  });
}

const patience: [name: string, starts: number[], tries: number, ms: number][] = [
  ['at first', [], 1, 5_000],
  ['where children start fast', [20, 30], 1, 5_000],
  ['where a child started slowly', [20, 3_000, 20], 1, 30_000],
  ['where the slow one is long ago', [3_000, 20, 20, 20, 20, 20, 20, 20, 20], 1, 5_000],
  ['at the third try', [], 3, 20_000],
  ['at the last try', [], workerLimits.maxStarts, 160_000],
  ['at the second try, where a child started slowly', [1_000], 2, 20_000],
];
for (const [name, starts, tries, ms] of patience) {
  test(`the time limit for the first line is ${ms / 1000} seconds ${name}`, () => {
    const places = createPlaces(4, workerLimits);
    for (const start of starts) places.noteStart(start);
    assert.equal(places.firstLineLimitMs(tries), ms);
  });
}

test('the wait for the first line counts time in which the child works a tenth', {
  skip: noProc,
}, async () => {
  const tenths = async (pid: number | undefined) => {
    const loop = createTestLoop();
    let isSilent = false;
    const end = watchSilence(pid, {
      firstLineLimitMs: 100,
      loop,
      onSilent: () => (isSilent = true),
    });
    let count = 0;
    for (; !isSilent && count < 500; count += 1) await loop.pass(10);
    end();
    return count;
  };
  assert.equal(await tenths(undefined), 10);
  const atWork = await tenths(process.pid); // which works whenever it looks
  assert.ok(atWork >= 100 && atWork <= 101, `${atWork}`); // a tenth is no exact number
});

test('a child whose line is read in the round after its time limit is not silent', async () => {
  const loop = createTestLoop();
  let isSilent = false;
  const end = watchSilence(undefined, {
    firstLineLimitMs: 100,
    loop: { after: loop.after, round: async () => end() },
    onSilent: () => (isSilent = true),
  });
  await loop.pass(100);
  assert.equal(isSilent, false);
});
