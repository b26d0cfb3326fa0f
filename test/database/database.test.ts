import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Database, openDatabase } from '../../src/core/database/database.ts';
import {
  dividendCoverage,
  type DividendList,
  storeDividends,
  storeSplitSpans,
} from '../../src/core/database/splits-and-dividends.ts';
import { APPLICATION_ID, SCHEMA_VERSION } from '../../src/core/database/schema/schema.ts';
import {
  actionTypes,
  jobStatuses,
  messageRoles,
  modelDayStatuses,
  sessionStatuses,
} from '../../src/core/domain/vocabulary.ts';
import { tables } from '../../src/core/database/schema/tables.ts';
import { FORMER, FORMER_ID } from '../support/former.ts';
import { accepted, forbidden, SEED } from '../support/schema-rows.ts';
import { rowsAsText, runIn } from '../support/tables.ts';
import { tableOf } from '../support/text-table.ts';
import { temporaryFolder } from '../support/folder.ts';

const TABLES = `jobs job_details positions holdings trading_sessions reasoning_logs tool_usage
  price_data price_data_coverage simulation_runs`;

test('the ten entities are STRICT tables', () => {
  const sql = 'SELECT name FROM pragma_table_list WHERE strict = 1';
  const names = rowsAsText(openDatabase(':memory:'), sql);
  for (const table of TABLES.split(/\s+/)) assert.ok(names.includes(table), table);
});

test('opening creates folder and schema, and opening again changes nothing', () => {
  const path = join(temporaryFolder(), 'deep', 'down', 'jobs.db');
  openDatabase(path).close();
  const bytes = readFileSync(path);
  openDatabase(path).close();
  assert.deepEqual(readFileSync(path), bytes);
});

test('a connection waits for locks, enforces foreign keys, and survives a power cut unless configured otherwise', () => {
  const pragma = (database: Database, name: string) =>
    Object.values(database.statement(`PRAGMA ${name}`).get() ?? {})[0];
  const path = join(temporaryFolder(), 'jobs.db');
  const database = openDatabase(path);
  const names = ['journal_mode', 'foreign_keys', 'busy_timeout', 'synchronous'];
  const values = names.map((name) => pragma(database, name));
  assert.deepEqual(values, ['wal', 1, 5000, 2]);
  assert.equal(pragma(openDatabase(path, { durability: 'process-end' }), 'synchronous'), 1);
});

const OURS = `CREATE TABLE jobs (x); PRAGMA application_id = ${APPLICATION_ID};`;
const NEWER = `${OURS} PRAGMA user_version = 999`;
const FORMER_FILE = `CREATE TABLE jobs (x); PRAGMA application_id = ${FORMER_ID}; PRAGMA user_version = 25`;
const unusable: [name: string, sql: string | null, message: RegExp][] = [
  [
    'a file that is not a database',
    null,
    /Cannot open the database .*: its file is damaged \(file is not a database\); restore a backup$/,
  ],
  ["another program's database", 'CREATE TABLE songs (x)', /is a database of another program/],
  [
    'the database of AI-Trader-Server',
    'CREATE TABLE jobs (job_id TEXT PRIMARY KEY); CREATE TABLE job_details (id INTEGER PRIMARY KEY)',
    /^Cannot use .*: it is a database of AI-Trader-Server, which this program does not read; move it away with its -wal and -shm, and the next start makes a new one$/,
  ],
  ['a newer schema', NEWER, /schema is version 999, this program knows versions up to/],
  ['an earlier schema', OURS, /schema is version 0, this .* \d+; use the program that made it$/],
  ['a file from before the first release', FORMER_FILE, FORMER],
];
for (const [name, sql, message] of unusable) {
  test(`${name} is refused and left unchanged`, () => {
    const path = join(temporaryFolder(), 'jobs.db');
    if (sql === null) writeFileSync(path, 'once upon a time '.repeat(100));
    else runIn(path, sql);
    const bytes = readFileSync(path);
    assert.throws(() => openDatabase(path), { code: 'cannot_start', message });
    assert.deepEqual(readFileSync(path), bytes);
  });
}

