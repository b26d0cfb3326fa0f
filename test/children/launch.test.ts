import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { test } from 'node:test';
import type { ChildMessage, StartMessage } from '../../src/core/wire/protocol.ts';
import { checkLineBounds, openChannel } from '../../src/core/children/channel.ts';
import { launch, nextLookMs } from '../../src/core/children/launch.ts';
import { scheduleSliced } from '../../src/core/children/turns.ts';
import { childNiceness } from '../../src/core/children/process.ts';
import { agentHere } from '../support/agent-here.ts';
import { agentFixture, endpointAt, simulatedStart } from '../support/agents.ts';
import { startConfined, startProcess } from '../support/children.ts';
import { settled } from '../support/event-loop.ts';
import { MODEL_DAY } from '../support/launchers.ts';
import { childrenOf, isRunning, noProc } from '../support/processes.ts';
import { startModelServer } from '../support/model-server.ts';
import { realAgent } from '../support/service.ts';
import { until } from '../support/until.ts';
import { leftToLongForm } from '../support/long.ts';

/** The parent is never done with the first message. */
const beforeReply = () => new Promise(() => {});

interface RunOptions {
  timeoutMs?: number;
  leftMs?: number;
  quietMs?: number;
  memoryMb?: number;
  signal?: AbortSignal;
  most?: number;
  beforeReply?: () => unknown;
  model?: StartMessage['model'];
  program?: string;
  startChild?: typeof startConfined;
}

/** Runs a fixture to its end; with the types of its messages and the end of its stderr. */
async function run(fixture: string, options: RunOptions = {}) {
  const {
    timeoutMs = 600_000,
    leftMs = timeoutMs,
    quietMs = 60_000,
    memoryMb = 512,
    signal = new AbortController().signal,
    most = 100,
    model = simulatedStart.model,
    program = agentFixture(fixture),
    startChild = startConfined,
  } = options;
  const messages: ChildMessage['type'][] = [];
  let stderr = '';
  const outcome = await launch(
    { ...simulatedStart, model },
    {
      program,
      startChild,
      timeoutMs,
      leftMs,
      quietMs,
      memoryMb,
      signal,
      onMessage: async (message) => {
        messages.push(message.type);
        if (messages.length > most) throw new Error('enough');
        await options.beforeReply?.();
        return message.type === 'answer' && message.toolCalls.length > 0
          ? { type: 'tool_results', results: [] }
          : null;
      },
      onStderr: (tail) => (stderr = tail),
    },
  );
  return { outcome, messages, stderr };
}

test('a child that has said everything and exited is heard to its end, however slowly', {
  skip: noProc,
}, async () => {
  const before = childrenOf(process.pid);
  const hasExited = () =>
    childrenOf(process.pid).every((pid) => before.includes(pid) || !isRunning(pid));
  const { outcome, messages } = await run('completes', {
    beforeReply: () => until('the end of the child', hasExited),
  });
  assert.deepEqual(outcome, { status: 'finished', summary: 'done' });
  assert.deepEqual(messages, ['prompt', 'answer']);
});

test('a child whose first message waits for its turn is not lost: it did something', {
  skip: noProc,
}, async () => {
  const running = run('waits-for-reply', { quietMs: 100, memoryMb: 128 });
  // As when a thousand children are started: what they say waits until all have been.
  const isBusyUntil = (end: number) => {
    while (performance.now() < end);
  };
  for (let starts = 0; starts < 150; starts += 1)
    void scheduleSliced(() => isBusyUntil(performance.now() + 4));
  assert.deepEqual((await running).outcome, { status: 'finished', summary: 'done' });
});

test('a child whose tool calls do not each get a result fails instead of trading further', async () => {
  const { outcome } = await run('completes', { program: await realAgent() });
  assert.deepEqual(outcome, {
    status: 'failed',
    error: 'the tool results do not match the tool calls',
  });
});

