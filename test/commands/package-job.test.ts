import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { activeSpans, latestActiveDayBefore } from '../../src/database/active-days.ts';
import { openDatabase } from '../../src/database/database.ts';
import { digestTable, listedTables } from '../../src/database/manifest.ts';
import { knownTables } from '../../src/database/package.ts';
import { changedStarts } from '../../src/database/stale.ts';
import { integer, query, text } from '../../src/database/rows.ts';
import { withSnapshot } from '../../src/database/snapshot.ts';
import { packageJob } from '../../src/commands/backup.ts';
import { type Books, fourDays } from '../support/books.ts';
import { richBooks } from '../support/rich-books.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { staleNow } from '../support/stale.ts';
import { fillWithTrackRecords, modelNames } from '../support/track-records.ts';
import { startTestView } from '../support/view.ts';

const JOB = 'bench-0001';
const MANIFEST = query(
  'SELECT table_name AS "table", rows, sha256 FROM package_manifest ORDER BY 1',
  { table: text, rows: integer, sha256: text },
);

/** Requests that a package answers as the service does, with the words that may differ. */
const requests: [path: string, exceptions?: RegExp][] = [
  [`/results?job_id=${JOB}`],
  [`/results?job_id=${JOB}&model=model-1&format=csv`],
  [`/performance?job_id=${JOB}`],
  [`/performance?job_id=${JOB}&details=true&common=true`],
  [`/performance?job_id=${JOB}&benchmark=universe`],
  [`/performance?job_id=${JOB}&format=csv&table=actions`],
  [`/comparison?job_id=${JOB}&curves=false`],
  [`/comparison?job_id=${JOB}&align=number&models=model-0,model-1`],
  [`/holdings?job_id=${JOB}&model=model-2`],
  // The days before and after are those of the file.
  [
    `/reasoning?job_id=${JOB}&include_full_conversation=true`,
    /"(previous|next)_date":("[^"]*"|null),/g,
  ],
  [`/decisions?job_id=${JOB}&limit=100`],
  [`/search?job_id=${JOB}&q=volume&limit=3`],
  [`/simulate/status/${JOB}`],
];

test('a package answers as the service does for its job, over chains that began before it', async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'jobs.db');
  const target = join(folder, 'paper.db');
  fillWithTrackRecords(path, { models: modelNames(3), days: 45, datesPerJob: 15, failures: 0.05 });
  const { bytes, ...summary } = await packageJob({ path, jobId: JOB, target });
  assert.deepEqual(summary, { jobs: 1, modelDays: 43, positions: 89, bars: 3060 });
  assert.ok(bytes > 100_000);
  const [service, view] = [
    await startTestService(t, {
      folder,
      settings: { deploymentMode: 'PROD', preserveDevData: null },
      isForged: true,
    }),
    await startTestView(t, target),
  ];
  for (const [request, exceptions = /$^/g] of requests) {
    const [ours, its] = await Promise.all(
      [service, view].map(async ({ url }) => (await fetch(url + request)).text()),
    );
    const plain = (text: string | undefined) =>
      text
        ?.replaceAll(exceptions, '')
        .replaceAll('"deployment_mode":"UNKNOWN"', '"deployment_mode":"PROD"');
    assert.equal(plain(its), plain(ours), request);
    assert.ok((ours?.length ?? 0) > 500, request);
  }
  assert.deepEqual((await view.get('/jobs')).body.jobs.length, 1);
  assert.deepEqual(
    (await view.get('/models')).body.models.map((model: any) => [
      model.signature,
      model.completed_model_days,
    ]),
    [
      ['model-0', 15],
      ['model-1', 14],
      ['model-2', 14],
    ],
  );
});

test('a package keeps the order of its models, by which the pages colour them', async (t) => {
  const folder = temporaryFolder(t);
  const [path, target] = [join(folder, 'jobs.db'), join(folder, 'paper.db')];
  fillWithTrackRecords(path, { models: ['b', 'c', 'a'], days: 4, datesPerJob: 2 });
  await packageJob({ path, jobId: JOB, target });
  const ordersIn = async (file: string) =>
    (await (await startTestView(t, file)).get('/models')).body.models.map((model: any) => [
      model.signature,
      model.order,
    ]);
  const expected = [
    ['a', 2],
    ['b', 0],
    ['c', 1],
  ];
  assert.deepEqual([await ordersIn(path), await ordersIn(target)], [expected, expected]);
});

