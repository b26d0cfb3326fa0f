import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { commandHelp, generalHelp } from '../src/core/commands/command-line.ts';
import type { Command } from '../src/core/commands/command.ts';
import { commands } from '../src/commands.ts';
import { conventions } from '../src/features/comparison/conventions.ts';
import { openDatabase } from '../src/core/database/database.ts';
import { leftToLongForm, inLongForm, isLong, runs } from './support/long.ts';
import { agentFixture } from './support/agents.ts';
import { runInProcess } from './support/in-process.ts';
import { document } from './support/json-schema.ts';
import { childrenOf, isStopped, noProc } from './support/processes.ts';
import {
  ask,
  installProgram,
  isExecutable,
  type Program,
  PROGRAM_FILE,
  replaceAgent,
  runProgram,
  RUNTIME_CONFIG,
  smallConfiguration,
  startProgram,
  startServer,
  waitForJob,
} from './support/program.ts';
import { like } from './support/text-table.ts';
import { until } from './support/until.ts';

const DEV = { DEPLOYMENT_MODE: 'DEV' };
const DAYS = { start_date: '2025-11-12', end_date: '2025-11-14' };
const ONE_DAY = { ...DAYS, start_date: DAYS.end_date };
const HEADER = 'symbol,date,open,high,low,close,volume';
const TOKEN = 'a-token-that-is-never-printed';
/** In this process, where that serves. */
const runHere = isExecutable ? runProgram : runInProcess;

/** What a command leaves that printed this and succeeded. */
const printed = (stdout: string) => ({ code: 0, signal: null, stdout, stderr: '' });

function stopped({ process: child, ended }: Program): Program['ended'] {
  child.kill('SIGTERM');
  return ended;
}

/** Runs a job to its end; resolves to its last status. */
async function runJob(url: string, request: object = DAYS): Promise<any> {
  return waitForJob(url, (await ask(`${url}/simulate/trigger`, request)).job_id);
}

test('the program is one file that needs no other, from the trigger to the results; while another holds the write lock, it waits', async (t) => {
  const cwd = installProgram();
  const server = await startServer(t, { cwd, env: DEV });
  const { job_id } = await ask(`${server.url}/simulate/trigger`, ONE_DAY);
  const hold = `const database = new (require('node:sqlite').DatabaseSync)('data/jobs_dev.db', { timeout: 5000 });
    for (let round = 0; round < 5; round += 1) {
      database.exec('BEGIN IMMEDIATE');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
      database.exec('COMMIT');
    }`;
  execFileSync(process.execPath, ['-e', hold], { cwd });
  const { status, progress } = await waitForJob(server.url, job_id);
  assert.deepEqual([status, progress.failed], ['completed', 0]);
  assert.ok((await ask(`${server.url}/results`)).count >= 2);
  assert.equal((await ask(`${server.url}/reasoning`)).count, 2);
  assert.deepEqual((await ask(`${server.url}/comparison`)).conventions, conventions);
  const described = await ask(`${server.url}/openapi.json`);
  assert.deepEqual(described, document, 'the description that its schemas make');
  const { code, signal } = await stopped(server);
  assert.deepEqual([code, signal], [0, null]);
});

test('help and version open no database; an unknown command is named', async () => {
  const cwd = installProgram();
  // Without the rest of the package npx does not run it.
  const alone = (help: string) => printed(help.replaceAll('npx ', ''));
  assert.deepEqual(await runProgram(['--help'], { cwd }), alone(generalHelp(commands)));
  assert.deepEqual(await runHere(['--version'], { cwd }), printed('1.0.0\n'));
  for (const [command = '', run] of [
    ['trade', runProgram],
    ['constructor', runHere],
  ] as const) {
    const { code, stderr } = await run([command], { cwd });
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`There is no command "${command}"`));
  }
  for (const command of ['backup --nonsense', '--fast', '--version now', 'help trade']) {
    const { code, stdout, stderr } = await runHere(command.split(' '), { cwd });
    assert.deepEqual([code, stdout], [2, '']);
    const help = `Run "${isExecutable ? '' : 'npx '}trading-simulation-service .*--help" to see what it takes\\.\n$`;
    assert.match(stderr, new RegExp(`${command.split(' ').at(-1)}.*${help}`));
  }
  const own = await runHere(['backup', '--help'], { cwd, env: { DEPLOYMENT_MODE: 'nonsense' } });
  const page = commandHelp('backup', commands['backup'] as Command);
  assert.deepEqual(own, isExecutable ? alone(page) : printed(page));
  assert.deepEqual(readdirSync(cwd).sort(), ['configs', PROGRAM_FILE]);
});

