import assert from 'node:assert/strict';
import { readdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { parseAgentConfiguration } from '../../src/core/settings/configuration.ts';
import { areResultsFew } from '../../src/core/api/results.ts';
import { addDays } from '../../src/core/time/calendar.ts';
import { type Script, scriptedAgent } from '../support/agents.ts';
import { runJobHere } from '../support/job-here.ts';
import { insertTestJob } from '../support/jobs.ts';
import { noProc } from '../support/processes.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { endThreads, insertSymbols, watchThreads } from '../support/threads.ts';
import { until } from '../support/until.ts';
import { startTestView } from '../support/view.ts';
import type { HttpLimits } from '../../src/core/http/limits.ts';
import { openWire, readAnswers, send, type Wire } from '../support/wire.ts';
import { inLongForm, leftToLongForm } from '../support/long.ts';

/** Reports are made in reader threads, and a thread that ends costs its own report only. */

async function serviceWithJob(t: TestContext): Promise<TestService> {
  const service = await startTestService(t, { agent: scriptedAgent({}) });
  await service.runJob({ start_date: '2025-11-03', end_date: '2025-11-04' });
  return service;
}

test('a report that finds no free thread in time is a 503 that says when to try again', async (t) => {
  await endThreads();
  const service = await startTestService(t, { httpLimits: { maxReportWaitMs: 0 } });
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) => service.get(`/search?q=m${index}`)),
  );
  const refused = answers.filter(({ status }) => status === 503);
  assert.ok(refused.length > 0);
  for (const { headers, body } of refused) {
    assert.match(headers.get('retry-after') ?? '', /^\d+$/);
    assert.match(body.detail, /^Cannot make this report now/);
  }
});

test('a thread that is killed or takes too much memory costs its own report only', async (t) => {
  const service = await serviceWithJob(t);
  const ask = (index: number) => service.get(`/performance?start_date=2000-01-0${index}`);
  await endThreads();
  const workers = watchThreads(t);
  const killed = ask(1);
  await until('a thread', () => workers.length > 0);
  await workers[0]?.terminate();
  assert.deepEqual([(await killed).status, (await ask(2)).status], [500, 200]);
  await endThreads();
  const small = await startTestService(t, { httpLimits: { maxReportHeapMb: 1, reportCheckMs: 1 } });
  const refused = await small.get('/performance');
  assert.equal(refused.status, 503);
  assert.match(refused.body.detail, /^Cannot make this report: it needs more than 1 MB of memory/);
  assert.equal((await ask(3)).status, 200);
});

test('a reader thread gets no key and no token', async (t) => {
  const secret = (name: string) => [name, `secret-${name}`];
  const names = ['openaiApiKey', 'massiveApiKey', 'alphaVantageApiKey', 'jinaApiKey', 'apiToken'];
  const settings = { ...Object.fromEntries(names.map(secret)), apiTokensFile: null };
  const service = await startTestService(t, { settings });
  const { mock } = t.mock.method(Worker.prototype, 'postMessage');
  const headers = { authorization: 'Bearer secret-apiToken' };
  const { status } = await fetch(`${service.url}/performance`, { headers });
  const sent = JSON.stringify(mock.calls.map(({ arguments: [message] }) => message));
  assert.deepEqual([status, sent.includes('riskFreeRate')], [200, true]);
  assert.doesNotMatch(sent, /secret/);
});

test('a report whose client leaves is given up, and the next one is made', async (t) => {
  const service = await serviceWithJob(t);
  const { socket } = await openWire(service.url);
  socket.write('GET /performance?details=true HTTP/1.1\r\nHost: localhost\r\n\r\n');
  socket.destroy();
  assert.equal((await service.get('/performance?details=true')).status, 200);
});

