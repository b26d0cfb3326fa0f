import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createLog } from '../../src/core/process/log.ts';
import { count } from '../../src/core/text/sentences.ts';
import {
  createPlaces,
  createTries,
  maxParallelChildren,
  workerLimits,
} from '../../src/core/children/places.ts';
import { runJob } from '../../src/core/jobs/run.ts';
import { settled } from '../support/event-loop.ts';
import { ledgerOf } from '../support/ledger.ts';
import { leftToLongForm } from '../support/long.ts';
import { LEDGER, type Options, prepare, statusOf } from '../support/one-date.ts';
import { noProc } from '../support/processes.ts';
import { rowsAsText } from '../support/tables.ts';
import { like, tableOf } from '../support/text-table.ts';
import { until } from '../support/until.ts';

async function runDay(t: TestContext, programs: readonly string[], limits: Options = {}) {
  const { context, database, starts } = prepare(t, programs, limits);
  await runJob(context, 'job', new AbortController().signal);
  return { ...statusOf(database), starts: starts(), database };
}

const SILENT =
  'Not enough memory or processes on this machine: model processes failed to start, and start again after a pause. Fewer of them run side by side now';
const KILLED =
  'Not enough memory or processes on this machine: the system killed model processes, and their model-days continue where their logs end. Fewer of them run side by side now';

const recoveries: [name: string, programs: string, warnings: string[]][] = [
  ['end before they speak', 'exits crashes exits crashes exits buys', [SILENT]],
  ['are killed after they spoke', 'killed-after-a-trade', [KILLED]],
  ['do both', 'exits exits killed-after-a-trade exits exits buys', [SILENT, KILLED]],
];
for (const [name, programs, warnings] of recoveries) {
  test(`a model-day whose children ${name} is completed, and its job says why it took longer`, async (t) => {
    const ended = await runDay(t, programs.split(' '));
    assert.deepEqual([ended.status, ended.error, ended.warnings], ['completed', null, warnings]);
    assert.deepEqual(ledgerOf(ended.database, 'model-a'), LEDGER);
    assert.equal(ended.steps, 3, 'no step was taken twice');
  });
}

test('a child that hangs before it speaks, as Node does without a thread, is started again', {
  skip: noProc || leftToLongForm,
}, async (t) => {
  const ended = await runDay(t, ['hangs', 'buys']);
  assert.deepEqual([ended.status, ended.warnings], ['completed', [SILENT]]);
});

const LOST = { status: 'lost', hasSentMessage: false, error: 'it ended by itself' } as const;

test('children that were lost at the same moment are started again at different ones, later after each loss', () => {
  const all = Array.from({ length: 100 }, () => createTries(3_600_000, workerLimits));
  for (const least of [250, 500, 1_000]) {
    const pauses = all.map((tries) => {
      tries.begin();
      assert.equal(tries.lose(LOST), null);
      return tries.pauseMs;
    });
    const [low, high] = [Math.min(...pauses), Math.max(...pauses)];
    assert.ok(low >= least && high <= 2 * least, String(pauses));
    assert.ok(new Set(pauses).size > 90 && high - low > least / 2, 'spread over the whole span');
  }
});

test('a model-day is tried until its time limit: pauses count, waiting for a place does not', async () => {
  let now = 0;
  const limits = { maxResumptions: 5, restartPauseMs: 0.002 };
  const tries = createTries(1_000, limits, () => now);
  const { signal } = new AbortController();
  const lostAfter = (ms: number, lost: Parameters<typeof tries.lose>[0] = LOST) => {
    now += ms;
    return tries.lose(lost);
  };
  assert.equal(tries.begin(), 1_000);
  assert.equal(lostAfter(300), null);
  const pausing = tries.pause(signal);
  now += 200;
  await pausing;
  now += 50_000; // until there is a place
  assert.equal(tries.begin(), 500);
  assert.match(
    String(lostAfter(500)),
    /: the model process failed to start 2 times \(last error: it ended by itself\)\. /,
  );
});

