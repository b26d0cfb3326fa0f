import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { openDatabase } from '../../src/core/database/database.ts';
import { fourDays } from '../support/books.ts';
import { contentOf } from '../support/folder.ts';
import { runInProcess } from '../support/in-process.ts';
import { inLongForm } from '../support/long.ts';
import {
  ask,
  followProgram,
  installProgram,
  PROGRAM_FILE,
  runProgram,
  RUNTIME_CONFIG,
  startProgram,
  startServer,
  waitForJob,
  whileStopped,
} from '../support/program.ts';
import { like } from '../support/text-table.ts';

/** A folder with the program and the books of `fourDays` as its database; `sql` is done to them. */
async function installWithBooks(sql = '', model = 'model-b'): Promise<string> {
  const cwd = installProgram();
  mkdirSync(join(cwd, 'data'));
  const { database, day } = await fourDays(join(cwd, 'data/jobs.db'));
  await day('2025-01-07', [], model);
  if (sql !== '') database.statement(sql).run();
  database.close();
  return cwd;
}

/** The exit code of a command in a folder, and what it prints line by line. */
async function linesOf(cwd: string, ...args: string[]) {
  const { code, stdout, stderr } = await runInProcess(args, { cwd });
  assert.equal(stderr, '');
  return [code, ...stdout.split('\n')] as [typeof code, ...string[]];
}

function overwrite(path: string, at: number, bytes: Buffer): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, at);
  closeSync(file);
}

function changed(path: string, sql: string): void {
  const database = openDatabase(path);
  database.statement(sql).run();
  database.close();
}

test('check: books that add up', async () => {
  const cwd = await installWithBooks();
  const before = contentOf(join(cwd, 'data'));
  const [code, file = '', ...lines] = await linesOf(cwd, 'check');
  assert.equal(code, 0);
  assert.match(file, /^data\/jobs\.db, \d+\.\d kB$/);
  assert.deepEqual(lines, [...SOUND, '  all add up', '']);
  assert.deepEqual(contentOf(join(cwd, 'data')), before, 'nothing is changed or left behind');
});

test('commands answer at once where a file is not a regular one', inLongForm, async (t) => {
  const cwd = installProgram();
  mkdirSync(join(cwd, 'data'));
  execFileSync('mkfifo', [join(cwd, 'fifo'), join(cwd, 'data/jobs.db')]);
  const commands = ['check fifo', 'check', 'check --replay fifo', 'view fifo', 'view /dev/zero'];
  for (const command of [...commands, 'backup b.db', 'serve']) {
    const { process: child, ended } = startProgram(command.split(' '), { cwd });
    t.after(() => child.kill('SIGKILL'));
    const { code, stderr } = await ended;
    assert.equal(code, 1, command);
    assert.match(stderr, /it is not a regular file$/m, command);
  }
});

const SOUND = ['file: sound', 'ledger: 5 model-days of 2 models, 8 positions'];

test('check: books that do not add up, as lines, and exit code 1', async () => {
  const sql = 'UPDATE positions SET cash_e4 = cash_e4 + 10000 WHERE position_id IN (1, 7)';
  const cwd = await installWithBooks(sql);
  const [code, , ...lines] = await linesOf(cwd, 'check', 'data/jobs.db');
  assert.equal(code, 1);
  assert.deepEqual(lines, [
    ...SOUND,
    '  do not add up: 2',
    '    model-a 2025-01-03 (session 1)',
    '      positions 1, cash_e4: stored 90010000, replayed 90000000',
    '    model-a 2025-01-08 (session 4)',
    '      positions 2, cash_e4: stored 86750000, replayed 86740000',
    '',
  ]);
});

test('check --replay: also how many model-days are the same; exit code 1 and the day by name where words differ', async () => {
  const cwd = await installWithBooks();
  const replayed = (count: number) =>
    `replay: ${count} of 5 model-days replayed: same reports, same answers, same books`;
  const [code, , ...lines] = await linesOf(cwd, 'check', '--replay');
  assert.deepEqual([code, ...lines], [0, ...SOUND, '  all add up', replayed(5), '']);
  const where = `session_id = 3 AND content = 'done'`;
  changed(join(cwd, 'data/jobs.db'), `UPDATE reasoning_logs SET content = 'Done!' WHERE ${where}`);
  const [then, , ...differing] = await linesOf(cwd, 'check', '--replay');
  assert.equal(then, 1);
  assert.deepEqual(differing, [
    ...SOUND,
    '  do not add up: 1',
    '    model-a 2025-01-07 (session 3)',
    '      trading_sessions, session_summary: stored "done", replayed "Done!"',
    replayed(4),
    '',
  ]);
});