test('a child whose requests failed as often as allowed, while the parent was busy', async () => {
  const { outcome, messages } = await run('fails-requests', { most: 1_000 });
  assert.deepEqual(outcome, { status: 'finished', summary: 'done' });
  assert.equal(messages.length, 103);
});

/** Failures of the model-day; with `lost`, the machine's and not the model's. */
type Lost = 'silent' | 'spoke';
const failures: [
  fixture: string,
  error: RegExp,
  options?: RunOptions & { lost?: Lost; isLeft?: string | false },
][] = [
  ['hangs', /took longer than 0\.3 seconds/, { timeoutMs: 300 }],
  ['never-reads', /took longer than 1 second$/, { timeoutMs: 1_000, quietMs: 300 }],
  ['exits-later', /ended without an outcome \(exit code 3\)/],
  ['crashes', /it ended by itself \(exit code 1\)/, { lost: 'silent' }],
  ['exits', /it ended by itself \(exit code 3\)/, { lost: 'silent' }],
  [
    'eats-memory',
    /it ended by itself \((SIGABRT|exit code 134|SIGTRAP|exit code 133)\)/,
    { lost: 'silent', memoryMb: 256, isLeft: leftToLongForm },
  ],
  ['hangs', /took longer than 600 seconds/, { leftMs: 300 }],
  ['hangs', /^it did nothing for 0\.3 seconds$/, { lost: 'silent', quietMs: 300 }],
  [
    'works-in-silence',
    /took longer than 0\.5 seconds/,
    { timeoutMs: 500, quietMs: 100, isLeft: leftToLongForm },
  ],
  ['killed-later', /it ended by itself \(SIGKILL\)/, { lost: 'spoke' }],
  ['reports-twice', /^first$/],
  ['sends-garbage', /broke the protocol: the line is not JSON/],
  ['sends-wrong-shape', /broke the protocol: the line does not fit the protocol \(content/],
  ['floods-answers', /broke the protocol: it did not wait for its replies/, { beforeReply }],
  [
    'floods-bytes',
    /broke the protocol: it did not wait for its replies/,
    { beforeReply, isLeft: leftToLongForm },
  ],
  ['sends-brackets', /broke the protocol: the line is nested more than 64 levels deep/],
  [
    'gives-long-reason',
    /broke the protocol: the line does not fit the protocol \(reason: expected <=2000\)/,
  ],
  ['floods-stderr', /wrote more than 1048576 bytes to stderr/],
  ['never-ends-line', /sent a line longer than \d+ bytes/],
];
/** What is seen of these does not depend on their process. */
const HERE = [
  ...['never-reads', 'exits-later', 'killed-later', 'reports-twice', 'sends-garbage'],
  ...['sends-wrong-shape', 'gives-long-reason'],
];
const startHere: typeof startConfined = (program, rights) =>
  agentHere(program).startChild(program, rights, MODEL_DAY);

for (const [fixture, error, { lost, isLeft = false, ...options } = {}] of failures) {
  test(`a child that ${fixture.replaceAll('-', ' ')} is ${lost === undefined ? 'one failed model-day' : `lost (${lost})`}`, {
    skip: (options.quietMs !== undefined && noProc) || isLeft,
  }, async () => {
    const here = HERE.includes(fixture) && { startChild: startHere };
    const outcome = (await run(fixture, { ...here, ...options })).outcome as {
      status: string;
      hasSentMessage?: boolean;
      error: string;
    };
    assert.deepEqual(
      [outcome.status, outcome.hasSentMessage],
      lost === undefined ? ['failed', undefined] : ['lost', lost === 'spoke'],
    );
    assert.match(outcome.error, error);
  });
}

test('a child is measured more often the closer it is to its limit', () => {
  assert.deepEqual([-5, 0, 50, 100, 467, 5_000].map(nextLookMs), [100, 100, 100, 100, 467, 1_000]);
});

test('a child that exceeds its memory outside its heap, is ended with the reason', {
  skip: noProc || leftToLongForm,
}, async () => {
  assert.deepEqual((await run('hoards-buffers', { memoryMb: 128, timeoutMs: 600_000 })).outcome, {
    status: 'failed',
    error:
      'The model process used more than 128 MB of memory, which is its limit (MODEL_DAY_MEMORY_MB)',
  });
});

test('when processors or memory are short, the service comes before its children, by a wider margin when they are many', {
  skip: noProc,
}, (t) => {
  assert.deepEqual([1, 100, 101].map(childNiceness), [10, 10, 19]);
  for (const niceness of [10, 19]) {
    const child = startProcess('', { network: 'none', heapMb: 64, niceness });
    t.after(() => child.kill('SIGKILL'));
    const { pid = 0 } = child;
    assert.equal(getPriority(pid), niceness);
    assert.equal(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'), '1000\n');
  }
});

const coded = (code: string) =>
  Object.assign(new Error(`spawn ${code}`), { code, syscall: 'spawn' });

/** Some start errors are thrown, others are events. */
const throwing =
  (code: string): typeof startConfined =>
  () => {
    throw coded(code);
  };
const emitting =
  (code: string): typeof startConfined =>
  () => {
    const child = Object.assign(new ChildProcess(), { exitCode: -11 });
    setImmediate(() => {
      child.emit('error', coded(code));
      child.emit('close', -11, null);
    });
    return { child, launcher: null };
  };

const startError = (code: string) => `it could not be started: spawn ${code}`;
const unstarted: [start: typeof startConfined, outcome: object][] = [
  [throwing('ENOMEM'), { status: 'lost', hasSentMessage: false, error: startError('ENOMEM') }],
  [emitting('EAGAIN'), { status: 'lost', hasSentMessage: false, error: startError('EAGAIN') }],
  [emitting('ENOENT'), { status: 'failed', error: 'Cannot start the model process: spawn ENOENT' }],
  [throwing('E2BIG'), { status: 'failed', error: 'Cannot start the model process: spawn E2BIG' }],
];
test('a child for which the machine has no memory or process is lost; other start errors are reported', async () => {
  for (const [startChild, outcome] of unstarted)
    assert.deepEqual((await run('completes', { startChild })).outcome, outcome);
  const bug: typeof startConfined = () => assert.fail('a bug');
  await assert.rejects(run('completes', { startChild: bug }), /a bug/);
});

test('an error in the parent stops the child and is thrown', async () => {
  await assert.rejects(run('never-stops'), /enough/);
});

test('an aborted child is stopped, even one that ignores TERM', async () => {
  const abort = new AbortController();
  const running = run('ignores-term', { signal: abort.signal });
  setImmediate(() => abort.abort('The service is stopping'));
  assert.deepEqual((await running).outcome, { status: 'failed', error: 'The service is stopping' });
});

test('a child whose job was stopped while it waited for its turn is not started', async () => {
  const startChild: typeof startConfined = () => assert.fail('started');
  const { outcome } = await run('hangs', { signal: AbortSignal.abort('Too late'), startChild });
  assert.deepEqual(outcome, { status: 'failed', error: 'Too late' });
});

test("Node's permission model: a process reaches no file, no process, no thread, no add-on, no database, no environment", async () => {
  const child = startProcess(agentFixture('tries-to-escape'), { network: 'none', heapMb: 256 });
  const [line] = (await once(child.stdout as Readable, 'data')) as [Buffer];
  assert.match(line.toString(), /"summary":"held"/);
});

const endpoint = endpointAt('http://127.0.0.1:1/v1');
for (const [name, model] of [
  ['without', simulatedStart.model],
  ['with', endpoint],
] as const) {
  test(`a child ${name} an endpoint sends no signal, listens nowhere and reaches no module beyond its few`, async () => {
    const { outcome } = await run('tries-to-break-out', { model });
    assert.deepEqual(outcome, { status: 'finished', summary: 'held' });
  });
}

const thrown: [what: string, fault: string][] = [
  ['a rejection that nothing handles', 'setTimeout(() => Promise.reject(error))'],
  ['an exception that is a text', 'setTimeout(() => { throw error.message; })'],
];
for (const [what, fault] of thrown) {
  test(`${what} ends a child at once with its reason, although it waits for its model`, async (t) => {
    const apiKey = 'sk-a"secret';
    const server = await startModelServer(t, () => 'never');
    const program = `${await realAgent()}
      const error = new Error('out of order: ' + ${JSON.stringify(apiKey)});
      ${fault};`;
    const model = { ...endpoint, baseUrl: server.baseUrl, apiKey };
    const { outcome, stderr } = await run('', { program, model });
    assert.deepEqual(outcome, { status: 'failed', error: 'out of order: [key]' });
    assert.match(stderr, /out of order: \[key\]/);
  });
}

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const list = (values: number) => `[${Array(values).fill('0').join(',')}]`;
const text = JSON.stringify(['['.repeat(100), ',"'.repeat(50_000), '\\']);
const afterText = JSON.stringify(['\\', nested(65)])
  .replaceAll('"[', '[')
  .replaceAll(']"', ']');
const bounds: [name: string, line: string, error: RegExp | null][] = [
  ['as many levels as there may be', nested(64), null],
  ['one level more', nested(65), /nested more than 64 levels deep/],
  ['one level more, of objects', `${'{"a":'.repeat(65)}0${'}'.repeat(65)}`, /nested more than 64/],
  ['as many values as there may be', list(20_000), null],
  ['one value more', list(20_001), /more than 20000 values/],
  ['many empty lists beside each other', `[${'[]'.repeat(20_000)}]`, /more than 20000 values/],
  ['brackets and commas inside a text', text, null],
  ['brackets after a text that ends in a backslash', afterText, /nested/],
  ['a text that does not end', `["${'['.repeat(100)}`, null],
];
for (const [name, line, error] of bounds) {
  test(`a line with ${name} is ${error === null ? 'parsed' : 'refused before it is parsed'}`, () => {
    if (error === null) checkLineBounds(line);
    else assert.throws(() => checkLineBounds(line), error);
  });
}

const answer = {
  ...{ type: 'answer', content: 'x', toolCalls: [], reasoning: null, usage: null, note: null },
};

test('of two outcomes with messages between them the first wins, and the child is ended once', async () => {
  const stdout = new PassThrough();
  const signals: string[] = [];
  let count = 0;
  const { outcome, fail } = openChannel(
    { stdin: new PassThrough(), stdout },
    {
      onMessage: async () => {
        count += 1;
        return new Promise((resolve) => setImmediate(resolve, null));
      },
      onSettled: (signal) => signals.push(signal),
    },
  );
  const lines = [answer, outcomeOf('first'), answer, outcomeOf('second')];
  stdout.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  assert.deepEqual(await outcome, { status: 'failed', error: 'first' });
  fail('too late');
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  assert.deepEqual([count, signals], [1, ['SIGKILL']]);
});

test('a line whose turn comes after the model-day has failed is not handled', async () => {
  const stdout = new PassThrough();
  let count = 0;
  const { outcome, fail } = openChannel(
    { stdin: new PassThrough(), stdout },
    {
      onMessage: async () => ((count += 1), null),
      onSettled: () => {},
    },
  );
  stdout.on('data', () => fail('stopped')); // the channel has the line by then, and waits
  stdout.end(`${JSON.stringify(answer)}\n`);
  assert.deepEqual(await outcome, { status: 'failed', error: 'stopped' });
  await settled();
  assert.equal(count, 0);
});

function outcomeOf(error: string) {
  return { type: 'outcome', result: { status: 'failed', error } };
}