/** A pause longer than a model-day may take: no time is left for another try. */
const ONE_TRY = { modelDayTimeoutMs: 10_000, restartPauseMs: 1_000_000 };

const MORE = '…MAX_PARALLEL_MODELS…; then run this day again';
const SHORT = 'Not enough memory or processes on this machine:';
const KILLINGS = workerLimits.maxResumptions + 1;
const failures = tableOf<[name: string, program: string, starts: string, error: string]>(`
  never speak                 | exits         | 1           | ${SHORT} the model process failed to start 1 time (last error: it ended by itself (exit code 3)). ${MORE}
  are killed again and again  | killed-always | ${KILLINGS} | ${SHORT} the system killed the model process 6 times (last error: it ended by itself (SIGKILL)). ${MORE}
  end by their own fault after they spoke | exits-later | 1 | …ended without an outcome (exit code 3)
`);
for (const [name, program, starts, error] of failures) {
  test(`a model-day whose children ${name} fails after ${count(Number(starts), 'start')}, with the reason`, async (t) => {
    const ended = await runDay(t, [program], program === 'exits' ? ONE_TRY : {});
    assert.deepEqual([ended.status, ended.starts], ['failed', Number(starts)]);
    assert.match(ended.error, like(error));
    const sessions = rowsAsText(ended.database, 'SELECT status FROM trading_sessions');
    assert.deepEqual(sessions, ['failed']);
    assert.deepEqual(ended.warnings?.length ?? 0, starts === '1' ? 0 : 1);
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
  assert.deepEqual(sizes, [1, 1, 1]);
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
 * `j` joins, `l` leaves after a loss, `w` leaves well, each the longest there; expected is how many
 * run then, and how many may.
 */
const sequences: [name: string, events: string, running: number, size: number][] = [
  ['holds at most its size', 'jjjjjjjjjj', 8, 8],
  ['goes down to half of those that ran', 'jjjjl', 3, 2],
  ['goes down once for children that ran side by side', 'jjjjjjjjlll', 5, 4],
  ['goes down again for one that came later', `jjjjjjjjlwwwwwww${'j'.repeat(8)}l`, 7, 4],
  ['keeps one place whatever is lost', 'jjjjlllljljl', 0, 1],
  ['gives the place of a lost one to no other', 'jjjjjjjjjl', 7, 4],
  ['gives the place of a good one to the next', 'jjjjjjjjjw', 8, 8],
  ['grows by one with each good end', `jl${'jw'.repeat(3)}`, 0, 4],
  ['grows by one after two good ends, once it was halved twice', 'jljwjjlwjw', 0, 2],
  ['does not grow after the first of them', 'jljwjjlwjj', 1, 1],
  ['grows as before after losses of a single child', `jl${'jl'.repeat(9)}jw`, 0, 2],
  ['grows to its first size and no further', `jl${'jw'.repeat(100)}${'j'.repeat(9)}`, 8, 8],
];
for (const [name, events, running, size] of sequences) {
  test(`a count of places ${name}`, async () => {
    const places = createPlaces(8);
    const leaves: ((isLost: boolean) => void)[] = [];
    let left = 0;
    for (const event of events) {
      if (event === 'j') void places.join().then((leave) => leaves.push(leave));
      else leaves[left++]?.(event === 'l');
      await settled();
    }
    assert.deepEqual([leaves.length - left, places.size], [running, size]);
  });
}

const machines = tableOf<[memoryMb: string, setting: string, most: string]>(`
  8192  |     | 574
  290   |     | 10
  52    |     | 1
  64000 |     | 2000
  52    | 300 | 300
`);
test('how many may run side by side, with so much memory and that setting', () => {
  for (const [memoryMb, setting, most] of machines) {
    const maxParallelModels = setting === '' ? null : Number(setting);
    const found = maxParallelChildren({ maxParallelModels }, Number(memoryMb) * 1024 * 1024);
    assert.equal(found, Number(most), memoryMb);
  }
});