test('check: stale and unverifiable model-days are not errors', async () => {
  const bar = `('AAPL', '2025-01-07', 90, 91)`;
  const sql = `INSERT OR REPLACE INTO price_data (symbol, date, open, close) VALUES ${bar}`;
  const [code, , ...lines] = await linesOf(await installWithBooks(sql), 'check');
  assert.equal(code, 0);
  const found = '      session_prices AAPL, open_e4: stored 1040000, replayed 1030000';
  assert.ok(lines.includes(found));
  assert.deepEqual(lines.filter((line) => !line.startsWith(' '.repeat(6))).slice(2), [
    '  all others add up',
    '  cannot be verified, because the prices at the time are no longer stored: 3',
    '    model-a 2025-01-07 (session 3)',
    '    model-b 2025-01-07 (session 5)',
    '    model-a 2025-01-08 (session 4)',
    '  stale (not an error): earlier results, prices, splits, dividends or exchanges changed since: 1',
    '    model-a 2025-01-07',
    '    1 later model-day rests on it; npx trading-simulation-service trigger --start 2025-01-07 --end 2025-01-08 --models model-a --terms-of job-3 --replace runs them again',
    '',
  ]);
});

test('check: a damaged file', async () => {
  const cwd = await installWithBooks();
  const path = join(cwd, 'data/jobs.db');
  const database = openDatabase(path);
  const sql = `SELECT rootpage FROM sqlite_schema WHERE name = 'holdings'`;
  const page = Number(database.statement(sql).get()?.['rootpage']);
  database.close();
  overwrite(path, (page - 1) * 4_096, Buffer.alloc(4_096, 0xff));
  const [code, ...lines] = await linesOf(cwd, 'check');
  assert.equal(code, 1);
  const stdout = lines.join('\n');
  assert.match(stdout, /^file: its file is damaged; restore a backup\n {2}.*malformed\n/m);
  assert.match(stdout, /^ {2}do not add up: 5$/m);
  const said = 'its file is damaged (database disk image is malformed); restore a backup';
  assert.match(stdout, /^ {6}it cannot be read: database disk image is malformed$/m);
  const backup = await runInProcess(['backup', 'copy.db'], { cwd });
  assert.equal(backup.stderr, `Cannot read the database data/jobs.db: ${said}\n`);
});

const damages: [what: string, damage: (path: string) => void][] = [
  ['header', (path) => overwrite(path, 0, Buffer.alloc(16, 0xff))],
  ['page at byte 4096', (path) => overwrite(path, 4_096, Buffer.alloc(4_096, 0xff))],
  ['middle', (path) => overwrite(path, 40_960, Buffer.alloc(statSync(path).size - 81_920, 0xff))],
  ['end, which is cut off', (path) => truncateSync(path, 40_000)],
  ['bytes, all zero', (path) => overwrite(path, 0, Buffer.alloc(statSync(path).size))],
];
for (const [what, damage] of damages)
  test(`every command says the same of a database whose ${what} is damaged`, async () => {
    const cwd = await installWithBooks();
    damage(join(cwd, 'data/jobs.db'));
    const said =
      /its file is damaged( \((file is not a database|.*malformed.*)\))?; restore a backup/;
    copyFileSync(join(cwd, 'data/jobs.db'), join(cwd, 'other.db'));
    for (const args of [['check'], ['backup', 'copy.db'], ['restore', 'other.db']]) {
      const { code, stdout, stderr } = await runInProcess(args, { cwd });
      assert.equal(code, 1);
      assert.match(stdout + stderr, said);
    }
  });

test('check: rows that another program has deleted are said to be missing', async () => {
  const cwd = await installWithBooks();
  const other = new DatabaseSync(join(cwd, 'data/jobs.db'), { enableForeignKeyConstraints: false });
  other.exec('DELETE FROM jobs');
  other.close();
  const [code, , file, ...lines] = await linesOf(cwd, 'check');
  const advice = 'as after a DELETE by another program: restore a backup';
  assert.deepEqual([code, file], [1, `file: rows are missing, ${advice}`]);
  assert.match(lines.join('\n'), /^ {2}row \d+ of \w+ refers to a row of jobs that is missing$/m);
});

