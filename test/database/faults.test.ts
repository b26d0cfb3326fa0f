import assert from 'node:assert/strict';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { contentVersion, isDatabaseHealthy, openDatabase } from '../../src/database/database.ts';
import { storageFaultOf } from '../../src/database/faults.ts';
import { ServiceError } from '../../src/domain.ts';
import { temporaryFolder } from '../support/service.ts';

const INSERT = `INSERT INTO price_data (symbol, date, open, source) VALUES ('AAPL', '2025-01-06', 1, hex(zeroblob(10000)))`;

/** What goes wrong in a folder, for real, and what it is called; null for what is not the storage's fault. */
type Fault = [name: string, provoke: (folder: string) => void, words: RegExp | null];
const faults: Fault[] = [
  [
    'a full disk',
    (folder) => {
      const database = openDatabase(join(folder, 'jobs.db'));
      database.statement('PRAGMA max_page_count = 1').run();
      database.statement(INSERT).run();
    },
    /^Cannot use the database: the disk is full$/,
  ],
  [
    'a file that may only be read',
    (folder) => {
      openDatabase(join(folder, 'jobs.db')).close();
      new DatabaseSync(join(folder, 'jobs.db'), { readOnly: true }).exec(INSERT);
    },
    /: it is read-only$/,
  ],
  [
    'a lock',
    (folder) => {
      openDatabase(join(folder, 'jobs.db')).statement('BEGIN IMMEDIATE').run();
      new DatabaseSync(join(folder, 'jobs.db'), { timeout: 0 }).exec('BEGIN IMMEDIATE');
    },
    /: another program holds its write lock$/,
  ],
  [
    'a folder in place of the file',
    (folder) => (mkdirSync(join(folder, 'jobs.db')), new DatabaseSync(join(folder, 'jobs.db'))),
    /: its file cannot be opened$/,
  ],
  [
    'a file that is no database',
    (folder) => {
      writeFileSync(join(folder, 'jobs.db'), 'once upon a time '.repeat(100));
      new DatabaseSync(join(folder, 'jobs.db')).exec('SELECT * FROM jobs');
    },
    /: its file is damaged$/,
  ],
  [
    'a broken constraint',
    (folder) => openDatabase(join(folder, 'jobs.db')).statement(`${INSERT}, ('a', 'b', 1, 'c')`).run(),
    null,
  ],
  ['a bug in SQL', (folder) => openDatabase(join(folder, 'jobs.db')).statement('SELECT nothing').get(), null],
  [
    'an error of ours',
    () => {
      throw new ServiceError('not_found', 'x');
    },
    null,
  ],
  [
    'nothing at all',
    () => {
      throw null;
    },
    null,
  ],
];
for (const [name, provoke, words] of faults) {
  test(`${name} is ${words === null ? 'no fault' : 'a fault'} of the storage`, (t) => {
    let thrown: unknown = 'nothing was thrown';
    try {
      provoke(temporaryFolder(t));
    } catch (error) {
      thrown = error;
    }
    assert.notEqual(thrown, 'nothing was thrown');
    if (words === null) assert.equal(storageFaultOf(thrown), null);
    else assert.match(String(storageFaultOf(thrown)), words);
  });
}

test('a failed write is remembered until one goes well; the probe changes nothing', (t) => {
  const path = join(temporaryFolder(t), 'jobs.db');
  const database = openDatabase(path);
  const content = () => database.statement('SELECT total_changes() AS own').get()?.['own'];
  const before = content();
  assert.deepEqual([database.storageFault(), database.probe(), isDatabaseHealthy(database)], [null, null, true]);
  assert.equal(content(), before);
  const pages = database.statement('PRAGMA page_count').get()?.['page_count'];
  database.statement(`PRAGMA max_page_count = ${Number(pages)}`).run();
  assert.throws(() => database.transaction(() => database.statement(INSERT).run()), /full/);
  // The probe needs no further page, so it goes well, and the fault is forgotten.
  assert.deepEqual([database.storageFault(), isDatabaseHealthy(database)], [null, true]);
  database.close();
});

test('a lock of another program is not waited for by the probe, and is over when it is over', (t) => {
  const path = join(temporaryFolder(t), 'jobs.db');
  const database = openDatabase(path);
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  const startedAt = performance.now();
  assert.equal(database.probe(), 'Cannot use the database: another program holds its write lock');
  assert.ok(performance.now() - startedAt < 1_000);
  assert.equal(isDatabaseHealthy(database), false);
  other.exec('ROLLBACK');
  assert.equal(isDatabaseHealthy(database), true);
  assert.equal(database.statement('PRAGMA busy_timeout').get()?.['timeout'], 5_000);
  database.close();
});

test('nothing is written to a file that is not the one that was opened', (t) => {
  const path = join(temporaryFolder(t), 'jobs.db');
  const database = openDatabase(path);
  const version = contentVersion(database);
  const write = () => database.transaction(() => database.statement(INSERT).run());
  const gone = { code: 'storage_fault', message: /its file was removed or replaced while the service runs$/ };
  renameSync(path, `${path}.away`);
  assert.throws(write, gone);
  assert.equal(isDatabaseHealthy(database), false);
  writeFileSync(path, 'another');
  assert.throws(write, gone);
  renameSync(`${path}.away`, path);
  assert.equal(contentVersion(database), version);
  write();
  assert.equal(isDatabaseHealthy(database), true);
  database.close();
});