test('reports wait for a thread in order, also behind one whose thread was ended', async (t) => {
  const paths = Array.from({ length: 8 }, (_, index) => `/search?q=m${index}`);
  const service = await startTestService(t);
  const answers = await Promise.all(paths.map((path) => service.get(path)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  await endThreads();
  const slow = await startTestService(t, { httpLimits: { maxReportMs: 0 } });
  const refused = await Promise.all(paths.map((path) => slow.get(path)));
  const sentence = /^Cannot make this report: it takes longer than 0 seconds; ask/;
  for (const { status, body } of refused) {
    assert.equal(status, 503);
    assert.match(body.detail, sentence);
  }
});

test('the status of a job is a report from 2,001 model-days on', inLongForm, async (t) => {
  const service = await serviceWithJob(t);
  const { agent_config } = service.database.statement('SELECT agent_config FROM jobs').get() ?? {};
  const startDate = '2024-01-01';
  for (const [jobId, models] of Object.entries({ small: 10, large: 11 })) {
    insertTestJob(service.database, {
      ...{ jobId, createdAt: '2025-12-01T12:00:00.000Z', startDate, endDate: '2024-07-18' },
      dates: Array.from({ length: 200 }, (_, day) => addDays(startDate, day)),
      runs: Array.from({ length: models }, (_, index) => ({ model: `m${index}`, startDate })),
      agentConfig: parseAgentConfiguration(String(agent_config)),
      ...{ replaceExisting: false, warnings: [] },
    });
    service.database.statement(`UPDATE jobs SET status = 'failed', completed_at = 't'`).run();
  }
  await endThreads();
  const workers = watchThreads(t);
  for (const [jobId, modelDays, threads] of [
    ['small', 2_000, 0],
    ['large', 2_200, 1],
  ] as const) {
    const { body } = await service.get(`/simulate/status/${jobId}`);
    assert.deepEqual([body.progress.total_model_days, workers.length], [modelDays, threads]);
  }
});

/** The files of a folder that this process has open. */
function openFiles(folder: string): string[] {
  return readdirSync('/proc/self/fd')
    .map((descriptor) => `/proc/self/fd/${descriptor}`)
    .filter((link) => {
      try {
        return readlinkSync(link).startsWith(folder);
      } catch {
        return false; // that of the folder itself
      }
    });
}

test('no report leaves another file open', { skip: noProc || leftToLongForm }, async (t) => {
  const service = await serviceWithJob(t);
  // Each thread opens the file once.
  const first = ['', '?by=entry', '?details=true', '?common=true'];
  await Promise.all(first.map((query) => service.get(`/performance${query}`)));
  // Takes what SQLite kept of those that closed at the same time.
  await service.get('/performance?days=clean');
  const before = openFiles(service.folder).length;
  for (const by of ['run', 'entry', 'run&days=all']) {
    for (const model of ['a', 'b']) await service.get(`/performance?models=${model}&by=${by}`);
    await service.get(`/performance?details=true&by=${by}`);
  }
  const more = openFiles(service.folder).length - before;
  assert.ok(more <= 1, `${more}`); // SQLite may keep one for the next connection to the same file
});

test('a report is kept while nothing in the database changes', async (t) => {
  const service = await serviceWithJob(t);
  const first = await service.get('/performance');
  const csv = () => fetch(`${service.url}/performance?format=csv`);
  const table = await (await csv()).text();
  await endThreads();
  const workers = watchThreads(t);
  assert.deepEqual((await service.get('/performance')).body, first.body);
  const again = await csv();
  assert.equal(again.headers.get('content-disposition'), 'attachment; filename="curve.csv"');
  assert.equal(await again.text(), table);
  const headers = { authorization: 'Bearer another' };
  const another = await fetch(`${service.url}/performance`, { headers });
  assert.deepEqual(await another.json(), first.body);
  assert.equal(workers.length, 0, 'nothing was computed, whoever asked');
  await service.runJob({ start_date: '2025-11-05', end_date: '2025-11-05' });
  const later = await service.get('/performance');
  assert.notDeepEqual(later.body, first.body);
  assert.equal(workers.length, 1);
});

test('a long report arrives whole, and is kept if it is not too long', async (t) => {
  const service = await startTestService(t);
  insertSymbols(service.database);
  const view = await startTestView(t, service.settings.databasePath);
  assert.equal((await view.get('/prices/coverage')).body.count, 10_000);
  const files = () => readdirSync(service.folder).includes('reports');
  assert.equal(files(), false, 'a view writes nothing beside the file');
  const first = await service.get('/prices/coverage');
  assert.equal(files(), true);
  assert.deepEqual([first.body.symbols.length, first.body.count], [10_000, 10_000]);
  await endThreads();
  const workers = watchThreads(t);
  assert.deepEqual((await service.get('/prices/coverage')).body, first.body);
  assert.equal(workers.length, 0);
});

test('a long report that finds no room for its file is refused, others are made', async (t) => {
  const full = await serviceWithConversations(t, { maxReportFilesMb: 0 }, 2);
  const refused = await full.get(CONVERSATIONS);
  assert.deepEqual([refused.status, (await full.get('/results')).status], [503, 200]);
  assert.match(refused.body.detail, /^Cannot make this report: it needs more than is left of 0 MB/);
});

test('a long report needs a folder that can be written, and no other', inLongForm, async (t) => {
  const service = await serviceWithConversations(t, {}, 2);
  writeFileSync(join(service.folder, 'reports'), '');
  const { TMPDIR } = process.env;
  for (const [folder, status] of [
    [TMPDIR, 200],
    ['/dev/null', 500],
  ] as const) {
    await endThreads();
    Object.assign(process.env, folder && { TMPDIR: folder });
    const answer = await service.get(CONVERSATIONS);
    assert.equal(answer.status, status);
    if (status === 500) assert.match(answer.body.detail, /Cannot write a long response to a file/);
    assert.equal((await service.get('/results')).status, 200);
  }
  if (TMPDIR === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = TMPDIR;
  await endThreads();
});

/** A client that sends a request and reads no more than the beginning of its response. */
async function openSlowly({ url }: TestService, request: string): Promise<Wire> {
  const wire = await openWire(url);
  const headers = 'Host: localhost\r\nAccept-Encoding: identity\r\nConnection: close\r\n';
  wire.socket.write(`GET ${request} HTTP/1.1\r\n${headers}\r\n`);
  await wire.until(/^HTTP\S+ 200/);
  wire.socket.pause();
  return wire;
}

/** The path of a response of some 20 MB: more than the system takes for a client that reads nothing. */
const CONVERSATIONS = '/reasoning?include_full_conversation=true';
const WHOLE = 20_000_000;

async function serviceWithConversations(
  t: TestContext,
  httpLimits: Partial<HttpLimits>,
  messages = 41,
) {
  const agent = scriptedAgent({});
  const service = await startTestService(t, { agent, httpLimits, isForged: true });
  await service.runJob({ end_date: '2025-11-03', models: ['model-a'] });
  service.database
    .statement(
      `INSERT INTO reasoning_logs (session_id, message_index, role, content, timestamp)
       WITH RECURSIVE indexes (value) AS (SELECT 100 UNION ALL SELECT value + 1 FROM indexes WHERE value < 99 + ?)
       SELECT 1, value, 'user', printf('%.*c', 500000, 'x'), 't' FROM indexes`,
    )
    .run(messages);
  return service;
}

/** Whether no response holds a state of the database: then SQLite can begin its log anew. */
const isFree = ({ database }: TestService) =>
  database.statement('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0;

test('a report is made ahead of a client that does not read, of one moment, and holds no thread then', async (t) => {
  const service = await serviceWithConversations(t, {});
  const expected = await (await fetch(service.url + CONVERSATIONS)).text();
  const wires = [];
  for (let count = 0; count < 3; count += 1) wires.push(await openSlowly(service, CONVERSATIONS));
  const folder = join(service.folder, 'reports');
  assert.deepEqual(readdirSync(folder), [], 'what a killed process would leave');
  if (!noProc) {
    const modes = openFiles(folder).map((file) => statSync(file).mode & 0o777);
    assert.deepEqual(modes, [0o600, 0o600, 0o600]);
  }
  await until('a report behind them', async () => (await service.get('/results')).status === 200);
  await until('the log to be free', () => isFree(service));
  service.database.statement(`UPDATE reasoning_logs SET content = 'later'`).run();
  for (const { socket, ended } of wires) {
    socket.resume();
    assert.ok(readAnswers(await ended)[0]?.body === expected, 'as it was when it began');
  }
  if (!noProc) await until('the files to be closed', () => openFiles(folder).length === 0);
});

/** Whether a client that reads as fast as it can gets the whole of the report. */
async function isServedWhole({ url }: TestService): Promise<boolean> {
  const headers = 'Host: localhost\r\nConnection: close\r\n';
  return (await send(url, `GET ${CONVERSATIONS} HTTP/1.1\r\n${headers}\r\n`)).length > WHOLE;
}

test('of two reports that need more than there is for files, at least one is cut off', async (t) => {
  const service = await serviceWithConversations(t, { maxReportFilesMb: 30 });
  const wire = await openSlowly(service, CONVERSATIONS);
  const isSecondWhole = await isServedWhole(service); // they may be made at the same time
  wire.socket.resume();
  const isFirstWhole = (await wire.ended).length > WHOLE;
  assert.ok(!isFirstWhole || !isSecondWhole);
});

test('a client that reads too slowly is cut off when others need the room of its report', async (t) => {
  const limits = { maxReportFilesMb: 30, maxReportMs: 2_000, minReadKbPerSecond: 20_000 };
  const service = await serviceWithConversations(t, limits);
  await service.get('/results'); // starts a thread
  const wire = await openSlowly(service, CONVERSATIONS);
  await until('the room to be free', () => isServedWhole(service));
  wire.socket.resume();
  assert.ok((await wire.ended).length < WHOLE);
});

test('a client that reads fast enough keeps its report for longer', inLongForm, async (t) => {
  const limits = { maxReportFilesMb: 30, maxReportMs: 500, minReadKbPerSecond: 1 };
  const service = await serviceWithConversations(t, limits);
  await service.get('/results'); // starts a thread
  const wire = await openSlowly(service, CONVERSATIONS);
  const later = performance.now() + 2_000;
  await until('more than the time for a report', () => performance.now() > later);
  wire.socket.resume();
  assert.equal(JSON.parse(readAnswers(await wire.ended)[0]?.body ?? '').sessions.length > 0, true);
});

test('the results of one model on one date are made in the serving thread, up to 100 positions and holdings', async (t) => {
  const isForged = true;
  const prices = 'AAPL 2025-11-10 10 10\nAAPL 2025-11-11 10 10';
  const service = await startTestService(t, { prices, isForged });
  const buys = (count: number): Script[string][number] =>
    Array.from({ length: count }, () => ['buy', { symbol: 'AAPL', amount: 1 }]);
  const script: Script = { 'a 2025-11-10': [buys(99)], 'b 2025-11-10': [buys(100)] };
  const days = { start_date: '2025-11-10', end_date: '2025-11-11', models: ['a', 'b'] };
  await runJobHere(service, script, days);
  const rows: [query: Record<string, string>, isShort: boolean][] = [
    [{ model: 'a', date: '2025-11-10' }, true],
    [{ model: 'a', start_date: '2025-11-10', end_date: '2025-11-10' }, true],
    [{ model: 'b', date: '2025-11-10' }, false],
    [{ model: 'b', date: '2025-11-11' }, true],
    [{ model: 'stranger', date: 'foo' }, true],
    [{ model: 'a', start_date: '2025-11-10', end_date: '2025-11-11' }, false],
    [{ date: '2025-11-10' }, false],
    [{ model: 'a' }, false],
  ];
  const all = (await service.get('/results')).body.results;
  for (const [query, isShort] of rows) {
    const input = {
      ...{ params: {}, body: null, headers: {}, format: 'json', token: null },
      query,
    };
    const few = areResultsFew({ database: service.database } as any, input as any); // any: it reads no more of either
    assert.equal(few, isShort, JSON.stringify(query));
  }
  await endThreads();
  const workers = watchThreads(t);
  const ofDay = await service.get('/results?model=a&date=2025-11-10');
  const expected = all.filter(({ model, date }: any) => model === 'a' && date === '2025-11-10');
  assert.deepEqual([ofDay.body, workers.length], [{ results: expected, count: 99 }, 0]);
  await service.get('/results?model=b&date=2025-11-10');
  assert.equal(workers.length, 1);
  // No look at a response keeps SQLite's log from being written back.
  const [log] = service.database.statement('PRAGMA wal_checkpoint(TRUNCATE)').all();
  assert.equal(log?.['busy'], 0);
});