test('check: text from a database cannot control the terminal', async () => {
  const sql = 'UPDATE positions SET daily_profit_e4 = 1 WHERE position_id = 8';
  const cwd = await installWithBooks(sql, 'evil\u001b[2J');
  const [, ...lines] = await linesOf(cwd, 'check');
  const isShown = lines.some((line) => line.startsWith('    evil\ufffd[2J 2025-01-07'));
  assert.ok(isShown, lines.join('\n'));
});

test('restore: brings back a backup, moves the database aside, and refuses while a service runs on it', async (t) => {
  const cwd = await installWithBooks();
  assert.equal((await runInProcess(['backup', 'copy.db'], { cwd })).code, 0);
  const [code, first, second = ''] = await linesOf(cwd, 'restore', 'copy.db');
  assert.equal(code, 0);
  assert.match(first ?? '', /^data\/jobs\.db: .*, 5 model-days, /);
  const restored = '  restored from copy.db (DEPLOYMENT_MODE=PROD); the database before is ';
  assert.ok(second.startsWith(restored), second);
  const aside = second.slice(restored.length);
  assert.match(aside, /data\/jobs-before-restore-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.db$/);
  assert.equal((await runInProcess(['check', aside], { cwd })).code, 0);
  const dev = await runInProcess(['restore', 'copy.db'], { cwd, env: { DEPLOYMENT_MODE: 'DEV' } });
  assert.match(
    dev.stdout,
    /^data\/jobs_dev\.db: .*\n.*; there was no database before\nNote: data\/jobs_dev\.db is reset when the service starts in DEV mode/,
  );
  const server = await startServer(t, { cwd });
  const before = readdirSync(join(cwd, 'data'));
  const refused = await runInProcess(['restore', 'copy.db'], { cwd });
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /^Cannot restore data\/jobs\.db: the database data\/jobs\.db is in use by process \d+, started /,
  );
  assert.deepEqual(readdirSync(join(cwd, 'data')), before);
  server.process.kill('SIGTERM');
  assert.equal((await server.ended).code, 0);
});

test('commands name files that they cannot use', async () => {
  const cwd = installProgram();
  changed(join(cwd, 'old.db'), 'PRAGMA user_version = 999');
  const missing = 'There is no database missing.db';
  const byDefault = 'There is no database data/jobs.db (DEPLOYMENT_MODE=PROD)';
  const newer =
    'Cannot use old.db: its schema is version 999, this program knows versions up to …; use a newer program…';
  for (const [command, said] of [
    ['check', byDefault],
    ['backup', byDefault],
    ['view missing.db', missing],
    ['restore missing.db', missing],
    ['check old.db', newer],
  ] as const) {
    const run = command.startsWith('view') ? runProgram : runInProcess;
    const { code, stderr } = await run(command.split(' '), { cwd });
    assert.equal(code, 1, command);
    assert.match(stderr, like(`${said}\n`), command);
  }
  assert.deepEqual(readdirSync(cwd).sort(), ['configs', 'old.db', PROGRAM_FILE]);
  mkdirSync(join(cwd, 'data'));
  copyFileSync(join(cwd, 'old.db'), join(cwd, 'data/jobs_dev.db'));
  const { stderr } = await runInProcess(['backup'], { cwd });
  assert.equal(stderr, `${byDefault}; for data/jobs_dev.db set DEPLOYMENT_MODE=DEV\n`);
});

test('check: whether a package still has its manifest is said, and an empty file is an error', async () => {
  const cwd = installProgram();
  const path = join(cwd, 'paper.db');
  const look = async () => {
    const { code, stdout, stderr } = await runInProcess(['check', '--replay', 'paper.db'], { cwd });
    return [code, stdout.split('\n').find((line) => line.startsWith('file:')), stderr];
  };
  copyFileSync(new URL('../../docs/demo-package.db', import.meta.url), path);
  const paper = new DatabaseSync(path);
  const tables = paper.prepare('SELECT count(*) AS count FROM package_manifest').get()?.['count'];
  const sound = `file: sound, and all ${tables} tables are as its manifest states them`;
  assert.deepEqual(await look(), [0, sound, '']);
  const edit = (by: number) => paper.exec(`UPDATE job_details SET cost_usd = ${by}`);
  edit(7);
  const edited =
    'file: changed after the package was made, or damaged; ask its author for it again';
  assert.deepEqual(await look(), [1, edited, '']);
  paper.exec('DELETE FROM package_manifest');
  paper.close();
  const [code, lost] = await look();
  assert.equal(code, 0);
  assert.match(String(lost), /^file: sound; .* manifest /);
  writeFileSync(path, '');
  assert.deepEqual(await look(), [1, undefined, 'Cannot read paper.db: it is empty\n']);
});