const noNode = isExecutable ? 'the executable brings its own Node' : false;
test('on an old Node the program first says which one it needs', { skip: noNode }, () => {
  const cwd = installProgram();
  const pretend = `Object.defineProperty(process.versions, 'node', { value: '22.12.0' }); process.argv.push('--version'); require('./server.js')`;
  assert.throws(
    () => execFileSync(process.execPath, ['-e', pretend], { cwd, stdio: 'pipe' }),
    /needs Node\.js 24\.15 or newer in the 24 line, or 26 and newer; this is v[\d.]+\. Install one from https:\/\/nodejs\.org/,
  );
});

const levelOfHealthChecks = (log: string) =>
  /"level":"(\w+)","message":"health check"/.exec(log)?.[1];

test('PROD starts without a key or a configuration; DEV leaves its database untouched, resets or keeps its own, and logs health checks at DEBUG', async (t) => {
  const cwd = installProgram();
  const list = `process.on('exit', () => console.log(process.moduleLoadList.join('\\n')))`;
  writeFileSync(join(cwd, 'lists-modules.cjs'), list);
  openDatabase(join(cwd, 'data/jobs.db')).close(); // a new one needs the schema, which is packed
  renameSync(join(cwd, 'configs'), join(cwd, 'away'));
  const prod = await startServer(t, { cwd, flags: ['--require', './lists-modules.cjs'] });
  const missing = /Server configuration file not found: configs\/default_config\.json/;
  assert.match((await ask(`${prod.url}/simulate/trigger`, DAYS)).detail, missing);
  const health = await ask(`${prod.url}/health`);
  assert.deepEqual(
    [health.status, health.deployment_mode, health.is_dev_mode, health.preserve_dev_data],
    ['healthy', 'PROD', false, null],
  );
  const { stdout, stderr } = await stopped(prod);
  renameSync(join(cwd, 'away'), join(cwd, 'configs'));
  assert.equal(levelOfHealthChecks(stderr), 'INFO');
  // A start waits for no module of Node that it does not use.
  assert.doesNotMatch(stdout, /^NativeModule (?:assert|fs\/promises|readline|zlib)$/m);
  assert.match(stdout, /NativeModule sqlite/);
  const bytes = readFileSync(join(cwd, 'data/jobs.db'));

  const countJobs = async (env: Record<string, string>, trigger: boolean) => {
    const server = await startServer(t, { cwd, env: { ...DEV, ...env } });
    const before = (await ask(`${server.url}/results`)).count;
    if (trigger) await runJob(server.url, ONE_DAY);
    await ask(`${server.url}/health`);
    return { before, stderr: (await stopped(server)).stderr };
  };
  const first = await countJobs({}, true);
  assert.match(first.stderr, /"level":"WARNING","message":"DEVELOPMENT MODE/);
  assert.equal(levelOfHealthChecks(first.stderr), undefined, 'DEBUG, which is not shown');
  const second = await countJobs({ PRESERVE_DEV_DATA: 'true', LOG_LEVEL: 'DEBUG' }, false);
  assert.ok(second.before >= 2);
  assert.equal(levelOfHealthChecks(second.stderr), 'DEBUG');
  assert.equal((await countJobs({}, false)).before, 0);

  assert.deepEqual(readFileSync(join(cwd, 'data/jobs.db')), bytes);
  const databases = readdirSync(join(cwd, 'data')).filter((name) => name.endsWith('.db'));
  assert.deepEqual(databases.sort(), ['jobs.db', 'jobs_dev.db']);
});

test('a second server on the same database does not start, and names the first, beside which prices are imported; healthcheck reports on the first by its exit code', async (t) => {
  const cwd = installProgram();
  const env = { ...DEV, PRESERVE_DEV_DATA: 'true' };
  writeFileSync(join(cwd, 'early.csv'), `${HEADER}\nAAPL,2025-01-06,10,12,9,10.5,1000\n`);
  const early = await runHere(['import-prices', 'early.csv'], { cwd, env: DEV });
  const note = 'is reset when the service starts in DEV mode, unless PRESERVE_DEV_DATA=true is set';
  const stored = 'Stored in data/jobs_dev.db, the database of DEV mode.';
  assert.match(early.stdout, like(`…${stored}\nNote: data/jobs_dev.db ${note}.\n`));
  const first = await startServer(t, { cwd, env });
  const bars = smallConfiguration.agent_config.stock_symbols.map(
    (symbol) => `${symbol},2025-11-14,10,12,9,10.5,1000`,
  );
  writeFileSync(join(cwd, 'prices.csv'), [HEADER, ...bars].join('\n'));
  const imported = await runHere(['import-prices', '--as', 'raw', 'prices.csv'], { cwd, env });
  assert.equal(imported.code, 0);
  assert.doesNotMatch(imported.stdout, /Note/);
  const { job_id } = await ask(`${first.url}/simulate/trigger`, ONE_DAY);
  const second = await runProgram([], { cwd, env: { ...env, API_PORT: '0' } });
  assert.equal(second.code, 1);
  assert.match(second.stderr, new RegExp(`in use by process ${first.process.pid}, started `));
  assert.equal((await waitForJob(first.url, job_id)).status, 'completed');
  const { results } = await ask(`${first.url}/results`);
  assert.ok(results.every(({ price }: any) => price === null || price === 10));
  const atFirst = { cwd, env: { API_PORT: new URL(first.url).port } };
  assert.deepEqual(await runProgram(['healthcheck'], atFirst), printed('healthy\n'));
  await stopped(first);
  const unreachable = await runHere(['healthcheck'], atFirst);
  assert.equal(unreachable.code, 1);
  assert.match(unreachable.stdout, /^unreachable: .*ECONNREFUSED/);
});

test('API_HOST is the only address it listens on; in PROD a warning says that everyone has all rights', async (t) => {
  const rows: [env: Record<string, string>, isWarned: boolean][] = [
    [{}, true],
    [{ API_HOST: '127.0.0.1' }, false],
    [{ API_TOKEN: 'token' }, false],
  ];
  for (const [env, isWarned] of rows.slice(0, runs(2, 3))) {
    const cwd = installProgram();
    const server = await startServer(t, { cwd, env });
    const { port } = new URL(server.url);
    const elsewhere = await fetch(`http://127.0.0.2:${port}/health`).then(
      ({ status }) => status,
      () => null,
    );
    if (process.platform === 'linux') assert.equal(elsewhere, env['API_HOST'] ? null : 200);
    const own = { cwd, env: { ...env, API_PORT: port } };
    assert.deepEqual(await runHere(['healthcheck'], own), printed('healthy\n'));
    const taken = await runProgram([], { ...own, cwd: installProgram() });
    const names = env['API_HOST'] ? 'API_HOST or API_PORT' : 'API_PORT';
    assert.match(taken.stderr, new RegExp(`on port ${port}: .*; set ${names} to use another`));
    const { stderr } = await stopped(server);
    const warning = `Anyone who reaches port ${port} has full access`;
    assert.equal(stderr.split(warning).length, isWarned ? 2 : 1, stderr);
  }
});

test('with MODEL_DAY_COMMAND every model-day runs through it', async (t) => {
  const cwd = installProgram();
  const script = `echo {model} {date} $TOLD$API_PORT >> seen; exec ${process.execPath} {arguments}`;
  const command = {
    MODEL_DAY_COMMAND: JSON.stringify(['/bin/sh', '-c', script]),
    MODEL_DAY_COMMAND_ENV: 'TOLD',
    TOLD: 'told',
  };
  const server = await startServer(t, { cwd, env: { ...DEV, ...command } });
  const { status, details } = await runJob(server.url, ONE_DAY);
  assert.equal(status, 'completed', JSON.stringify(details));
  const seen = readFileSync(join(cwd, 'seen'), 'utf8').trim().split('\n').sort();
  assert.deepEqual(seen, details.map(({ model, date }: any) => `${model} ${date} told`).sort());
  assert.equal(seen.length, 2);
});

test('Ctrl-C reaches the children too, but fails no model-day', inLongForm, async (t) => {
  const cwd = installProgram();
  const env = { ...DEV, PRESERVE_DEV_DATA: 'true' };
  const first = await startServer(t, { cwd, env, detached: true });
  const { job_id } = await ask(`${first.url}/simulate/trigger`, DAYS);
  await waitForJob(first.url, job_id, ({ progress }) => progress.completed >= 2);
  process.kill(-(first.process.pid as number), 'SIGINT');
  assert.equal((await first.ended).code, 0);
  const second = await startServer(t, { cwd, env });
  const { status, progress } = await waitForJob(second.url, job_id);
  assert.deepEqual([status, progress.failed, progress.completed], ['completed', 0, 6]);
});

test('the demo finds a free port, knows its own token, shows trades and refusals, and serves until Ctrl-C', async (t) => {
  const cwd = installProgram();
  // Its own models, not those of the default configuration.
  const models = [{ signature: 'gpt-5', enabled: true, repeats: 2 }];
  writeFileSync(join(cwd, 'configs/demo_config.json'), JSON.stringify({ models }));
  const occupant = createServer().listen(0);
  t.after(() => occupant.close());
  const port = String((occupant.address() as { port: number }).port);
  // With a token it does all that it does without one; in the long form
  // test/commands/access.test.ts runs it with each kind.
  writeFileSync(join(cwd, 'tokens.txt'), `another read-only\n${TOKEN}\n`);
  const access = isLong ? {} : { API_TOKENS_FILE: 'tokens.txt' };
  const demo = startProgram(['demo'], {
    cwd,
    env: { API_PORT: port, MAX_SIMULATION_DAYS: '7', ...access },
  });
  t.after(() => demo.process.kill('SIGKILL'));
  const [, url] = await demo.waitFor(/(http:\/\/localhost:\d+)\/results/);
  await demo.waitFor(/curl -X POST/);
  assert.equal((await ask(`${url}/health`)).status, 'healthy');
  demo.process.kill('SIGINT');
  const { code, stdout, stderr } = await demo.ended;
  assert.equal(code, 0);
  assert.match(stdout, new RegExp(`Port ${port} is in use`));
  assert.match(stdout, /^model +trades +refused orders +end value +return$/m);
  const rows = stdout.match(/^gpt-5(#2)? +\d+ +\d+ +[\d,]+\.\d\d +[+-]\d+\.\d\d %$/gm);
  assert.deepEqual([rows?.length, stdout.match(/%$/gm)?.length], [2, 2], stdout);
  assert.equal(stderr.match(/completed$/gm)?.length, 5);
  assert.equal(stdout.includes('-H "Authorization: Bearer $API_TOKEN"'), !isLong);
  assert.ok(!(stdout + stderr).includes(TOKEN));
});

// Without a word about a service that cannot be reached.
test('Ctrl-C in mid-demo ends it in order', { skip: noProc || leftToLongForm }, async (t) => {
  const cwd = installProgram();
  // A child that ignores everything but SIGKILL keeps the service running until the demo's next
  // request.
  replaceAgent(cwd, agentFixture('ignores-term'));
  for (const signal of (['SIGINT', 'SIGTERM'] as const).slice(0, runs(1, 2))) {
    const demo = startProgram(['demo'], { cwd, env: { API_PORT: '0' } });
    t.after(() => demo.process.kill('SIGKILL'));
    const pid = demo.process.pid as number;
    const still = () => childrenOf(pid).find(isStopped);
    const child = await until('a model-day that stands still', still);
    const [own, its] = [pid, child].map((process) => readlinkSync(`/proc/${process}/exe`));
    assert.equal(its, own, 'a child needs no other Node');
    demo.process.kill(signal);
    const { code, stdout, stderr } = await demo.ended;
    assert.deepEqual([code, /curl/.test(stdout)], [0, false]);
    assert.match(stderr, /^(\{"time".*\}\n|\S+ completed\n)*$/);
  }
});

// A merged configuration that appears later is ignored.
test('a container: the user configuration is merged, then served', inLongForm, async (t) => {
  const cwd = installProgram();
  const merged = join(cwd, RUNTIME_CONFIG);
  const early = await startServer(t, { cwd, env: DEV });
  const models = [{ signature: 'mine', enabled: true }];
  const user = { models, agent_config: { initial_cash: 777 } };
  writeFileSync(join(cwd, 'user.json'), JSON.stringify(user));
  const merge = await runHere(['merge-config', 'user.json'], { cwd });
  const said = `Merged user.json over configs/default_config.json into ${RUNTIME_CONFIG}\n`;
  assert.deepEqual([merge.code, merge.stderr], [0, said]);
  assert.deepEqual(JSON.parse(readFileSync(merged, 'utf8')), {
    models,
    agent_config: { ...smallConfiguration.agent_config, initial_cash: 777 },
  });
  assert.equal(statSync(merged).mode & 0o077, 0);
  assert.deepEqual((await runJob(early.url, ONE_DAY)).models, ['model-a', 'model-b']);
  await stopped(early);

  const env = { ...DEV, API_PORT: '0' };
  const container = startProgram(['serve', '--merge-config'], { cwd, env });
  t.after(() => container.process.kill('SIGKILL'));
  const listening = /"port":(\d+).*"configuration":"runtime_config\.json"/;
  const [, port] = await container.waitFor(listening);
  const { models: served } = await runJob(`http://127.0.0.1:${port}`, ONE_DAY);
  assert.deepEqual(served, ['model-a', 'model-b']);
});
