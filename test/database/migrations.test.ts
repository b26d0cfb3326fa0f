import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openDatabase } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { migrateTo } from '../support/migrate-to.ts';
import { migrations } from '../../src/database/schema.ts';
import {
  actionTypes,
  jobStatuses,
  messageRoles,
  modelDayStatuses,
  sessionStatuses,
} from '../../src/domain.ts';
import { SEED, accepted } from '../support/schema-rows.ts';
import { temporaryFolder } from '../support/service.ts';

const FOLDER = new URL('../../src/database/migrations/', import.meta.url);

/**
 * SHA-256 of every released migration. Databases out there were made by these very texts: rows are
 * only ever added.
 */
const released: [file: string, sha256: string][] = [
  [
    '001-jobs-ledger-and-prices.ts',
    '34d1f7858c836f2d150590eb08e2869a62754dadf44d27e329fc11ad27b66814',
  ],
  [
    '002-tokens-costs-and-split-coverage.ts',
    'e3ec7446446e5d15f4dbac615c189d4d40bf06302a7d0885da9a683e6bb46571',
  ],
  [
    '003-restarts-and-ended-model-days.ts',
    '1eeea02f35fdd00c306c2c983463f2aec366841921d66c72ce30657a01aad091',
  ],
  ['004-carried-messages.ts', '8e38f34c4e03b742d5c7b4c1b383d7dd63eaf34fae5a47d728a8d3d7c4307836'],
  ['005-idempotency-keys.ts', 'bec211610f53461b1e00fac5f9bbc6c9c4341a0770a67b85751ed27ca8032e01'],
  ['006-split-revisions.ts', '53342d3409c8ff6743db7b53dcfe34bb18bdd61fcd772237784fa6834cf44800'],
  [
    '007-same-meaning-from-sqlite-3.37.ts',
    'fdd7945db44e0049b50f2873617626ec6089e9dd7a2ab7e5215ca73b9affcf3a',
  ],
  ['008-lives-that-count.ts', '3e7fa38f44c7da939b71fb6be1cf1876f2068cfb0c3a0f9e3850eaeb7957acba'],
  ['009-order-of-commits.ts', 'f6bc4a0731d2115cfeef2b133875708116bca8bef5259ed4cfbaf5b222b495cf'],
  ['010-runs-by-model.ts', '3a30cab24e06b6f02691f278c455f96b7fa321887fb06c4ba94a4abd45b3b4a9'],
  ['011-evidence.ts', 'b03f24d6f0262a10167e4189492093048b950ff13cce43cc83fb9f92804d1c07'],
  ['012-staleness.ts', '36fa5d6fdfec0a42b25af54a653a90574fb23a54cb1419b9c221314a84d6166e'],
  ['013-entries.ts', '89a4af3bf4aaca310b8c82b9ed4ca1d6f48e6a800ad33f59f642b55b89bdf7b9'],
  ['014-universes.ts', '1982c14b145e323d94f00d574d4136fd696f7177f522d1e2af151e7587efc325'],
  ['015-dividends.ts', '9ffda2e5dc6d259b68603428271e486bf573626597df4f05fda1d46b9af72231'],
  ['016-market-days.ts', '35f81670a5f099bd057a853ae9716a632631cb30e74e1b207e3613b343036d29'],
  ['017-holders.ts', 'ad4dfa721c75a358c421fe0ff65f36f0903a9cb58d5f825568fbce88924f4cc2'],
  [
    '018-decisions-and-search.ts',
    '5e5fbcbe7d7ae4d0f98aa248875986f9a7edf4c48b8115cd668d498557af2fc4',
  ],
  ['019-openings.ts', 'd825d742ed64caaff909f1f28bb5806f6a24750798918f8c2d114513255446c9'],
  [
    '020-wording-and-digests.ts',
    'b964bbc3a007282118788b639e4fc7bf8942a75266f85d2a1532a4881b62add4',
  ],
  [
    '021-compared-by-morning.ts',
    '39915f4341502bd7872a00dd7cd2068bd37f77c837a5665af2412d0fa3d323ff',
  ],
  ['022-figure-settings.ts', 'b653a4165b354f9a32f31b52e61fd50c9a6166f7255e0e3d038b1d52825f39a3'],
  ['023-files-by-meaning.ts', '379985008c03ea634de58e5729d05b9f7315b1cd0751441a489b3572da42fde1'],
  [
    '024-prices-from-the-unit.ts',
    '29ee3d6ec5c3bf2e3070e6cfd3461bc8e90e7a35aee5d3427a2b2dd35e59adf1',
  ],
  ['025-who-answered.ts', 'd3f994541648db2ab050faa53f38bf882facf8918d7589befd010a9a781e6b81'],
];

test('a released migration is never edited; a change of the schema is a new migration', () => {
  assert.deepEqual(
    migrations.map((sql) => hash('sha256', sql)),
    released.map(([, sha256]) => sha256),
    'restore the released text and add a new migration; the hash of a new one gets a row here',
  );
});