/** Books in which job-2 continues from job-1, and other jobs have words of their own. */
async function neighbours(path: string): Promise<Books> {
  const books = await fourDays(path);
  await books.day('2025-01-08', [['buy', 'ORLY', 3]], 'stranger');
  for (const job of [1, 3, 4, 5]) {
    const session = `(SELECT min(session_id) FROM trading_sessions WHERE job_id = 'job-${job}')`;
    books.database
      .statement(
        `UPDATE trading_sessions SET session_summary = 'words of job ${job}' WHERE session_id = ${session}`,
      )
      .run();
    books.database
      .statement(
        `UPDATE reasoning_logs SET content = 'words of job ${job}' WHERE session_id = ${session}`,
      )
      .run();
  }
  books.database
    .statement(`INSERT INTO idempotency_keys VALUES ('key-of-a-client', 'job-2', 'hash', '{}')`)
    .run();
  books.setBar('AAPL', '2025-01-06', { open: 102, close: 777.125 });
  books.setBar('AAPL', '2025-01-07', { open: 104, close: 888.125 });
  books.setBar('ZZZZ', '2025-01-06', { open: 5, close: 5.4375 });
  books.setBar('MSFT', '2025-01-09', { open: 190, close: 191, source: 'yahoo' });
  books.database
    .statement(
      `INSERT INTO price_data_coverage VALUES ('AAPL', 'csv', '2025-01-03', '2025-01-08', 't')`,
    )
    .run();
  return books;
}

test('a package is one file without a log, and has nothing of other jobs and no key', async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'jobs.db');
  const target = join(folder, 'paper.db');
  const { database } = await neighbours(path);
  await packageJob({ path, jobId: 'job-2', target });
  assert.deepEqual(readdirSync(folder).sort(), [
    'jobs.db',
    'jobs.db-shm',
    'jobs.db-wal',
    'paper.db',
  ]);
  const bytes = readFileSync(target);
  assert.deepEqual([...bytes.subarray(18, 20)], [1, 1], 'it is written and read without a log');
  for (const text of [
    'job-1',
    'job-3',
    'job-4',
    'job-5',
    'stranger',
    'words of',
    'key-of-a-client',
    'ZZZZ',
    '2025-01-08T',
    '2025-01-07',
  ])
    assert.equal(bytes.includes(text), false, text);
  const paper = new DatabaseSync(target, { readOnly: true });
  const rows = (sql: string) =>
    paper
      .prepare(sql)
      .all()
      .map((row) => Object.values(row));
  assert.deepEqual(rows('SELECT symbol, date, close FROM price_data ORDER BY 1, 2'), [
    ['AAPL', '2025-01-03', 101],
    ['AAPL', '2025-01-06', 777.125],
    ['MSFT', '2025-01-03', 198],
    ['MSFT', '2025-01-06', 194],
    ['MSFT', '2025-01-09', 191], // of a source without split jumps: that changes what splits mean
    ['ORLY', '2025-01-06', 33],
  ]);
  assert.deepEqual(rows('SELECT symbol, end_date FROM price_data_coverage'), [
    ['AAPL', '2025-01-06'],
  ]);
  assert.deepEqual(
    rows('SELECT symbol, close FROM price_revisions'),
    [['AAPL', 103]],
    'what it was at the time',
  );
  assert.deepEqual(
    rows('SELECT session_id, job_id, date, status, initial_cash_e4 FROM trading_sessions'),
    [
      [1, null, '2025-01-03', 'opening', 100_000_000],
      [2, 'job-2', '2025-01-06', 'active', null],
    ],
  );
  assert.deepEqual(rows('SELECT symbol, lot, bought_on, quantity, cost_e4 FROM opening_lots'), [
    ['AAPL', 1, '2025-01-03', 10, 10_000_000],
    ['MSFT', 1, '2025-01-03', 5, 10_000_000],
  ]);
  paper.close();
  database.close();
});

const OWN_SESSIONS = 'session_id IN (SELECT session_id FROM trading_sessions WHERE job_id = :job)';
const OWN_SYMBOLS = `symbol IN ('AAPL', 'MSFT', 'ORLY')`;
const BEFORE_END = 'date <= (SELECT end_date FROM jobs WHERE job_id = :job)';
/** Which rows of the tables a package has, beside those of its openings. */
const packaged: [where: string, ...tables: string[]][] = [
  ['job_id = :job', 'jobs', 'simulation_runs', 'job_details', 'trading_sessions'],
  [
    OWN_SESSIONS,
    'positions',
    'holdings',
    'reasoning_logs',
    'decisions',
    'tool_usage',
    'session_prices',
    'session_splits',
    'session_dividends',
  ],
  [
    OWN_SYMBOLS,
    'stock_splits',
    'stock_split_coverage',
    'stock_split_spans',
    'stock_split_revisions',
  ],
  [OWN_SYMBOLS, 'dividends', 'dividend_coverage', 'dividend_revisions'],
  [`${OWN_SYMBOLS} AND ${BEFORE_END}`, 'price_data', 'price_revisions'],
  [BEFORE_END, 'market_days', 'factors'],
];

