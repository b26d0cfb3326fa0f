import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { type Database, openDatabase } from '../../src/database/database.ts';
import {
  dividendCoverage,
  type DividendList,
  storeDividends,
} from '../../src/database/splits-and-dividends.ts';
import { APPLICATION_ID } from '../../src/database/schema/schema.ts';
import {
  actionTypes,
  jobStatuses,
  messageRoles,
  modelDayStatuses,
  sessionStatuses,
} from '../../src/basics/domain.ts';
import { FORMER, FORMER_ID } from '../support/former.ts';
import { accepted, forbidden, SEED } from '../support/schema-rows.ts';
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
  const strict = openDatabase(':memory:')
    .statement('SELECT name FROM pragma_table_list WHERE strict = 1')
    .all();
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

test('a connection waits for locks, enforces foreign keys, and survives a power cut unless configured otherwise', (t) => {
  const pragma = (database: Database, name: string) =>
    Object.values(database.statement(`PRAGMA ${name}`).get() ?? {})[0];
  const path = join(temporaryFolder(t), 'jobs.db');
  const database = openDatabase(path);
  assert.deepEqual(
    ['journal_mode', 'foreign_keys', 'busy_timeout', 'synchronous'].map((name) =>
      pragma(database, name),
    ),
    ['wal', 1, 5000, 2],
  );
  assert.equal(pragma(openDatabase(path, { durability: 'process-end' }), 'synchronous'), 1);
});

const unusable: [name: string, make: (path: string) => void, message: RegExp][] = [
  [
    'a file that is not a database',
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
        `CREATE TABLE jobs (x); PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 999`,
      ),
    /schema is version 999, this program knows versions up to/,
  ],
  [
    'an earlier schema',
    (path) =>
      new DatabaseSync(path).exec(
        `CREATE TABLE jobs (x); PRAGMA application_id = ${APPLICATION_ID}`,
      ),
    /schema is version 0, this program reads version \d+; use the program that made it$/,
  ],
  [
    'a file from before the first release',
    (path) =>
      new DatabaseSync(path).exec(
        `CREATE TABLE jobs (x); PRAGMA application_id = ${FORMER_ID}; PRAGMA user_version = 25`,
      ),
    FORMER,
  ],
];
for (const [name, make, message] of unusable) {
  test(`${name} is refused and left unchanged`, (t) => {
    const path = join(temporaryFolder(t), 'jobs.db');
    make(path);
    const bytes = readFileSync(path);
    assert.throws(() => openDatabase(path), { code: 'cannot_start', message });
    assert.deepEqual(readFileSync(path), bytes);
  });
}

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
    const database = openDatabase(join(temporaryFolder(t), 'jobs.db'), { isServing });
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
  database
    .statement(
      `INSERT INTO price_data (symbol, date, open, source) VALUES ('AAPL', '2025-01-06', 101.5, 'mine')`,
    )
    .run();
  const row = database.statement('SELECT * FROM price_data').get();
  assert.deepEqual(
    { ...row },
    {
      symbol: 'AAPL',
      date: '2025-01-06',
      open: 101.5,
      high: null,
      low: null,
      close: null,
      volume: null,
      source: 'mine',
      written: null,
    },
  );
});

