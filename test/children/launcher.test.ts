import assert from 'node:assert/strict';
import { ChildProcess, execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { NO_INSPECTOR_FLAGS } from '../../src/core/process/own-node.ts';
import { fillCommand, createChildStarter } from '../../src/core/children/launcher.ts';
import { childFlags } from '../../src/core/children/process.ts';
import type { ProviderEndpoint } from '../../src/core/wire/protocol.ts';
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
import { realAgent, startTestService } from '../support/service.ts';
import { leftToLongForm } from '../support/long.ts';
import { like, tableOf } from '../support/text-table.ts';
import { temporaryFolder } from '../support/folder.ts';

/** Model-days through MODEL_DAY_COMMAND, with small launchers of this machine. */

/**
 * Limits of time that a launcher reaches after it has written a line: far longer than a busy
 * machine takes for that line.
 */
const ROOM_MS = 1_500;

const ARGUMENTS = ['--eval', `it's "$HOME" \\`, '', '.'];
const PLAIN = ARGUMENTS.join(' ');
const QUOTED = `'--eval' 'it'\\''s "$HOME" \\' '' '.'`;
/** Words of a command, and the words that it is filled with; blanks between them. */
const filled = tableOf<[command: string, result: string]>(`
  srun -n1 node                           | srun -n1 node ${PLAIN}
  ssh worker1 node_{arguments}            | ssh worker1 node_${QUOTED}
  {arguments} --name={job}-{date}-{model} | ${QUOTED} --name=job-1-2025-01-06-my-model-1
  run {models} {{model}} {"a":{}}         | run {models} {my-model-1} {"a":{}} ${PLAIN}
`);
for (const [command, result] of filled) {
  test(`the command ${command} is filled with arguments and names`, () => {
    assert.equal(fillCommand(command.split(' '), ARGUMENTS, MODEL_DAY).join(' '), result);
  });
}

test('a name keeps only the characters that every engine takes, so that it is never a placeholder or an option', () => {
  const name = `{arguments} $(x) 'é' #2`;
  const modelDay = { ...MODEL_DAY, model: name, jobId: name };
  const safe = '-arguments----x-------2';
  const command = fillCommand(['a', 'm:{model}', '{job}'], ['b'], modelDay);
  assert.deepEqual(command, ['a', `m:${safe}`, safe, 'b']);
});

for (const [end, outcome] of [
  ['exec NODE', /^\{"status":"finished","summary":"done"\}$/],
  ['exit 1', /"The model process did not start \(sh: exit code 1; \d+\)\. Run /],
] as const)
  test(`a launcher that leaves a process behind which holds its output, and ends with ${end}, is not waited for`, async () => {
    const times = { ...HASTY, drainMs: end === 'exit 1' ? HASTY.drainMs : 3_600_000 };
    const found = await runThrough(shell(`sleep 1000 & echo $! >&2; ${end}`), { times });
    process.kill(Number(found.stderr));
    assert.match(JSON.stringify(found.outcome), outcome);
  });

const SPEAKS = { program: agentFixture('exits-later') };
const SOON = { timeoutMs: ROOM_MS, times: HASTY };
const BY_HAND = 'Run MODEL_DAY_COMMAND by hand, with `--version` as the arguments of node; then…';
const NOT_RUN =
  'Cannot run the model process: a program of MODEL_DAY_COMMAND is missing on its machine, or is not executable';

/** How a model-day ends that its launcher spoils, a script or a command; with some the job ends. */
const bad: Record<
  'failed' | 'lost' | 'cannot_start',
  [launcher: string | string[], error: string, options?: LauncherOptions][]
> = {
  cannot_start: [
    [
      ['/nowhere/srun', 'node'],
      'Cannot start srun, the program of MODEL_DAY_COMMAND, which must be in PATH and executable: spawn /nowhere/srun ENOENT',
    ],
    [['/etc/passwd'], 'Cannot start passwd, … EACCES'],
    ['/nowhere/NODE', `${NOT_RUN} (sh: exit code 127; …not found)`],
    ['exec /etc/passwd', `${NOT_RUN} (sh: exit code 126…`],
  ],
  lost: [['NODE; kill -9 $$', 'it ended by itself (sh: SIGKILL)', SPEAKS]],
  failed: [
    [['sh', 'x'.repeat(200_000)], 'Cannot start the model process: spawn E2BIG'],
    [
      `NODE; echo 'Node failure on w2' >&2; exit 127`,
      'The model process ended without an outcome (sh: exit code 127; Node failure on w2)',
      SPEAKS,
    ],
    [
      'echo "execve(): node: No such file" >&2; exit 2',
      `The model process did not start (sh: exit code 2; execve(): node: No such file). ${BY_HAND}`,
    ],
    ['printf 1%0600d 0 >&2; exit 1', `…(sh: exit code 1; …${'0'.repeat(500)}). ${BY_HAND}`],
    ['seq 1000 >&2; exit 1', `…did not start (sh: exit code 1; 998; 999; 1000). ${BY_HAND}`],
    ['kill -9 $$', `…did not start (sh: SIGKILL). ${BY_HAND}`],
    [['true'], `…did not start (true: exit code 0). ${BY_HAND}`],
    [
      `printf 'Welcome\\nto the cluster\\n'; exec NODE`,
      'sh wrote to stdout before the model process did: "Welcome". Only…',
    ],
    [
      'cat',
      'sh wrote to stdout before the …(function (network…with a terminal (-t) sends back its input',
    ],
    ['echo queued >&2; cat >/dev/null', '…took longer than 1.5 seconds (sh: queued)', SOON],
  ],
};
for (const [status, rows] of Object.entries(bad))
  for (const [launcher, error, options] of rows)
    test(`the launcher ${String(launcher).slice(0, 50)}: ${status}, in words`, async () => {
      const command = typeof launcher === 'string' ? shell(launcher) : launcher;
      const { outcome } = await runThrough(command, options);
      assert.match(outcome.error, like(error));
      assert.equal(outcome.status, status);
    });

const secrets: [what: string, script: string, model: Partial<ProviderEndpoint>, stderr: RegExp][] =
  [
    [
      'a key that JSON escapes, and another secret',
      'cat >&2',
      {
        apiKey: 'sk-a"q\\secret',
        parameters: { token: 'token-of-body' },
        secrets: ['token-of-body'],
      },
      /"apiKey":"\[key\]"[^]*"token":"\[key\]"/,
    ],
    ['a key without JSON', `echo '${KEY}.' >&2; exit 1`, {}, /^\[key\]\.$/m],
    [
      'the end of a key, where that of stderr begins',
      `printf '%s%03994d' ${KEY} 0 >&2; exit 1`,
      {},
      /^\[key\]0+$/,
    ],
  ];
for (const [what, script, change, expected] of secrets)
  test(`${what} that a launcher repeats appears in no error and no log`, async () => {
    const model = { ...endpoint, ...change };
    const times = { times: HASTY, timeoutMs: ROOM_MS };
    const { outcome, stderr } = await runThrough(shell(script), { model, ...times });
    assert.match(stderr, expected);
    assert.doesNotMatch(`${outcome.error}${stderr}`, /sk-a|token-of-body/);
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
    hasSentMessage: false,
    error: 'it could not be started: spawn env EMFILE',
  });
});

