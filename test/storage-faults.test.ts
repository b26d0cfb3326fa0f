import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { openDatabase } from '../src/core/database/database.ts';
import { noDisk, noLimits, startOnDisk } from './support/disk.ts';
import { FORMER, makeFormer } from './support/former.ts';
import { leftToLongForm, isLong } from './support/long.ts';
import { runInProcess } from './support/in-process.ts';
import {
  ask,
  followProgram,
  installProgram,
  isExecutable,
  runProgram,
  startServer,
  untilAnswer,
} from './support/program.ts';
import { runIn } from './support/tables.ts';

const DEV = { DEPLOYMENT_MODE: 'DEV', API_PORT: '0' };
const DAYS = { start_date: '2025-11-12', end_date: '2025-11-14', models: ['model-a', 'model-b'] };
/**
 * So many days that the job still runs when its disk is full, even if this process is late to fill
 * it.
 */
const MANY_DAYS = { ...DAYS, start_date: '2025-10-16' };
const LISTENING = /"message":"listening".*?"port":(\d+)/;
const FULL = 'Cannot use the database: the disk is full';
const ENDED = ({ completed_at }: any) => completed_at !== null;

/** A server on a small disk. */
async function serveOnDisk(t: TestContext, env: Record<string, string> = DEV) {
  const program = startOnDisk(t, [], { cwd: installProgram(), env, kb: 16_000 });
  const [, port] = await program.waitFor(LISTENING);
  return { ...program, url: `http://127.0.0.1:${port}` };
}

/** Triggers a job that takes long, and waits until it is under way; resolves to its status page. */
async function jobUnderWay(url: string): Promise<string> {
  const { job_id } = await ask(`${url}/simulate/trigger`, MANY_DAYS);
  const path = `${url}/simulate/status/${job_id}`;
  await untilAnswer(path, ({ progress }) => progress.completed >= 2);
  return path;
}

/** Waits until a job completes further model-days, and cancels it; resolves to its last status. */
async function cancelWhenMoving(path: string): Promise<any> {
  const { progress } = await ask(path);
  await untilAnswer(path, (status) => status.progress.completed > progress.completed);
  await ask(path.replace('status', 'cancel'), {});
  const status = await untilAnswer(path, ENDED);
  assert.deepEqual([status.status, status.progress.failed], ['cancelled', 0]);
  return status;
}

const onDisk = { skip: noDisk };

test('a disk that is full: the job waits, and nothing is lost', onDisk, async (t) => {
  const program = await serveOnDisk(t);
  const { url } = program;
  const path = await jobUnderWay(url);
  const { completed } = (await ask(path)).progress;
  await program.fill();
  await program.waitFor(
    new RegExp(`"message":"the job waits until the database can be written".*"fault":"${FULL}"`),
  );
  const { status, database } = await ask(`${url}/health`);
  assert.deepEqual([status, database], ['unhealthy', 'disconnected']);
  const { count } = await ask(`${url}/results`);
  assert.ok(count >= completed, 'what was committed can be read');
  assert.equal((await ask(`${url}/search?q=done`)).detail, undefined, 'a search writes nothing');
  await program.shell('truncate --size=-8K data/ballast'); // a page: not enough for a model-day
  assert.equal((await ask(`${url}/health`)).status, 'unhealthy');
  await program.free();
  const last = await cancelWhenMoving(path);
  assert.match(String(last.warnings), new RegExp(`^Waited \\d+ seconds?: ${FULL}$`));
  assert.equal((await ask(`${url}/health`)).status, 'healthy');
  const audit = await ask(`${url}/audit`);
  assert.deepEqual([audit.status, audit.counts.model_days], ['sound', last.progress.completed]);
});

test('a trigger on a full disk says so, and works when there is room again', onDisk, async (t) => {
  const program = await serveOnDisk(t, { ...DEV, TMPDIR: 'data' });
  const { url } = program;
  await program.fill();
  assert.equal((await ask(`${url}/health`)).status, 'unhealthy', 'before anything was written');
  const { detail } = await ask(`${url}/simulate/trigger`, DAYS);
  assert.match(detail, new RegExp(`^Internal server error: ${FULL} \\(reference [0-9a-f]{8}\\)$`));
  assert.equal((await ask(`${url}/health`)).database, 'disconnected');
  await program.free();
  assert.equal((await ask(`${url}/health`)).database, 'connected');
  const days = { ...DAYS, start_date: '2025-11-05' };
  const { job_id } = await ask(`${url}/simulate/trigger`, days);
  const { status } = await untilAnswer(`${url}/simulate/status/${job_id}`, ENDED);
  assert.equal(status, 'completed');
  const refused = await ask(`${url}/reasoning?include_full_conversation=true`);
  assert.match(refused.detail, /Cannot write a long response .*: the disk of data is almost full/);
  assert.equal((await ask(`${url}/health`)).status, 'healthy');
});

