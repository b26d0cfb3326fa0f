import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import { openDatabase } from '../../src/core/database/database.ts';
import { openView } from '../../src/features/view/open-view.ts';
import { packageJob } from '../../src/features/backup/backup-command.ts';
import { fourDays, fourDaysAt } from '../support/books.ts';
import { contentOf, temporaryFolder } from '../support/folder.ts';
import { FORMER, makeFormer } from '../support/former.ts';
import { startTestService } from '../support/service.ts';
import { runIn } from '../support/tables.ts';
import { until } from '../support/until.ts';
import { startTestView } from '../support/view.ts';

/** The books of `fourDays` in a file that nothing has open, which was written with a log. */
async function unusedFile(folder: string): Promise<string> {
  const path = join(folder, 'paper.db');
  await fourDaysAt(path);
  return path;
}

/** Does something to a file as a service would. */
function changed(path: string, sql: string): void {
  const database = openDatabase(path);
  database.statement(sql).run();
  database.close();
}

const refused = ['POST /simulate/trigger', 'POST /simulate/cancel/job-1', 'GET /simulate/trigger'];
const readable = '/results /performance /audit /search?q=done /models /jobs /prices/coverage';

test('whatever would change something is refused, and neither the file nor its folder changes', async (t) => {
  const folder = temporaryFolder();
  const path = await unusedFile(folder);
  const before = contentOf(folder);
  const view = await startTestView(t, path);
  for (const request of [...refused, 'POST /results', 'DELETE /jobs']) {
    const [method = '', target = ''] = request.split(' ');
    const body = method === 'POST' ? 'no JSON' : null;
    const response = await fetch(view.url + target, { method, body });
    const { detail } = (await response.json()) as { detail: string };
    const allow = refused.includes(request) ? '' : 'GET, HEAD';
    assert.deepEqual([response.status, response.headers.get('allow')], [405, allow]);
    const why = 'this service only shows the file paper.db, and changes nothing';
    assert.equal(detail, `Cannot ${request}: ${why}`);
  }
  assert.equal((await view.get('/nowhere')).status, 404);
  const { paths } = (await view.get('/openapi.json')).body;
  const { '/mcp': messages, ...others } = paths; // messages that only read are posted
  const methods = Object.values<object>(others).flatMap((operations) => Object.keys(operations));
  assert.deepEqual([...new Set(methods)], ['get']);
  assert.deepEqual(Object.keys(messages), ['post']);
  for (const request of readable.split(' '))
    assert.equal((await view.get(request)).status, 200, request);
  assert.deepEqual(contentOf(folder), before);
});

test('its health names the file; tokens are asked for as in a service; the configuration of the viewer is not read', async (t) => {
  const path = await unusedFile(temporaryFolder());
  const view = await startTestView(t, path, { settings: { apiToken: 'secret' } });
  const { timestamp: _timestamp, ...health } = (await view.get('/health')).body;
  const state = { status: 'healthy', database: 'connected', viewing: 'paper.db' };
  const mode = { deployment_mode: 'PROD', is_dev_mode: false, preserve_dev_data: null };
  assert.deepEqual(health, { ...state, ...mode });
  assert.equal((await view.get('/models')).status, 401);
  const headers = { authorization: 'Bearer secret' };
  const response = await fetch(`${view.url}/models`, { headers });
  const { models, configuration_error: error } = JSON.parse(await response.text());
  assert.deepEqual([models.length, models[0].signature, error], [1, 'model-a', null]);
});

test('the mode is that of the jobs of the file: DEV where any was simulated, unknown without jobs', async (t) => {
  const path = await unusedFile(temporaryFolder());
  const empty = `${path}-empty.db`;
  openDatabase(empty).close();
  const ofEmpty = await (await startTestView(t, empty)).get('/health');
  assert.equal(ofEmpty.body.deployment_mode, 'UNKNOWN');
  const view = await startTestView(t, path);
  for (const [job, mode] of [
    ['job-1', 'PROD'],
    ['job-2', 'DEV'],
  ]) {
    changed(path, `UPDATE jobs SET deployment_mode = '${mode}' WHERE job_id = '${job}'`);
    assert.equal((await view.get('/jobs')).body.deployment_mode, mode);
  }
});

/** The risk-free rate that a view uses where its reader's environment says otherwise. */
async function rateShown(t: TestContext, path: string, riskFreeRate: number): Promise<number> {
  const view = await startTestView(t, path, { settings: { riskFreeRate } });
  return (await view.get('/performance')).body.conventions.risk_free_rate;
}

test('a package is shown with the risk-free rate of its author, and a database with that of its last service', async (t) => {
  const folder = temporaryFolder();
  const path = join(folder, 'jobs.db');
  await fourDaysAt(path);
  assert.equal(await rateShown(t, path, 0.01), 0.01, 'it has none yet');
  const before = join(folder, 'before.db');
  await packageJob({ path, jobId: 'job-1', target: before, riskFreeRate: 0.05 });
  // That of the command that made it, where no service has served the database.
  assert.equal(await rateShown(t, before, 0.01), 0.05);

  const view = await startTestView(t, path, { settings: { riskFreeRate: 0.01 } });
  const isForged = true;
  for (const riskFreeRate of [0.04, 0.02]) {
    const service = await startTestService(t, { folder, settings: { riskFreeRate }, isForged });
    const own = (await service.get('/performance')).body;
    assert.equal(own.conventions.risk_free_rate, riskFreeRate);
    const { models } = (await view.get('/performance')).body;
    assert.deepEqual(models, own.models, 'beside the service');
    await service.stop();
  }
  assert.equal(await rateShown(t, path, 0.01), 0.02);
  const after = join(folder, 'after.db');
  await packageJob({ path, jobId: 'job-1', target: after, riskFreeRate: 0.05 });
  assert.equal(await rateShown(t, after, 0.01), 0.02, 'as the service showed it');

  const readers = join(folder, 'reader');
  mkdirSync(readers);
  copyFileSync(after, join(readers, 'jobs.db'));
  const settings = { riskFreeRate: 0.03 };
  const reader = await startTestService(t, { folder: readers, settings, isForged });
  const { conventions } = (await reader.get('/performance')).body;
  assert.equal(conventions.risk_free_rate, 0.03, 'a service has its own');
});

