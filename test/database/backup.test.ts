import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { auditDatabase, isSound } from '../../src/core/verify/database-audit.ts';
import { backupDatabase } from '../../src/features/backup/backup.ts';
import { type CommandDatabase, openDatabase } from '../../src/core/database/database.ts';
import { removeAbandonedPartials } from '../../src/core/database/storage/new-file.ts';
import { fourDays } from '../support/books.ts';
import { temporaryFolder } from '../support/folder.ts';
import { ledgerOf } from '../support/ledger.ts';
import { inLongForm } from '../support/long.ts';
import { like, tableOf } from '../support/text-table.ts';
import { withoutLinks } from '../support/without-links.ts';

test('a copy is a complete database by itself and opens like the original', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'jobs.db');
  const target = join(folder, 'copy.db');
  const { database } = await fourDays(path);
  const shares: number[] = [];
  const summary = await backupDatabase(path, target, { onProgress: (share) => shares.push(share) });
  assert.deepEqual(
    { ...summary, bytes: 0 },
    { bytes: 0, jobs: 4, modelDays: 4, positions: 7, bars: 8 },
  );
  assert.equal(summary.bytes, readFileSync(target).length);
  assert.ok(shares.every((share) => share >= 0 && share <= 1));
  const files = ['copy.db', 'jobs.db', 'jobs.db-shm', 'jobs.db-wal'];
  assert.deepEqual(readdirSync(folder).sort(), files);
  assert.equal(isSound(await auditDatabase(target)), true);
  const copy = openDatabase(target);
  assert.deepEqual(ledgerOf(copy, 'model-a'), ledgerOf(database, 'model-a'));
  copy.close();
  database.close();
});

test('a copy that is stopped half-way leaves nothing behind', inLongForm, async () => {
  const folder = temporaryFolder();
  const database = largeDatabase(join(folder, 'jobs.db'));
  database.close();
  const stopping = new AbortController();
  const { signal } = stopping;
  const onProgress = () => stopping.abort(new Error('enough'));
  await assert.rejects(
    backupDatabase(database.path, join(folder, 'copy.db'), { onProgress, signal }),
    /^Error: enough$/,
  );
  assert.deepEqual(readdirSync(folder), ['jobs.db']);
});

const agesAgo = new Date('2025-01-01');
/** Of others, though they have such names: none has a lock beside it. */
const ofOthers = ['film.partial', 'film.4194399.partial', 'film.4194399-0123abcd.partial'];

/** Puts files of others, long untouched, into a folder. */
function putFilesOfOthers(folder: string): void {
  for (const name of ofOthers) {
    writeFileSync(join(folder, name), '');
    utimesSync(join(folder, name), agesAgo, agesAgo);
  }
}

test('a copy with a free lock beside it is removed; files of others with such names stay', () => {
  const folder = temporaryFolder();
  putFilesOfOthers(folder);
  for (const end of ['', '-lock', '-wal'])
    writeFileSync(join(folder, `jobs.db.4194399-0123abcd.partial${end}`), '');
  removeAbandonedPartials(folder);
  assert.deepEqual(readdirSync(folder).sort(), ofOthers.toSorted());
});

test(
  'the next backup removes what a killed one left; copies in progress and foreign files stay',
  inLongForm,
  async () => {
    const folder = temporaryFolder();
    const database = largeDatabase(join(folder, 'jobs.db'));
    database.close();
    const program = `
    import { backupDatabase } from ${JSON.stringify(new URL('../../src/features/backup/backup.ts', import.meta.url).href)};
    await backupDatabase('jobs.db', 'killed.db', { onProgress: (share) => share > 0 && process.kill(process.pid, 'SIGKILL') });`;
    spawnSync(process.execPath, ['--input-type=module', '--eval', program], { cwd: folder });
    const partials = () => readdirSync(folder).filter((name) => name.endsWith('.partial'));
    assert.equal(partials().length, 1, 'a killed backup leaves its copy');
    putFilesOfOthers(folder);
    let meanwhile: string[] = [];
    const onProgress = () => {
      assert.ok(
        !partials().some((name) => name.startsWith('killed')),
        'this backup removed what the killed one left',
      );
      removeAbandonedPartials(folder); // as a service that starts does
      meanwhile = readdirSync(folder);
    };
    await backupDatabase(database.path, join(folder, 'copy.db'), { onProgress });
    const own = meanwhile.map((name) => name.replace(/-[0-9a-f]{8}\./, '-x.'));
    for (const ending of ['', '-lock'])
      assert.ok(own.includes(`copy.db.${process.pid}-x.partial${ending}`));
    assert.deepEqual(readdirSync(folder).sort(), [...ofOthers, 'copy.db', 'jobs.db'].sort());
  },
);

let large: string | undefined;

/** Some 20 MB: pages are copied in several steps. Made once. */
function largeDatabase(path: string): CommandDatabase {
  if (large !== undefined) copyFileSync(large, path);
  const database = openDatabase(path, { durability: 'process-end' });
  if (large !== undefined) return database;
  database
    .statement(
      `INSERT INTO price_data (symbol, date, open, source) SELECT 'S' || value, '2025-01-06', 1, hex(zeroblob(2000))
       FROM (WITH RECURSIVE numbers (value) AS (SELECT 1000 UNION ALL SELECT value + 1 FROM numbers LIMIT 5000) SELECT value FROM numbers)`,
    )
    .run();
  database.close();
  copyFileSync(path, (large = join(temporaryFolder('tss-large-'), 'jobs.db')));
  return openDatabase(path, { durability: 'process-end' });
}