test('a disk that refuses to write: the job waits too', {
  skip: noLimits || leftToLongForm,
}, async (t) => {
  const server = await startServer(t, { cwd: installProgram(), env: DEV });
  const limitFileSize = (bytes: string) =>
    execFileSync('prlimit', ['--pid', String(server.process.pid), `--fsize=${bytes}:`]);
  const path = await jobUnderWay(server.url);
  limitFileSize('100');
  const fault = 'Cannot use the database: the disk reports an input or output error';
  await server.waitFor(new RegExp(`the job waits.*${fault}`));
  assert.equal((await ask(`${server.url}/health`)).database, 'disconnected');
  limitFileSize('unlimited');
  await cancelWhenMoving(path);
  assert.equal((await ask(`${server.url}/audit`)).status, 'sound');
});

const onDiskInLongForm = { skip: noDisk || leftToLongForm };
test('a service that waits for its disk can be stopped', onDiskInLongForm, async (t) => {
  const program = await serveOnDisk(t, { ...DEV, PRESERVE_DEV_DATA: 'true' });
  await jobUnderWay(program.url);
  await program.fill();
  await program.waitFor(/the job waits until the database can be written/);
  await program.shell('kill -TERM $server');
  assert.equal((await program.ended).code, 0);
});

const NO_ROOM = 'Cannot back up to data/full/copy.db: database or disk is full';
/** What is written to a disk of 40 kB, what is said of it, and what a command prints after it. */
const tooSmall: [args: string, words: string, after: string, printed: RegExp][] = [
  ['backup data/full/copy.db', NO_ROOM, 'ls data/full', /^$/],
  ['backup --job JOB-ID data/full/copy.db', NO_ROOM, 'ls data/full', /^$/],
  [
    'publish data/full/site',
    'Cannot continue: ENOSPC: no space left on device, write',
    'mount -o remount,size=8m data/full; $program publish data/full/site; ls data/full/site | grep partial',
    /^data.full.site: (\d+) files, .*; \d+ files changed, 0 files removed\n$/,
  ],
];

/** The job of a package. */
function jobIn(path: string): string {
  const database = new DatabaseSync(path, { readOnly: true });
  const { job_id } = database.prepare('SELECT job_id FROM jobs').get() ?? {};
  database.close();
  return String(job_id);
}

for (const [args, words, after, printed] of tooSmall) {
  const skip = noDisk || (args.startsWith('backup data') && leftToLongForm);
  // It leaves nothing, or what the next run completes.
  test(`a disk that is too small: ${args} says so`, { skip }, async (t) => {
    const cwd = installProgram();
    copyFileSync('docs/demo-package.db', join(cwd, 'jobs.db'));
    const before =
      'mkdir data/full && mv jobs.db data/ && mount -t tmpfs -o size=40k tmpfs data/full';
    const own = args.replace('JOB-ID', jobIn(join(cwd, 'jobs.db')));
    const { ended } = startOnDisk(t, own.split(' '), { cwd, kb: 16_000, before, after });
    const { code, stdout, stderr } = await ended;
    assert.deepEqual([code, stderr], [1, `${words}\n`]);
    assert.match(stdout, printed);
  });
}

/** What is done to the disk before the program starts on it, and what that says. */
const starts: [name: string, kb: number, before: string, words: RegExp][] = [
  [
    'is mounted read-only',
    16_000,
    'mount -o remount,ro data',
    /^Cannot start: data\/dev_agent_data cannot be written: EROFS: read-only file system, mkdir .*\n$/,
  ],
  [
    'is read-only where DEV has a database to reset',
    16_000,
    'mkdir data/dev_agent_data && touch data/jobs_dev.db-wal && mount -t tmpfs tmpfs data/dev_agent_data && mount -o remount,ro data',
    /^Cannot continue: EROFS: read-only file system, unlink '.*jobs_dev\.db-wal'\n$/,
  ],
  [
    'is full',
    400,
    '{ dd if=/dev/zero of=data/ballast bs=1k 2>/dev/null; true; }',
    /^Cannot start: data\/dev_agent_data cannot be written: database or disk is full\n$/,
  ],
];
for (const [name, kb, before, words] of starts)
  test(`a disk that ${name} stops the start with the reason`, onDisk, async (t) => {
    const program = startOnDisk(t, [], { cwd: installProgram(), env: DEV, kb, before });
    const { code, stderr } = await program.ended;
    assert.equal(code, 1);
    assert.match(stderr, words);
  });

