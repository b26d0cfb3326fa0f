import assert from 'node:assert/strict';
import { momentAt } from '../../src/database/view.ts';
import { execFileSync } from 'node:child_process';
import fs, {
  copyFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { type Database, openDatabase } from '../../src/database/database.ts';
import { contentVersion, isDatabaseHealthy } from '../../src/database/state.ts';
import { storageFaultOf } from '../../src/database/storage/faults.ts';
import { watchFiles } from '../../src/database/storage/guard.ts';
import { ServiceError } from '../../src/basics/domain.ts';
import { temporaryFolder } from '../support/service.ts';
import { until } from '../support/until.ts';

const INSERT = `INSERT INTO price_data (symbol, date, open, source) VALUES ('AAPL', '2025-01-06', 1, hex(zeroblob(10000)))`;

/**
 * What goes wrong in a folder, for real, and what it is called; null for what is not the storage's
 * fault.
 */
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
    'a file that is not a database',
    (folder) => {
      writeFileSync(join(folder, 'jobs.db'), 'once upon a time '.repeat(100));
      new DatabaseSync(join(folder, 'jobs.db')).exec('SELECT * FROM jobs');
    },
    /: its file is damaged$/,
  ],
  [
    'a broken constraint',
    (folder) =>
      openDatabase(join(folder, 'jobs.db')).statement(`${INSERT}, ('a', 'b', 1, 'c')`).run(),
    null,
  ],
  [
    'a bug in SQL',
    (folder) => openDatabase(join(folder, 'jobs.db')).statement('SELECT nothing').get(),
    null,
  ],
  [
    'an error of ours',
    () => {
      throw new ServiceError('job_not_found', 'x');
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

test('a failed write is remembered until one succeeds; the probe changes nothing', (t) => {
  const path = join(temporaryFolder(t), 'jobs.db');
  const database = openDatabase(path);
  const content = () => database.statement('SELECT total_changes() AS own').get()?.['own'];
  const before = content();
  assert.deepEqual(
    [database.storageFault(), database.probe(), isDatabaseHealthy(database)],
    [null, null, true],
  );
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
  const database = openDatabase(join(temporaryFolder(t), 'jobs.db'), { isServing: true });
  t.after(() => database.close());
  const pages = database.statement('PRAGMA page_count').get()?.['page_count'];
  database.statement(`PRAGMA max_page_count = ${Number(pages)}`).run();
  assert.throws(() => database.transaction(() => database.statement(INSERT).run()), /full/);
  return database;
}

test('a disk counts as full until 1 MiB is free, before a write has failed and when another fault comes in between', (t) => {
  const database = openDatabase(join(temporaryFolder(t), 'jobs.db'), { isServing: true });
  t.after(() => database.close());
  const full = 'Cannot use the database: the disk is full';
  leave(t, 2 ** 20 - 512);
  assert.deepEqual(
    [database.storageFault(), database.probe(), isDatabaseHealthy(database)],
    [full, full, false],
  );
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

test('nothing is written once the opened file was replaced', (t) => {
  const path = join(temporaryFolder(t), 'jobs.db');
  const database = openDatabase(path);
  const version = contentVersion(database);
  const write = () => database.transaction(() => database.statement(INSERT).run());
  const gone = {
    code: 'storage_fault',
    message: /its file was removed or replaced while the service runs$/,
  };
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

test('files found in their places are looked for again after 10 ms, missing ones at once', (t) => {
  const path = join(temporaryFolder(t), 'jobs.db');
  const connection = new DatabaseSync(path);
  t.after(() => connection.close());
  const guard = watchFiles(path, connection, { onRepair: () => {} });
  assert.equal(guard.isWhole(1_000), true);
  renameSync(path, `${path}.away`);
  assert.deepEqual(
    [1_009, 1_010, 1_011].map((now) => guard.isWhole(now)),
    [true, false, false],
  );
  renameSync(`${path}.away`, path);
  assert.equal(guard.isWhole(1_012), true);
});

/** A database with so many bars, and what the guard said. */
function withBars(t: TestContext, bars: number) {
  const path = join(temporaryFolder(t), 'jobs.db');
  const repairs: string[] = [];
  const database = openDatabase(path, { onRepair: (what) => repairs.push(what) });
  const add = (symbol: string) =>
    database.transaction(() =>
      database
        .statement(`INSERT INTO price_data (symbol, date, open) VALUES (?, '2025-01-06', 1)`)
        .run(symbol),
    );
  for (let bar = 0; bar < bars; bar += 1) add(`S${bar}`);
  /** What another process would find after this one was killed: the files as they lie there. */
  const barsOnDisk = () => {
    const copy = join(temporaryFolder(t), 'jobs.db');
    for (const suffix of ['', '-wal'])
      if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix);
    const found = new DatabaseSync(copy);
    const count = found.prepare('SELECT count(*) AS count FROM price_data').get()?.['count'];
    assert.deepEqual(
      { ...found.prepare('PRAGMA integrity_check').get() },
      { integrity_check: 'ok' },
    );
    found.close();
    return count;
  };
  return { path, database, repairs, add, barsOnDisk };
}

for (const lost of [['-wal'], ['-shm'], ['-wal', '-shm']]) {
  test(`${lost.join(' and ')} removed under an open database: its content is saved before any other write`, (t) => {
    const { path, database, repairs, add, barsOnDisk } = withBars(t, 50);
    const statement = database.statement('SELECT count(*) AS count FROM price_data');
    for (const symbol of ['NEW', 'NEWER']) {
      for (const suffix of lost) rmSync(path + suffix);
      add(symbol);
    }
    assert.equal(barsOnDisk(), 52);
    assert.equal(statement.get()?.['count'], 52);
    for (const suffix of lost) rmSync(path + suffix);
    assert.equal(isDatabaseHealthy(database), true);
    assert.equal(barsOnDisk(), 52, 'health saves it too');
    const what = `The log of the database (${lost.join(', ')}) was removed while it was in use; what it held was saved`;
    assert.deepEqual(repairs, [what, what, what]);
    database.close();
  });
}

test('a removed log that another program still uses is saved once that program has exited, and nothing is written until then', (t) => {
  const { path, database, repairs, add, barsOnDisk } = withBars(t, 50);
  const other = new DatabaseSync(path);
  other.exec('SELECT * FROM price_data');
  rmSync(`${path}-wal`);
  const fault =
    /^Cannot use the database: its log \(-wal, -shm\) was removed .* cannot be saved while others have/;
  assert.throws(() => add('NEW'), { code: 'storage_fault', message: fault });
  assert.match(String(database.probe()), fault);
  assert.equal(isDatabaseHealthy(database), false);
  assert.equal(database.statement('SELECT count(*) AS count FROM price_data').get()?.['count'], 50);
  other.close();
  assert.equal(isDatabaseHealthy(database), true);
  add('NEW');
  assert.deepEqual([barsOnDisk(), repairs.length], [51, 1]);
  database.close();
});

test('a removed log is not saved while a response is being read', (t) => {
  const { path, database, add, barsOnDisk } = withBars(t, 50);
  const rows = database.statement('SELECT symbol FROM price_data').iterate();
  rows.next();
  rmSync(`${path}-wal`);
  assert.throws(() => add('NEW'), { code: 'storage_fault' });
  assert.equal([...rows].length, 49);
  add('NEW');
  assert.equal(barsOnDisk(), 51);
  database.close();
});

test('a removed log is saved though responses were read before, and one that is made meanwhile begins no other log', (t) => {
  const { path, database, repairs, add, barsOnDisk } = withBars(t, 50);
  const countIn = (moment: Database) =>
    moment.statement('SELECT count(*) AS count FROM price_data').get()?.['count'];
  assert.equal(database.read(countIn), 50); // its connection waits for the next response
  const begun = momentAt({ path, isView: false });
  assert.equal(countIn(begun), 50);
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix);
  begun.close();
  assert.equal(database.read(countIn), 50);
  assert.equal(existsSync(`${path}-wal`), false);
  add('NEW');
  assert.deepEqual([database.read(countIn), barsOnDisk(), repairs.length], [51, 51, 1]);
  database.close();
});

test('a log that another program has begun is not overwritten', (t) => {
  const { path, database, add } = withBars(t, 50);
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix);
  const other = `new (require('node:sqlite').DatabaseSync)(process.argv[1]).exec('CREATE TABLE theirs (x)')`;
  execFileSync(process.execPath, ['--eval', other, path]);
  const fault = {
    code: 'storage_fault',
    message:
      /its log \(-wal, -shm\) was replaced while the service runs.*restart the service, then run check$/,
  };
  assert.throws(() => add('NEW'), fault);
  assert.equal(isDatabaseHealthy(database), false);
  database.close();
});

/** A service's connection and another program's, which holds the write lock. */
function besideLock(t: TestContext) {
  const path = join(temporaryFolder(t), 'jobs.db');
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
  assert.deepEqual(
    [database.storageFault(), isDatabaseHealthy(database)],
    [null, true],
    'waiting is not yet a fault',
  );
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
  await assert.rejects(
    database.write(() => assert.fail('it ran')),
    {
      code: 'storage_fault',
      message: 'Cannot use the database: another program holds its write lock',
    },
  );
  assert.equal(isDatabaseHealthy(database), false);
  other.exec('COMMIT');
  assert.equal(isDatabaseHealthy(database), true);
  assert.equal(await database.write(() => 7), 7);
});
