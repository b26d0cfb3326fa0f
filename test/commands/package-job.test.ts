import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { activeSpans, latestActiveDayBefore } from '../../src/core/database/active-days.ts';
import { openDatabase } from '../../src/core/database/database.ts';
import { digestTable, listedTables } from '../../src/core/database/manifest.ts';
import { KEPT_ROWS } from '../../src/features/backup/package-queries.ts';
import { CHANGED_STARTS } from '../../src/core/database/stale.ts';
import { integer, query, text } from '../../src/core/database/rows.ts';
import { withSnapshot } from '../../src/core/database/snapshot.ts';
import { packageJob } from '../../src/features/backup/backup-command.ts';
import { type Books, fourDays } from '../support/books.ts';
import { temporaryFolder } from '../support/folder.ts';
import { richBooks } from '../support/rich-books.ts';
import { startTestService } from '../support/service.ts';
import { staleNow } from '../support/stale.ts';
import { rowsAsText } from '../support/tables.ts';
import { like, tableOf } from '../support/text-table.ts';
import { fillWithTrackRecords } from '../support/track-records.ts';
import { startTestView } from '../support/view.ts';

const JOB = 'bench-0001';
const MODE = '"deployment_mode":"PROD"';
const MANIFEST = query(
  'SELECT table_name AS "table", rows, sha256 FROM package_manifest ORDER BY 1',
  { table: text, rows: integer, sha256: text },
);

/** Requests that a package answers as the service does. */
const requests = `
  /results?job_id=JOB                           /results?job_id=JOB&model=model-1&format=csv
  /performance?job_id=JOB                       /performance?job_id=JOB&details=true&common=true
  /performance?job_id=JOB&benchmark=universe    /performance?job_id=JOB&format=csv&table=actions
  /comparison?job_id=JOB&curves=false           /comparison?job_id=JOB&align=number&models=model-0,model-1
  /holdings?job_id=JOB&model=model-2            /reasoning?job_id=JOB&include_full_conversation=true
  /decisions?job_id=JOB&limit=100               /search?job_id=JOB&q=volume&limit=3
  /simulate/status/JOB`.replaceAll('JOB', JOB);
/** In a conversation: the days before and after are those of the file. */
const NEIGHBOURS = /"(previous|next)_date":("[^"]*"|null),/g;

/** A folder, the path of its database, and that of a package of a job of it. */
function places(): { folder: string; path: string; target: string } {
  const folder = temporaryFolder();
  return { folder, path: join(folder, 'jobs.db'), target: join(folder, 'paper.db') };
}

test('a package answers as the service does for its job, over chains that began before it', async (t) => {
  const { folder, path, target } = places();
  fillWithTrackRecords(path, {
    models: ['model-2', 'model-0', 'model-1'],
    days: 45,
    datesPerJob: 15,
    failures: 0.05,
  });
  const { bytes, ...summary } = await packageJob({ path, jobId: JOB, target });
  assert.deepEqual(summary, { jobs: 1, modelDays: 43, positions: 86, bars: 3060 });
  assert.ok(bytes > 100_000);
  const settings = { deploymentMode: 'PROD', preserveDevData: null } as const;
  const service = await startTestService(t, { folder, settings, isForged: true });
  const view = await startTestView(t, target);
  for (const request of requests.trim().split(/\s+/)) {
    const [ours = '', its = ''] = await Promise.all(
      [service, view].map(async ({ url }) => (await fetch(url + request)).text()),
    );
    const plain = (body: string) =>
      body.replaceAll(NEIGHBOURS, '').replaceAll('"deployment_mode":"UNKNOWN"', MODE);
    assert.equal(plain(its), plain(ours), request);
    assert.ok(ours.length > 500, request);
  }
  assert.deepEqual((await view.get('/jobs')).body.jobs.length, 1);
  const { models } = (await view.get('/models')).body;
  const orders = models.map((model: any) => `${model.signature} ${model.order}`);
  assert.deepEqual(orders, ['model-0 1', 'model-1 2', 'model-2 0'], 'the pages colour them so');
  const counts = models.map((model: any) => `${model.signature} ${model.completed_model_days}`);
  assert.deepEqual(counts, ['model-0 14', 'model-1 14', 'model-2 15']);
});

