import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openDatabase, removeDatabase } from '../../src/core/database/database.ts';
import { claimOwnership } from '../../src/core/database/storage/owner.ts';
import { withSnapshot } from '../../src/core/database/snapshot.ts';
import { makeFormer } from '../support/former.ts';
import { descriptorsOf, noProc } from '../support/processes.ts';
import { tableOf } from '../support/text-table.ts';
import { contentOf, temporaryFolder } from '../support/folder.ts';

const STARTED_AT = '2025-01-06T10:00:00.000Z';

/** As the service does: the database and its folder in `data`. */
function claim(folder: string, name = 'jobs.db') {
  return claimOwnership(join(folder, 'data', name), { startedAt: STARTED_AT });
}

const inUse = {
  code: 'cannot_start',
  message: new RegExp(
    `jobs(_dev)?\\.db is in use by process ${process.pid}, started ${STARTED_AT}`,
  ),
};

test('one process owns a database; the next one reads which', () => {
  const folder = temporaryFolder();
  const first = claim(folder);
  assert.throws(() => claim(folder), inUse);
  first.release();
  claim(folder).release();
});

test('a lock that cannot be taken is closed again', { skip: noProc }, () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'data/agent_data'), { recursive: true });
  const lock = join(folder, 'data/agent_data/owner.lock');
  writeFileSync(lock, 'This is no database. '.repeat(100));
  assert.throws(() => claim(folder), /agent_data cannot be written: file is not a database/);
  assert.ok(!descriptorsOf(process.pid).includes(lock));
});

/**
 * How a second folder can lead to the database of a first one, which has `data`: links by their
 * place in the second, with where each leads; and the name of the second database.
 */
const links = tableOf<[name: string, links: string, secondName: string]>(`
  a symbolic link to the file      | data/jobs.db FIRST/data/jobs.db                     | jobs.db
  a relative symbolic link         | data/jobs.db ../../first/data/jobs.db               | jobs.db
  links of links                   | one.db FIRST/data/jobs.db data/jobs.db ../one.db    | jobs.db
  a link in place of data          | data FIRST/data                                     | jobs.db
  DEV's name for PROD's file       | data/jobs_dev.db FIRST/data/jobs.db                 | jobs_dev.db`);
for (const [name, text, secondName] of links) {
  for (const state of ['is there', 'is not there yet']) {
    test(`the lock belongs to the file: ${name}, which ${state}`, () => {
      const folder = temporaryFolder();
      const [first, second] = [join(folder, 'first'), join(folder, 'second')];
      for (const path of [first, second, join(first, 'data')]) mkdirSync(path);
      if (state === 'is there') openDatabase(join(first, 'data/jobs.db')).close();
      for (const [, place = '', target = ''] of text.matchAll(/(\S+) (\S+)/g)) {
        mkdirSync(dirname(join(second, place)), { recursive: true });
        symlinkSync(target.replace('FIRST', first), join(second, place));
      }
      const direct = claim(first);
      assert.throws(() => claim(second, secondName), inUse);
      direct.release();
      const linked = claim(second, secondName);
      assert.throws(() => claim(first), inUse);
      linked.release();
    });
  }
}

test('a note replaces what has its name, and nothing is written through a link or waits for a FIFO', () => {
  const folder = temporaryFolder();
  const own = join(folder, 'data/agent_data');
  mkdirSync(own, { recursive: true });
  writeFileSync(join(folder, 'victim'), '');
  symlinkSync('../../victim', join(own, 'owner.lock'));
  for (const put of [
    () => symlinkSync('../../victim', join(own, 'owner.json')),
    () => execFileSync('mkfifo', [join(own, 'owner.json')]),
  ]) {
    put();
    const first = claim(folder);
    assert.throws(() => claim(folder), inUse);
    first.release();
    assert.equal(readFileSync(join(folder, 'victim'), 'utf8'), '');
    rmSync(join(own, 'owner.json'));
  }
});