test('the commands of docs/guides/verify.md print what is below them', async () => {
  const cwd = installProgram();
  mkdirSync(join(cwd, 'docs'));
  for (const name of ['paper.db', 'docs/demo-package.db'])
    copyFileSync(new URL('../../docs/demo-package.db', import.meta.url), join(cwd, name));
  const paper = new DatabaseSync(join(cwd, 'paper.db'), { readOnly: true });
  const rows = paper
    .prepare('SELECT symbol, date, open, close FROM price_data')
    .all()
    .map((bar) => Object.values(bar).join(','))
    .map((row) => row.replace(/^(AAPL,2026-10-05,.*),.*/, '$1,272.17'));
  paper.close();
  writeFileSync(join(cwd, 'my-prices.csv'), ['symbol,date,open,close', ...rows].join('\n'));
  const page = readFileSync(new URL('../../docs/guides/verify.md', import.meta.url), 'utf8');
  const shown = [
    ...page.matchAll(
      /^```sh\nnpx trading-simulation-service (check .*)\n```\n\n```text\n([^]*?)^```/gm,
    ),
  ];
  assert.equal(shown.length, 2);
  for (const [, command = '', output = ''] of shown) {
    const { stdout } = await runInProcess(command.split(' '), { cwd });
    assert.ok(stdout.endsWith(output), `${command}: ${stdout}`);
  }
});

const DEV = { DEPLOYMENT_MODE: 'DEV' };

/** What a reader asks a view for and reads to the end; every answer is good. */
async function readAll(url: string): Promise<void> {
  const pages = '/ /health /results /performance /comparison /search?q=bought /audit /models';
  for (const path of pages.split(' ')) {
    const response = await fetch(url + path);
    assert.equal(response.status, 200, `${path}: ${await response.text()}`);
  }
}

/** Node under a path of the test's own: another user may not enter the folder of this checkout. */
const NODE_HERE = './node';

function bringNode(cwd: string): void {
  const path = join(cwd, NODE_HERE);
  try {
    linkSync(process.execPath, path);
  } catch {
    copyFileSync(process.execPath, path); // it is on another file system
  }
}

interface ViewOptions {
  cwd: string;
  /** By another user where this one is root, for whom nothing is read-only. */
  isOther?: boolean;
  env?: Record<string, string>;
}

/** Starts a view of a file by the program. */
async function startView(t: TestContext, file: string, { cwd, isOther = false, env }: ViewOptions) {
  const otherUser = isOther && process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const variables = { API_PORT: '0', RUNTIME_CONFIG_PATH: RUNTIME_CONFIG, ...env };
  const node = isOther ? NODE_HERE : process.execPath;
  const child = spawn(node, ['server.js', 'view', file], { cwd, env: variables, ...otherUser });
  const program = followProgram(child);
  t.after(() => child.kill('SIGKILL'));
  const [, port] = await program.waitFor(/"message":"listening".*?"port":(\d+)/);
  return { ...program, url: `http://127.0.0.1:${port}` };
}

/** A server whose job is completed. */
async function serverWithJob(t: TestContext, cwd: string, start_date: string, env = {}) {
  const server = await startServer(t, { cwd, env: { ...DEV, ...env } });
  const days = { start_date, end_date: '2025-11-28' };
  const { job_id: job } = await ask(`${server.url}/simulate/trigger`, days);
  assert.equal((await waitForJob(server.url, job)).status, 'completed');
  return { server, job };
}