/** Books in which job-2 continues from job-1, and other jobs have words of their own. */
async function neighbours(path: string): Promise<Books> {
  const books = await fourDays(path);
  await books.day('2025-01-08', [['buy', 'ORLY', 3]], 'stranger');
  const run = (sql: string) => books.database.statement(sql).run();
  for (const job of [1, 3, 4, 5]) {
    const session = `(SELECT min(session_id) FROM trading_sessions WHERE job_id = 'job-${job}')`;
    const words = `'words of job ${job}' WHERE session_id = ${session}`;
    run(`UPDATE trading_sessions SET session_summary = ${words}`);
    run(`UPDATE reasoning_logs SET content = ${words}`);
  }
  run(`INSERT INTO idempotency_keys VALUES ('key-of-a-client', 'job-2', 'hash', '{}')`);
  run(`INSERT INTO announcements VALUES ('job-2', '{"event":"to-be-announced"}')`);
  books.setBar('AAPL', '2025-01-06', { open: 102, close: 777.125 });
  books.setBar('AAPL', '2025-01-07', { open: 104, close: 888.125 });
  books.setBar('ZZZZ', '2025-01-06', { open: 5, close: 5.4375 });
  books.setBar('MSFT', '2025-01-09', { open: 190, close: 191, source: 'yahoo' });
  const covered = `('AAPL', 'csv', '2025-01-03', '2025-01-08', 't')`;
  run(`INSERT INTO price_data_coverage VALUES ${covered}`);
  return books;
}

let closed: Promise<string> | undefined;

/** The database of `neighbours`, which is made once and copied, and what packages its job-2. */
async function withNeighbours(t: TestContext, make?: typeof neighbours) {
  const { folder, path, target } = places();
  closed ??= (async () => {
    const template = join(temporaryFolder(), 'jobs.db');
    (await neighbours(template)).database.close();
    return template;
  })();
  if (make === undefined) copyFileSync(await closed, path);
  const database = make === undefined ? openDatabase(path) : (await make(path)).database;
  t.after(() => database.close());
  return { folder, target, database, pack: () => packageJob({ path, jobId: 'job-2', target }) };
}

/** A file, open to be read until the end of the test. */
function reader(t: TestContext, path: string) {
  const file = new DatabaseSync(path, { readOnly: true });
  t.after(() => file.close());
  const rows = (sql: string, bound = {}) => file.prepare(sql).all(bound);
  return { rows, lines: (sql: string) => rows(sql).map((row) => Object.values(row).join(' ')) };
}

test('a package is one file without a log, and has nothing of other jobs and no key', async (t) => {
  const { folder, target, pack } = await withNeighbours(t);
  await pack();
  assert.equal(readdirSync(folder).sort().join(), 'jobs.db,jobs.db-shm,jobs.db-wal,paper.db');
  const bytes = readFileSync(target);
  assert.deepEqual([...bytes.subarray(18, 20)], [1, 1], 'it is written and read without a log');
  for (const text of [
    ...['job-1', 'job-3', 'job-4', 'job-5', 'stranger', 'words of', 'key-of-a-client', 'ZZZZ'],
    ...['2025-01-08T', '2025-01-07', 'to-be-announced'],
  ])
    assert.equal(bytes.includes(text), false, text);
  const { lines } = reader(t, target);
  assert.deepEqual(lines('SELECT symbol, date, close FROM price_data ORDER BY 1, 2'), [
    'AAPL 2025-01-03 101',
    'AAPL 2025-01-06 777.125',
    'MSFT 2025-01-03 198',
    'MSFT 2025-01-06 194',
    'MSFT 2025-01-09 191', // of a source without split jumps: that changes what splits mean
    'ORLY 2025-01-06 33',
  ]);
  assert.deepEqual(lines('SELECT symbol, end_date FROM price_data_coverage'), ['AAPL 2025-01-06']);
  const revised = lines('SELECT symbol, close FROM price_revisions');
  assert.deepEqual(revised, ['AAPL 103'], 'what it was at the time');
  assert.deepEqual(
    lines('SELECT session_id, job_id, date, status, initial_cash_e4 FROM trading_sessions'),
    ['1  2025-01-03 opening 100000000', '2 job-2 2025-01-06 active '],
  );
  assert.deepEqual(lines('SELECT symbol, lot, bought_on, quantity, cost_e4 FROM opening_lots'), [
    'AAPL 1 2025-01-03 10 10000000',
    'MSFT 1 2025-01-03 5 10000000',
  ]);
});

