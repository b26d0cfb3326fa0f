import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  linkSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { routes } from '../src/routes.ts';
import { canInstall, run } from './support/foreign-tools.ts';
import { temporaryFolder } from './support/folder.ts';
import { inLongForm, leftToLongForm } from './support/long.ts';
import { noProc } from './support/processes.ts';
import {
  ask,
  installProgram,
  type Program,
  runProgram,
  startProgram,
  startServer,
  untilAnswer,
  waitForJob,
} from './support/program.ts';

/**
 * The built service beside programs that it does not know, which open its database with SQLite's
 * own library or with one of theirs. What keeps them from removing the log is a lock of the service
 * on the database.
 */

const DEV = { DEPLOYMENT_MODE: 'DEV', PRESERVE_DEV_DATA: 'true', API_PORT: '0' };
const DAY = { start_date: '2025-11-14', end_date: '2025-11-14' };
const MANY_DAYS = { start_date: '2025-11-06', end_date: '2025-11-13' };
const FILE = 'data/jobs_dev.db';
const LISTENING = /"message":"listening".*?"port":(\d+)/;

const NEEDED: Record<string, string> = {
  '/search': '?q=done',
  '/holdings': '?model=model-a',
  '/documents/{id}': '?date=2025-11-14',
};

/** The target of every GET, of some also the table. */
function targets(jobId: string): string[] {
  return routes
    .filter(({ method, isOfDay }) => method === 'GET' && isOfDay === undefined)
    .flatMap(({ path, hasTable }) => {
      const target = path.replace('{job_id}', jobId).replace('{id}', 'none') + (NEEDED[path] ?? '');
      return hasTable ? [target, `${target}${target.includes('?') ? '&' : '?'}format=csv`] : target;
    });
}

/** How many descriptors of a file a process has open. */
function descriptors(pid: number, file: string): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => {
    try {
      return readlinkSync(join(folder, name)) === file;
    } catch {
      return false; // closed meanwhile
    }
  }).length;
}

function locks(pid: number, file: string): number {
  const inode = `:${statSync(file).ino} `;
  const lines = readFileSync('/proc/locks', 'utf8').split('\n');
  return lines.filter((line) => line.includes(` ${pid} `) && line.includes(inode)).length;
}

/** Fails when a process has a file open and no lock on it. */
function assertLocked({ process }: Program, file: string, after: string): void {
  const pid = Number(process.pid);
  if (descriptors(pid, file) === 0) return;
  const held = locks(pid, file);
  assert.ok(held > 0 || descriptors(pid, file) === 0, `no lock on ${file} after ${after}`);
}

/** A service whose job of one day has ended. */
async function serveOneDay(t: Parameters<typeof startServer>[0]) {
  const cwd = installProgram();
  const server = await startServer(t, { cwd, env: DEV });
  const { job_id: jobId } = await ask(`${server.url}/simulate/trigger`, DAY);
  await waitForJob(server.url, jobId);
  return { cwd, server, jobId, file: join(cwd, FILE) };
}

const onProc = { skip: noProc };

test(
  'no request, report, audit, backup or prompt drops a lock of the service or of a view',
  onProc,
  async (t) => {
    const { cwd, server, jobId, file } = await serveOneDay(t);
    const view = startProgram(['view', FILE], { cwd, env: { API_PORT: '0' } });
    t.after(() => view.process.kill('SIGKILL'));
    const [, port] = await view.waitFor(LISTENING);
    const at = [server.url, `http://127.0.0.1:${port}`];
    for (const target of targets(jobId))
      for (const [place, program] of [server, view].entries()) {
        const { status } = await fetch(at[place] + target);
        assert.ok(status === 200 || target.startsWith('/documents/none'), `${target}: ${status}`);
        assertLocked(program, file, `${place === 0 ? 'GET' : 'GET (view)'} ${target}`);
        assert.equal(locks(Number(server.process.pid), file), 1, target);
      }
    await runProgram(['backup', 'copy.db'], { cwd, env: DEV });
    const again = await ask(`${server.url}/simulate/trigger`, { ...DAY, replace_existing: true });
    assertLocked(server, file, 'a backup and a trigger');
    await waitForJob(server.url, again.job_id);

    // A prompt that leads to the database or its lock is refused.
    const lock = join(cwd, 'data/dev_agent_data/owner.lock');
    symlinkSync(file, join(cwd, 'configs/linked.md'));
    linkSync(file, join(cwd, 'configs/database.md'));
    linkSync(lock, join(cwd, 'configs/lock.md'));
    const held = [file, lock].map((one) => locks(Number(server.process.pid), one));
    for (const prompt_file of [
      'linked.md',
      'database.md',
      'lock.md',
      '../data/dev_agent_data/owner.lock',
      `../${FILE}-wal`,
    ]) {
      const models = [{ signature: 'model-a', enabled: true, prompt_file }];
      writeFileSync(join(cwd, 'configs/default_config.json'), JSON.stringify({ models }));
      const { detail } = await ask(`${server.url}/simulate/trigger`, DAY);
      assert.match(detail, /it is a database/, prompt_file);
      const now = [file, lock].map((one) => locks(Number(server.process.pid), one));
      assert.deepEqual(now, held, prompt_file);
    }
    assert.ok(held.every((count) => count > 0));
  },
);

