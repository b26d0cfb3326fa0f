import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { openDatabase } from '../../src/database/database.ts';
import { migrate, migrations, newestVersion } from '../../src/database/schema/schema.ts';
import {
  actionTypes,
  jobStatuses,
  messageRoles,
  modelDayStatuses,
  sessionStatuses,
} from '../../src/basics/domain.ts';
import { fourDays } from '../support/books.ts';
import { contentOf } from '../support/folder.ts';
import { writeManifest } from '../support/manifest.ts';
import { ask, followProgram, type Program } from '../support/program.ts';
import { temporaryFolder } from '../support/service.ts';
import { until } from '../support/until.ts';
import { inLongForm } from '../support/long.ts';

/**
 * SHA-256 of every released migration. Databases out there were made by these very texts: rows are
 * only ever added.
 */
const released: string[] = [];

test('a released migration is never edited; a change of the schema is a new migration', () => {
  const hashes = migrations.map((sql) => hash('sha256', sql));
  assert.deepEqual(
    hashes,
    released,
    'restore the released text and add a new migration; the hash of a new one gets a row here',
  );
});

const words: [column: string, words: readonly string[]][] = [
  ['jobs.status', jobStatuses],
  ['job_details.status', modelDayStatuses],
  ['trading_sessions.status', sessionStatuses],
  ['positions.action_type', actionTypes],
  ['reasoning_logs.role', messageRoles],
];
for (const [place, list] of words) {
  test(`${place} accepts the words of domain.ts and no others; a new word needs a migration`, () => {
    const [table, column] = place.split('.') as [string, string];
    const database = new DatabaseSync(':memory:');
    migrate(database);
    const sql = database.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').get(table)?.[
      'sql'
    ];
    const accepted = new RegExp(`\\b${column} TEXT [^,]*CHECK \\(${column} IN \\(([^)]*)\\)`).exec(
      String(sql),
    )?.[1];
    assert.deepEqual(accepted?.match(/\w+/g)?.sort(), [...list].sort());
  });
}

/**
 * A made-up next version, in processes of its own: this one keeps its list of migrations. Applied
 * twice, the migration would fail; applied to half, it would leave a job without a word.
 */
const MIGRATION = `ALTER TABLE jobs ADD COLUMN word TEXT; UPDATE jobs SET word = 'of ' || job_id`;
const WORDS = ['of job-1', 'of job-2', 'of job-3', 'of job-4'];
const [THIS, NEXT] = [newestVersion(), newestVersion() + 1];
const urlOf = (path: string) => new URL(`../../${path}`, import.meta.url);
const MAIN = urlOf('src/main.ts').pathname;
const OPEN = `import { openDatabase } from '${urlOf('src/database/database.ts').href}';
  console.log('opening');
  openDatabase('data/jobs.db').close();`;
const opening = ['--input-type=module', '--eval', OPEN];
/** The same, telling before it waits for the lock of a transaction. */
const openingAloud = [
  ...opening.slice(0, -1),
  `import { DatabaseSync } from 'node:sqlite';
  const { exec } = DatabaseSync.prototype;
  DatabaseSync.prototype.exec = function (sql) {
    if (sql === 'BEGIN IMMEDIATE') console.log('waiting');
    return exec.call(this, sql);
  };
  ${OPEN}`,
];

/**
 * A folder with the books of four days as the database of the service, as this program leaves it.
 */
async function withBooks(t: TestContext, { hasManifest = false } = {}): Promise<string> {
  const cwd = temporaryFolder(t);
  mkdirSync(join(cwd, 'data'));
  const { database } = await fourDays(join(cwd, 'data/jobs.db'));
  if (hasManifest) writeManifest(database);
  database.close();
  return cwd;
}