/** Of a session of another job a package keeps that it is one, and what the next day starts from. */
const KEPT_OF_OPENINGS = [
  ...['session_id', 'date', 'model', 'status', 'initial_cash_e4', 'started_at', 'completed_at'],
  ...['note', 'unfilled'],
];

test('of the session before its first, a package has nothing but what a day starts from', async (t) => {
  const { target, database, pack } = await withNeighbours(t);
  const columns = database.statement(
    `SELECT name, type, dflt_value AS usual FROM pragma_table_info('trading_sessions')`,
  );
  const others = (columns.all() as { name: string; type: string; usual: string | null }[]).filter(
    ({ name }) =>
      !KEPT_OF_OPENINGS.includes(name) && !/^(job_id|started_from_session_id|error)$/.test(name),
  );
  // Whatever column there is, another job's session has something in it.
  for (const { name, type } of others) {
    const value = name === 'documents' ? `'[]'` : type === 'TEXT' ? `'words'` : '1';
    database.statement(`UPDATE trading_sessions SET ${name} = ${value} WHERE session_id = 1`).run();
  }
  await pack();
  const { rows } = reader(t, target);
  const [opening] = rows(`SELECT * FROM trading_sessions WHERE status = 'opening'`);
  for (const { name, usual } of others)
    assert.equal(String(opening?.[name] ?? null), String(usual), `${name} is another job's`);
});

const OWN_SESSIONS = 'session_id IN (SELECT session_id FROM trading_sessions WHERE job_id = :job)';
const OWN_SYMBOLS = `symbol IN ('AAPL', 'MSFT', 'ORLY')`;
const BEFORE_END = 'date <= (SELECT end_date FROM jobs WHERE job_id = :job)';
/** Which rows of the tables a package has, beside those of its openings. */
const packaged: [where: string, tables: string][] = [
  ['job_id = :job', 'jobs simulation_runs job_details trading_sessions'],
  [OWN_SESSIONS, 'positions holdings reasoning_logs decisions tool_usage'],
  [OWN_SESSIONS, 'session_prices session_splits session_dividends session_exchanges'],
  [OWN_SYMBOLS, 'stock_splits stock_split_coverage stock_split_spans stock_split_revisions'],
  [OWN_SYMBOLS, 'dividends dividend_coverage dividend_revisions exchanges exchange_revisions'],
  [`${OWN_SYMBOLS} AND ${BEFORE_END}`, 'price_data price_revisions'],
  [BEFORE_END, 'market_days'],
  [`${BEFORE_END} AND date >= (SELECT start_date FROM jobs WHERE job_id = :job)`, 'factors'],
];

test('of every table, a package has the rows that the model-days of its job rest on', async (t) => {
  const { folder, database } = await withNeighbours(t, richBooks);
  for (const insert of COVERED)
    for (const symbol of ['AAPL', 'ZZZZ']) database.statement(insert).run(symbol);
  const counts = new Map<string, number>();
  const own = `SELECT job_id FROM trading_sessions WHERE model = 'model-b' AND date >= '2025-01-07'`;
  for (const [index, { job_id: job = null }] of database.statement(own).all().entries()) {
    const target = join(folder, `${index}.db`);
    await packageJob({ path: database.path, jobId: String(job), target });
    const paper = reader(t, target);
    for (const [where, tables] of packaged)
      for (const table of tables.split(' ')) {
        const sql = `SELECT * FROM ${table} WHERE ${where} AND :job <> '' ORDER BY 1, 2, 3`;
        const rows = database.statement(sql).all({ job });
        assert.deepEqual(paper.rows(sql, { job }), rows, table);
        counts.set(table, (counts.get(table) ?? 0) + rows.length);
        if (table !== 'factors') continue;
        const earlier = `SELECT * FROM factors WHERE date < (SELECT min(date) FROM trading_sessions)`;
        assert.deepEqual(paper.rows(earlier, {}), [], 'factors of before its days');
      }
  }
  const others = [
    ...['changed_starts', 'price_writes', 'figure_settings', 'opening_lots'],
    ...['price_data_coverage', 'idempotency_keys', 'announcements', 'package_manifest'],
    ...['documents', 'document_texts', 'document_sessions', 'document_imports'],
  ]; // which other tests look at
  assert.deepEqual([...counts.keys(), ...others].sort(), Object.keys(KEPT_ROWS).sort());
  const empty = [...counts].filter(([, count]) => count === 0);
  assert.deepEqual(empty, [], 'every table had rows');
});

