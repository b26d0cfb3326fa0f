import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { backupDatabase, restoreDatabase } from '../../src/features/backup/backup.ts';
import { type CommandDatabase, openDatabase } from '../../src/core/database/database.ts';
import { withSnapshot } from '../../src/core/database/snapshot.ts';
import { contentOf, temporaryFolder } from '../support/folder.ts';
import { FORMER, makeFormer } from '../support/former.ts';
import { runs } from '../support/long.ts';
import { rowsAsText } from '../support/tables.ts';
import { withoutLinks } from '../support/without-links.ts';

/**
 * Writes one bar of a symbol that only this database has, so that a test can tell which database it
 * opened.
 */
function mark(database: CommandDatabase, symbol: string): void {
  database
    .statement(
      `INSERT INTO price_data (symbol, date, open, source) VALUES (?, '2025-01-06', 1, 'csv')`,
    )
    .run(symbol);
}

function marksIn(path: string): unknown[] {
  const database = openDatabase(path);
  const marks = rowsAsText(database, 'SELECT symbol FROM price_data ORDER BY 1');
  database.close();
  return marks;
}

/**
 * `data/jobs.db` as a killed service leaves it, with LATE only in its log, and `copy.db`, a backup
 * with COPY.
 */
async function killedService(folder: string): Promise<string> {
  cpSync(await (template ??= makeKilled(temporaryFolder())), folder, { recursive: true });
  return join(folder, 'data/jobs.db');
}

let template: Promise<string> | undefined;

async function makeKilled(folder: string): Promise<string> {
  mkdirSync(join(folder, 'data'));
  const other = openDatabase(join(folder, 'other.db'));
  mark(other, 'COPY');
  await backupDatabase(other.path, join(folder, 'copy.db'));
  other.close();
  const source = join(folder, 'source.db');
  openDatabase(source).close();
  const running = openDatabase(source);
  mark(running, 'LATE');
  for (const suffix of ['', '-wal', '-shm'])
    copyFileSync(source + suffix, join(folder, 'data/jobs.db') + suffix);
  running.close();
  return folder;
}

const asideIn = (folder: string) =>
  readdirSync(join(folder, 'data')).find((name) => /^jobs-before-restore-.*Z\.db$/.test(name));

/**
 * Restores in a process that is killed before its n-th step that changes a file or makes it
 * durable.
 */
const program = (step: number) => `
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  import { DatabaseSync } from 'node:sqlite';
  let steps = 0;
  const count = (owner, name) => {
    const real = owner[name];
    owner[name] = function (...args) {
      if (++steps === ${step}) process.kill(process.pid, 'SIGKILL');
      return real.apply(this, args);
    };
  };
  for (const name of ['renameSync', 'fsyncSync', 'rmSync', 'linkSync', 'unlinkSync']) count(fs, name);
  for (const name of ['exec', 'close']) count(DatabaseSync.prototype, name);
  syncBuiltinESMExports();
  const { restoreDatabase } = await import(${JSON.stringify(new URL('../../src/features/backup/backup.ts', import.meta.url).href)});
  await restoreDatabase('data/jobs.db', 'copy.db');`;

test('killed before any of its steps, a restore leaves the old database, whole, or the new one and the old one aside', async () => {
  const start = temporaryFolder();
  await killedService(start);
  const outcomes: string[] = [];
  for (let step = 1, isKilled = true; isKilled; step += runs(5, 1)) {
    const folder = temporaryFolder();
    cpSync(start, folder, { recursive: true });
    const path = join(folder, 'data/jobs.db');
    const { signal, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', program(step)],
      { cwd: folder, encoding: 'utf8' },
    );
    isKilled = signal === 'SIGKILL';
    if (!isKilled) assert.equal(stderr, '');
    assert.ok(existsSync(path), 'a start finds a database');
    const marks = marksIn(path);
    const aside = asideIn(folder);
    outcomes.push(
      `${marks}${aside === undefined ? '' : `, aside ${marksIn(join(folder, 'data', aside))}`}`,
    );
    if (outcomes.at(-1) === outcomes.at(-2)) continue;
    await restoreDatabase(path, join(folder, 'copy.db'));
    assert.deepEqual(marksIn(path), ['COPY']);
    assert.deepEqual(
      readdirSync(join(folder, 'data')).filter((name) => name.includes('partial')),
      [],
      'the next one leaves nothing',
    );
  }
  const phases = outcomes.filter((outcome, index) => outcome !== outcomes[index - 1]);
  assert.deepEqual(phases, ['LATE', 'LATE, aside LATE', 'COPY, aside LATE']);
});

test('the old log is never applied to the new database; where there was none, nothing is moved aside', async () => {
  const folder = temporaryFolder();
  const path = await killedService(folder);
  const { aside, bars } = await restoreDatabase(path, join(folder, 'copy.db'));
  assert.deepEqual([marksIn(path), bars, marksIn(String(aside))], [['COPY'], 1, ['LATE']]);
  const fresh = await restoreDatabase(join(folder, 'new/jobs.db'), join(folder, 'copy.db'));
  assert.deepEqual(
    [fresh.aside, marksIn(join(folder, 'new/jobs.db')), readdirSync(join(folder, 'new'))],
    [null, ['COPY'], ['jobs.db']],
  );
});