test('of every table, a package has the rows that the model-days of its job rest on', async (t) => {
  const folder = temporaryFolder(t);
  const { database } = await richBooks(join(folder, 'jobs.db'));
  for (const insert of COVERED)
    for (const symbol of ['AAPL', 'ZZZZ']) database.statement(insert).run(symbol);
  const counts = new Map<string, number>();
  const jobs = database
    .statement(
      `SELECT job_id FROM trading_sessions WHERE model = 'model-b' AND date >= '2025-01-07'`,
    )
    .all();
  for (const [index, { job_id: job = null }] of jobs.entries()) {
    const target = join(folder, `${index}.db`);
    await packageJob({ path: database.path, jobId: String(job), target });
    const paper = new DatabaseSync(target, { readOnly: true });
    for (const [where, ...tables] of packaged)
      for (const table of tables) {
        const sql = `SELECT * FROM ${table} WHERE ${where.includes(':job') ? where : `${where} AND :job <> ''`} ORDER BY 1, 2, 3`;
        const rows = database.statement(sql).all({ job });
        assert.deepEqual(paper.prepare(sql).all({ job }), rows, table);
        counts.set(table, (counts.get(table) ?? 0) + rows.length);
      }
    paper.close();
  }
  const others = [
    'changed_starts',
    'price_writes',
    'figure_settings',
    'opening_lots',
    'price_data_coverage',
    'idempotency_keys',
    'package_manifest',
  ]; // which other tests look at
  assert.deepEqual([...counts.keys(), ...others].sort(), [...knownTables].sort());
  assert.deepEqual(
    [...counts].filter(([, count]) => count === 0),
    [],
    'every table had rows',
  );
  database.close();
});

/** Rows that say what is known of a symbol, and on which days a market was open. */
const COVERED = [
  `INSERT INTO stock_split_coverage VALUES (?, '2025-01-08', 's', 't')`,
  `INSERT INTO stock_split_spans VALUES (?, 's', '2025-01-06', '2025-01-08', 't')`,
  `INSERT INTO dividend_coverage (symbol, source, start_date, end_date, recorded_at) VALUES (?, 'csv', '2025-01-06', '2025-01-08', 't')`,
  `INSERT INTO market_days VALUES (?, '2025-01-06', 't')`,
  `INSERT INTO factors VALUES (?, '2025-01-06', 0.01, 's', 't')`,
];

test('the manifest has the digest of every table, until a service opens the file', async (t) => {
  const folder = temporaryFolder(t);
  const target = join(folder, 'paper.db');
  const { database } = await neighbours(join(folder, 'jobs.db'));
  assert.deepEqual(
    [...listedTables(database), 'package_manifest'].sort(),
    [...knownTables].sort(),
    'a new table has a place in package.ts',
  );
  await packageJob({ path: database.path, jobId: 'job-2', target });
  await withSnapshot(target, (snapshot) => {
    const stored = MANIFEST.all(snapshot).map((row) => ({ ...row }));
    assert.deepEqual(
      stored,
      listedTables(snapshot).map((table) => digestTable(snapshot, table)),
    );
    const lots = '[1,"AAPL",1,"2025-01-03",10,10000000]\n[1,"MSFT",1,"2025-01-03",5,10000000]';
    assert.deepEqual(
      stored.find(({ table }) => table === 'opening_lots'),
      { table: 'opening_lots', rows: 2, sha256: hash('sha256', lots) },
    );
  });
  const opened = openDatabase(target);
  assert.deepEqual(MANIFEST.all(opened), [], 'from now on it changes');
  opened.close();
  database.close();
});