test('two databases with names of their own in one folder have a lock each', () => {
  const folder = temporaryFolder();
  const owners = ['one', 'two'].map((name) => {
    mkdirSync(join(folder, name, 'data'), { recursive: true });
    symlinkSync(join(folder, `${name}.db`), join(folder, name, 'data/jobs.db'));
    return claim(join(folder, name));
  });
  assert.throws(() => claim(join(folder, 'two')), inUse);
  owners.forEach((owner) => owner.release());
});

test("DEV's reset follows a link to a file of the same name, and refuses any other", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'real'));
  for (const name of ['jobs_dev.db', 'jobs.db']) openDatabase(join(folder, 'real', name)).close();
  writeFileSync(join(folder, 'real/jobs_dev.db-wal'), '');
  symlinkSync('real/jobs_dev.db', join(folder, 'jobs_dev.db'));
  removeDatabase(join(folder, 'jobs_dev.db'));
  assert.deepEqual(readdirSync(join(folder, 'real')), ['jobs.db']);
  openDatabase(join(folder, 'jobs_dev.db')).close();
  assert.deepEqual(readdirSync(join(folder, 'real')), ['jobs.db', 'jobs_dev.db']);
  symlinkSync('real/jobs.db', join(folder, 'other.db'));
  assert.throws(() => removeDatabase(join(folder, 'other.db')), {
    message: /^Cannot reset .*other\.db: it is a link to .*real\/jobs\.db/,
  });
  assert.ok(existsSync(join(folder, 'real/jobs.db')));
});

test("DEV's reset removes a database from before the first release", () => {
  const path = join(temporaryFolder(), 'jobs_dev.db');
  openDatabase(path).close();
  makeFormer(path);
  removeDatabase(path);
  assert.ok(!existsSync(path));
});

test('the target of a link is read with the log beside it', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'real'));
  const database = openDatabase(join(folder, 'real/jobs.db'));
  symlinkSync('real/jobs.db', join(folder, 'jobs.db'));
  database
    .statement(`INSERT INTO price_data (symbol, date, open) VALUES ('AAPL', '2025-01-06', 1)`)
    .run();
  const count = await withSnapshot(
    join(folder, 'jobs.db'),
    (snapshot) => snapshot.statement('SELECT count(*) AS bars FROM price_data').get()?.['bars'],
  );
  assert.equal(count, 1);
  database.close();
});

test('a file that a writer without a log left half written is refused, not read as it is', async () => {
  const folder = temporaryFolder();
  const [path, half] = [join(folder, 'copy.db'), join(folder, 'half.db')];
  openDatabase(path).close();
  const writer = new DatabaseSync(path);
  writer.exec('PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; CREATE TABLE more (x); BEGIN');
  for (let row = 0; row < 50; row += 1) writer.exec('INSERT INTO more VALUES (randomblob(4000))');
  for (const side of ['', '-journal']) copyFileSync(path + side, half + side);
  writer.close();
  const before = contentOf(folder);
  await assert.rejects(
    withSnapshot(half, () => {}),
    { code: 'storage_fault', message: /half\.db: / },
  );
  assert.deepEqual(contentOf(folder), before);
});

test('a file that no program had open is not read on once one has changed it', async () => {
  const path = join(temporaryFolder(), 'jobs.db');
  openDatabase(path).close();
  const change = () => {
    const database = openDatabase(path);
    database.statement(`UPDATE price_writes SET number = 7`).run();
    return database;
  };
  const refusal = {
    code: 'storage_fault',
    message: /jobs\.db changed while it was read; try again/,
  };
  await assert.rejects(
    withSnapshot(path, () => change().close()),
    refusal,
    'closed again',
  );
  let database: ReturnType<typeof change> | undefined;
  await assert.rejects(
    withSnapshot(path, () => void (database = change())),
    refusal,
    'still open',
  );
  const read = withSnapshot(path, (snapshot) => {
    database?.statement('UPDATE price_writes SET number = 8').run();
    return snapshot.statement('SELECT number FROM price_writes').get()?.['number'];
  });
  assert.equal(await read, 7, 'beside a program with a log, what it was is read');
  database?.close();
});
