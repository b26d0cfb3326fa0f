import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { queryInChildProcess } from '../src/core/database/integrity.ts';
import { openDatabase } from '../src/core/database/database.ts';
import { withSnapshot } from '../src/core/database/snapshot.ts';
import { closeInspector } from '../src/core/process/own-node.ts';
import { launch } from '../src/core/children/launch.ts';
import { agentFixture, simulatedStart } from './support/agents.ts';
import { startConfined } from './support/children.ts';
import { runInProcess } from './support/in-process.ts';
import {
  blocks,
  childrenOf,
  descriptorsOf,
  listeningPortsOf,
  noProc,
} from './support/processes.ts';
import {
  ask,
  EXECUTABLE,
  installProgram,
  isExecutable,
  replaceAgent,
  runProgram,
  startServer,
} from './support/program.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './support/folder.ts';

/** Whoever reaches a process's inspector commands the process: nothing may open it. */

const DEV = { DEPLOYMENT_MODE: 'DEV' };
const REQUESTS_AFTER_THE_SIGNAL = 20;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('SIGUSR1 opens no inspector in the service', { skip: noProc }, async (t) => {
  const cwd = installProgram();
  // As a signal does that comes before the program's first line.
  writeFileSync(join(cwd, 'opens-inspector.cjs'), `require('node:inspector').open(0)`);
  const flags = ['--inspect-port=0', '--inspect-publish-uid=http,stderr'];
  flags.push('--require', './opens-inspector.cjs');
  const server = await startServer(t, { cwd, env: DEV, flags });
  const { pid } = server.process as { pid: number };
  const before = listeningPortsOf(pid);
  assert.deepEqual(before, [Number(new URL(server.url).port)]);
  server.process.kill('SIGUSR1');
  for (let count = 0; count < REQUESTS_AFTER_THE_SIGNAL; count += 1)
    await ask(`${server.url}/health`);
  assert.deepEqual(listeningPortsOf(pid), before);
});

const noExecutable = isExecutable ? false : 'who starts dist/server.js gives Node its options';
test('the executable opens no inspector', { skip: noExecutable }, () => {
  const args = ['--run-text', 'console.log(process.execArgv.join())'];
  const options = execFileSync(EXECUTABLE, args, { encoding: 'utf8' });
  assert.equal(options, '--disable-sigusr1\n', 'even before its first line');
});

test('an inspector that a signal opened before the first line is closed, and once more in the next turn', async (t) => {
  const closed = t.mock.fn();
  const node = process as { _debugEnd?: () => void };
  const { _debugEnd: original } = node;
  const others = process.listeners('SIGUSR1');
  t.after(() => {
    Object.assign(node, { _debugEnd: original });
    for (const listener of process.listeners('SIGUSR1'))
      if (!others.includes(listener)) process.off('SIGUSR1', listener);
  });
  node._debugEnd = closed;
  closeInspector();
  assert.equal(closed.mock.callCount(), 1);
  await new Promise(setImmediate);
  assert.equal(closed.mock.callCount(), 2);
});

// Short of memory, a model process ends first.
test('what the service starts does not hear SIGUSR1', { skip: noProc }, async (t) => {
  const path = join(temporaryFolder(), 'a.db');
  openDatabase(path).close();
  const others = new Set(childrenOf(process.pid));
  const ours = () => childrenOf(process.pid).filter((pid) => !others.has(pid));
  const endless =
    'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT sum(i) FROM n';
  const abort = new AbortController();
  const reading = withSnapshot(path, (snapshot) =>
    queryInChildProcess(snapshot, [{ sql: endless }], abort.signal),
  );
  const spoke = Promise.withResolvers<void>();
  const trading = launch(simulatedStart, {
    program: agentFixture('never-reads'),
    startChild: startConfined,
    timeoutMs: 3_600_000,
    memoryMb: 512,
    signal: abort.signal,
    onMessage: async () => (spoke.resolve(), null),
  });
  t.after(() => {
    abort.abort('enough');
    ours().forEach((pid) => process.kill(pid, 'SIGKILL'));
    return Promise.allSettled([reading, trading]);
  });
  await spoke.promise;
  const pids = await until('the query to run beside the child', () => {
    const found = ours();
    return found.length === 2 && found.some((pid) => descriptorsOf(pid).includes(path)) && found;
  });
  for (const pid of pids) assert.ok(blocks(pid, constants.signals.SIGUSR1));
  // Short of memory, the kernel is to end the model's process and not the one that reads for the
  // service.
  const scoreOf = (pid: number) => readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim();
  assert.equal(pids.map(scoreOf).filter((score) => score === '1000').length, 1);
});

test('no command runs with an inspector requested', async () => {
  const cwd = installProgram();
  const env = { NODE_OPTIONS: '--no-warnings --ins"pe"ct=0' };
  const inEnvironment = await runProgram(['--version'], { cwd, env });
  const onLine = await runProgram(['--version'], { cwd, flags: ['--inspect=127.0.0.1:0'] });
  for (const [place, { code, stdout, stderr }] of Object.entries({
    NODE_OPTIONS: inEnvironment,
    'the command line': onLine,
  })) {
    assert.deepEqual([code, stdout], [1, '']);
    assert.ok(stderr.includes(`Cannot start: ${place} has --inspect,`), stderr);
  }
});

test("a child cannot command its parent through the parent's inspector", async (t) => {
  const port = await freePort();
  const cwd = installProgram({
    models: [{ signature: String(port), enabled: true, openai_base_url: 'http://127.0.0.1:1/v1' }],
    agent_config: { stock_symbols: ['AAPL'] },
  });
  replaceAgent(cwd, agentFixture('takes-over-parent'));
  writeFileSync(join(cwd, 'prices.csv'), 'symbol,date,open,close\nAAPL,2025-01-06,100,101\n');
  const imported = await runInProcess(['import-prices', '--as', 'raw', 'prices.csv'], { cwd });
  assert.equal(imported.code, 0);
  const env = { SECRET: 'the-secret' };
  const server = await startServer(t, { cwd, env, flags: [`--inspect-port=${port}`] });
  // The child tries to send it too, and may not; another process of the same user may.
  server.process.kill('SIGUSR1');
  await ask(`${server.url}/simulate/trigger`, { start_date: '2025-01-06', end_date: '2025-01-06' });
  const session = await until('the end of the model-day', async () => {
    const { sessions } = await ask(`${server.url}/reasoning`);
    return sessions?.[0]?.session_summary ?? sessions?.[0]?.error;
  });
  assert.match(session, /^held: /);
});