test('openings count nowhere, and chains continue from them', async (t) => {
  const folder = temporaryFolder(t);
  const target = join(folder, 'paper.db');
  const { database } = await neighbours(join(folder, 'jobs.db'));
  await packageJob({ path: database.path, jobId: 'job-2', target });
  const view = await startTestView(t, target);
  const bodyOf = async (path: string) => (await view.get(path)).body;
  assert.equal((await bodyOf('/results')).count, 2);
  assert.equal((await bodyOf('/reasoning')).count, 1);
  assert.equal((await bodyOf('/decisions')).count, 2);
  const { opening, previous_date: previous } = (
    await bodyOf('/reasoning?include_full_conversation=true')
  ).sessions[0];
  assert.deepEqual([opening.date, previous], ['2025-01-03', null]);
  const { counts } = await bodyOf('/audit');
  assert.deepEqual(
    [counts.model_days, counts.positions, counts.problems, counts.unverifiable],
    [1, 2, 0, 0],
  );
  const [model] = (await bodyOf('/models')).models;
  assert.deepEqual([model.first_completed_date, model.completed_model_days], ['2025-01-06', 1]);
  assert.equal(
    (await view.get('/decisions?before=1')).status,
    422,
    'no decision has the id of an opening',
  );

  const continued = openDatabase(target);
  assert.equal(activeSpans(continued, ['model-a']).get('model-a')?.lastDate, '2025-01-06');
  const held = latestActiveDayBefore(continued, 'model-a', '2025-01-06')?.holdings;
  assert.deepEqual(
    held?.map(({ symbol, quantity }) => `${symbol} ${quantity}`),
    ['AAPL 10', 'MSFT 5'],
  );
  assert.deepEqual(continued.statement(changedStarts('trading_sessions')).all('job-2'), []);
  continued.close();
  database.close();
});

test('a day whose start another job has replaced is stale in a package too, which has neither', async (t) => {
  const folder = temporaryFolder(t);
  const target = join(folder, 'paper.db');
  const books = await fourDays(join(folder, 'jobs.db'));
  await books.day('2025-01-03');
  await packageJob({ path: books.database.path, jobId: 'job-2', target });
  const opened = openDatabase(target);
  assert.deepEqual(staleNow(books.database), ['model-a 2025-01-06']);
  assert.deepEqual(staleNow(opened), ['model-a 2025-01-06']);
  opened.close();
  books.database.close();
});

test('a package of a job whose model-days are copied in several steps has all of them', async (t) => {
  const folder = temporaryFolder(t);
  const [path, target] = [join(folder, 'jobs.db'), join(folder, 'paper.db')];
  fillWithTrackRecords(path, { models: modelNames(8), days: 14, datesPerJob: 14 });
  await packageJob({ path, jobId: 'bench-0000', target });
  const [database, paper] = [path, target].map(
    (file) => new DatabaseSync(file, { readOnly: true }),
  );
  for (const table of [
    'trading_sessions',
    'positions',
    'holdings',
    'reasoning_logs',
    'session_prices',
    'tool_usage',
  ]) {
    const numbers = [database, paper].map(
      (file) => file?.prepare(`SELECT count(*) AS number FROM ${table}`).get()?.['number'],
    );
    assert.equal(numbers[1], numbers[0], table);
  }
  assert.equal(
    paper?.prepare('SELECT count(*) AS number FROM trading_sessions').get()?.['number'],
    112,
  );
  for (const file of [database, paper]) file?.close();
});

test('a package of a package is the same', async (t) => {
  const folder = temporaryFolder(t);
  const { database } = await neighbours(join(folder, 'jobs.db'));
  const [first, second] = [join(folder, 'first.db'), join(folder, 'second.db')];
  await packageJob({ path: database.path, jobId: 'job-2', target: first });
  await packageJob({ path: first, jobId: 'job-2', target: second });
  assert.deepEqual(
    await withSnapshot(second, (snapshot) => MANIFEST.all(snapshot)),
    await withSnapshot(first, (snapshot) => MANIFEST.all(snapshot)),
  );
  database.close();
});

test('what another program has added to a database, and what it knows of its rows, is not in a package', async (t) => {
  const folder = temporaryFolder(t);
  const target = join(folder, 'paper.db');
  const { database } = await neighbours(join(folder, 'jobs.db'));
  for (const sql of [
    'CREATE TABLE jottings (jotting_id INTEGER PRIMARY KEY AUTOINCREMENT, words TEXT)',
    `INSERT INTO jottings (words) VALUES ('words of a reader')`,
    'CREATE INDEX jottings_by_words ON jottings (words)',
    'CREATE VIRTUAL TABLE jotted_words USING fts5(words)',
    `INSERT INTO jotted_words VALUES ('words of a reader')`,
    'CREATE VIEW all_jottings AS SELECT * FROM jottings',
    `CREATE TRIGGER jotted AFTER DELETE ON jobs BEGIN INSERT INTO jottings (words) VALUES (old.job_id); END`,
    'ANALYZE',
  ])
    database.statement(sql).run();
  await packageJob({ path: database.path, jobId: 'job-2', target });
  const bytes = readFileSync(target);
  for (const text of ['words of', 'job-1', 'job-3', 'jottings', 'jotted', 'sqlite_stat'])
    assert.equal(bytes.includes(text), false, text);
  const objects = (path: string) => {
    const file = new DatabaseSync(path, { readOnly: true });
    const rows = file.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2').all();
    file.close();
    return rows.filter(({ name }) => name !== 'sqlite_sequence');
  };
  openDatabase(join(folder, 'new.db')).close();
  assert.deepEqual(objects(target), objects(join(folder, 'new.db')));
  database.close();
});