test('a schema that is not that of its version takes the next one', () => {
  const sha256 = hash('sha256', tables);
  assert.deepEqual(
    { version: SCHEMA_VERSION, sha256 },
    { version: 4, sha256: '923587235d7c57c206417fcd3c126bab349cf02903cc15e9b7dd5c2133990656' },
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
  test(`${place} accepts the words of domain.ts and no others`, () => {
    const [table, column] = place.split('.') as [string, string];
    const sql = openDatabase(':memory:')
      .statement('SELECT sql FROM sqlite_schema WHERE name = ?')
      .get(table)?.['sql'];
    const accepted = new RegExp(`\\b${column} TEXT [^,]*CHECK \\(${column} IN \\(([^)]*)\\)`).exec(
      String(sql),
    )?.[1];
    assert.deepEqual(accepted?.match(/\w+/g)?.sort(), [...list].sort());
  });
}

test("a service's log moves into the database after 1 MB of it, a command's after 8", (t) => {
  const [ofService = 0, ofCommand = 0] = [true, false].map((isServing) => {
    const database = openDatabase(join(temporaryFolder(), 'jobs.db'), { isServing });
    t.after(() => database.close());
    for (let index = 0; index < 60; index += 1)
      database.transaction(() =>
        database
          .statement(
            `INSERT INTO price_data (symbol, date, open, source) VALUES (?, '2025-01-06', 1, hex(zeroblob(50000)))`,
          )
          .run(`S${index}`),
      );
    return statSync(`${database.path}-wal`).size / 2 ** 20;
  });
  assert.ok(ofService > 1 && ofService < 1.5 && ofCommand > 5, `${ofService} and ${ofCommand} MB`);
});

test('a transaction keeps everything or nothing', () => {
  const database = openDatabase(':memory:');
  const insert = () =>
    database
      .statement(`INSERT INTO price_data (symbol, date, open) VALUES ('AAPL', '2025-01-06', 1)`)
      .run();
  assert.throws(() => database.transaction(() => (insert(), insert())), /UNIQUE/);
  assert.equal(database.statement('SELECT count(*) AS count FROM price_data').get()?.['count'], 0);
  assert.equal(
    database.transaction(() => 7),
    7,
  );
});

/** A database with one running model-day of one job. */
function seeded(): Database {
  const database = openDatabase(':memory:');
  for (const sql of SEED) database.statement(sql).run();
  return database;
}

/** Refused rows leave no trace, so one database serves all. */
const withAccepted = seeded();
for (const [, sql] of accepted) withAccepted.statement(sql).run();
for (const [name, sql] of forbidden) {
  test(`the database refuses ${name}`, () => {
    assert.throws(() => withAccepted.statement(sql).run(), /constraint|cannot store/);
  });
}

test('the warnings of a job may be any text, as the interface allows', () => {
  const database = seeded();
  database.statement(`UPDATE jobs SET warnings = '{not json'`).run();
});

test('other programs may write prices with only symbol, date, open and source', () => {
  const database = seeded();
  const bar = `INSERT INTO price_data (symbol, date, open, source) VALUES ('AAPL', '2025-01-06', 101.5, 'mine')`;
  database.statement(bar).run();
  const stored = rowsAsText(database, 'SELECT * FROM price_data');
  assert.deepEqual(stored, ['AAPL 2025-01-06 101.5 - - - - mine -']);
});

/** A row, what any program changes of it, and the log: old values, written by and replaced by. */
const revised = tableOf<[table: string, columns: string, row: string, sets: string, log: string]>(`
  price_data   | open, close              | ('AAPL', '2025-01-06', 1)     | close = 2; close = 3 | 1 - - 1; 1 2 1 2; 1 3 2 3
  stock_splits | numerator, denominator   | ('AAPL', '2025-01-06', 2, 1)  | numerator = 3; denominator = 2 | 2 1 - 1; 3 1 1 2; 3 2 2 3
  dividends    | ex_date, cash_e6, basis  | ('AAPL', '2025-01-06', 26)    | cash_e6 = 27; basis = 'split_adjusted'; ex_date = '2025-01-07' | 2025-01-06 26 as_paid - 1; 2025-01-06 27 as_paid 1 2; 2025-01-06 27 split_adjusted 2 3; 2025-01-07 27 split_adjusted 3 4`);
const COLUMNS: Record<string, string> = {
  price_data: 'symbol, date, open',
  stock_splits: 'symbol, date, numerator, denominator',
  dividends: 'symbol, ex_date, cash_e6',
};
for (const [table, columns, row, sets, log] of revised) {
  test(`a row of ${table} that is changed or removed stays in the revision log`, () => {
    const database = seeded();
    const run = (sql: string) => database.statement(sql).run();
    run(`INSERT INTO ${table} (${COLUMNS[table]}) VALUES ${row}`);
    for (const set of sets.split('; ')) run(`UPDATE ${table} SET ${set}`);
    run(`DELETE FROM ${table}`);
    const revisions = `${table.replace(/_data$|s$/, '')}_revisions`;
    const sql = `SELECT ${columns}, written, replaced FROM ${revisions}`;
    assert.equal(rowsAsText(database, sql).join('; '), log);
  });
}

test('a list of dividends adds up the payments of a date, replaces what its spans contain, and extends what is known', () => {
  const database = openDatabase(':memory:');
  /** Stores payments, `SYMBOL EX_DATE CASH`, of a span of AAPL. */
  const store = (source: string, [startDate, endDate]: [string, string], ...payments: string[]) => {
    const dividends = payments.map((payment) => {
      const [symbol = '', exDate = '', cash] = payment.split(' ');
      return { symbol, exDate, cash: Number(cash) };
    });
    const spans = [{ symbol: 'AAPL', startDate, endDate }];
    const stamp = { source, recordedAt: '2025-01-06T10:00:00.000Z' };
    const list: DividendList = { dividends, spans, basis: 'as_paid' };
    return database.transaction(() => storeDividends(database, list, stamp));
  };
  const stored = () =>
    rowsAsText(database, 'SELECT symbol, ex_date, cash_e6, source FROM dividends');
  const [first, twice] = ['AAPL 2025-01-06 5', 'AAPL 2025-01-06 7'];
  const rest = ['AAPL 2025-02-06 1', 'AAPL 2025-03-06 2', 'MSFT 2025-02-06 3'];
  for (const changed of [4, 0])
    assert.equal(store('one', ['2025-01-01', '2025-03-31'], first, twice, ...rest), changed);
  assert.deepEqual(stored(), ['AAPL 2025-01-06 12 one', ...rest.map((own) => `${own} one`)]);
  assert.equal(store('two', ['2025-02-01', '2025-04-30'], 'AAPL 2025-03-06 9'), 2);
  const later = ['AAPL 2025-01-06 12 one', 'AAPL 2025-03-06 9 two', 'MSFT 2025-02-06 3 one'];
  assert.deepEqual(stored(), later);
  store('one', ['2025-05-02', '2025-05-03']);
  store('one', ['2025-04-01', '2025-05-01']);
  const spans = 'SELECT symbol, source, start_date, end_date FROM dividend_coverage';
  const covered = ['AAPL one 2025-01-01 2025-05-03', 'AAPL two 2025-02-01 2025-04-30'];
  assert.deepEqual(rowsAsText(database, spans), covered);
  const period = { from: '2025-05-01', to: '2025-06-01' };
  const known = dividendCoverage(database, ['AAPL', 'MSFT'], period).map((row) => ({ ...row }));
  const span = { symbol: 'AAPL', startDate: '2025-01-01', endDate: '2025-05-03' };
  assert.deepEqual(known, [span]);
});

test('a list of splits replaces what its provider named within its spans, and leaves those of others', () => {
  const database = openDatabase(':memory:');
  const store = (source: string, ...splits: string[]) => {
    const rows = splits.map((split) => {
      const [symbol = '', date = '', numerator] = split.split(' ');
      return { symbol, date, numerator: Number(numerator), denominator: 1 };
    });
    const spans = [{ symbol: 'AAPL', startDate: '2025-01-01', endDate: '2025-03-31' }];
    const list = { splits: rows, spans, knownThrough: '2025-12-31' };
    const stamp = { source, recordedAt: '2025-01-06T10:00:00.000Z' };
    database.transaction(() => storeSplitSpans(database, list, stamp));
  };
  store(
    'massive',
    'AAPL 2025-01-06 2',
    'AAPL 2025-02-06 3',
    'AAPL 2025-04-01 4',
    'MSFT 2025-02-06 5',
  );
  store('csv', 'AAPL 2025-03-06 6');
  store('massive', 'AAPL 2025-02-06 7');
  const rows = rowsAsText(database, 'SELECT symbol, date, numerator, source FROM stock_splits');
  assert.deepEqual(rows, [
    ...['AAPL 2025-02-06 7 massive', 'AAPL 2025-03-06 6 csv'],
    ...['AAPL 2025-04-01 4 massive', 'MSFT 2025-02-06 5 massive'],
  ]);
});