/** A program beside the service: how it runs one statement of SQL on a file. */
type Runs = (file: string, sql: string) => string;
const PYTHON = `
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
print(connection.execute(sys.argv[2]).fetchall())
connection.close()
`;
const shell: Runs = (file, sql) => run('sqlite3', [file, sql], { cwd: '/' });
const python: Runs = (file, sql) => run('python3', ['-c', PYTHON, file, sql], { cwd: '/' });
const isThere = (program: string) => spawnSync(program, ['--version']).status === 0;

const STATEMENTS = [
  'SELECT 1',
  'SELECT count(*) FROM positions',
  `INSERT INTO price_data (symbol, date, open, source) VALUES ('ZZZ', '2025-11-14', 1, 'import')`,
  `DELETE FROM price_data WHERE symbol = 'ZZZ'`,
  'PRAGMA wal_checkpoint(TRUNCATE)',
  'VACUUM',
];

/**
 * After each kind of request every statement runs beside the service; then the service is killed.
 */
async function survives(
  t: Parameters<typeof startServer>[0],
  statements: readonly string[],
  work: Runs,
): Promise<void> {
  const { cwd, server, jobId, file } = await serveOneDay(t);
  const before = statSync(`${file}-wal`).ino;
  for (const target of targets(jobId)) {
    await (await fetch(server.url + target)).text();
    for (const sql of statements) work(file, sql);
  }
  const { job_id: next } = await ask(`${server.url}/simulate/trigger`, {
    start_date: '2025-11-10',
    end_date: '2025-11-13',
  });
  const { status } = await waitForJob(server.url, next);
  assert.equal(status, 'completed');
  for (const sql of statements) work(file, sql);
  assert.equal(statSync(`${file}-wal`).ino, before, 'the log is still that of the service');
  const [results, audit] = [await ask(`${server.url}/results`), await ask(`${server.url}/audit`)];
  server.process.kill('SIGKILL');
  await once(server.process, 'close');
  const again = await startServer(t, { cwd, env: DEV });
  assert.deepEqual(await ask(`${again.url}/results`), results);
  assert.deepEqual([results.count > 5, audit.status], [true, 'sound']);
}

const shells: [name: string, Runs][] = [
  ['sqlite3', shell],
  ['python3', python],
];
for (const [name, work] of shells)
  test(
    `nothing is lost beside ${name}, which reads, writes, checkpoints and vacuums`,
    { skip: leftToLongForm || noProc || (!isThere(name) && `there is no ${name} here`) },
    (t) => survives(t, STATEMENTS, work),
  );

const DUCKDB = `
import duckdb, pathlib, sys, duckdb_ext
extension = next(pathlib.Path(list(duckdb_ext.__path__)[0]).rglob('sqlite_scanner.duckdb_extension'))
connection = duckdb.connect()
connection.execute(f"LOAD '{extension}'")
connection.execute(f"ATTACH '{sys.argv[1]}' AS beside (TYPE sqlite)")
print(connection.execute(sys.argv[2]).fetchall())
`;

test('nothing is lost beside DuckDB', inLongForm, async (t) => {
  const folder = temporaryFolder();
  const install = () => {
    run('python3', ['-m', 'venv', 'duckdb'], { cwd: folder });
    const packages = ['duckdb==1.4.4', 'duckdb-ext-sqlite==1.4.4.20260205'];
    run('duckdb/bin/pip', ['install', '--quiet', ...packages], { cwd: folder });
  };
  if (!canInstall(t, 'duckdb', install)) return;
  const duckdb = join(folder, 'duckdb/bin/python');
  const statements = [
    'SELECT count(*) FROM beside.positions',
    'CREATE TABLE beside.note (text VARCHAR)',
    'DROP TABLE beside.note',
  ];
  await survives(t, statements, (file, sql) =>
    run(duckdb, ['-c', DUCKDB, file, sql], { cwd: '/' }),
  );
});

