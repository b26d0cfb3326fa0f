import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { type Database, openDatabase } from '../../src/database/database.ts';
import { claimOwnership } from '../../src/database/owner.ts';
import { migrations } from '../../src/database/schema.ts';
import { temporaryFolder } from '../support/service.ts';

const TABLES = [
  'jobs',
  'job_details',
  'positions',
  'holdings',
  'trading_sessions',
  'reasoning_logs',
  'tool_usage',
  'price_data',
  'price_data_coverage',
  'simulation_runs',
];

test('the ten entities are STRICT tables', () => {
  const strict = openDatabase(':memory:').statement('SELECT name FROM pragma_table_list WHERE strict = 1').all();
  const names = strict.map((row) => row['name']);
  for (const table of TABLES) assert.ok(names.includes(table), table);
});

test('opening creates folder and schema, and opening again changes nothing', (t) => {
  const path = join(temporaryFolder(t), 'deep', 'down', 'jobs.db');
  openDatabase(path).close();
  const bytes = readFileSync(path);
  openDatabase(path).close();
  assert.deepEqual(readFileSync(path), bytes);
});

test('the connection waits for locks, keeps foreign keys, and survives a power cut unless told otherwise', (t) => {
  const pragma = (database: Database, name: string) =>
    Object.values(database.statement(`PRAGMA ${name}`).get() ?? {})[0];
  const path = join(temporaryFolder(t), 'jobs.db');
  const database = openDatabase(path);
  assert.deepEqual(
    ['journal_mode', 'foreign_keys', 'busy_timeout', 'synchronous'].map((name) => pragma(database, name)),
    ['wal', 1, 5000, 2],
  );
  assert.equal(pragma(openDatabase(path, { durability: 'process-end' }), 'synchronous'), 1);
});

for (let version = 0; version < migrations.length; version += 1) {
  test(`a database of version ${version} is migrated`, (t) => {
    const path = join(temporaryFolder(t), 'jobs.db');
    const old = new DatabaseSync(path);
    for (const migration of migrations.slice(0, version)) old.exec(migration);
    old.exec(`PRAGMA user_version = ${version}${version > 0 ? '; PRAGMA application_id = 0x54535331' : ''}`);
    old.close();
    const database = openDatabase(path);
    assert.equal(database.statement('PRAGMA user_version').get()?.['user_version'], migrations.length);
    database.statement('SELECT * FROM jobs').all();
  });
}

const unusable: [name: string, make: (path: string) => void, message: RegExp][] = [
  [
    'a file that is no database',
    (path) => writeFileSync(path, 'once upon a time '.repeat(100)),
    /Cannot open the database .*not a database/,
  ],
  [
    "another program's database",
    (path) => new DatabaseSync(path).exec('CREATE TABLE songs (title TEXT)'),
    /is a database of another program/,
  ],
  [
    'a newer schema',
    (path) =>
      new DatabaseSync(path).exec(
        `CREATE TABLE jobs (x); PRAGMA application_id = 0x54535331; PRAGMA user_version = 999`,
      ),
    /schema is version 999, this program knows versions up to/,
  ],
];
for (const [name, make, message] of unusable) {
  test(`${name} is refused and left as it is`, (t) => {
    const path = join(temporaryFolder(t), 'jobs.db');
    make(path);
    const bytes = readFileSync(path);
    assert.throws(() => openDatabase(path), { code: 'cannot_start', message });
    assert.deepEqual(readFileSync(path), bytes);
  });
}

test('a transaction keeps all or nothing', () => {
  const database = openDatabase(':memory:');
  const insert = () =>
    database.statement(`INSERT INTO price_data (symbol, date, open) VALUES ('AAPL', '2025-01-06', 1)`).run();
  assert.throws(() => database.transaction(() => (insert(), insert())), /UNIQUE/);
  assert.equal(database.statement('SELECT count(*) AS count FROM price_data').get()?.['count'], 0);
  assert.equal(
    database.transaction(() => 7),
    7,
  );
});

const JOB = `INSERT INTO jobs (job_id, status, start_date, end_date, dates, replace_existing, agent_config, created_at) VALUES`;
const FINISHED_JOB = `INSERT INTO jobs (job_id, status, start_date, end_date, dates, replace_existing, agent_config, created_at, completed_at) VALUES`;