test('each migration is one file of literal SQL, in the order of its number', () => {
  const files = readdirSync(FOLDER).sort();
  assert.deepEqual(
    files,
    released.map(([file]) => file),
  );
  files.forEach((file, index) => {
    const text = readFileSync(new URL(file, FOLDER), 'utf8');
    assert.equal(Number(file.slice(0, 3)), index + 1);
    assert.doesNotMatch(text, /^import|\bimport\(|\$\{/m, `${file} takes something from elsewhere`);
    assert.ok(
      text.includes(`\`${migrations[index]}\``),
      `${file} is migration ${index + 1} of schema.ts`,
    );
  });
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

const DIVIDENDS = 15;
const PRICES_FROM_THE_UNIT = 24;
const OPENINGS = 19;
const DURATION = `round(unixepoch(completed_at, ''subsec'') - unixepoch(started_at, ''subsec''), 3)`;

/** A database of version 6 with one model-day, whose duration an older SQLite computed as null. */
function versionSix(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  migrateTo(database, 6);
  database.enableDefensive(false);
  const replace = (from: string, to: string) =>
    database.exec(`PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '${from}', '${to}') WHERE name = 'job_details';
      PRAGMA writable_schema = RESET`);
  replace(DURATION, 'round(NULL, 3)');
  for (const sql of [...SEED, ...accepted.slice(0, 6).map(([, statement]) => statement)])
    database.exec(sql);
  replace('round(NULL, 3)', DURATION);
  return database;
}

test('migrating to version 7 restores lost durations, and open connections learn the new schema', (t) => {
  const path = join(temporaryFolder(t), 'jobs.db');
  const other = versionSix(path);
  const durations = () =>
    other
      .prepare('SELECT duration_seconds AS seconds FROM job_details ORDER BY job_id')
      .all()
      .map(({ seconds }) => seconds);
  assert.deepEqual(durations(), [null, null]);
  const database = openDatabase(path);
  assert.deepEqual(durations(), [null, 12.345]);
  assert.match(
    String(
      other.prepare(`SELECT sql FROM sqlite_schema WHERE name = 'reasoning_logs'`).get()?.['sql'],
    ),
    /tool_calls IS NULL OR/,
  );
  assert.deepEqual(
    { ...database.statement('PRAGMA integrity_check').get() },
    { integrity_check: 'ok' },
  );
  assert.throws(
    () => database.statement(`UPDATE sqlite_schema SET sql = ''`).run(),
    /may not be modified/,
  );
  database.close();
  other.close();
});

test('migrating to dividends copies no ledger, keeps old sessions without them, and open connections learn the new words', (t) => {
  const path = join(temporaryFolder(t), 'jobs.db');
  const other = versionSix(path);
  migrateTo(other, DIVIDENDS - 1);
  const purchase = `UPDATE positions SET action_type = 'dividend', symbol = 'AAPL', amount = 3, price_e4 = 0 WHERE position_id = 1`;
  assert.throws(() => other.exec(purchase), /CHECK constraint failed/);
  const ledger = () => other.prepare('SELECT * FROM positions').all();
  const before = ledger();
  const database = openDatabase(path);
  assert.deepEqual(ledger(), before);
  assert.deepEqual(
    {
      ...other
        .prepare(
          'SELECT sum(pays_dividends) AS paying, count(*) AS all_of_them FROM trading_sessions',
        )
        .get(),
    },
    { paying: 0, all_of_them: 1 },
  );
  other.exec(purchase);
  assert.throws(
    () => other.exec(`UPDATE positions SET action_type = 'buy'`),
    /CHECK constraint failed/,
  );
  assert.deepEqual(
    { ...database.statement('PRAGMA integrity_check').get() },
    { integrity_check: 'ok' },
  );
  database.close();
  other.close();
});

test('migrating to openings copies no session, and tells the mode of older jobs by what they ran', (t) => {
  const path = join(temporaryFolder(t), 'jobs.db');
  const other = versionSix(path);
  migrateTo(other, OPENINGS - 1);
  const opening = `INSERT INTO trading_sessions (job_id, date, model, status, started_at, completed_at) VALUES (NULL, '2025-01-03', 'm', 'opening', 't', 't')`;
  assert.throws(() => other.exec(opening), /constraint failed/);
  const kinds = { simulated: 'DEV', provider: 'PROD', baseline: null };
  for (const kind of Object.keys(kinds))
    other.exec(`INSERT INTO jobs (job_id, status, start_date, end_date, dates, replace_existing, agent_config, created_at, completed_at)
        VALUES ('${kind}', 'completed', '2025-01-06', '2025-01-06', '[]', 0, '{}', 't', 't');
      INSERT INTO simulation_runs (job_id, model, model_index, start_date, created_at, entry)
        VALUES ('${kind}', 'b', 0, '2025-01-06', 't', '{"kind":"baseline"}'), ('${kind}', 'm', 1, '2025-01-06', 't', '{"kind":"${kind}"}')`);
  const sessions = () => other.prepare('SELECT * FROM trading_sessions').all();
  const before = sessions();
  const database = openDatabase(path);
  assert.deepEqual(
    sessions().map((row) => ({ ...row })),
    before.map((row) => ({ ...row, wording: null })),
  );
  const modes = other.prepare('SELECT job_id, deployment_mode FROM jobs').all();
  const modeOf = Object.fromEntries(modes.map((row) => [row['job_id'], row['deployment_mode']]));
  assert.deepEqual(modeOf, { j: null, k: null, ...kinds });
  other.exec(opening);
  assert.deepEqual(
    { ...database.statement('PRAGMA integrity_check').get() },
    { integrity_check: 'ok' },
  );
  database.close();
  other.close();
});

test('migrating to prices of at least the unit of money takes smaller ones for unknown, and keeps what they were', (t) => {
  const path = join(temporaryFolder(t), 'jobs.db');
  const other = versionSix(path);
  migrateTo(other, PRICES_FROM_THE_UNIT - 1);
  const insert = other.prepare(
    'INSERT INTO price_data (symbol, date, open, high, low, close) VALUES (?, ?, ?, ?, ?, ?)',
  );
  insert.run('LOW', '2025-01-06', 0.00004, 1, 0.00004, 1);
  insert.run('LOW', '2025-01-07', 0.0001, 1, 0.00009, 0.00004);
  insert.run('LOW', '2025-01-08', 1, null, null, null);
  const database = openDatabase(path);
  const bars = (table: string) =>
    other
      .prepare(
        `SELECT date, open, high, low, close FROM ${table} WHERE symbol = 'LOW' ORDER BY date`,
      )
      .all()
      .map((row) => Object.values(row).join(' '));
  assert.deepEqual(bars('price_data'), ['2025-01-07 0.0001 1  ', '2025-01-08 1   ']);
  assert.deepEqual(bars('price_revisions'), [
    '2025-01-06 0.00004 1 0.00004 1',
    '2025-01-07 0.0001 1 0.00009 0.00004',
  ]);
  for (const column of ['open', 'high', 'low', 'close'])
    assert.throws(
      () => other.exec(`UPDATE price_data SET ${column} = 0.00009 WHERE symbol = 'LOW'`),
      /CHECK constraint failed: \w+ >= 0.0001/,
    );
  assert.deepEqual(
    { ...database.statement('PRAGMA integrity_check').get() },
    { integrity_check: 'ok' },
  );
  database.close();
  other.close();
});

test('a schema other than the released one is not edited', (t) => {
  const path = join(temporaryFolder(t), 'jobs.db');
  const database = versionSix(path);
  database.exec(`ALTER TABLE reasoning_logs RENAME COLUMN tool_calls TO calls`);
  assert.throws(() => openDatabase(path), {
    code: 'cannot_start',
    message: /^Cannot open the database .*: CHECK constraint failed: schema_is_as_released$/,
  });
  assert.equal(database.prepare('PRAGMA user_version').get()?.['user_version'], 6);
  database.close();
});

/** What a database consists of, without layout and comments; columns as SQLite reads them. */
function schemaOf(database: DatabaseSync): Record<string, string> {
  const rows = database.prepare('SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL').all();
  const bare = (sql: unknown) =>
    String(sql)
      .replace(/--.*$/gm, '')
      .replace(/\s+/g, ' ')
      .replace(/ ?([(),;]) ?/g, '$1')
      .trim();
  return Object.fromEntries(rows.map(({ name, sql }) => [String(name), bare(sql)]));
}

test('a new database has the schema that the migrations make of an empty one', () => {
  const [created, migrated] = [new DatabaseSync(':memory:'), new DatabaseSync(':memory:')];
  migrate(created);
  migrateTo(migrated, migrations.length);
  assert.deepEqual(schemaOf(created), schemaOf(migrated));
  assert.equal(created.prepare('PRAGMA user_version').get()?.['user_version'], migrations.length);
});

test('two processes that open an old database simultaneously migrate it once', async (t) => {
  const path = join(temporaryFolder(t), 'jobs.db');
  const old = versionSix(path);
  old.exec('PRAGMA journal_mode = WAL');
  old.close();
  // The other one has the lock, and migrates while this process waits for it.
  const program = `
    import { DatabaseSync } from 'node:sqlite';
    import { migrations } from ${JSON.stringify(new URL('../../src/database/schema.ts', import.meta.url).href)};
    const database = new DatabaseSync(process.argv[1], { defensive: false });
    database.exec('BEGIN IMMEDIATE');
    console.log('begun');
    setTimeout(() => {
      for (const sql of migrations.slice(6)) database.exec(sql);
      database.exec('PRAGMA user_version = ' + migrations.length + '; COMMIT');
    }, 200);`;
  const other = spawn(process.execPath, ['--input-type=module', '--eval', program, path]);
  const ended = once(other, 'close');
  await once(other.stdout, 'data');
  const database = openDatabase(path);
  assert.equal(
    database.statement('PRAGMA user_version').get()?.['user_version'],
    migrations.length,
  );
  database.close();
  assert.deepEqual((await ended)[0], 0);
});