test('a link to the database stays, and two restores in one second keep both old databases', async () => {
  const folder = temporaryFolder();
  const path = await killedService(folder);
  symlinkSync('data/jobs.db', join(folder, 'link.db'));
  const first = await restoreDatabase(join(folder, 'link.db'), join(folder, 'copy.db'));
  const second = await restoreDatabase(path, String(first.aside));
  assert.notEqual(first.aside, second.aside);
  assert.deepEqual(
    [marksIn(join(folder, 'link.db')), marksIn(String(second.aside))],
    [['LATE'], ['COPY']],
  );
});

const BROKEN_REFERENCE = `INSERT INTO idempotency_keys (key, job_id, request_hash, answer) VALUES ('k', 'none', 'h', '{}')`;

function changeCopy(folder: string, sql: string): void {
  const database = openDatabase(join(folder, 'copy.db'));
  database.statement('PRAGMA foreign_keys = OFF').run();
  database.statement(sql).run();
  database.close();
}

/** What is not restored, how it comes about, and why. */
const put = (name: string, text: string) => (folder: string) =>
  writeFileSync(join(folder, name), text);
const refusals: [what: string, file: string, prepare: (folder: string) => void, why: RegExp][] = [
  ['the database itself', 'data/jobs.db', () => {}, /^Cannot .*: .* is that database itself$/],
  ['a missing file', 'missing.db', () => {}, /^There is no database .*missing\.db$/],
  [
    'text',
    'text.db',
    put('text.db', 'text '.repeat(300)),
    /its file is damaged \(file is not a database\)/,
  ],
  ['an empty file', 'empty.db', put('empty.db', ''), /Cannot read .*empty\.db: it is empty/],
  [
    'half a copy',
    'copy.db',
    (to) => truncateSync(join(to, 'copy.db'), 40_000),
    /its file is damaged \(.*malformed\); restore a backup/,
  ],
  [
    'a file from before the first release',
    'copy.db',
    (to) => makeFormer(join(to, 'copy.db')),
    FORMER,
  ],
  [
    'a newer schema',
    'copy.db',
    (folder) => changeCopy(folder, 'PRAGMA user_version = 999'),
    /its schema is version 999/,
  ],
  [
    'a reference to a missing row',
    'copy.db',
    (folder) => changeCopy(folder, BROKEN_REFERENCE),
    /copy\.db is damaged: a row .* refers to a row of .* that is missing$/,
  ],
];
for (const [what, file, prepare, message] of refusals) {
  test(`${what} is not restored, and nothing changes`, async () => {
    const folder = temporaryFolder();
    const path = await killedService(folder);
    prepare(folder);
    const before = contentOf(join(folder, 'data'));
    await assert.rejects(restoreDatabase(path, join(folder, file)), { message });
    assert.deepEqual(contentOf(join(folder, 'data')), before);
  });
}

test('a database whose log cannot be merged is not replaced: one that a program has open, or that is damaged', async () => {
  const folder = temporaryFolder();
  const path = await killedService(folder);
  const other = new DatabaseSync(path);
  other.exec('BEGIN; SELECT * FROM price_data');
  const message = (why: string) =>
    new RegExp(
      `^Cannot restore .*: the log of the existing database cannot be merged into it \\(${why}\\); end the programs`,
    );
  await assert.rejects(restoreDatabase(path, join(folder, 'copy.db')), {
    message: message('database is locked'),
  });
  other.close();
  assert.deepEqual(marksIn(path), ['LATE']);
  writeFileSync(path, 'text '.repeat(300));
  writeFileSync(`${path}-wal`, 'a log');
  await assert.rejects(restoreDatabase(path, join(folder, 'copy.db')), {
    message: message('file is not a database'),
  });
  rmSync(`${path}-wal`, { force: true });
  await restoreDatabase(path, join(folder, 'copy.db'));
  assert.deepEqual(marksIn(path), ['COPY']);
});

test('a log without its database is not applied to the new one', async () => {
  const folder = temporaryFolder();
  const path = await killedService(folder);
  rmSync(path);
  await assert.rejects(restoreDatabase(path, join(folder, 'copy.db')), {
    message: /: jobs\.db-wal exists, and SQLite would apply that log to it$/,
  });
});

test('where the file system has no links, the old database is copied aside', async (t) => {
  const folder = temporaryFolder();
  const path = await killedService(folder);
  await withoutLinks(
    t,
    () => {},
    async () => {
      const { aside } = await restoreDatabase(path, join(folder, 'copy.db'));
      assert.deepEqual([marksIn(path), marksIn(String(aside))], [['COPY'], ['LATE']]);
    },
  );
});

test('a backup that was copied over a database, beside its log, is refused before that log is applied', async () => {
  const folder = temporaryFolder();
  const path = await killedService(folder);
  copyFileSync(join(folder, 'copy.db'), path);
  const before = contentOf(folder);
  assert.throws(
    () => openDatabase(path),
    /it was copied next to the log of another database, jobs\.db-wal, which would damage it/,
  );
  await assert.rejects(
    withSnapshot(path, () => {}),
    /it was copied next to the log of another database/,
  );
  assert.deepEqual(contentOf(folder), before);
  assert.ok(readFileSync(path).equals(readFileSync(join(folder, 'copy.db'))));
  await assert.rejects(restoreDatabase(path, join(folder, 'copy.db')), {
    message: /^Cannot restore .*jobs\.db: it was copied next to the log of another database/,
  });
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix);
  assert.deepEqual((await restoreDatabase(path, join(folder, 'copy.db'))).bars, 1);
  assert.deepEqual(marksIn(path), ['COPY']);
});