test('the log is removed in mid-job: the job waits, and a restart completes it', async (t) => {
  const cwd = installProgram();
  const server = await startServer(t, { cwd, env: DEV });
  const { job_id: jobId } = await ask(`${server.url}/simulate/trigger`, MANY_DAYS);
  const path = `/simulate/status/${jobId}`;
  await untilAnswer(server.url + path, ({ progress }) => progress.completed >= 2);
  rmSync(join(cwd, `${FILE}-wal`));
  const why =
    'another program removed or replaced jobs_dev.db-wal while the service runs; ' +
    'restart the service, and then run check';
  await server.waitFor(new RegExp(`"the job waits until the database can be written".*${why}`));
  assert.equal((await ask(`${server.url}/health`)).status, 'unhealthy');
  const { count } = await ask(`${server.url}/results`);
  assert.ok(count >= 2, 'what was committed can be read');
  const { detail } = await ask(`${server.url}/simulate/cancel/${jobId}`, {});
  assert.match(detail, new RegExp(`Cannot use the database: ${why}`));
  server.process.kill('SIGTERM');
  await server.ended;
  const again = await startServer(t, { cwd, env: DEV });
  const { status } = await waitForJob(again.url, jobId);
  const { count: most } = await ask(`${again.url}/results`);
  assert.deepEqual([status, most > count], ['completed', true]);
  assert.equal((await ask(`${again.url}/audit`)).status, 'sound');
});

test('a stop writes no removed log over what another program has written since', {
  skip: noProc || (!isThere('sqlite3') && 'there is no sqlite3 here'),
}, async (t) => {
  const { cwd, server, file } = await serveOneDay(t);
  // Moves the log so that only the first pages of what follows are in it.
  shell(file, 'PRAGMA wal_checkpoint(TRUNCATE)');
  const { job_id: jobId } = await ask(`${server.url}/simulate/trigger`, {
    start_date: '2025-11-13',
    end_date: '2025-11-13',
  });
  await waitForJob(server.url, jobId);
  shell(file, 'PRAGMA wal_checkpoint');
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix);
  shell(file, 'CREATE TABLE note (text); INSERT INTO note VALUES (randomblob(100000))');
  server.process.kill('SIGTERM');
  assert.equal((await server.ended).code, 0);
  const found = shell(
    file,
    'PRAGMA integrity_check; SELECT length(text) FROM note; DROP TABLE note',
  );
  assert.equal(found.trim(), 'ok\n100000');
  const again = await startServer(t, { cwd, env: DEV });
  const { count, status } = {
    ...(await ask(`${again.url}/results`)),
    ...(await ask(`${again.url}/audit`)),
  };
  assert.deepEqual([count > 0, status], [true, 'sound']);
});

const REFUSED = 'its file system refuses locks; use a folder on a local disk';
const lacking: [what: string, message: RegExp][] = [
  ['locks', new RegExp(`^Cannot start: ${FILE} cannot be used: ${REFUSED}$`, 'm')],
  ['io', new RegExp(`^Cannot start: data/dev_agent_data cannot be written: ${REFUSED}$`, 'm')],
  ['memory', /^Cannot open the database .*: its file system cannot map the -shm file into memory/m],
  ['nothing', /"WARNING","message":"data\/jobs_dev.db is on a file system of type NFS, /],
];

test('a file system of a network is named, and what it lacks', {
  skip: noProc || (!isThere('cc') && 'there is no C compiler here'),
}, async (t) => {
  const library = join(temporaryFolder(), 'remote.so');
  const source = join(import.meta.dirname, 'fixtures/file-systems/remote.c');
  run('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl'], { cwd: '/' });
  for (const [what, message] of lacking) {
    const env = { ...DEV, LACKS: what, LD_PRELOAD: library };
    const server = startProgram([], { cwd: installProgram(), env });
    t.after(() => server.process.kill('SIGKILL'));
    await server.waitFor(message);
    if (what !== 'nothing') assert.equal((await server.ended).code, 1, what);
    else await server.waitFor(LISTENING);
  }
});
