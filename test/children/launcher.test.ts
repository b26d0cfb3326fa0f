import assert from 'node:assert/strict';
import { ChildProcess, execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { NO_INSPECTOR_FLAGS } from '../../src/basics/own-node.ts';
import { fillCommand, startChildBy } from '../../src/children/launcher.ts';
import { childFlags } from '../../src/children/process.ts';
import { realAgentHere } from '../support/agent-here.ts';
import { agentFixture } from '../support/agents.ts';
import {
  endpoint,
  HASTY,
  KEY,
  type LauncherOptions,
  MODEL_DAY,
  NODE,
  runThrough,
  shell,
} from '../support/launchers.ts';
import { isRunning, noProc } from '../support/processes.ts';
import { recordsOf } from '../support/records.ts';
import { realAgent, startTestService, temporaryFolder } from '../support/service.ts';
import { leftToLongForm } from '../support/long.ts';

/** Model-days through MODEL_DAY_COMMAND, with small launchers of this machine. */

/**
 * Limits of time that a launcher reaches after it has written a line: far longer than a busy
 * machine takes for that line.
 */
const ROOM_MS = 1_500;

const filled: [command: string[], result: string[]][] = [
  [
    ['srun', '-n1', 'node'],
    ['srun', '-n1', 'node', '--eval', `it's "$HOME" \\`, ''],
  ],
  [
    ['ssh', 'worker1', 'exec node {arguments}'],
    ['ssh', 'worker1', `exec node '--eval' 'it'\\''s "$HOME" \\' ''`],
  ],
  [
    ['{arguments}', '-x'],
    [`'--eval' 'it'\\''s "$HOME" \\' ''`, '-x'],
  ],
  [
    ['run', '--name={job}-{date}-{model}', '{arguments}'],
    ['run', '--name=job-1-2025-01-06-my-model-1', `'--eval' 'it'\\''s "$HOME" \\' ''`],
  ],
  [
    ['run', '{models}', '{{model}}', '{"a":{}}'],
    ['run', '{models}', '{my-model-1}', '{"a":{}}', '--eval', `it's "$HOME" \\`, ''],
  ],
];
for (const [command, result] of filled) {
  test(`the command ${JSON.stringify(command)} is filled with arguments and names`, () => {
    assert.deepEqual(fillCommand(command, ['--eval', `it's "$HOME" \\`, ''], MODEL_DAY), result);
  });
}

test('a name keeps only the characters that every engine takes, so that it is never a placeholder or an option', () => {
  const name = `{arguments} $(x) 'é' #2`;
  const modelDay = { ...MODEL_DAY, model: name, jobId: name };
  const safe = '-arguments----x-------2';
  assert.deepEqual(fillCommand(['a', 'm:{model}', '{job}'], ['b'], modelDay), [
    'a',
    `m:${safe}`,
    safe,
    'b',
  ]);
});

const good: [name: string, command: string[]][] = [
  ['a program before node', ['env', NODE]],
  ['a shell that parses the arguments again', shell('exec NODE')],
  [
    'a launcher that leaves a process behind which holds its output',
    shell('sleep 1000 & echo $! >&2; exec NODE'),
  ],
];
for (const [name, command] of good) {
  test(`through ${name} a model-day is as usual`, async () => {
    const { outcome, stderr } = await runThrough(command, {
      times: { ...HASTY, drainMs: 3_600_000 },
    });
    if (stderr !== '') process.kill(Number(stderr));
    assert.deepEqual(outcome, { status: 'finished', summary: 'done' });
  });
}

test('a launcher that fails, and leaves a process behind which holds its output, is not waited for', async () => {
  const { outcome, stderr } = await runThrough(shell('sleep 1000 & echo $! >&2; exit 1'), {
    times: HASTY,
  });
  process.kill(Number(stderr));
  assert.match(outcome.error, /^The model process did not start \(sh: exit code 1; \d+\)\. Run /);
});

/** How a model-day ends that its launcher spoils. `cannot_start`: the job ends with it. */
const bad: [
  name: string,
  command: string[],
  error: RegExp,
  status: 'failed' | 'lost' | 'cannot_start',
  options?: LauncherOptions,
][] = [
  [
    'that is missing',
    ['/nowhere/srun', 'node'],
    /^Cannot start srun, the program of MODEL_DAY_COMMAND, which must be in PATH and executable: spawn \/nowhere\/srun ENOENT$/,
    'cannot_start',
  ],
  ['that may not be run', ['/etc/passwd'], /^Cannot start passwd, .* EACCES$/, 'cannot_start'],
  [
    'with arguments that are too long',
    ['sh', 'x'.repeat(200_000)],
    /^Cannot start the model process: spawn E2BIG$/,
    'failed',
  ],
  [
    'without Node',
    shell('/nowhere/NODE'),
    /^Cannot run the model process: a program of MODEL_DAY_COMMAND was not found on its machine, or may not be run \(sh: exit code 127; .*not found\)$/,
    'cannot_start',
  ],
  [
    'whose shell may not run Node',
    shell('exec /etc/passwd'),
    /^Cannot run the model process: a program .*exit code 126/,
    'cannot_start',
  ],
  [
    'that ends with 127 after its child has spoken',
    shell('NODE; exit 127'),
    /^The model process ended without an outcome \(sh: exit code 127\)$/,
    'failed',
    { program: agentFixture('exits-later') },
  ],
  [
    'whose engine does not find Node',
    shell('echo "slurmstepd-w1: error: execve(): node: No such file or directory" >&2; exit 2'),
    /^The model process did not start \(sh: exit code 2; slurmstepd-w1: error: execve\(\): node: No such file or directory\)\. Run MODEL_DAY_COMMAND by hand/,
    'failed',
  ],
  [
    'that writes many lines',
    shell('seq 1000 >&2; exit 1'),
    /^The model process did not start \(sh: exit code 1; 998; 999; 1000\)\. /,
    'failed',
  ],
  [
    'that writes a long line',
    shell(`printf 1%0600d 0 >&2; exit 1`),
    /^The model process did not start \(sh: exit code 1; …0{500}\)\. /,
    'failed',
  ],
  [
    'that is killed before the first line',
    shell('kill -9 $$'),
    /^The model process did not start \(sh: SIGKILL\)\. /,
    'failed',
  ],
  [
    'that is killed after the first line',
    shell('NODE; kill -9 $$'),
    /^it ended by itself \(sh: SIGKILL\)$/,
    'lost',
    { program: agentFixture('exits-later') },
  ],
  [
    'with a banner',
    shell(`printf 'Welcome\\nto the cluster\\n'; exec NODE`),
    /^sh wrote to stdout before the model process did: "Welcome"\. Only/,
    'failed',
  ],
  [
    'with a banner before a child that is done at once',
    [
      'sh',
      '-c',
      `printf 'Welcome\\n%s\\n' '{"type":"outcome","result":{"status":"finished","summary":"done"}}'`,
      '{model}',
    ],
    /^sh wrote to stdout before the model process did: "Welcome"\./,
    'failed',
  ],
  [
    'that writes a line without an end',
    shell(`exec tr '\\0' x </dev/zero`),
    /^The model process sent a line longer than 4194304 bytes$/,
    'failed',
    { times: HASTY },
  ],
  [
    'that repeats its input',
    shell('cat'),
    /^sh wrote to stdout before the model process did: " *\d+\(function \(network.*a launcher with a terminal \(-t\) sends back its input$/,
    'failed',
  ],
  [
    'that succeeds without a line',
    ['true'],
    /^The model process did not start \(true: exit code 0\)\. /,
    'failed',
  ],
  [
    'that waits forever',
    shell('echo queued >&2; cat >/dev/null'),
    /^The model-day took longer than 1\.5 seconds \(sh: queued\)$/,
    'failed',
    { timeoutMs: ROOM_MS, times: HASTY },
  ],
  [
    'that loses its node during a model-day',
    shell(`NODE; echo 'sh: error: Node failure on w2' >&2; exit 137`),
    /^The model process ended without an outcome \(sh: exit code 137; sh: error: Node failure on w2\)$/,
    'failed',
    { program: agentFixture('exits-later') },
  ],
  [
    'that succeeds without an outcome',
    shell('NODE; exit 0'),
    /^The model process ended without an outcome \(sh: exit code 0\)$/,
    'failed',
    { program: agentFixture('exits-later') },
  ],
  [
    'that takes too long',
    shell('echo busy >&2; exec NODE'),
    /^The model-day took longer than 1\.5 seconds \(sh: busy\)$/,
    'failed',
    { program: agentFixture('hangs'), timeoutMs: ROOM_MS, times: HASTY },
  ],
];
for (const [name, command, error, status, options] of bad) {
  test(`a launcher ${name}: ${status}, in words`, async () => {
    const { outcome } = await runThrough(command, options);
    assert.match(outcome.error, error);
    assert.equal(outcome.status, status);
  });
}

test('a key that a launcher repeats appears in no error and no log', async () => {
  const { outcome, stderr } = await runThrough(shell('cat >&2'), {
    model: endpoint,
    timeoutMs: ROOM_MS,
    times: HASTY,
  });
  assert.match(outcome.error, /^The model-day took longer/);
  assert.ok(stderr.includes('"apiKey":"[key]"'), stderr);
  assert.ok(!`${outcome.error}${stderr}`.includes(KEY));
});

test('a key with characters that JSON escapes does not appear either', async () => {
  const apiKey = 'sk-a"quoted\\secret';
  const script = shell(`cat >&2; echo 'without JSON: ${apiKey}.' >&2`);
  const { stderr } = await runThrough(script, {
    model: { ...endpoint, apiKey },
    timeoutMs: ROOM_MS,
    times: HASTY,
  });
  assert.ok(stderr.includes('"apiKey":"[key]"'), stderr);
  assert.match(stderr, /^without JSON: \[key\].$/m);
});

test('nor do other secrets of the request', async () => {
  const model = {
    ...endpoint,
    parameters: { model: 'test', token: 'token-of-body' },
    secrets: ['token-of-body'],
  };
  const { stderr } = await runThrough(shell('cat >&2'), {
    model,
    timeoutMs: ROOM_MS,
    times: HASTY,
  });
  assert.ok(stderr.includes('"token":"[key]"'), stderr);
});

/** In another process, whose open files all run out; a crash of that process would be one of the service. */
test('a launcher for whose pipes there are too few open files is tried again, and does not end the service', {
  skip: noProc,
}, () => {
  const here = new URL('.', import.meta.url).href;
  const script = `
    const { runThrough, NODE } = await import('${here}../support/launchers.ts');
    const { openSync, writeSync } = await import('node:fs');
    try { for (;;) openSync('/dev/null'); } catch {}
    process.exitCode = 1;
    const { outcome } = await runThrough(['env', NODE], { program: '' });
    writeSync(1, JSON.stringify(outcome));
    process.exit(0);`;
  const said = execFileSync(
    'sh',
    ['-c', 'ulimit -n 64; exec "$0" "$@"', NODE, '--input-type=module', '--eval', script],
    { encoding: 'utf8' },
  );
  assert.deepEqual(JSON.parse(said), {
    status: 'lost',
    hasSpoken: false,
    error: 'it could not be started: spawn env EMFILE',
  });
});

test('a launcher gets nothing for a name such as "constructor", which is not a variable of the service', async () => {
  const { stderr } = await runThrough(shell('env >&2; exit 1'), {
    variables: ['constructor', 'toString', '__proto__'],
  });
  assert.doesNotMatch(stderr, /native code|\[object/);
});

test('no part of a key is left where the end of stderr begins within it', async () => {
  const { stderr } = await runThrough(shell(`printf '%s%03994d' ${KEY} 0 >&2; exit 1`), {
    model: endpoint,
  });
  assert.match(stderr, /^\[key\]0+$/);
});

test('a launcher gets flags and a short loader, PATH, HOME and the variables that are named, and nothing else', {
  skip: noProc,
}, async (t) => {
  const file = join(temporaryFolder(t), 'tells.cjs');
  const own = `[require('node:os').getPriority(), require('node:fs').readFileSync('/proc/self/stat', 'utf8').split(' ')[4] - process.pid]`;
  writeFileSync(
    file,
    `console.error(JSON.stringify([process.env, process.argv.slice(2), ${own}]))`,
  );
  const environment = {
    PATH: process.env['PATH'],
    HOME: '/nowhere',
    SLURM_CONF: '/etc/slurm.conf',
    OPENAI_API_KEY: KEY,
  };
  const { stderr } = await runThrough([NODE, file], {
    environment,
    variables: ['SLURM_CONF', 'SLURM_JOB_ID'],
    model: endpoint,
  });
  const { OPENAI_API_KEY, ...named } = environment;
  const [env, [...args], [priority, distanceToGroup]] = JSON.parse(stderr);
  assert.deepEqual(
    [priority, distanceToGroup],
    [getPriority(), 0],
    'as this process, in a process group of its own',
  );
  assert.deepEqual(env, named);
  const [loader, flag] = [args.pop(), args.pop()];
  assert.equal(flag, '--eval');
  assert.ok(loader.length < 2_000 && !loader.includes('\n'), loader);
  assert.deepEqual(args, [
    ...NO_INSPECTOR_FLAGS,
    ...childFlags({ network: 'http', heapMb: 256 }),
    '--input-type=commonjs',
  ]);
  assert.ok(args.includes('--permission') && args.includes('--max-old-space-size=256'));
});

test('a launcher ends in order, after a success too: the end of its stdin, TERM, KILL', {
  skip: noProc || leftToLongForm,
}, async (t) => {
  const file = join(temporaryFolder(t), 'seen');
  const outcome = '{"type":"outcome","result":{"status":"finished","summary":"done"}}';
  const script = `trap 'echo TERM >> ${file}' TERM; echo $$ > ${file}; echo '${outcome}'
    cat >/dev/null; echo end of stdin >> ${file}; while :; do sleep 0.01; done`;
  const times = { ...HASTY, termAfterMs: ROOM_MS, killAfterMs: ROOM_MS, giveUpAfterMs: 60_000 };
  const result = await runThrough(['sh', '-c', script], { times });
  assert.deepEqual(result.outcome, { status: 'finished', summary: 'done' });
  const [pid, ...seen] = readFileSync(file, 'utf8').trim().split('\n');
  assert.deepEqual([seen, isRunning(Number(pid))], [['end of stdin', 'TERM'], false]);
});

test('a launcher that not even KILL ends does not hold up the job', async () => {
  const signals: unknown[] = [];
  const stdio = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  const child = Object.assign(new ChildProcess(), stdio, {
    exitCode: null,
    kill: (signal: string) => signals.push(signal) > 0,
  });
  const startChild = () => ({ child, launcher: { name: 'srun', times: HASTY } });
  const { outcome } = await runThrough([], { startChild, timeoutMs: 10 });
  assert.match(outcome.error, /took longer than 0\.01 seconds/);
  assert.deepEqual(
    [signals, child.stdout?.destroyed, child.stdin?.destroyed],
    [['SIGTERM', 'SIGKILL'], true, true],
  );
});

const RANGE = { start_date: '2025-11-10', end_date: '2025-11-11' };

/** A service whose model-days run through a command. */
async function serve(t: TestContext, command: readonly string[], agentProgram: string) {
  const startChild = startChildBy(
    { modelDayCommand: command, modelDayCommandVariables: [] },
    process.env,
  );
  return startTestService(t, {
    agent: { agentProgram, startChild },
    settings: { modelDayCommand: [...command] },
  });
}

test('a job through a launcher leaves the same records as a direct one', async (t) => {
  const [direct, through] = [
    await startTestService(t, { agent: await realAgentHere() }),
    await serve(t, shell('sleep 0.2; exec NODE'), await realAgent()),
  ];
  const [one, other] = [await direct.runJob(RANGE), await through.runJob(RANGE)];
  assert.deepEqual([one.status, other.status], ['completed', 'completed']);
  const records = recordsOf(direct.database, one.job_id);
  assert.deepEqual(recordsOf(through.database, other.job_id), records);
  assert.equal(records.length, 4);
});

const FORTY = {
  start_date: '2025-10-13',
  end_date: '2025-11-07',
  models: Array.from({ length: 2 }, (_, index) => `model-${index}`),
};

/** What a job of forty model-days comes to: its error, and each model-day's; and how often a child was started. */
async function fortyThrough(
  t: TestContext,
  command: readonly string[],
  onStart: (count: number) => void = () => {},
) {
  const start = startChildBy(
    { modelDayCommand: command, modelDayCommandVariables: [] },
    process.env,
  );
  let starts = 0;
  const startChild: typeof start = (...args) => {
    onStart((starts += 1));
    return start(...args);
  };
  const agent = { agentProgram: await realAgent(), startChild };
  const service = await startTestService(t, {
    agent,
    settings: { modelDayCommand: [...command] },
  });
  const { status, error, details } = await service.runJob(FORTY);
  return {
    status,
    error,
    errors: new Set(details.map((detail: any) => detail.error)),
    starts,
    details,
  };
}

const unstartable: [name: string, command: string[], error: RegExp][] = [
  [
    'is missing',
    ['/nowhere/srun', 'node'],
    /^Cannot start srun, the program of MODEL_DAY_COMMAND, which must be in PATH and executable: /,
  ],
  ['may not be run', ['/etc/passwd'], /^Cannot start passwd, .* EACCES/],
  [
    'does not find Node',
    shell('/nowhere/NODE'),
    /^Cannot run the model process: a program of MODEL_DAY_COMMAND was not found/,
  ],
];
for (const [name, command, expected] of unstartable) {
  test(`a launcher that ${name} ends a job of forty model-days with one sentence, at once`, async (t) => {
    const { status, error, errors, starts } = await fortyThrough(t, command);
    assert.equal(status, 'failed');
    assert.match(error, expected);
    assert.deepEqual([...errors], [error]);
    assert.ok(starts <= 2, `${starts} starts`); // of the two that run side by side
  });
}

test('a launcher that starts nothing fails each model-day with what it said', async (t) => {
  const script = shell('echo "the controller is away" >&2; exit 1');
  const { status, error, errors, starts } = await fortyThrough(t, script);
  assert.deepEqual([status, error, starts], ['failed', null, 40]);
  assert.deepEqual(
    [...errors],
    [
      'The model process did not start (sh: exit code 1; the controller is away). Run MODEL_DAY_COMMAND by hand, with ' +
        '`--version` as the arguments of node; then run this day again',
    ],
  );
});

test('a launcher that is removed during a job ends it there; what is completed stays', async (t) => {
  const file = join(temporaryFolder(t), 'run');
  writeFileSync(file, '#!/bin/sh\nexec "$@"\n');
  chmodSync(file, 0o755);
  const { status, error, details } = await fortyThrough(
    t,
    [file, NODE],
    (count) => count === 5 && rmSync(file),
  );
  assert.equal(status, 'failed');
  assert.match(error, /^Cannot start run, the program of MODEL_DAY_COMMAND, .* ENOENT$/);
  assert.equal(details.filter((detail: any) => detail.status === 'completed').length, 4);
  assert.deepEqual([...new Set(details.slice(4).map((detail: any) => detail.error))], [error]);
});
