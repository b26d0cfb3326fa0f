import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openDatabase } from '../src/database/database.ts';
import { noDisk, noLimits, startOnDisk } from './support/disk.ts';
import { FORMER, makeFormer } from './support/former.ts';
import { leftToLongForm, isLong } from './support/long.ts';
import { runInProcess } from './support/in-process.ts';
import { ask, installProgram, runProgram, startServer, untilAnswer } from './support/program.ts';

const DEV = { DEPLOYMENT_MODE: 'DEV', API_PORT: '0' };
const DAYS = { start_date: '2025-11-12', end_date: '2025-11-14', models: ['model-a', 'model-b'] };
/**
 * So many days that the job still runs when its disk is full, even if this process is late to fill
 * it.
 */
const MANY_DAYS = { ...DAYS, start_date: '2025-10-16' };
const LISTENING = /"message":"listening".*?"port":(\d+)/;
test('a disk that is full in the middle of a job: the job waits, health says so, and nothing is lost', {
  skip: noDisk,
}, async (t) => {
  const program = startOnDisk(t, [], { cwd: installProgram(t), env: DEV, kb: 16_000 });
  const url = `http://127.0.0.1:${(await program.waitFor(LISTENING))[1]}`;
  const { job_id } = await ask(`${url}/simulate/trigger`, MANY_DAYS);
  const before = await untilAnswer(
    `${url}/simulate/status/${job_id}`,
    ({ progress }) => progress.completed >= 2,
  );
  await program.fill();
  await program.waitFor(
    /"message":"the job waits until the database can be written".*"fault":"Cannot use the database: the disk is full"/,
  );
  const health = await ask(`${url}/health`);
  assert.deepEqual([health.status, health.database], ['unhealthy', 'disconnected']);
  assert.ok(
    (await ask(`${url}/results`)).count >= before.progress.completed,
    'what was committed can be read',
  );
  assert.equal((await ask(`${url}/search?q=done`)).detail, undefined, 'a search writes nothing');
  await program.shell('truncate --size=-8K data/ballast');
  assert.equal(
    (await ask(`${url}/health`)).status,
    'unhealthy',
    'room for a page does not suffice for a model-day',
  );
  await program.free();
  const status = await cancelWhenMoving(url, job_id);
  assert.match(
    String(status.warnings),
    /^Waited \d+ seconds?: Cannot use the database: the disk is full$/,
  );
  assert.equal((await ask(`${url}/health`)).status, 'healthy');
  const audit = await ask(`${url}/audit`);
  assert.deepEqual([audit.status, audit.counts.model_days], ['sound', status.progress.completed]);
});

/** Waits until a job completes further model-days, and cancels it; resolves to its last status. */
async function cancelWhenMoving(url: string, jobId: string): Promise<any> {
  const path = `${url}/simulate/status/${jobId}`;
  const { progress } = await ask(path);
  await untilAnswer(path, (status) => status.progress.completed > progress.completed);
  await ask(`${url}/simulate/cancel/${jobId}`, {});
  const status = await untilAnswer(path, ({ completed_at }) => completed_at !== null);
  assert.deepEqual([status.status, status.progress.failed], ['cancelled', 0]);
  return status;
}

test('a trigger on a full disk says so, and works when there is room again', {
  skip: noDisk,
}, async (t) => {
  const program = startOnDisk(t, [], { cwd: installProgram(t), env: DEV, kb: 16_000 });
  const url = `http://127.0.0.1:${(await program.waitFor(LISTENING))[1]}`;
  await program.fill();
  assert.equal((await ask(`${url}/health`)).status, 'unhealthy', 'before anything was written');
  const { detail } = await ask(`${url}/simulate/trigger`, DAYS);
  assert.match(
    detail,
    /^Internal server error: Cannot use the database: the disk is full \(reference [0-9a-f]{8}\)$/,
  );
  assert.equal((await ask(`${url}/health`)).database, 'disconnected');
  await program.free();
  assert.equal((await ask(`${url}/health`)).database, 'connected');
  const { job_id } = await ask(`${url}/simulate/trigger`, { ...DAYS, start_date: DAYS.end_date });
  assert.equal(
    (
      await untilAnswer(
        `${url}/simulate/status/${job_id}`,
        ({ completed_at }) => completed_at !== null,
      )
    ).status,
    'completed',
  );
});