function startNext(
  t: TestContext,
  cwd: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Program {
  const words = ['--import', urlOf('test/fixtures/second-version.ts').href, ...args];
  const program = followProgram(
    spawn(process.execPath, words, { cwd, env: { API_PORT: '0', MIGRATION, ...env } }),
  );
  t.after(() => program.process.kill('SIGKILL'));
  return program;
}

/** The version of a file, and the words that the migration gave its jobs; null without them. */
function stateOf(path: string): [version: number, words: string[] | null] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
    const hasWords =
      database.prepare(`SELECT 1 FROM pragma_table_info('jobs') WHERE name = 'word'`).get() !==
      undefined;
    return [
      version,
      hasWords
        ? database
            .prepare('SELECT word FROM jobs ORDER BY job_id')
            .all()
            .map(({ word }) => String(word))
        : null,
    ];
  } finally {
    database.close();
  }
}

test('a file of an earlier version is migrated when it is opened; an earlier program then refuses it and leaves it as it is', async (t) => {
  const cwd = await withBooks(t);
  const path = join(cwd, 'data/jobs.db');
  assert.deepEqual(stateOf(path), [THIS, null]);
  assert.equal((await startNext(t, cwd, opening).ended).code, 0);
  assert.deepEqual(stateOf(path), [NEXT, WORDS]);
  const bytes = readFileSync(path);
  const refused = `Cannot use ${path}: its schema is version ${NEXT}, this program knows versions up to ${THIS}; use a newer program`;
  assert.throws(() => openDatabase(path), { code: 'cannot_start', message: refused });
  assert.deepEqual(readFileSync(path), bytes);
  assert.equal((await startNext(t, cwd, opening).ended).code, 0);
  assert.deepEqual(readFileSync(path), bytes, 'it is migrated once');
});

test(
  'two programs that open a file of an earlier version at once migrate it once',
  inLongForm,
  async (t) => {
    const cwd = await withBooks(t);
    const path = join(cwd, 'data/jobs.db');
    const database = openDatabase(path);
    database.statement('BEGIN IMMEDIATE').run(); // both have seen the old version, and wait
    const programs = [startNext(t, cwd, openingAloud), startNext(t, cwd, openingAloud)];
    await Promise.all(programs.map((program) => program.waitFor(/waiting/)));
    database.statement('COMMIT').run();
    database.close();
    for (const { ended } of programs)
      assert.deepEqual(await ended, {
        code: 0,
        signal: null,
        stdout: 'opening\nwaiting\n',
        stderr: '',
      });
    assert.deepEqual(stateOf(path), [NEXT, WORDS]);
  },
);

/** A migration that takes long, and writes more than the cache holds. */
const LONG = `${MIGRATION}; CREATE TABLE long AS WITH RECURSIVE numbers (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers)
  SELECT zeroblob(4000) AS bytes FROM numbers LIMIT 500000`;
const ends: [name: string, migration: string, isKilled: boolean][] = [
  ['fails', `${MIGRATION}; INSERT INTO nowhere VALUES (1)`, false],
  ['is killed', LONG, true],
];
for (const [name, migration, isKilled] of ends) {
  test(`a migration that ${name} in the middle leaves the earlier version, which the next start migrates`, async (t) => {
    const cwd = await withBooks(t);
    const path = join(cwd, 'data/jobs.db');
    const { process: child, ended } = startNext(t, cwd, opening, { MIGRATION: migration });
    if (isKilled) {
      await until(
        'the migration to write',
        () => existsSync(`${path}-wal`) && statSync(`${path}-wal`).size > 1e6,
      );
      child.kill('SIGKILL');
    }
    const { code, signal, stderr } = await ended;
    assert.deepEqual([code, signal], isKilled ? [null, 'SIGKILL'] : [1, null]);
    if (!isKilled)
      assert.match(stderr, /Cannot open the database data\/jobs\.db: no such table: nowhere/);
    const database = openDatabase(path);
    assert.deepEqual(
      { ...database.statement('PRAGMA integrity_check').get() },
      { integrity_check: 'ok' },
    );
    assert.equal(
      database.statement(`SELECT 1 FROM sqlite_schema WHERE name = 'long'`).get(),
      undefined,
    );
    database.close();
    assert.deepEqual(stateOf(path), [THIS, null]);
    assert.equal((await startNext(t, cwd, opening).ended).code, 0);
    assert.deepEqual(stateOf(path), [NEXT, WORDS]);
  });
}