/**
 * What lies where the database should be, and what the program says of it; the file is left as it
 * is.
 */
type Unusable = [name: string, make: (path: string) => void, message: RegExp];
const unusable: Unusable[] = [
  [
    'a file that is not a database',
    (path) => writeFileSync(path, 'a text'.repeat(300)),
    /its file is damaged \(file is not a database\); restore a backup/,
  ],
  [
    "another program's database",
    (path) => runIn(path, 'CREATE TABLE songs (title TEXT)'),
    /it is a database of another program/,
  ],
  [
    'a database that is cut off',
    (path) => (openDatabase(path).close(), truncateSync(path, 10_000)),
    /its file is damaged \(database disk image is malformed\); restore a backup/,
  ],
];
const versions: Unusable[] = [
  [
    'a database from a newer version',
    (path) => (openDatabase(path).close(), runIn(path, 'PRAGMA user_version = 999')),
    /its schema is version 999, this program knows versions up to \d+; use a newer program/,
  ],
  [
    'a database from before the first release',
    (path) => (openDatabase(path).close(), makeFormer(path)),
    FORMER,
  ],
];
const modes: [env: Record<string, string>, file: string, rows: Unusable[]][] = [
  [{ DEPLOYMENT_MODE: 'PROD' }, 'jobs.db', [...unusable, ...versions]],
  [{ DEPLOYMENT_MODE: 'DEV' }, 'jobs_dev.db', unusable], // which would be reset if it were ours
];
for (const [env, file, rows] of modes) {
  for (const [what, make, message] of rows) {
    // The short form starts PROD, which opens its database as commands do, on one row.
    const isStarted = isLong || env['DEPLOYMENT_MODE'] === 'DEV' || what === unusable[0]?.[0];
    test(`${Object.values(env).join(' ')}: ${what} stops the start and is left unchanged`, async () => {
      const cwd = installProgram();
      const path = join(cwd, 'data', file);
      mkdirSync(dirname(path));
      make(path);
      const bytes = readFileSync(path);
      const options = { cwd, env: { ...env, API_PORT: '0' } };
      const commands = [['import-prices', 'server.js'], ['check'], ['backup', 'copy.db']];
      for (const args of isStarted ? [[], ...commands] : commands) {
        const run = args.length === 0 ? runProgram : runInProcess;
        const { code, stdout, stderr } = await run(args, options);
        assert.deepEqual([code, stdout], [1, ''], stderr);
        assert.match(stderr, message);
        assert.doesNotMatch(stderr, /Unexpected failure|\n {4}at /);
        assert.deepEqual(readFileSync(path), bytes);
      }
      assert.deepEqual(readdirSync(cwd).sort(), ['configs', 'data', 'server.js']);
    });
  }
}

test('a file in place of the data folder stops the start with the reason', async () => {
  const cwd = installProgram();
  writeFileSync(join(cwd, 'data'), 'mine');
  const { code, stderr } = await runProgram([], { cwd });
  assert.deepEqual([code, readFileSync(join(cwd, 'data'), 'utf8')], [1, 'mine']);
  assert.match(stderr, /^Cannot start: data\/agent_data cannot be written: ENOTDIR.*\n$/m);
});

const isRoot = process.getuid?.() === 0;
test('a data folder that only another user may write stops the start with the command that helps', {
  skip: isExecutable,
}, async () => {
  const cwd = installProgram();
  const [uid, gid] = isRoot ? [65_532, 65_532] : [process.getuid?.(), process.getgid?.()];
  mkdirSync(join(cwd, 'data'), { mode: 0o555 });
  chmodSync(cwd, 0o755);
  const options = { cwd, env: { API_PORT: '0', RUNTIME_CONFIG_PATH: 'none' } };
  const user = isRoot ? { uid, gid } : {};
  const assertRefused = async (args: string[], reason: RegExp) => {
    const command = ['server.js', ...args];
    const program = followProgram(spawn(process.execPath, command, { ...options, ...user }));
    const { code, stderr } = await program.ended;
    assert.equal(code, 1);
    assert.match(stderr, reason);
  };
  for (const args of [[], ['import-prices', 'prices.csv']])
    await assertRefused(args, new RegExp(`^Cannot .*: chown -R ${uid}:${gid} data$`, 'm'));
  rmdirSync(join(cwd, 'data'));
  chmodSync(cwd, 0o555);
  await assertRefused([], /^Cannot start: .* cannot be written: EACCES: [^;]*$/m); // chown would find nothing
});