/** A database with one running model-day of one job. */
function seeded(): Database {
  const database = openDatabase(':memory:');
  for (const sql of [
    `${JOB} ('j', 'running', '2025-01-06', '2025-01-06', '[]', 0, '{}', 't')`,
    `INSERT INTO simulation_runs (job_id, model, model_index, start_date, created_at) VALUES ('j', 'm', 0, '2025-01-06', 't')`,
    `INSERT INTO job_details (job_id, date, model, status, started_at) VALUES ('j', '2025-01-06', 'm', 'running', 't')`,
    `INSERT INTO trading_sessions (session_id, job_id, date, model, status, initial_cash_e4, started_at, completed_at) VALUES (1, 'j', '2025-01-06', 'm', 'active', 5, 't', 't')`,
    `INSERT INTO positions (position_id, session_id, action_id, action_type, cash_e4, portfolio_value_e4, daily_profit_e4, created_at) VALUES (1, 1, 1, 'no_trade', 5, 5, 0, 't')`,
  ])
    database.statement(sql).run();
  return database;
}

const POSITION = `INSERT INTO positions (session_id, action_id, action_type, symbol, amount, price_e4, cash_e4, portfolio_value_e4, daily_profit_e4, created_at) VALUES`;
const SESSION = `INSERT INTO trading_sessions (job_id, date, model, status, initial_cash_e4, started_from_session_id, started_at, completed_at) VALUES`;

const forbidden: [name: string, sql: string][] = [
  ['a second unfinished job', `${JOB} ('k', 'pending', '2025-01-06', '2025-01-06', '[]', 0, '{}', 't')`],
  [
    'a second unfinished job that downloads',
    `${JOB} ('k', 'downloading_data', '2025-01-06', '2025-01-06', '[]', 0, '{}', 't')`,
  ],
  ['an unknown job status', `${FINISHED_JOB} ('k', 'done', '2025-01-06', '2025-01-06', '[]', 0, '{}', 't', 't')`],
  ['a finished job without an end', `${JOB} ('k', 'completed', '2025-01-06', '2025-01-06', '[]', 0, '{}', 't')`],
  [
    'a job that ends before it starts',
    `${FINISHED_JOB} ('k', 'completed', '2025-01-07', '2025-01-06', '[]', 0, '{}', 't', 't')`,
  ],
  ['a sloppy date', `INSERT INTO job_details (job_id, date, model) VALUES ('j', '2025-1-7', 'm')`],
  [
    'a model-day of an unknown run',
    `INSERT INTO job_details (job_id, date, model) VALUES ('j', '2025-01-07', 'stranger')`,
  ],
  ['a model-day that failed without a reason', `UPDATE job_details SET status = 'failed', completed_at = 't'`],
  ['a second active generation', `${SESSION} ('j', '2025-01-06', 'm', 'active', 5, NULL, 't', 't')`],
  ['a session with two pasts', `${SESSION} ('j', '2025-01-06', 'm', 'superseded', 5, 1, 't', 't')`],
  ['a session without a past', `${SESSION} ('j', '2025-01-06', 'm', 'superseded', NULL, NULL, 't', 't')`],
  ['negative cash', `${POSITION} (1, 2, 'buy', 'AAPL', 1, 1, -1, 5, 0, 't')`],
  ['an action out of nowhere', `${POSITION} (99, 1, 'buy', 'AAPL', 1, 1, 1, 5, 0, 't')`],
  ['the same action twice', `${POSITION} (1, 1, 'buy', 'AAPL', 1, 1, 1, 5, 0, 't')`],
  ['a purchase of nothing', `${POSITION} (1, 2, 'buy', 'AAPL', 0, 1, 1, 5, 0, 't')`],
  ['a sale of less than nothing', `${POSITION} (1, 2, 'sell', 'AAPL', -5, 1, 1, 5, 0, 't')`],
  ['a trade without a price', `${POSITION} (1, 2, 'buy', 'AAPL', 1, NULL, 1, 5, 0, 't')`],
  ['a no_trade with a symbol', `${POSITION} (1, 2, 'no_trade', 'AAPL', NULL, NULL, 1, 5, 0, 't')`],
  ['a value below the cash', `${POSITION} (1, 2, 'buy', 'AAPL', 1, 1, 5, 4, 0, 't')`],
  ['cash that is no integer', `${POSITION} (1, 2, 'buy', 'AAPL', 1, 1, 1.5, 5, 0, 't')`],
  ['a holding of zero', `INSERT INTO holdings VALUES (1, 'AAPL', 0)`],
  ['a negative holding', `INSERT INTO holdings VALUES (1, 'AAPL', -1)`],
  ['a price of 0', `INSERT INTO price_data (symbol, date, open) VALUES ('AAPL', '2025-01-06', 0)`],
  ['a close of 0', `INSERT INTO price_data (symbol, date, open, close) VALUES ('AAPL', '2025-01-06', 1, 0)`],
  ['an absurd price', `INSERT INTO price_data (symbol, date, open) VALUES ('AAPL', '2025-01-06', 1e73)`],
  [
    'coverage that ends before it starts',
    `INSERT INTO price_data_coverage (symbol, source, start_date, end_date) VALUES ('A', 'csv', '2025-01-07', '2025-01-06')`,
  ],
  [
    'a tool message without a tool',
    `INSERT INTO reasoning_logs (session_id, message_index, role, content, timestamp) VALUES (1, 0, 'tool', '', 't')`,
  ],
  [
    'an unknown role',
    `INSERT INTO reasoning_logs (session_id, message_index, role, content, timestamp) VALUES (1, 0, 'oracle', '', 't')`,
  ],
];
for (const [name, sql] of forbidden) {
  test(`the database refuses ${name}`, () => {
    const database = seeded();
    assert.throws(() => database.statement(sql).run(), /constraint|cannot store/);
  });
}