test(
  'check and view read a file of an earlier version as a migrated copy, restore copies it: the file stays as it is',
  inLongForm,
  async (t) => {
    const cwd = await withBooks(t);
    for (const folder of ['files', 'tmp']) mkdirSync(join(cwd, folder));
    copyFileSync(join(cwd, 'data/jobs.db'), join(cwd, 'files/old.db'));
    const before = contentOf(join(cwd, 'files'));
    const env = { TMPDIR: join(cwd, 'tmp') };
    const check = await startNext(t, cwd, [MAIN, 'check', '--replay', 'files/old.db'], env).ended;
    const version = `schema: version ${THIS}, of an earlier program; what follows is of a migrated copy`;
    assert.deepEqual(check.stdout.split('\n').slice(1), [
      version,
      'file: sound',
      'ledger: 4 model-days of 1 model, 7 positions',
      '  all add up',
      'replay: 4 of 4 model-days replayed: same reports, same answers, same books',
      '',
    ]);
    assert.equal(check.code, 0);

    const view = startNext(t, cwd, [MAIN, 'view', 'files/old.db'], env);
    await view.waitFor(
      new RegExp(
        `^files/old\\.db, made in PROD mode, schema version ${THIS}, shown as a migrated copy: http`,
        'm',
      ),
    );
    const [, port] = await view.waitFor(/"message":"listening".*?"port":(\d+)/);
    const shown = `http://127.0.0.1:${port}`;
    assert.deepEqual(
      [(await ask(`${shown}/health`)).viewing, (await ask(`${shown}/jobs`)).count],
      ['old.db', 4],
    );
    assert.equal(readdirSync(join(cwd, 'tmp')).length, 1);
    view.process.kill('SIGTERM');
    assert.equal((await view.ended).code, 0);
    assert.deepEqual(readdirSync(join(cwd, 'tmp')), [], 'the copies are removed');

    const { code, stdout } = await startNext(t, cwd, [MAIN, 'restore', 'files/old.db'], env).ended;
    assert.deepEqual(
      [code, /restored from files\/old\.db/.test(stdout), stateOf(join(cwd, 'data/jobs.db'))],
      [0, true, [THIS, null]],
    );
    assert.equal((await startNext(t, cwd, opening).ended).code, 0);
    assert.deepEqual(stateOf(join(cwd, 'data/jobs.db')), [NEXT, WORDS]);
    assert.deepEqual(contentOf(join(cwd, 'files')), before);
  },
);

test(
  'a file of an earlier version is compared with its manifest as it is, before it is migrated',
  inLongForm,
  async (t) => {
    const cwd = await withBooks(t, { hasManifest: true });
    const file = new DatabaseSync(join(cwd, 'data/jobs.db'));
    t.after(() => file.close());
    const check = async () => {
      const { code, stdout } = await startNext(t, cwd, [MAIN, 'check', 'data/jobs.db']).ended;
      return [code, ...stdout.split('\n').slice(2, 4)];
    };
    const tables = file.prepare('SELECT count(*) AS count FROM package_manifest').get()?.['count'];
    const ledger = 'ledger: 4 model-days of 1 model, 7 positions';
    assert.deepEqual(await check(), [
      0,
      `file: sound, and all ${tables} tables are as its manifest states them`,
      ledger,
    ]);
    file.exec(`UPDATE tool_usage SET duration_ms = duration_ms + 1 WHERE session_id = 1`);
    const [code, damaged, sentence] = await check();
    assert.deepEqual([code, damaged], [1, 'file: damaged']);
    assert.match(
      String(sentence),
      /^ {2}tool_usage is not as the manifest states it: a value in its \d+ rows? has changed$/,
    );
  },
);