test('a launcher gets flags and a short loader, PATH, HOME and the variables that are named, and nothing else', {
  skip: noProc,
}, async () => {
  const file = join(temporaryFolder(), 'tells.cjs');
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
    variables: ['SLURM_CONF', 'SLURM_JOB_ID', 'constructor', '__proto__'],
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
}, async () => {
  const file = join(temporaryFolder(), 'seen');
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

const DAY = { start_date: '2025-11-10', end_date: '2025-11-10' };

/** A service whose model-days run through a command. */
async function serve(t: TestContext, command: string[], onStart: () => void = () => {}) {
  const settings = { modelDayCommand: command, modelDayCommandVariables: [] };
  const start = createChildStarter(settings, process.env);
  const startChild: typeof start = (...args) => (onStart(), start(...args));
  return startTestService(t, { agent: { agentProgram: await realAgent(), startChild }, settings });
}

test('a job through a launcher leaves the same records as a direct one', async (t) => {
  const [direct, through] = [
    await startTestService(t),
    await serve(t, shell('sleep 0.2; exec NODE')),
  ];
  const [one, other] = [await direct.runJob(DAY), await through.runJob(DAY)];
  assert.deepEqual([one.status, other.status], ['completed', 'completed']);
  const records = recordsOf(direct.database, one.job_id);
  assert.deepEqual(recordsOf(through.database, other.job_id), records);
  assert.equal(records.length, 2);
});

const FORTY = { start_date: '2025-10-13', end_date: '2025-11-07', models: ['model-0', 'model-1'] };

test('a launcher that starts nothing fails each model-day with what it said, and none is tried again', async (t) => {
  let starts = 0;
  const script = shell('echo "the controller is away" >&2; exit 1');
  const service = await serve(t, script, () => (starts += 1));
  const { status, error, details } = await service.runJob({ ...DAY, models: FORTY.models });
  assert.deepEqual([status, error, starts], ['failed', null, 2]);
  for (const detail of details)
    assert.equal(
      detail.error,
      'The model process did not start (sh: exit code 1; the controller is away). Run MODEL_DAY_COMMAND by hand, with ' +
        '`--version` as the arguments of node; then run this day again',
    );
});

test('a launcher that is removed during a job ends it there; what is completed stays', async (t) => {
  const file = join(temporaryFolder(), 'run');
  writeFileSync(file, '#!/bin/sh\nexec "$@"\n');
  chmodSync(file, 0o755);
  let starts = 0;
  const service = await serve(t, [file, NODE], () => (starts += 1) === 3 && rmSync(file));
  const { status, error, details } = await service.runJob(FORTY);
  assert.equal(status, 'failed');
  assert.match(error, /^Cannot start run, the program of MODEL_DAY_COMMAND, .* ENOENT$/);
  assert.equal(details.filter((detail: any) => detail.status === 'completed').length, 2);
  assert.deepEqual([...new Set(details.slice(2).map((detail: any) => detail.error))], [error]);
  assert.ok(starts <= 4, `${starts} starts`); // of the two that run side by side
});