/** Rows that say what is known of a symbol, and on which days a market was open. */
const COVERED = [
  `INSERT INTO stock_split_coverage VALUES (?, '2025-01-08', 's', 't')`,
  `INSERT INTO stock_split_spans VALUES (?, 's', '2025-01-06', '2025-01-08', 't')`,
  `INSERT INTO dividend_coverage (symbol, source, start_date, end_date, recorded_at) VALUES (?, 'csv', '2025-01-06', '2025-01-08', 't')`,
  `INSERT INTO market_days VALUES (?, '2025-01-06', 't')`,
  `INSERT INTO factors VALUES (?, '2025-01-06', 0.01, 's', 't')`,
  `INSERT INTO factors VALUES (?, '2025-01-07', 0.01, 's', 't')`,
  `INSERT INTO factors VALUES (?, '2025-01-08', 0.01, 's', 't')`,
];

test('the manifest has the digest of every table, until a service opens the file', async (t) => {
  const { target, database, pack } = await withNeighbours(t);
  assert.deepEqual(
    [...listedTables(database), 'package_manifest'].sort(),
    Object.keys(KEPT_ROWS).sort(),
    'a new table has a place in package.ts',
  );
  await pack();
  await withSnapshot(target, (snapshot) => {
    const stored = MANIFEST.all(snapshot).map((row) => ({ ...row }));
    const digests = listedTables(snapshot).map((table) => digestTable(snapshot, table));
    assert.deepEqual(stored, digests);
    const lots = '[1,"AAPL",1,"2025-01-03",10,10000000]\n[1,"MSFT",1,"2025-01-03",5,10000000]';
    const own = stored.find(({ table }) => table === 'opening_lots');
    assert.deepEqual(own, { table: 'opening_lots', rows: 2, sha256: hash('sha256', lots) });
  });
  const opened = openDatabase(target);
  assert.deepEqual(MANIFEST.all(opened), [], 'from now on it changes');
  opened.close();
});

test('openings count nowhere, and chains continue from them', async (t) => {
  const { target, pack } = await withNeighbours(t);
  await pack();
  const view = await startTestView(t, target);
  const bodyOf = async (path: string) => (await view.get(path)).body;
  assert.equal((await bodyOf('/results')).count, 2);
  assert.equal((await bodyOf('/reasoning')).count, 1);
  assert.equal((await bodyOf('/decisions')).count, 2);
  const { sessions } = await bodyOf('/reasoning?include_full_conversation=true');
  assert.deepEqual([sessions[0].opening.date, sessions[0].previous_date], ['2025-01-03', null]);
  const { model_days, positions, problems, unverifiable } = (await bodyOf('/audit')).counts;
  assert.deepEqual([model_days, positions, problems, unverifiable], [1, 2, 0, 0]);
  const [model] = (await bodyOf('/models')).models;
  assert.deepEqual([model.first_completed_date, model.completed_model_days], ['2025-01-06', 1]);
  const { status } = await view.get('/decisions?before=1');
  assert.equal(status, 422, 'no decision has the id of an opening');

  const continued = openDatabase(target);
  assert.equal(activeSpans(continued, ['model-a']).get('model-a')?.lastDate, '2025-01-06');
  const held = latestActiveDayBefore(continued, 'model-a', '2025-01-06')?.holdings;
  const holdings = held?.map(({ symbol, quantity }) => `${symbol} ${quantity}`);
  assert.deepEqual(holdings, ['AAPL 10', 'MSFT 5']);
  assert.deepEqual(continued.statement(CHANGED_STARTS).all('job-2'), []);
  continued.close();
});

test('a day whose start another job has replaced is stale in a package too, which has neither', async (t) => {
  const { target, database, pack } = await withNeighbours(t, async (path) => {
    const books = await fourDays(path);
    await books.day('2025-01-03');
    return books;
  });
  await pack();
  const opened = openDatabase(target);
  for (const one of [database, opened]) assert.deepEqual(staleNow(one), ['model-a 2025-01-06']);
  opened.close();
});