test('a disk that refuses to write: the job waits in the same way', {
  skip: noLimits,
}, async (t) => {
  const server = await startServer(t, { cwd: installProgram(t), env: DEV });
  const limitFileSize = (bytes: string) =>
    execFileSync('prlimit', ['--pid', String(server.process.pid), `--fsize=${bytes}:`]);
  const { job_id } = await ask(`${server.url}/simulate/trigger`, MANY_DAYS);
  await untilAnswer(
    `${server.url}/simulate/status/${job_id}`,
    ({ progress }) => progress.completed >= 2,
  );
  limitFileSize('100');
  await server.waitFor(
    /the job waits.*Cannot use the database: the disk reports an input or output error/,
  );
  assert.equal((await ask(`${server.url}/health`)).database, 'disconnected');
  limitFileSize('unlimited');
  await cancelWhenMoving(server.url, job_id);
  assert.equal((await ask(`${server.url}/audit`)).status, 'sound');
});

test('a service that waits for its disk can be stopped', {
  skip: noDisk || leftToLongForm,
}, async (t) => {
  const cwd = installProgram(t);
  const program = startOnDisk(t, [], {
    cwd,
    env: { ...DEV, PRESERVE_DEV_DATA: 'true' },
    kb: 16_000,
  });
  const url = `http://127.0.0.1:${(await program.waitFor(LISTENING))[1]}`;
  const { job_id } = await ask(`${url}/simulate/trigger`, MANY_DAYS);
  await untilAnswer(`${url}/simulate/status/${job_id}`, ({ progress }) => progress.completed >= 2);
  await program.fill();
  await program.waitFor(/the job waits until the database can be written/);
  await program.shell('kill -TERM $server');
  assert.equal((await program.ended).code, 0);
});

/** What is written to a disk of 40 kB, what is said of it, and what a command prints after it. */
const tooSmall: [args: string, words: string, after: string, printed: RegExp][] = [
  [
    'backup data/full/copy.db',
    'Cannot back up to data/full/copy.db: database or disk is full\n',
    'ls data/full',
    /^$/,
  ],
  [
    'backup --job JOB-ID data/full/paper.db',
    'Cannot back up to data/full/paper.db: database or disk is full\n',
    'ls data/full',
    /^$/,
  ],
  [
    'publish data/full/site',
    'Cannot continue: ENOSPC: no space left on device, write\n',
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

for (const [args, words, after, printed] of tooSmall)
  test(`a disk that is too small: ${args} says so, and leaves nothing or what the next run completes`, {
    skip: noDisk || (args.startsWith('backup data') && leftToLongForm),
  }, async (t) => {
    const cwd = installProgram(t);
    copyFileSync('docs/demo-package.db', join(cwd, 'jobs.db'));
    const before =
      'mkdir data/full && mv jobs.db data/ && mount -t tmpfs -o size=40k tmpfs data/full';
    const own = args.replace('JOB-ID', jobIn(join(cwd, 'jobs.db')));
    const { ended } = startOnDisk(t, own.split(' '), { cwd, kb: 16_000, before, after });
    const { code, stdout, stderr } = await ended;
    assert.deepEqual([code, stderr], [1, words]);
    assert.match(stdout, printed);
  });

test('a disk that is mounted read-only stops the start with the reason', {
  skip: noDisk,
}, async (t) => {
  const program = startOnDisk(t, [], {
    cwd: installProgram(t),
    env: DEV,
    kb: 16_000,
    before: 'mount -o remount,ro data',
  });
  const { code, stderr } = await program.ended;
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^Cannot start: data\/dev_agent_data cannot be written: EROFS: read-only file system, mkdir .*\n$/,
  );
});

test('a database that DEV cannot reset, in a folder that is read-only, stops the start with the reason', {
  skip: noDisk,
}, async (t) => {
  const program = startOnDisk(t, [], {
    cwd: installProgram(t),
    env: DEV,
    kb: 16_000,
    before:
      'mkdir data/dev_agent_data && touch data/jobs_dev.db-wal && mount -t tmpfs tmpfs data/dev_agent_data && mount -o remount,ro data',
  });
  const { code, stderr } = await program.ended;
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^Cannot continue: EROFS: read-only file system, unlink '.*jobs_dev\.db-wal'\n$/,
  );
});

test('a disk that is full at the start stops it with the reason', { skip: noDisk }, async (t) => {
  const before = '{ dd if=/dev/zero of=data/ballast bs=1k 2>/dev/null; true; }';
  const program = startOnDisk(t, [], { cwd: installProgram(t), env: DEV, kb: 400, before });
  const { code, stderr } = await program.ended;
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^Cannot start: data\/dev_agent_data cannot be written: database or disk is full\n$/,
  );
});

/**
 * What lies where the database should be, and what the program says of it; the file is left as it
 * is.
 */