test('pages of a package say that the file cannot change; those of a file that a service may open do not', async (t) => {
  const pages = { 'index.html': brotliCompressSync('<body>').toString('base64') };
  const bodyOf = async (path: string) =>
    (await fetch((await startTestView(t, path, { pages })).url)).text();
  const path = await unusedFile(temporaryFolder());
  assert.equal(await bodyOf(path), '<body data-view="paper.db">');
  const target = join(temporaryFolder(), 'package.db');
  await packageJob({ path, jobId: 'job-1', target });
  assert.equal(await bodyOf(target), '<body data-view="package.db" data-fixed>');
});

const WITHOUT_LAST = `UPDATE trading_sessions SET status = 'superseded'
  WHERE date = (SELECT max(date) FROM trading_sessions)`;

// Nor is a response that was computed before sent again.
test('what a service commits to the file appears, from its start to its end and after it', async (t) => {
  const path = join(temporaryFolder(), 'paper.db');
  const books = await fourDays(path);
  const view = await startTestView(t, path);
  const countOf = async () => {
    const requests = ['/results', '/performance', '/search?q=sell'].map(view.get);
    const [results, performance, found] = (await Promise.all(requests)).map(({ body }) => body);
    return [results.count, performance.models[0].model_days, found.count];
  };
  assert.deepEqual(await countOf(), [7, 4, 1], 'with a log');
  await books.day('2025-01-09', [['sell', 'AAPL', 2]]);
  assert.deepEqual(await countOf(), [8, 5, 2], 'the log has grown');
  books.database.close();
  assert.deepEqual(await countOf(), [8, 5, 2], 'the service has ended');
  changed(path, WITHOUT_LAST);
  assert.deepEqual(await countOf(), [7, 4, 1], 'another one has come and gone');
});

test('a view that is not used for a while lets a service that ends remove its log', async (t) => {
  const path = await unusedFile(temporaryFolder());
  const view = openView(path, { idleMs: 5 });
  t.after(() => view.close());
  let service = openDatabase(path);
  view.statement('SELECT count(*) FROM jobs').get();
  await until('the log to be removed', () => {
    service.close();
    if (!existsSync(`${path}-wal`)) return true;
    service = openDatabase(path);
    return false;
  });
});

test('a search finds what a service would, page by page, and leaves the file as it is', async (t) => {
  const folder = temporaryFolder();
  const path = await unusedFile(folder);
  const before = contentOf(folder);
  const view = await startTestView(t, path);
  const first = await view.get('/search?q=executed&limit=2');
  const again = await view.get('/search?q=executed&limit=2');
  assert.equal(first.body.count, 2);
  assert.deepEqual(again.body, first.body);
  const rest = await view.get(`/search?q=executed&limit=100&before=${first.body.next_before}`);
  const results = `SELECT count(*) AS count FROM reasoning_logs WHERE role = 'tool' AND content LIKE '%executed%'`;
  const all = new DatabaseSync(path, { readOnly: true }).prepare(results).get();
  assert.equal(first.body.count + rest.body.count, all?.['count']);
  const left = contentOf(folder).filter((line) => !line.includes('-wal') && !line.includes('-shm'));
  assert.deepEqual(left, before);
});

const unusable: [make: (path: string) => void, message: RegExp][] = [
  [(path) => rmSync(path), /^There is no database .*paper\.db$/],
  [(path) => writeFileSync(path, ''), /^Cannot read .*paper\.db: it is empty$/],
  [(path) => (rmSync(path), mkdirSync(path)), /paper\.db: it is a folder$/],
  [makeFormer, FORMER],
  [
    (path) => writeFileSync(path, 'text'.repeat(1000)),
    /paper\.db: its file is damaged \(file is not a database\); restore a backup$/,
  ],
  [
    (path) => (rmSync(path), runIn(path, 'CREATE TABLE t (x)')),
    /^Cannot use .*paper\.db: it is a database of another program$/,
  ],
  [
    (path) => copyFileSync(path, `${path}-wal`),
    /its log \(-wal\) exists without its index \(-shm\); start the service on it once/,
  ],
];
test('a file that cannot be viewed is refused with the reason', async () => {
  for (const [make, message] of unusable) {
    const path = await unusedFile(temporaryFolder());
    make(path);
    assert.throws(() => openView(path), { code: 'storage_fault', message });
  }
});

test('a file that is lost while it is shown makes the view unhealthy, and one that is put there is shown', async (t) => {
  const folder = temporaryFolder();
  const path = await unusedFile(folder);
  const view = await startTestView(t, path);
  copyFileSync(path, join(folder, 'copy.db'));
  rmSync(path);
  assert.equal((await view.get('/health')).body.status, 'unhealthy');
  assert.equal((await view.get('/results')).status, 500);
  copyFileSync(join(folder, 'copy.db'), path);
  assert.equal((await view.get('/health')).body.status, 'healthy');
  assert.equal((await view.get('/results')).body.count, 7);
});