test('backup --job and view, beside a running server and in a read-only folder: no byte and no file changes', async (t) => {
  const cwd = installProgram();
  const { server, job } = await serverWithJob(t, cwd, '2025-11-27');

  // A single read of its own would change the index of the server's log.
  await t.test('a view beside the server, which stands still', async () => {
    const data = join(cwd, 'data');
    // Of a commit that no one has read, an ordinary reader would leave a mark in that index.
    const other = new DatabaseSync(join(data, 'jobs_dev.db'));
    other.exec(`INSERT INTO market_days VALUES ('csv', '2025-01-06', '2025-01-06')`);
    other.close();
    await whileStopped(server, async () => {
      const before = contentOf(data);
      const logs = before.filter((line) => /-(wal|shm) /.test(line));
      assert.equal(logs.length, 2, 'the server has a log');
      await readAll((await startView(t, 'data/jobs_dev.db', { cwd })).url);
      assert.deepEqual(contentOf(data), before);
    });
  });

  const paper = join(cwd, 'paper');
  await t.test('a package, only into a folder that exists', async () => {
    const args = ['backup', '--job', job, 'paper/paper.db'];
    assert.equal((await runInProcess(args, { cwd, env: DEV })).code, 1);
    mkdirSync(paper);
    const again = await runInProcess(args, { cwd, env: DEV });
    assert.match(
      again.stdout,
      /^paper\/paper\.db: \d+\.\d kB, 1 job, 4 model-days, \d+ positions, \d+ price bars\n$/,
      again.stderr,
    );
    const check = await runInProcess(['check', 'paper/paper.db'], { cwd });
    assert.equal(check.code, 0, check.stdout + check.stderr);
  });

  await t.test('a view of it in a read-only folder, by another user', inLongForm, async () => {
    const own = contentOf(paper);
    chmodSync(join(paper, 'paper.db'), 0o444);
    bringNode(cwd);
    for (const folder of [paper, cwd]) chmodSync(folder, 0o555);
    const view = await startView(t, 'paper/paper.db', { cwd, isOther: true });
    assert.match(
      (await view.waitFor(/^paper.*$/m))[0],
      /^paper\/paper\.db, made in DEV mode, with simulated models: http:\/\/localhost:\d+\/ \(Ctrl-C ends it\)$/,
    );
    await readAll(view.url);
    const [its, ours] = [await ask(`${view.url}/results`), await ask(`${server.url}/results`)];
    assert.deepEqual(its.results, ours.results);
    view.process.kill('SIGTERM');
    const { code, stderr } = await view.ended;
    assert.equal(code, 0, stderr);
    for (const folder of [cwd, paper]) chmodSync(folder, 0o755);
    assert.deepEqual(contentOf(paper), own);
  });
});

/** Two readers who have nothing in common. */
const readers: Record<string, string>[] = [
  { TZ: 'Pacific/Auckland', LANG: 'C' },
  {
    ...{ TZ: 'America/Los_Angeles', LC_ALL: 'tr_TR.UTF-8', DEPLOYMENT_MODE: 'DEV' },
    ...{ RISK_FREE_RATE: '0.02', MAX_SIMULATION_DAYS: '5', PRICE_HISTORY_DAYS: '0' },
    ...{ MASSIVE_API_KEY: 'key', OPENAI_API_KEY: 'key' },
  },
];
/** Everything that a view answers, except its own state: `/health`, and how long an audit took. */
const viewed = `
  /performance /performance?details=true&common=true /performance?benchmark=universe
  /performance?model=model-a&days=clean /performance?format=csv&table=curve
  /performance?format=csv&table=trades /performance?format=csv&table=actions
  /comparison /comparison?align=number /comparison?format=csv&table=pairs
  /holdings?model=model-a /holdings?model=model-a&format=csv
  /results /results?format=csv /decisions /reasoning?include_full_conversation=true
  /search?q=bought /models /jobs /prices/coverage /prices/coverage?symbol=AAPL
  /simulate/status/JOB /openapi.json`
  .trim()
  .split(/\s+/);

// With the risk-free rate of its author.
test('view shows the same bytes of a package in every environment', inLongForm, async (t) => {
  const cwd = installProgram();
  const { server, job } = await serverWithJob(t, cwd, '2025-10-30', { RISK_FREE_RATE: '0.04' });
  const args = ['backup', '--job', job, 'paper.db'];
  const packaged = await runInProcess(args, { cwd, env: DEV });
  assert.equal(packaged.code, 0, packaged.stderr);
  const own = await ask(`${server.url}/performance`);
  for (const file of ['paper.db', 'data/jobs_dev.db']) {
    const views = await Promise.all(readers.map((env) => startView(t, file, { cwd, env })));
    for (const path of viewed) {
      const texts = views.map(async ({ url }) =>
        (await fetch(url + path.replace('JOB', job))).text(),
      );
      const [one, other] = await Promise.all(texts);
      assert.equal(one, other, `${file}: ${path}`);
    }
    const { conventions, models } = await ask(`${views[0]?.url}/performance`);
    assert.equal(conventions.risk_free_rate, 0.04);
    assert.deepEqual([models.length, models], [2, own.models], 'the figures of the author');
    assert.equal(typeof models[0].sharpe_ratio, 'number');
  }
});