test('a package of a package is the same', async (t) => {
  const { folder, target, pack } = await withNeighbours(t);
  await pack();
  const second = join(folder, 'second.db');
  await packageJob({ path: target, jobId: 'job-2', target: second });
  const manifestOf = (path: string) => withSnapshot(path, (snapshot) => MANIFEST.all(snapshot));
  assert.deepEqual(await manifestOf(second), await manifestOf(target));
});

test('what another program has added to a database, and what it knows of its rows, is not in a package', async (t) => {
  const { folder, target, database, pack } = await withNeighbours(t);
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
  await pack();
  const bytes = readFileSync(target);
  for (const text of ['words of', 'job-1', 'job-3', 'jottings', 'jotted', 'sqlite_stat'])
    assert.equal(bytes.includes(text), false, text);
  const objects = (path: string) =>
    reader(t, path)
      .rows('SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2')
      .filter(({ name }) => name !== 'sqlite_sequence');
  openDatabase(join(folder, 'new.db')).close();
  assert.deepEqual(objects(target), objects(join(folder, 'new.db')));
});

test('the words of other jobs, and openings from which the job does not continue, are not in a package', async (t) => {
  const { target, database, pack } = await withNeighbours(t);
  const opening = `INSERT INTO trading_sessions (session_id, date, model, status, started_at, completed_at)
    VALUES (99, '2024-12-31', 'another', 'opening', 't', 't')`;
  for (const sql of [opening, `INSERT INTO log_words (rowid, words) VALUES (9999, 'zebra')`])
    database.statement(sql).run();
  await pack();
  const paper = reader(t, target);
  for (const where of [
    `log_words WHERE log_words MATCH 'zebra'`,
    'trading_sessions WHERE session_id = 99',
  ]) {
    const count = `SELECT count(*) FROM ${where}`;
    assert.deepEqual([rowsAsText(database, count), paper.lines(count)], [['1'], ['0']]);
  }
});

test('a database that a build with other comments in its schema has made can be packaged', async (t) => {
  const { database, pack } = await withNeighbours(t);
  const other = new DatabaseSync(database.path, { defensive: false });
  const schema = `UPDATE sqlite_schema SET sql = replace(sql, '--', '-- -')`;
  other.exec(`PRAGMA writable_schema = ON; ${schema}`);
  other.close();
  await pack();
});

const NOT_ENDED = `completed_at = NULL WHERE job_id = 'job-2'`;
const refusals = tableOf<[jobId: string, sql: string, message: string]>(`
  job-9    |                                                        | Cannot back up job job-9: there is no such job in …jobs.db; did you mean "job-…"?
  stranger |                                                        | Cannot back up job stranger: there is no such job in …jobs.db; GET /jobs lists its jobs
  job-2    | UPDATE jobs SET status = 'pending', ${NOT_ENDED}          | Cannot back up job job-2: it is pending; wait for its end, or cancel it
  job-2    | UPDATE jobs SET status = 'downloading_data', ${NOT_ENDED} | Cannot back up job job-2: it is downloading_data; wait for its end, or cancel it
  job-2    | UPDATE jobs SET status = 'running', ${NOT_ENDED}          | Cannot back up job job-2: it is running; wait for its end, or cancel it
  job-2    | ALTER TABLE jobs ADD COLUMN words TEXT                 | Cannot back up to …paper.db: another program has added a column to the table jobs
  job-2    | PRAGMA foreign_keys = OFF; UPDATE job_details SET model = 'gone' WHERE job_id = 'job-2' | Cannot back up to …paper.db: a row of job_details refers to a row of simulation_runs that is missing; the command check names all damage`);
test('no package of a job that is unknown, has not ended or is damaged', async (t) => {
  for (const [jobId, sql, message] of refusals) {
    const { folder, target, database } = await withNeighbours(t);
    for (const statement of sql.split('; ').filter(Boolean)) database.statement(statement).run();
    const before = readdirSync(folder);
    const packaging = packageJob({ path: database.path, jobId, target });
    await assert.rejects(packaging, { code: 'cannot_start', message: like(message) });
    assert.deepEqual(readdirSync(folder), before, 'nothing is left behind');
  }
});
