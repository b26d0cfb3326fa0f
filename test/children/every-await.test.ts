import assert from 'node:assert/strict';
import { ChildProcess } from 'node:child_process';
import { test, type TestContext } from 'node:test';
import { errorMessage } from '../../src/core/domain/service-error.ts';
import { storageFault, findStorageFault } from '../../src/core/database/storage/faults.ts';
import type { WorkerContext } from '../../src/core/jobs/active-job.ts';
import { runJob } from '../../src/core/jobs/run.ts';
import { settled } from '../support/event-loop.ts';
import { ledgerOf } from '../support/ledger.ts';
import { leftToLongForm, runs } from '../support/long.ts';
import { LEDGER, prepare, statusOf } from '../support/one-date.ts';

/**
 * Trouble at everything that a model-day waits for, one thing after another: each write to the
 * database, each start of a child. Its child is killed after a trade, and another one continues.
 */

const STOP = 'The service is stopping';
const BUG = 'a bug';
/** What may come back from a job, beside faults of the storage. */
const OWN = [STOP, BUG];

/** Does what a model-day waits for, or makes trouble instead. */
type Trouble = <Result>(work: () => Result, stop: AbortController) => Result;

const coded = (code: string) =>
  Object.assign(new Error(`spawn ${code}`), { code, syscall: 'spawn' });

const throwing =
  (make: () => Error): Trouble =>
  () => {
    throw make();
  };

/** As children whose start error is an event. */
const failing =
  (code: string): Trouble =>
  <Result>() => {
    const child = Object.assign(new ChildProcess(), { exitCode: -2 });
    process.nextTick(() => {
      child.emit('error', coded(code));
      child.emit('close', -2, null);
    });
    return { child, launcher: null } as Result;
  };

const stopping: Trouble = (work, stop) => {
  stop.abort(STOP);
  return work();
};

/** Stops the job when the work is done, before who waits for it hears of that. */
const stoppingAfter: Trouble = (work, stop) => {
  const result = work();
  if (result instanceof Promise)
    result.then(
      () => stop.abort(STOP),
      () => {},
    );
  else stop.abort(STOP);
  return result;
};

/** One that `ends` may have failed, with a reason. */
const troubles: [
  name: string,
  at: 'write' | 'startChild',
  trouble: Trouble,
  end: 'is completed' | 'ends',
][] = [
  ['a full disk', 'write', throwing(() => storageFault('the disk is full')), 'is completed'],
  ['a bug', 'write', throwing(() => new Error(BUG)), 'ends'],
  ['a stop before', 'write', stopping, 'is completed'],
  ['a stop after', 'write', stoppingAfter, 'is completed'],
  ['a machine without memory', 'startChild', throwing(() => coded('ENOMEM')), 'is completed'],
  ['a machine without processes', 'startChild', failing('EAGAIN'), 'is completed'],
  ['a program that is missing', 'startChild', failing('ENOENT'), 'ends'],
  ['a bug', 'startChild', throwing(() => new Error(BUG)), 'ends'],
  ['a stop before', 'startChild', stopping, 'is completed'],
  ['a stop after', 'startChild', stoppingAfter, 'is completed'],
];

/** A context in which there is trouble at the `n`th write, or start of a child. */
function troubled(
  context: WorkerContext,
  at: 'write' | 'startChild',
  around: <Result>(work: () => Result) => Result,
): WorkerContext {
  const { database, startChild } = context;
  if (at === 'startChild')
    return { ...context, startChild: (...words) => around(() => startChild(...words)) };
  const write: typeof database.write = async (...words) => around(() => database.write(...words));
  return { ...context, database: { ...database, write } };
}

/** Whether there was as much to wait for; the job is then continued without trouble, to its end. */
async function runWithTrouble(
  t: TestContext,
  { at, trouble, n }: { at: 'write' | 'startChild'; trouble: Trouble; n: number },
) {
  const { context, database } = prepare(t, ['killed-after-a-trade', 'buys']);
  let waits = 0;
  const stop = new AbortController();
  const there = troubled(context, at, (work) => {
    waits += 1;
    return waits === n ? trouble(work, stop) : work();
  });
  // What ends the job itself is logged there, and the job continues at the next start.
  await runJob(there, 'job', stop.signal).catch((thrown: unknown) =>
    assert.ok(
      findStorageFault(thrown) !== null || OWN.includes(errorMessage(thrown)),
      String(thrown),
    ),
  );
  await settled();
  const { status } = statusOf(database);
  if (!['completed', 'partial', 'failed'].includes(status))
    await runJob(context, 'job', new AbortController().signal);
  return { isReached: waits >= n, database };
}

for (const [place, [name, at, trouble, end]] of troubles.entries()) {
  const what = at === 'write' ? 'write to the database' : 'start of a child';
  const skip = name === 'a stop before' && leftToLongForm;
  test(`${name} at any ${what} leaves no rejection unhandled, and the model-day ${end}`, {
    skip,
  }, async (t) => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    t.after(() => process.off('unhandledRejection', note));
    // In the short form each looks at other writes: at a third of them.
    const step = at === 'write' ? runs(3, 1) : 1;
    let n = 1 + (place % step);
    for (; ; n += step) {
      const { isReached, database } = await runWithTrouble(t, { at, trouble, n });
      const { status, modelDay, error, steps } = statusOf(database);
      const where = `at ${n}: ${status}, ${error}`;
      assert.deepEqual(unhandled, [], where);
      if (end === 'is completed' || modelDay === 'completed') {
        assert.deepEqual([modelDay, steps], ['completed', 3], where);
        assert.deepEqual(ledgerOf(database, 'model-a'), LEDGER, where);
      } else assert.ok(modelDay === 'failed' && error !== null, where);
      if (!isReached) break;
    }
    assert.ok(n > (at === 'write' ? 8 : 1), `only ${n - 1} were found`);
  });
}