test('a bar that any program changes or removes stays in the revision log', () => {
  const database = seeded();
  const log = () =>
    database
      .statement('SELECT open, close, written, replaced FROM price_revisions')
      .all()
      .map((row) => ({ ...row }));
  database
    .statement(`INSERT INTO price_data (symbol, date, open) VALUES ('AAPL', '2025-01-06', 1)`)
    .run();
  database.statement(`UPDATE price_data SET close = 2`).run();
  assert.deepEqual(log(), [
    {
      open: 1,
      close: null,
      written: null,
      replaced: 1,
    },
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
  assert.equal(log()[1]?.['replaced'], log()[2]?.['written']);
});

test('a split that is changed or removed stays in the revision log', () => {
  const database = seeded();
  const log = () =>
    database
      .statement('SELECT numerator, denominator, written, replaced FROM stock_split_revisions')
      .all()
      .map((row) => ({ ...row }));
  database
    .statement(
      `INSERT INTO stock_splits (symbol, date, numerator, denominator) VALUES ('AAPL', '2025-01-06', 2, 1)`,
    )
    .run();
  database.statement(`UPDATE stock_splits SET numerator = 3`).run();
  const first = { numerator: 2, denominator: 1, written: null };
  assert.deepEqual(log(), [{ ...first, replaced: 1 }]);
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
  assert.equal(log()[1]?.['replaced'], log()[2]?.['written']);
});

test('a dividend that is changed or removed stays in the revision log', () => {
  const database = seeded();
  const log = () =>
    database
      .statement('SELECT ex_date, cash_e6, basis, written, replaced FROM dividend_revisions')
      .all()
      .map((row) => ({ ...row }));
  const all = () => log().map(({ ex_date, cash_e6, basis }) => [ex_date, cash_e6, basis]);
  database
    .statement(
      `INSERT INTO dividends (symbol, ex_date, cash_e6) VALUES ('AAPL', '2025-01-06', 260000)`,
    )
    .run();
  database.statement(`UPDATE dividends SET cash_e6 = 270000`).run();
  const first = {
    ex_date: '2025-01-06',
    cash_e6: 260_000,
    basis: 'as_paid',
    written: null,
  };
  assert.deepEqual(log(), [{ ...first, replaced: 1 }]);
  database.statement(`UPDATE dividends SET basis = 'split_adjusted'`).run();
  database.statement(`UPDATE dividends SET ex_date = '2025-01-07'`).run();
  database.statement('DELETE FROM dividends').run();
  assert.deepEqual(all().slice(1), [
    ['2025-01-06', 270_000, 'as_paid'],
    ['2025-01-06', 270_000, 'split_adjusted'],
    ['2025-01-07', 270_000, 'split_adjusted'],
  ]);
  assert.equal(log()[1]?.['replaced'], log()[2]?.['written']);
});

test('a list of dividends adds up the payments of a date, replaces what its spans contain, and extends what is known', () => {
  const database = openDatabase(':memory:');
  const store = (list: DividendList, source: string) =>
    database.transaction(() =>
      storeDividends(database, list, { source, recordedAt: '2025-01-06T10:00:00.000Z' }),
    );
  const all = (sql: string) =>
    database
      .statement(sql)
      .all()
      .map((row) => Object.values(row).join(' '));
  const dividends = () => all('SELECT symbol, ex_date, cash_e6, basis, source FROM dividends');
  const span = (symbol: string, startDate: string, endDate: string) => ({
    symbol,
    startDate,
    endDate,
  });
  const told = (exDate: string, cash: number, symbol = 'AAPL') => ({ symbol, exDate, cash });
  const first: DividendList = {
    dividends: [
      told('2025-01-06', 5),
      told('2025-01-06', 7),
      told('2025-02-06', 1),
      told('2025-03-06', 2),
      told('2025-02-06', 3, 'MSFT'),
    ],
    spans: [span('AAPL', '2025-01-01', '2025-03-31')],
    basis: 'as_paid',
  };
  assert.equal(store(first, 'one'), 4);
  assert.equal(store(first, 'one'), 0);
  assert.deepEqual(dividends(), [
    'AAPL 2025-01-06 12 as_paid one',
    'AAPL 2025-02-06 1 as_paid one',
    'AAPL 2025-03-06 2 as_paid one',
    'MSFT 2025-02-06 3 as_paid one',
  ]);
  const later: DividendList = {
    dividends: [told('2025-03-06', 9)],
    spans: [span('AAPL', '2025-02-01', '2025-04-30')],
    basis: 'as_paid',
  };
  assert.equal(store(later, 'two'), 2);
  assert.deepEqual(dividends(), [
    'AAPL 2025-01-06 12 as_paid one',
    'AAPL 2025-03-06 9 as_paid two',
    'MSFT 2025-02-06 3 as_paid one',
  ]);
  for (const [from, to] of [
    ['2025-05-02', '2025-05-03'],
    ['2025-04-01', '2025-05-01'],
  ] as const)
    store({ dividends: [], spans: [span('AAPL', from, to)], basis: 'as_paid' }, 'one');
  assert.deepEqual(all('SELECT symbol, source, start_date, end_date FROM dividend_coverage'), [
    'AAPL one 2025-01-01 2025-05-03',
    'AAPL two 2025-02-01 2025-04-30',
  ]);
  const known = dividendCoverage(database, ['AAPL', 'MSFT'], {
    from: '2025-05-01',
    to: '2025-06-01',
  });
  assert.deepEqual(
    known.map((row) => ({ ...row })),
    [span('AAPL', '2025-01-01', '2025-05-03')],
  );
});