test('a copy made during writes shows one state of the database', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'jobs.db');
  const database = largeDatabase(path);
  let writes = 0;
  // Two rows that always agree, rewritten repeatedly while pages are copied.
  const write = () => {
    writes += 1;
    database.transaction(() => {
      for (const symbol of ['S1000', 'S5999'])
        database.statement('UPDATE price_data SET volume = ? WHERE symbol = ?').run(writes, symbol);
    });
  };
  await backupDatabase(path, join(folder, 'copy.db'), { onProgress: write });
  assert.ok(writes >= 2, `${writes} writes while pages were copied`);
  const copy = openDatabase(join(folder, 'copy.db'));
  const [first, last] = copy
    .statement(`SELECT volume FROM price_data WHERE symbol IN ('S1000', 'S5999')`)
    .all();
  assert.deepEqual(first, last);
  assert.equal(copy.statement('SELECT count(*) AS count FROM price_data').get()?.['count'], 5_000);
  copy.close();
  database.close();
});

const BESIDE = 'SQLite uses such a name for the log of a database';
const OWN = 'the service uses that name';
/** Where no copy is made, what is put there before (a file, a folder, or a link), and why. */
const refusals = tableOf<[name: string, target: string, put: string, message: string]>(`
  a name that is taken                       | mine.txt            | mine.txt    | Cannot back up to …mine.txt: the file already exists
  a folder that is missing                   | nowhere/copy.db     |             | Cannot back up to …: the folder …nowhere does not exist
  a folder for a name                        | taken               | taken/      | Cannot back up to …taken: the file already exists
  a link that leads nowhere                  | link.db             | link.db → elsewhere.db | Cannot back up to …link.db: it is a symbolic link
  the log of the database, which is not there | jobs.db-wal        |             | …jobs.db-wal: ${BESIDE}
  the log's index, in capitals               | other.db-SHM        |             | …other.db-SHM: ${BESIDE}
  the journal of a database                  | other.db-journal    |             | …other.db-journal: ${BESIDE}
  a log, through a link to its folder        | here/jobs.db-wal    | here → .    | …jobs.db-wal: ${BESIDE}
  a name beside which a log is left          | new.db              | new.db-wal  | …new.db: new.db-wal exists, and SQLite would apply that log to it
  the owner lock                             | agent_data/owner.lock | agent_data/ | …owner.lock: ${OWN}
  the note beside the lock                   | agent_data/owner.json | agent_data/ | …owner.json: ${OWN}
  the lock of another database               | agent_data/paper.db.lock | agent_data/ | …paper.db.lock: ${OWN}
  the note of another database               | agent_data/paper.db.json | agent_data/ | …paper.db.json: ${OWN}
  an unfinished copy                         | copy.db.4194399-0123abcd.partial |  | …partial: ${OWN}
  DEV's database, which each start empties   | jobs_dev.db         |             | …jobs_dev.db: ${OWN}`);
for (const [name, place, put, message] of refusals) {
  test(`no copy is made onto ${name}, and nothing is left behind`, async () => {
    const folder = temporaryFolder();
    const [path, target] = [join(folder, 'jobs.db'), join(folder, place)];
    openDatabase(path).close();
    const [file = '', end] = put.split(' → ');
    if (end !== undefined) symlinkSync(end, join(folder, file));
    else if (put.endsWith('/')) mkdirSync(join(folder, put));
    else if (put !== '') writeFileSync(join(folder, put), 'mine');
    const files = () => readdirSync(folder, { recursive: true });
    const before = files();
    const refused = { code: 'cannot_start', message: like(message) };
    await assert.rejects(backupDatabase(path, target), refused);
    assert.deepEqual(files(), before);
    if (name === 'a name that is taken') assert.equal(readFileSync(target, 'utf8'), 'mine');
  });
}

test('without hard links a copy gets its name all the same, and replaces nothing that appears meanwhile', async (t) => {
  const folder = temporaryFolder();
  const path = join(folder, 'jobs.db');
  openDatabase(path).close();
  await withoutLinks(
    t,
    () => {},
    async () => void (await backupDatabase(path, join(folder, 'one.db'))),
  );
  openDatabase(join(folder, 'one.db')).close();
  const appear = () => symlinkSync('elsewhere.db', join(folder, 'two.db'));
  await withoutLinks(t, appear, () =>
    assert.rejects(backupDatabase(path, join(folder, 'two.db')), {
      message: /two\.db: the file already exists$/,
    }),
  );
  assert.ok(lstatSync(join(folder, 'two.db')).isSymbolicLink());
  assert.deepEqual(readdirSync(folder).sort(), ['jobs.db', 'one.db', 'two.db']);
});

test('backing up a missing database creates neither a copy nor a database', async () => {
  const folder = temporaryFolder();
  await assert.rejects(backupDatabase(join(folder, 'jobs.db'), join(folder, 'copy.db')), {
    message: /^There is no database .*jobs\.db$/,
  });
  assert.deepEqual(readdirSync(folder), []);
});

test('a damaged database is not passed off as a backup', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'jobs.db');
  const { database } = await fourDays(path);
  database.statement('PRAGMA ignore_check_constraints = ON').run();
  database.statement('UPDATE positions SET cash_e4 = -1 WHERE position_id = 5').run();
  database.close();
  await assert.rejects(backupDatabase(path, join(folder, 'copy.db')), {
    message:
      /^Cannot back up to .*: the database is damaged: CHECK constraint failed in positions$/,
  });
  assert.equal(existsSync(join(folder, 'copy.db')), false);
});
