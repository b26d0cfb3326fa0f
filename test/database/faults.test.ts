import assert from 'node:assert/strict';
import fs, { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { openDatabase } from '../../src/core/database/database.ts';
import { contentVersion, isDatabaseHealthy } from '../../src/core/database/state.ts';
import { findStorageFault } from '../../src/core/database/storage/faults.ts';
import { ServiceError } from '../../src/core/domain/service-error.ts';
import { until } from '../support/until.ts';
import { temporaryFolder } from '../support/folder.ts';

const INSERT = `INSERT INTO price_data (symbol, date, open, source) VALUES ('AAPL', '2025-01-06', 1, hex(zeroblob(10000)))`;

const TEXT = `('a', 'b', 1, 'c')`;

function fail(thrown: unknown): never {
  throw thrown;
}

/**
 * What goes wrong with a file, for real, and what it is called; null for what is not the storage's
 * fault.
 */
type Fault = [name: string, provoke: (path: string) => void, words: RegExp | null];
const faults: Fault[] = [
  [
    'a full disk',
    (path) => {
      const database = openDatabase(path);
      database.statement('PRAGMA max_page_count = 1').run();
      database.statement(INSERT).run();
    },
    /^Cannot use the database: the disk is full$/,
  ],
  [
    'a file that may only be read',
    (path) => {
      openDatabase(path).close();
      new DatabaseSync(path, { readOnly: true }).exec(INSERT);
    },
    /: it is read-only$/,
  ],
  [
    'a lock',
    (path) => {
      openDatabase(path).statement('BEGIN IMMEDIATE').run();
      new DatabaseSync(path, { timeout: 0 }).exec('BEGIN IMMEDIATE');
    },
    /: another program holds its write lock$/,
  ],
  [
    'a folder in place of the file',
    (path) => (mkdirSync(path), new DatabaseSync(path)),
    /: its file cannot be opened$/,
  ],
  [
    'a file that is not a database',
    (path) => {
      writeFileSync(path, 'once upon a time '.repeat(100));
      new DatabaseSync(path).exec('SELECT * FROM jobs');
    },
    /: its file is damaged \(file is not a database\); restore a backup$/,
  ],
  ['a broken constraint', (path) => openDatabase(path).statement(`${INSERT}, ${TEXT}`).run(), null],
  ['a bug in SQL', (path) => openDatabase(path).statement('SELECT nothing').get(), null],
  ['an error of ours', () => fail(new ServiceError('job_not_found', 'x')), null],
  ['nothing at all', () => fail(null), null],
];
for (const [name, provoke, words] of faults) {
  test(`${name} is ${words === null ? 'no fault' : 'a fault'} of the storage`, () => {
    let thrown: unknown = 'nothing was thrown';
    try {
      provoke(join(temporaryFolder(), 'jobs.db'));
    } catch (error) {
      thrown = error;
    }
    assert.notEqual(thrown, 'nothing was thrown');
    if (words === null) assert.equal(findStorageFault(thrown), null);
    else assert.match(String(findStorageFault(thrown)), words);
  });
}

test('a failed write is remembered until one succeeds; the probe changes nothing', () => {
  const path = join(temporaryFolder(), 'jobs.db');
  const database = openDatabase(path);
  const content = () => database.statement('SELECT total_changes() AS own').get()?.['own'];
  const before = content();
  assert.deepEqual([database.storageFault(), database.probe()], [null, null]);
  assert.equal(isDatabaseHealthy(database), true);
  assert.equal(content(), before);
  const pages = database.statement('PRAGMA page_count').get()?.['page_count'];
  database.statement(`PRAGMA max_page_count = ${Number(pages)}`).run();
  assert.throws(() => database.transaction(() => database.statement(INSERT).run()), /full/);
  // The probe needs no further page, so it goes well, and the fault is forgotten.
  assert.deepEqual([database.storageFault(), isDatabaseHealthy(database)], [null, true]);
  database.close();
});

/**
 * Makes the file system say that only so many bytes are free, until the test is over or says
 * otherwise.
 */
function leave(t: TestContext, bytes: number, blocks = 1_000_000): void {
  t.mock.restoreAll();
  t.mock.method(fs, 'statfsSync', () => ({ blocks, bavail: bytes / 512, bsize: 512 }));
  syncBuiltinESMExports();
  t.after(() => [t.mock.restoreAll(), syncBuiltinESMExports()]);
}

/** A database whose disk is full: it has a page for the probe, and none for anything else. */
function onFullDisk(t: TestContext) {
  const database = openDatabase(join(temporaryFolder(), 'jobs.db'), { isServing: true });
  t.after(() => database.close());
  const pages = database.statement('PRAGMA page_count').get()?.['page_count'];
  database.statement(`PRAGMA max_page_count = ${Number(pages)}`).run();
  assert.throws(() => database.transaction(() => database.statement(INSERT).run()), /full/);
  return database;
}

test('a disk counts as full until 1 MiB is free, before a write has failed and when another fault comes in between', (t) => {
  const database = openDatabase(join(temporaryFolder(), 'jobs.db'), { isServing: true });
  t.after(() => database.close());
  const full = 'Cannot use the database: the disk is full';
  leave(t, 2 ** 20 - 512);
  assert.deepEqual([database.storageFault(), database.probe()], [full, full]);
  assert.equal(isDatabaseHealthy(database), false);
  const other = new DatabaseSync(database.path);
  other.exec('BEGIN IMMEDIATE');
  assert.match(String(database.probe()), /another program holds its write lock$/);
  other.close();
  assert.equal(database.probe(), full);
  leave(t, 2 ** 20);
  assert.deepEqual([database.storageFault(), isDatabaseHealthy(database)], [null, true]);
});

test('on a file system without a size it does not matter how much is free', (t) => {
  leave(t, 0, 0);
  assert.equal(onFullDisk(t).storageFault(), null);
});

test("a service's probe does not wait for another program's lock, and succeeds once it is released", (t) => {
  const { database, other } = besideLock(t);
  assert.equal(database.statement('PRAGMA busy_timeout').get()?.['timeout'], 0);
  assert.equal(database.probe(), 'Cannot use the database: another program holds its write lock');
  assert.equal(isDatabaseHealthy(database), false);
  other.exec('ROLLBACK');
  assert.equal(isDatabaseHealthy(database), true);
});

test('nothing is written once the opened file was replaced', () => {
  const path = join(temporaryFolder(), 'jobs.db');
  const database = openDatabase(path);
  const version = contentVersion(database);
  const write = () => database.transaction(() => database.statement(INSERT).run());
  const message = /its file was removed or replaced while the service runs$/;
  const gone = { code: 'storage_fault', message };
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

const damages: [what: string, damage: (side: string) => void][] = [
  ['removed', (side) => rmSync(side)],
  ['replaced', (side) => (renameSync(side, `${side}.away`), writeFileSync(side, ''))],
];
for (const [what, damage] of damages)
  for (const side of ['-wal', '-shm'])
    test(`nothing is written once ${side} was ${what}; what is there can be read`, () => {
      const path = join(temporaryFolder(), 'jobs.db');
      const database = openDatabase(path);
      const link = `${path}-link`;
      symlinkSync(path, link);
      const linked = openDatabase(link);
      const versions = [database, linked].map(contentVersion);
      damage(path + side);
      const message = `Cannot use the database: another program removed or replaced jobs.db${side} while the service runs; restart the service, and then run check`;
      for (const [index, one] of [database, linked].entries()) {
        assert.throws(() => one.transaction(() => assert.fail('it ran')), {
          code: 'storage_fault',
          message,
        });
        assert.deepEqual([one.storageFault(), one.address()], [message, null]);
        assert.equal(contentVersion(one), versions[index]);
        one.close();
      }
    });

/** A service's connection and another program's, which holds the write lock. */
function besideLock(t: TestContext) {
  const path = join(temporaryFolder(), 'jobs.db');
  const database = openDatabase(path, { isServing: true });
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  t.after(() => [database, other].forEach((connection) => connection.close()));
  return { database, other };
}

test("a write waits for another program's lock without blocking, then runs once", async (t) => {
  const { database, other } = besideLock(t);
  let runs = 0;
  const written = database.write(() => (runs += 1));
  await until('a turn of the event loop in which it could not be written', () => runs === 0);
  const state = [database.storageFault(), isDatabaseHealthy(database)];
  assert.deepEqual(state, [null, true], 'waiting is not yet a fault');
  other.exec('COMMIT');
  assert.deepEqual([await written, runs], [1, 1]);
});

test('a write that is stopped while it waits does not run, and rejects with the reason', async (t) => {
  const { database, other } = besideLock(t);
  const stopping = new AbortController();
  const written = database.write(() => assert.fail('it ran'), { signal: stopping.signal });
  stopping.abort(new Error('enough'));
  other.exec('COMMIT');
  await assert.rejects(written, /^Error: enough$/);
});

test('a lock that is held for too long is a fault of the storage, until it is released', async (t) => {
  const { database, other } = besideLock(t);
  const written = database.write(() => assert.fail('it ran'));
  const message = 'Cannot use the database: another program holds its write lock';
  await assert.rejects(written, { code: 'storage_fault', message });
  assert.equal(isDatabaseHealthy(database), false);
  other.exec('COMMIT');
  assert.equal(isDatabaseHealthy(database), true);
  assert.equal(await database.write(() => 7), 7);
});