test('the warnings of a job may be anything, as the interface foresees', () => {
  const database = seeded();
  database.statement(`UPDATE jobs SET warnings = '{not json'`).run();
});

test('other programs may write prices with no more than symbol, date, open and source', () => {
  const database = seeded();
  database
    .statement(`INSERT INTO price_data (symbol, date, open, source) VALUES ('AAPL', '2025-01-06', 101.5, 'mine')`)
    .run();
  const { recorded_at: recordedAt, ...row } = database.statement('SELECT * FROM price_data').get() as Record<
    string,
    unknown
  >;
  assert.deepEqual(row, {
    symbol: 'AAPL',
    date: '2025-01-06',
    open: 101.5,
    high: null,
    low: null,
    close: null,
    volume: null,
    source: 'mine',
    adjusted: 0,
  });
  assert.match(String(recordedAt), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('a bar that is changed or removed, by whomever, stays in the revision log', () => {
  const database = seeded();
  const log = () =>
    database
      .statement('SELECT open, close, recorded_at, replaced_at FROM price_revisions')
      .all()
      .map((row) => ({ ...row }));
  database
    .statement(
      `INSERT INTO price_data (symbol, date, open, recorded_at) VALUES ('AAPL', '2025-01-06', 1, '2025-01-06T10:00:00.000Z')`,
    )
    .run();
  database.statement(`UPDATE price_data SET close = 2, recorded_at = '2025-01-07T10:00:00.000Z'`).run();
  assert.deepEqual(log(), [
    { open: 1, close: null, recorded_at: '2025-01-06T10:00:00.000Z', replaced_at: '2025-01-07T10:00:00.000Z' },
  ]);
  database.statement(`UPDATE price_data SET close = 3`).run();
  database.statement('DELETE FROM price_data').run();
  assert.deepEqual(
    log().map(({ open, close }) => [open, close]),
    [
      [1, null],
      [1, 2],
      [1, 3],
    ],
  );
  assert.equal(log()[1]?.['replaced_at'], log()[2]?.['recorded_at']);
});

test('so does a split', () => {
  const database = seeded();
  const log = () =>
    database
      .statement('SELECT numerator, denominator, recorded_at, replaced_at FROM stock_split_revisions')
      .all()
      .map((row) => ({ ...row }));
  database
    .statement(
      `INSERT INTO stock_splits (symbol, date, numerator, denominator, recorded_at) VALUES ('AAPL', '2025-01-06', 2, 1, '2025-01-06T10:00:00.000Z')`,
    )
    .run();
  database.statement(`UPDATE stock_splits SET numerator = 3, recorded_at = '2025-01-07T10:00:00.000Z'`).run();
  const first = { numerator: 2, denominator: 1, recorded_at: '2025-01-06T10:00:00.000Z' };
  assert.deepEqual(log(), [{ ...first, replaced_at: '2025-01-07T10:00:00.000Z' }]);
  database.statement(`UPDATE stock_splits SET denominator = 2`).run();
  database.statement('DELETE FROM stock_splits').run();
  assert.deepEqual(
    log().map(({ numerator, denominator }) => [numerator, denominator]),
    [
      [2, 1],
      [3, 1],
      [3, 2],
    ],
  );
  assert.equal(log()[1]?.['replaced_at'], log()[2]?.['recorded_at']);
});

test('one process owns a database; the next one learns which', (t) => {
  const folder = temporaryFolder(t);
  const first = claimOwnership(folder, { startedAt: '2025-01-06T10:00:00.000Z' });
  assert.throws(() => claimOwnership(folder, { startedAt: 'later' }), {
    code: 'cannot_start',
    message: new RegExp(`in use by process ${process.pid}, started 2025-01-06T10:00:00.000Z`),
  });
  first.release();
  claimOwnership(folder, { startedAt: '2025-01-06T10:00:00.000Z' }).release();
});