test('the words of other jobs, and openings from which the job does not continue, are not in a package', async (t) => {
  const folder = temporaryFolder(t);
  const target = join(folder, 'paper.db');
  const { database } = await neighbours(join(folder, 'jobs.db'));
  const opening = `INSERT INTO trading_sessions (session_id, date, model, status, started_at, completed_at)
    VALUES (99, '2024-12-31', 'another', 'opening', 't', 't')`;
  for (const sql of [opening, `INSERT INTO log_words (rowid, words) VALUES (9999, 'zebra')`])
    database.statement(sql).run();
  await packageJob({ path: database.path, jobId: 'job-2', target });
  const paper = new DatabaseSync(target, { readOnly: true });
  const counts = [database, { statement: (sql: string) => paper.prepare(sql) }].map((file) => [
    file.statement(`SELECT count(*) AS rows FROM log_words WHERE log_words MATCH 'zebra'`).get()?.[
      'rows'
    ],
    file.statement(`SELECT count(*) AS rows FROM trading_sessions WHERE session_id = 99`).get()?.[
      'rows'
    ],
  ]);
  assert.deepEqual(counts, [
    [1, 1],
    [0, 0],
  ]);
  paper.close();
  database.close();
});

test('a database that a build with other comments in its schema has made can be packaged', async (t) => {
  const folder = temporaryFolder(t);
  const { database } = await neighbours(join(folder, 'jobs.db'));
  database.close();
  const other = new DatabaseSync(database.path, { defensive: false });
  other.exec(
    `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '--', '-- -')`,
  );
  other.close();
  await packageJob({ path: database.path, jobId: 'job-2', target: join(folder, 'paper.db') });
});

const refusals: [name: string, jobId: string, sql: string, message: RegExp][] = [
  [
    'an unknown job',
    'job-9',
    '',
    /^Cannot back up job job-9: there is no such job in .*jobs\.db; did you mean "job-\d"\?$/,
  ],
  [
    'a job with a name like no other',
    'stranger',
    '',
    /^Cannot back up job stranger: there is no such job in .*jobs\.db; GET \/jobs lists its jobs$/,
  ],
  ...['pending', 'downloading_data', 'running'].map((status): [string, string, string, RegExp] => [
    `a job that is ${status}`,
    'job-2',
    `UPDATE jobs SET status = '${status}', completed_at = NULL WHERE job_id = 'job-2'`,
    new RegExp(`^Cannot back up job job-2: it is ${status}; wait for its end, or cancel it$`),
  ]),
  [
    'a database with a column of another program',
    'job-2',
    `ALTER TABLE jobs ADD COLUMN words TEXT`,
    /^Cannot back up to .*paper\.db: another program has added a column to the table jobs$/,
  ],
  [
    'a job whose rows refer to others that are missing',
    'job-2',
    `PRAGMA foreign_keys = OFF; UPDATE job_details SET model = 'gone' WHERE job_id = 'job-2'`,
    /^Cannot back up to .*paper\.db: a row of job_details refers to a row of simulation_runs that is missing; the command check names all damage$/,
  ],
];
for (const [name, jobId, sql, message] of refusals) {
  test(`no package: ${name}`, async (t) => {
    const folder = temporaryFolder(t);
    const { database } = await neighbours(join(folder, 'jobs.db'));
    for (const statement of sql.split('; ').filter((one) => one !== ''))
      database.statement(statement).run();
    const before = readdirSync(folder);
    await assert.rejects(
      packageJob({ path: database.path, jobId, target: join(folder, 'paper.db') }),
      { code: 'cannot_start', message },
    );
    assert.deepEqual(readdirSync(folder), before, 'nothing is left behind');
    database.close();
  });
}
