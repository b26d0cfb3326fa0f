import assert from 'node:assert/strict';
import { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { NO_INSPECTOR_FLAGS } from '../../src/inspector.ts';
import type { Start } from '../../src/protocol.ts';
import { launch } from '../../src/worker/launch.ts';
import { type LauncherTimes, launcherTimes } from '../../src/worker/launcher-end.ts';
import { fillCommand, startChildBy } from '../../src/worker/launcher.ts';
import { type Rights, type Started, childFlags } from '../../src/worker/process.ts';
import { inProcesses, realAgentHere } from '../support/agent-here.ts';
import { agentFixture, simulatedStart } from '../support/agents.ts';
import { isRunning, noProc } from '../support/processes.ts';
import { recordsOf } from '../support/records.ts';
import { realAgent, startTestService, temporaryFolder } from '../support/service.ts';

/** Model-days through MODEL_DAY_COMMAND, with small launchers of this machine. */

const NODE = process.execPath;
const MODEL_DAY = { model: 'my model/1', date: '2025-01-06', jobId: 'job-1' };
const HASTY: LauncherTimes = { termAfterMs: 50, killAfterMs: 50, giveUpAfterMs: 50, drainMs: 50 };
const KEY = 'sk-a-secret';
const endpoint: Start['model'] = {
  kind: 'chat_completions',
  baseUrl: 'http://127.0.0.1:1/v1',
  apiKey: KEY,
  parameters: { model: 'test' },
  requestTimeoutMs: 60_000,
  maxRetries: 0,
  baseDelayMs: 1,
};

/** A shell that runs a script with Node's command line in it. */
const shell = (script: string) => ['sh', '-c', script.replaceAll('NODE', `${NODE} {arguments}`)];

interface Options {
  program?: string;
  model?: Start['model'];
  variables?: string[];
  environment?: NodeJS.ProcessEnv;
  times?: LauncherTimes;
  timeoutMs?: number;
  patienceMs?: number;
  startChild?: (program: string, rights: Rights) => Started;
}

async function run(command: readonly string[], options: Options = {}) {
  const { program = agentFixture('completes'), model = simulatedStart.model, times = launcherTimes } = options;
  const settings = { modelDayCommand: command, modelDayCommandVariables: options.variables ?? [] };
  const start = startChildBy(settings, options.environment ?? process.env, times);
  let stderr = '';
  const outcome = await launch({ ...simulatedStart, model }, {
    program,
    startChild: options.startChild ?? ((text, rights) => start(text, rights, MODEL_DAY)),
    timeoutMs: options.timeoutMs ?? 600_000,
    patienceMs: options.patienceMs ?? 60_000,
    memoryMb: 512,
    signal: new AbortController().signal,
    onMessage: async (message) =>
      message.type === 'answer' && message.toolCalls.length > 0
        ? { type: 'tool_results', results: message.toolCalls.map(({ id }) => ({ id, content: '{}' })) }
        : null,
    onStderr: (tail) => (stderr = tail),
  });
  return { outcome: outcome as { status: string; hasSpoken?: boolean; error: string; summary?: string }, stderr };
}

const filled: [command: string[], result: string[]][] = [
  [['srun', '-n1', 'node'], ['srun', '-n1', 'node', '--eval', `it's "$HOME" \\`, '']],
  [['ssh', 'worker1', 'exec node {arguments}'], ['ssh', 'worker1', `exec node '--eval' 'it'\\''s "$HOME" \\' ''`]],
  [['{arguments}', '-x'], [`'--eval' 'it'\\''s "$HOME" \\' ''`, '-x']],
  [['run', '--name={job}-{date}-{model}', '{arguments}'], ['run', '--name=job-1-2025-01-06-my-model-1', `'--eval' 'it'\\''s "$HOME" \\' ''`]],
  [['run', '{models}', '{{model}}', '{"a":{}}'], ['run', '{models}', '{my-model-1}', '{"a":{}}', '--eval', `it's "$HOME" \\`, '']],
];
for (const [command, result] of filled) {
  test(`the command ${JSON.stringify(command)} is filled with arguments and names`, () => {
    assert.deepEqual(fillCommand(command, ['--eval', `it's "$HOME" \\`, ''], MODEL_DAY), result);
  });
}

test('a name keeps only the characters that every engine takes, so that it is never a placeholder or an option', () => {
  const modelDay = { ...MODEL_DAY, model: `{arguments} $(x) 'é' #2` };
  assert.deepEqual(fillCommand(['a', 'm:{model}'], ['b'], modelDay), ['a', 'm:-arguments----x-------2', 'b']);
});

const good: [name: string, command: string[]][] = [
  ['a program before node', ['env', NODE]],
  ['a shell that parses the arguments again', shell('exec NODE')],
  ['a launcher that leaves a process behind which holds its output', shell('sleep 1000 & echo $! >&2; exec NODE')],
];
for (const [name, command] of good) {
  test(`through ${name} a model-day is as usual`, async () => {
    const { outcome, stderr } = await run(command, { times: HASTY });
    if (stderr !== '') process.kill(Number(stderr));
    assert.deepEqual(outcome, { status: 'finished', summary: 'done' });
  });
}

test('confinement holds through a launcher', async () => {
  for (const model of [simulatedStart.model, endpoint]) {
    const { outcome } = await run(['env', NODE], { model, program: agentFixture('tries-to-break-out') });
    assert.deepEqual(outcome, { status: 'finished', summary: 'held' });
  }
});

/** How a model-day ends that its launcher spoils. `lost`: it is tried again. */
const bad: [name: string, command: string[], error: RegExp, status: 'failed' | 'lost', options?: Options][] = [
  ['that is missing', ['/nowhere/srun', 'node'], /^Cannot start srun, the program of MODEL_DAY_COMMAND: it is not installed, or not in PATH/, 'failed'],
  ['that may not be run', ['/etc/passwd'], /^Cannot start passwd, .*: it may not be run/, 'failed'],
  ['without Node', shell('/nowhere/NODE'), /^Cannot run the model process: a program of MODEL_DAY_COMMAND was not found on its machine/, 'failed'],
  [
    'with a Node that lacks a flag',
    shell('echo "node: bad option: --permission" >&2; exit 9'),
    /^Cannot run the model process: Node\.js on its machine does not know --permission: install Node\.js [\d.]+, which/,
    'failed',
  ],
  [
    'with an old Node',
    [NODE, '--input-type=commonjs', '-e', `Object.defineProperty(process, 'versions', { value: { node: '22.1.0' } }); eval(process.argv.at(-1))`, '--'],
    /^Cannot run the model process: Node\.js on its machine has the wrong version .*This machine has Node\.js 22\.1\.0; model-days need/,
    'failed',
  ],
  [
    'with a banner',
    shell(`printf 'Welcome\\nto the cluster\\n'; exec NODE`),
    /^sh wrote to stdout before the model process did: "Welcome" "to the cluster"/,
    'failed',
  ],
  ['that repeats its input', shell('cat'), /^sh sends back its input instead of the model process's output/, 'failed'],
  ['that ends before the first line', shell('echo "sh: error: no node" >&2; exit 1'), /^it ended by itself \(sh: exit code 1; error: no node\)$/, 'lost'],
  ['that succeeds without a line', ['true'], /^it ended by itself \(true: exit code 0\)$/, 'lost'],
  [
    'that waits for ever',
    shell('echo queued >&2; cat >/dev/null'),
    /^it sent nothing for [\d.]+ seconds \(sh: queued\)$/,
    'lost',
    { patienceMs: 100 },
  ],
  [
    'that loses its node in mid-day',
    shell(`NODE; echo 'sh: error: Node failure on w2' >&2; exit 137`),
    /^The model process ended without an outcome \(sh: exit code 137; error: Node failure on w2\)$/,
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
    /^The model-day took longer than 0\.3 seconds \(sh: busy\)$/,
    'failed',
    { program: agentFixture('hangs'), timeoutMs: 300, times: HASTY },
  ],
];
for (const [name, command, error, status, options] of bad) {
  test(`a launcher ${name} is one model-day that ${status === 'lost' ? 'is tried again' : 'failed'}, in words`, async () => {
    const { outcome } = await run(command, options);
    assert.match(outcome.error, error);
    assert.equal(outcome.status, status);
  });
}

test('a key that a launcher repeats appears in no error and no log', async () => {
  const { outcome, stderr } = await run(shell('cat >&2'), { model: endpoint, patienceMs: 200 });
  assert.match(outcome.error, /^it sent nothing/);
  assert.ok(stderr.includes('"apiKey":"…"'), stderr);
  assert.ok(!`${outcome.error}${stderr}`.includes(KEY));
});

test('a launcher gets flags and a short loader, PATH, HOME and the variables that are named, and nothing else', async (t) => {
  const file = join(temporaryFolder(t), 'tells.cjs');
  writeFileSync(file, 'console.error(JSON.stringify([process.env, process.argv.slice(2)]))');
  const environment = { PATH: process.env['PATH'], HOME: '/nowhere', SLURM_CONF: '/etc/slurm.conf', OPENAI_API_KEY: KEY };
  const { stderr } = await run([NODE, file], { environment, variables: ['SLURM_CONF', 'SLURM_JOB_ID'], model: endpoint });
  const { OPENAI_API_KEY, ...named } = environment;
  const [env, [...args]] = JSON.parse(stderr);
  assert.deepEqual(env, named);
  const [loader, flag] = [args.pop(), args.pop()];
  assert.equal(flag, '--eval');
  assert.ok(loader.length < 2_000 && !loader.includes('\n'), loader);
  assert.deepEqual(args, [...NO_INSPECTOR_FLAGS, ...childFlags({ network: 'http', heapMb: 256 }), '--input-type=commonjs']);
  assert.ok(args.includes('--permission') && args.includes('--max-old-space-size=256'));
});

for (const [name, model] of [['without', simulatedStart.model], ['with', endpoint]] as const) {
  test(`a child ${name} an endpoint exits with code 0 when its outcome is sent and its stdin ends`, async (t) => {
    const file = join(temporaryFolder(t), 'code');
    await run(shell(`NODE; echo $? > ${file}`), { model, program: await realAgent() });
    assert.equal(readFileSync(file, 'utf8'), '0\n');
  });
}

const PERL = '/usr/bin/perl';
const noPerl = existsSync(PERL) ? false : 'this system has no perl, which makes descriptors non-blocking';
const UNBLOCK = 'use Fcntl; for (STDIN, STDOUT) { fcntl($_, F_SETFL, fcntl($_, F_GETFL, 0) | O_NONBLOCK) } exec @ARGV';
for (const [name, model, result] of [
  ['without', simulatedStart.model, /"status":"finished"/],
  ['with', endpoint, /could not be reached/],
] as const) {
  test(`a child ${name} an endpoint bears descriptors that do not block`, { skip: noPerl }, async () => {
    const { outcome } = await run([PERL, '-e', UNBLOCK, NODE], { model, program: await realAgent() });
    assert.match(JSON.stringify(outcome), result);
  });
}

test('a launcher ends in order, after a success too: the end of its stdin, TERM, KILL', { skip: noProc }, async (t) => {
  const file = join(temporaryFolder(t), 'seen');
  const script = `trap 'echo TERM >> ${file}' TERM; echo $$ > ${file}; NODE; cat; echo end of stdin >> ${file}; while :; do sleep 0.01; done`;
  const { outcome } = await run(shell(script), { times: { ...HASTY, termAfterMs: 200, killAfterMs: 200, giveUpAfterMs: 60_000 } });
  assert.deepEqual(outcome, { status: 'finished', summary: 'done' });
  const [pid, ...seen] = readFileSync(file, 'utf8').trim().split('\n');
  assert.deepEqual([seen, isRunning(Number(pid))], [['end of stdin', 'TERM'], false]);
});

test('a launcher that not even KILL ends does not hold up the job', async () => {
  const signals: unknown[] = [];
  const stdio = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  const child = Object.assign(new ChildProcess(), stdio, { exitCode: null, kill: (signal: string) => signals.push(signal) > 0 });
  const startChild = () => ({ child, launcher: { name: 'srun', times: HASTY } });
  const { outcome } = await run([], { startChild, timeoutMs: 10 });
  assert.match(outcome.error, /took longer than 0\.01 seconds/);
  assert.deepEqual([signals, child.stdout?.destroyed, child.stdin?.destroyed], [['SIGTERM', 'SIGKILL'], true, true]);
});

const RANGE = { start_date: '2025-11-10', end_date: '2025-11-11' };

/** A service whose model-days run through a command. */
async function serve(t: TestContext, command: readonly string[], agentProgram: string) {
  const startChild = startChildBy({ modelDayCommand: command, modelDayCommandVariables: [] }, process.env);
  return startTestService(t, {
    agent: { agentProgram, startChild },
    settings: { modelDayCommand: [...command] },
    limits: { maxStarts: 2, restartPauseMs: 1 },
  });
}

test('a job through a launcher leaves the same records as a direct one', async (t) => {
  const [direct, through] = [await startTestService(t, { agent: await realAgentHere() }), await serve(t, ['env', NODE], await realAgent())];
  const [one, other] = [await direct.runJob(RANGE), await through.runJob(RANGE)];
  assert.deepEqual([one.status, other.status], ['completed', 'completed']);
  const records = recordsOf(direct.database, one.job_id);
  assert.deepEqual(recordsOf(through.database, other.job_id), records);
  assert.equal(records.length, 4);
});

test('a launcher that never starts a child fails its model-days with what it said, and warns', async (t) => {
  const service = await serve(t, shell('echo "sh: error: the controller is away" >&2; exit 1'), inProcesses('').agentProgram);
  const { status, details, warnings } = await service.runJob({ ...RANGE, models: ['model-a'] });
  assert.equal(status, 'failed');
  assert.equal(
    details[0].error,
    'Through sh its model process did not start in 2 tries (the last time: it ended by itself (sh: exit code 1; error: the controller ' +
      'is away)). Try MODEL_DAY_COMMAND by hand, with `--version` after it, then run this day again',
  );
  assert.ok(
    warnings.includes('Model processes did not start through sh; they are started again after a pause, with fewer side by side'),
    JSON.stringify(warnings),
  );
});