const unusable: [name: string, make: (path: string) => void, message: RegExp][] = [
  [
    'a file that is not a database',
    (path) => writeFileSync(path, 'once upon a time '.repeat(100)),
    /file is not a database/,
  ],
  [
    "another program's database",
    (path) => new DatabaseSync(path).exec('CREATE TABLE songs (title TEXT)'),
    /it is a database of another program/,
  ],
  [
    'a database that is cut off',
    (path) => (openDatabase(path).close(), truncateSync(path, 10_000)),
    /malformed/,
  ],
];
const newer: (typeof unusable)[number] = [
  'a database from a newer version',
  (path) => {
    const database = openDatabase(path);
    database.statement('PRAGMA user_version = 999').run();
    database.close();
  },
  /its schema is version 999, this program knows versions up to \d+; use a newer program/,
];
const former: (typeof unusable)[number] = [
  'a database from before the first release',
  (path) => (openDatabase(path).close(), makeFormer(path)),
  FORMER,
];
const modes: [env: Record<string, string>, file: string, unusable: typeof unusable][] = [
  [{ DEPLOYMENT_MODE: 'PROD' }, 'jobs.db', [...unusable, newer, former]],
  [{ DEPLOYMENT_MODE: 'DEV', PRESERVE_DEV_DATA: 'true' }, 'jobs_dev.db', [newer, former]],
  [{ DEPLOYMENT_MODE: 'DEV' }, 'jobs_dev.db', unusable], // which would be reset if it were ours
];
for (const [env, file, rows] of modes) {
  for (const [what, make, message] of rows) {
    // A start opens PROD's database as it opens a preserved one, so the short form starts PROD on
    // one row.
    const isStarted = isLong || env['DEPLOYMENT_MODE'] === 'DEV' || what === unusable[0]?.[0];
    test(`${Object.values(env).join(' ')}: ${what} stops the start and is left unchanged`, async (t) => {
      const cwd = installProgram(t);
      const path = join(cwd, 'data', file);
      mkdirSync(dirname(path));
      make(path);
      const bytes = readFileSync(path);
      const options = { cwd, env: { ...env, API_PORT: '0' } };
      const commands = [['import-prices', 'server.js'], ['check'], ['backup', 'copy.db']];
      for (const args of isStarted ? [[], ...commands] : commands) {
        const { code, stdout, stderr } = await (args.length === 0 ? runProgram : runInProcess)(
          args,
          options,
        );
        assert.deepEqual([code, stdout], [1, ''], stderr);
        assert.match(stderr, message);
        assert.doesNotMatch(stderr, /Unexpected failure|\n {4}at /);
        assert.deepEqual(readFileSync(path), bytes);
      }
      assert.deepEqual(readdirSync(cwd).sort(), ['configs', 'data', 'server.js']);
    });
  }
}

test('a file in place of the data folder stops the start with the reason', async (t) => {
  const cwd = installProgram(t);
  writeFileSync(join(cwd, 'data'), 'mine');
  const { code, stderr } = await runProgram([], { cwd });
  assert.deepEqual([code, readFileSync(join(cwd, 'data'), 'utf8')], [1, 'mine']);
  assert.match(stderr, /^Cannot start: data\/agent_data cannot be written: ENOTDIR.*\n$/);
});

test('a database file that is moved away while the service runs, replaced, and put back', async (t) => {
  const cwd = installProgram(t);
  const server = await startServer(t, { cwd, env: DEV });
  const [path, away] = [join(cwd, 'data/jobs_dev.db'), join(cwd, 'away.db')];
  const states = async () => {
    const { status, database } = await ask(`${server.url}/health`);
    const { detail, job_id } = await ask(`${server.url}/simulate/trigger`, {
      ...DAYS,
      start_date: DAYS.end_date,
    });
    return { status, database, detail: String(detail).replace(/[0-9a-f]{8}/, 'x'), job_id };
  };
  const gone = {
    status: 'unhealthy',
    database: 'disconnected',
    detail:
      'Internal server error: Cannot use the database: its file was removed or replaced while the service runs (reference x)',
    job_id: undefined,
  };
  renameSync(path, away);
  assert.deepEqual(await states(), gone);
  writeFileSync(path, 'something else');
  assert.deepEqual(await states(), gone);
  assert.equal(readFileSync(path, 'utf8'), 'something else');
  renameSync(away, path);
  const { status, job_id } = await states();
  assert.equal(status, 'healthy');
  await untilAnswer(
    `${server.url}/simulate/status/${job_id}`,
    (body) => body.status === 'completed',
  );
});
