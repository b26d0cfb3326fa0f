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
import { test } from 'node:test';
import { backupDatabase, restoreDatabase } from '../../src/database/backup.ts';
import { type CommandDatabase, openDatabase } from '../../src/database/database.ts';
import { finishRestore } from '../../src/database/storage/restoring.ts';
import { withSnapshot } from '../../src/database/snapshot.ts';
import { contentOf } from '../support/folder.ts';
import { FORMER, makeFormer } from '../support/former.ts';
import { runs } from '../support/long.ts';
import { temporaryFolder } from '../support/service.ts';

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
  try {
    return database
      .statement('SELECT symbol FROM price_data ORDER BY 1')
      .all()
      .map(({ symbol }) => symbol);
  } finally {
    database.close();
  }
}

/**
 * `data/jobs.db` as a killed service leaves it, with LATE only in its log, and `copy.db`, a backup
 * with COPY.
 */
async function killedService(folder: string): Promise<string> {
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
  return join(folder, 'data/jobs.db');
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
  let steps = 0;
  for (const name of ['renameSync', 'fsyncSync', 'utimesSync', 'rmSync', 'linkSync', 'unlinkSync']) {
    const real = fs[name];
    fs[name] = (...args) => {
      if (++steps === ${step}) process.kill(process.pid, 'SIGKILL');
      return real(...args);
    };
  }
  syncBuiltinESMExports();
  const { restoreDatabase } = await import(${JSON.stringify(new URL('../../src/database/backup.ts', import.meta.url).href)});
  await restoreDatabase('data/jobs.db', 'copy.db');`;

test('killed before any of its steps, a restore leaves the old database with its log, or the new one and the old one aside', async (t) => {
  const start = temporaryFolder(t);
  await killedService(start);
  const outcomes: string[] = [];
  for (let step = 1, isKilled = true; isKilled; step += runs(3, 1)) {
    const folder = temporaryFolder(t);
    cpSync(start, folder, { recursive: true });
    const path = join(folder, 'data/jobs.db');
    const { signal, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', program(step)],
      { cwd: folder, encoding: 'utf8' },
    );
    isKilled = signal === 'SIGKILL';
    if (!isKilled) assert.equal(stderr, '');
    const isDecided = existsSync(`${path}-restore`);
    if (isDecided) {
      const before = contentOf(folder);
      assert.throws(
        () => openDatabase(path),
        /a restore of it was interrupted; start the service, or run restore again/,
      );
      if (existsSync(path))
        await assert.rejects(
          withSnapshot(path, () => {}),
          /a restore of it was interrupted/,
        );
      assert.deepEqual(contentOf(folder), before);
      assert.equal(finishRestore(path), join(folder, 'data', String(asideIn(folder))));
    }
    assert.equal(finishRestore(path), undefined);
    const marks = marksIn(path);
    const aside = asideIn(folder);
    outcomes.push(
      `${marks}${aside === undefined ? '' : `, aside ${marksIn(join(folder, 'data', aside))}`}${isDecided ? ', finished' : ''}`,
    );
    await restoreDatabase(path, join(folder, 'copy.db'));
    assert.deepEqual(
      readdirSync(join(folder, 'data')).filter((name) => /partial|-restore$/.test(name)),
      [],
      'the next one leaves nothing',
    );
  }
  const phases = outcomes.filter((outcome, index) => outcome !== outcomes[index - 1]);
  assert.deepEqual(phases, ['LATE', 'COPY, aside LATE, finished', 'COPY, aside LATE']);
  assert.ok(
    outcomes.filter((outcome) => outcome.endsWith('finished')).length >= runs(2, 5),
    outcomes.join('\n'),
  );
});

test('the old log is never applied to the new database; where there was none, nothing is moved aside', async (t) => {
  const folder = temporaryFolder(t);
  const path = await killedService(folder);
  const { aside, bars } = await restoreDatabase(path, join(folder, 'copy.db'));
  assert.deepEqual([marksIn(path), bars, marksIn(String(aside))], [['COPY'], 1, ['LATE']]);
  const fresh = await restoreDatabase(join(folder, 'new/jobs.db'), join(folder, 'copy.db'));
  assert.deepEqual(
    [fresh.aside, marksIn(join(folder, 'new/jobs.db')), readdirSync(join(folder, 'new'))],
    [null, ['COPY'], ['jobs.db']],
  );
});

test('a link to the database stays, and two restores in one second keep both old databases', async (t) => {
  const folder = temporaryFolder(t);
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

const refusals: [name: string, prepare: (folder: string) => string, message: RegExp][] = [
  [
    'the database itself',
    () => 'data/jobs.db',
    /^Cannot restore .*jobs\.db: .* is that database itself$/,
  ],
  ['a missing file', () => 'missing.db', /^There is no database .*missing\.db$/],
  [
    'text',
    (folder) => (writeFileSync(join(folder, 'text.db'), 'text '.repeat(300)), 'text.db'),
    /file is not a database/,
  ],
  [
    'an empty file',
    (folder) => (writeFileSync(join(folder, 'empty.db'), ''), 'empty.db'),
    /Cannot read .*empty\.db: it is empty/,
  ],
  [
    'half a copy',
    (folder) => (truncateSync(join(folder, 'copy.db'), 40_000), 'copy.db'),
    /malformed|damaged/,
  ],
  [
    'a file from before the first release',
    (folder) => (makeFormer(join(folder, 'copy.db')), 'copy.db'),
    FORMER,
  ],
  [
    'a newer schema',
    (folder) => changed(folder, 'PRAGMA user_version = 999'),
    /its schema is version 999/,
  ],
  [
    'a reference to a missing row',
    (folder) => changed(folder, brokenReference),
    /copy\.db is damaged: a row .* refers to a row of .* that is missing$/,
  ],
];
const brokenReference = `INSERT INTO idempotency_keys (key, job_id, request_hash, answer) VALUES ('k', 'none', 'h', '{}')`;

function changed(folder: string, sql: string): string {
  const database = openDatabase(join(folder, 'copy.db'));
  database.statement('PRAGMA foreign_keys = OFF').run();
  database.statement(sql).run();
  database.close();
  return 'copy.db';
}

for (const [name, prepare, message] of refusals) {
  test(`${name} is not restored, and nothing changes`, async (t) => {
    const folder = temporaryFolder(t);
    const path = await killedService(folder);
    const file = join(folder, prepare(folder));
    const before = contentOf(join(folder, 'data'));
    await assert.rejects(restoreDatabase(path, file), { message });
    assert.deepEqual(contentOf(join(folder, 'data')), before);
  });
}

test('what appeared in the place of a database whose restore was interrupted is not replaced', async (t) => {
  const folder = temporaryFolder(t);
  const path = await killedService(folder);
  const { aside } = await restoreDatabase(path, join(folder, 'copy.db'));
  cpSync(path, `${path}-restore`, { preserveTimestamps: true });
  assert.throws(
    () => finishRestore(path),
    /both .*jobs\.db and .*jobs-before-restore-.* exist; move one of them away$/,
  );
  assert.ok(existsSync(path) && existsSync(String(aside)));
});

test('a folder or a link with the name of an interrupted restore is none', async (t) => {
  const folder = temporaryFolder(t);
  const path = await killedService(folder);
  for (const put of [
    () => mkdirSync(`${path}-restore`),
    () => symlinkSync('../copy.db', `${path}-restore`),
    () => symlinkSync('nowhere', `${path}-restore`),
  ]) {
    put();
    const before = readdirSync(join(folder, 'data'));
    const message = /jobs\.db-restore is not a regular file; move it away$/;
    assert.throws(() => finishRestore(path), { code: 'storage_fault', message });
    assert.deepEqual(readdirSync(join(folder, 'data')), before);
    rmSync(`${path}-restore`, { recursive: true });
  }
});

test('a backup that was copied over a database, beside its log, is refused before that log is applied', async (t) => {
  const folder = temporaryFolder(t);
  const path = await killedService(folder);
  copyFileSync(join(folder, 'copy.db'), path);
  const before = contentOf(folder);
  assert.throws(
    () => openDatabase(path),
    /it was copied there beside the log of another database, jobs\.db-wal, which would damage it/,
  );
  await assert.rejects(
    withSnapshot(path, () => {}),
    /it was copied there beside the log of another database/,
  );
  assert.deepEqual(contentOf(folder), before);
  assert.ok(readFileSync(path).equals(readFileSync(join(folder, 'copy.db'))));
  assert.deepEqual((await restoreDatabase(path, join(folder, 'copy.db'))).bars, 1);
  assert.deepEqual(marksIn(path), ['COPY']);
});
