import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { test, type TestContext } from 'node:test';
import { workerLimits } from '../../src/core/children/places.ts';
import type { Settings } from '../../src/core/settings/settings.ts';
import { scriptedAgent, type Script } from '../support/agents.ts';
import {
  HIDDEN_PATH,
  hangs,
  type Reaction,
  refuses,
  startReceiver,
  takes,
} from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** A job that ends is announced to JOB_WEBHOOK_URL. */

const KEY = Buffer.alloc(32, 'key');
const DAY = { start_date: '2025-11-10', end_date: '2025-11-10' };
const WITHOUT_PRICES = { start_date: '2025-11-11', end_date: '2025-11-11' };
const TRIES = 1 + workerLimits.announcementPausesMs.length;
const WARNING = 'cannot announce the end of a job';

interface Options {
  script?: Script;
  settings?: Partial<Settings>;
  announcementMs?: number;
  folder?: string;
  /** Those between two tries. */
  pausesMs?: number[];
}

/** A service with prices of one day, that announces to an address without waiting long. */
function serve(t: TestContext, url: string | null, options: Options = {}): Promise<TestService> {
  const { script = {}, settings, announcementMs = 60_000, folder } = options;
  const { pausesMs = Array(TRIES - 1).fill(1) } = options;
  return startTestService(t, {
    settings: {
      ...{ jobWebhookUrl: url, jobWebhookKey: null, autoDownloadPriceData: false },
      ...settings,
    },
    configuration: {
      models: [{ signature: 'model-a', enabled: true }],
      agent_config: { stock_symbols: ['AAPL'], max_steps: 5 },
    },
    agent: scriptedAgent(script),
    limits: { announcementMs, announcementPausesMs: pausesMs },
    ...(folder === undefined ? { prices: 'AAPL 2025-11-10 100 101' } : { folder }),
  });
}

const stillToAnnounce = ({ database }: TestService) =>
  database.statement('SELECT job_id FROM announcements').all().length;
const untilSettled = (service: TestService) =>
  until('nothing to be left to announce', () => stillToAnnounce(service) === 0);

function assertShowsNoAddress({ logLines }: TestService, port: number): void {
  const log = JSON.stringify(logLines);
  for (const word of [HIDDEN_PATH.slice(-10), `:${port}`, KEY.toString('base64')])
    assert.equal(log.includes(word), false, word);
}

async function cancelRunning(service: TestService): Promise<string> {
  const { body } = await service.post('/simulate/trigger', DAY);
  const running = service.database.statement(`SELECT 1 FROM job_details WHERE status = 'running'`);
  await until('the day to run', () => running.get());
  assert.equal((await service.post(`/simulate/cancel/${body.job_id}`, {})).status, 200);
  return body.job_id;
}

const FAIL: Script = { '*': [[['fail', 'It cannot.']]] };
const page = readFileSync(new URL('../../docs/guides/run-every-night.md', import.meta.url), 'utf8');
const [, example = ''] = /^```jsonc\n([^]*?"job\.ended"[^]*?)^```/m.exec(page) ?? [];
const documented: object = JSON.parse(example.replaceAll(/ \/\/ .*$/gm, ''));
/** How a job ends, and what makes it end so. */
const ends: [status: string, script: Script, run: (service: TestService) => Promise<string>][] = [
  ['completed', {}, async (service) => (await service.runJob(DAY)).job_id],
  ['failed', FAIL, async (service) => (await service.runJob(DAY)).job_id],
  ['failed', {}, async (service) => (await service.runJob(WITHOUT_PRICES)).job_id],
  ['cancelled', { '*': [[['wait', 60_000]]] }, cancelRunning],
];
for (const [index, [status, script, run]] of ends.entries())
  test(`a ${status} job is announced once, as its status says it, and signed (${index})`, async (t) => {
    const receiver = await startReceiver(t);
    const settings = { jobWebhookKey: KEY, publicUrl: 'https://sim.example.com/trading//' };
    const service = await serve(t, receiver.url, { script, settings });
    const jobId = await run(service);
    await untilSettled(service);
    const { body: job } = await service.get(`/simulate/status/${jobId}`);
    assert.equal(job.status, status);
    const [{ headers, body, text } = assert.fail(), ...more] = receiver.received;
    assert.deepEqual(more, []);
    const { progress, error, warnings } = job;
    assert.deepEqual(body, {
      ...{ event: 'job.ended', job_id: jobId, status, progress, error, warnings },
      url: `https://sim.example.com/trading/jobs/${jobId}`,
      ...{ deployment_mode: 'DEV', is_dev_mode: true, preserve_dev_data: false },
    });
    assert.deepEqual(
      Object.keys(body),
      Object.keys(documented),
      'in docs/guides/run-every-night.md',
    );
    const time = Number(headers['webhook-timestamp']);
    assert.ok(Math.abs(time - service.clock().getTime() / 1000) < 600, 'of the service’s clock');
    const signed = `${jobId}.${time}.${text}`;
    const signature = createHmac('sha256', KEY).update(signed).digest('base64');
    assert.deepEqual(
      [headers['webhook-id'], headers['webhook-signature'], headers['content-type']],
      [jobId, `v1,${signature}`, 'application/json'],
    );
    assertShowsNoAddress(service, receiver.port);
  });

test('without a secret and PUBLIC_URL there is no signature and no url', async (t) => {
  const receiver = await startReceiver(t);
  const settings = { deploymentMode: 'PROD', preserveDevData: null } as const;
  const service = await serve(t, receiver.url, { settings });
  await service.runJob(WITHOUT_PRICES);
  await untilSettled(service);
  const [{ headers, body } = assert.fail()] = receiver.received;
  assert.equal(headers['webhook-signature'], undefined);
  assert.deepEqual(
    [body.status, body.error, 'url' in body, body.deployment_mode],
    ['failed', (await service.get(`/simulate/status/${body.job_id}`)).body.error, false, 'PROD'],
  );
});

/** What receivers do, how often they are asked, and what the log says of it; null where they took it. */
const receivers: Record<string, [react: Reaction, tries: number, failure: string | null]> = {
  'takes it with a 200': [refuses(200), 1, null],
  'takes it with a 299': [refuses(299), 1, null],
  'takes it with a content coding that is unknown': [
    refuses(200, { 'content-encoding': 'aws-chunked' }),
    1,
    null,
  ],
  'takes it and breaks HTTP after its status': [
    (response) =>
      void response.socket?.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\n'),
    1,
    null,
  ],
  redirects: [refuses(302, { location: '/elsewhere' }), TRIES, 'status 302'],
  'redirects for good': [refuses(308, { location: '/elsewhere' }), TRIES, 'status 308'],
  'has an error': [refuses(500), TRIES, 'status 500'],
  hangs: [hangs, TRIES, 'timeout'],
  'hangs up': [(response) => response.destroy(), TRIES, 'connection'],
};
for (const [name, [react, tries, failure]] of Object.entries(receivers))
  test(`of a receiver that ${name}`, async (t) => {
    const receiver = await startReceiver(t, react);
    const service = await serve(t, receiver.url, {
      announcementMs: failure === 'timeout' ? 100 : 60_000,
    });
    const { job_id: jobId } = await service.runJob(WITHOUT_PRICES);
    await untilSettled(service);
    const { received } = receiver;
    assert.equal(received.length, tries);
    assert.deepEqual([...new Set(received.map(({ headers }) => headers['webhook-id']))], [jobId]);
    assert.equal(new Set(received.map(({ text }) => text)).size, 1, 'all tries say the same');
    const warnings = service.logLines.filter(({ message }) => message === WARNING);
    assert.deepEqual(
      warnings.map(({ level, jobId: id, failure: why }) => [level, id, why]),
      failure === null ? [] : [['WARNING', jobId, failure]],
    );
    assertShowsNoAddress(service, receiver.port);
    await service.stop();
    const again = await serve(t, receiver.url, { folder: service.folder });
    await again.stop();
    assert.equal(received.length, tries, 'nothing of it is announced by the next start');
  });

test('a receiver that refuses the connection is asked as often, and given up', async (t) => {
  const receiver = await startReceiver(t);
  receiver.server.close();
  const service = await serve(t, receiver.url);
  await service.runJob(WITHOUT_PRICES);
  await untilSettled(service);
  const warnings = service.logLines.filter(({ message }) => message === WARNING);
  assert.deepEqual(
    warnings.map(({ failure }) => failure),
    ['connection'],
  );
  assertShowsNoAddress(service, receiver.port);
});

/** Answers 200 and up to 100 MB, one after another; returns how many it wrote before the connection closed. */
async function answerAtLength(response: ServerResponse): Promise<number> {
  const megabyte = Buffer.alloc(1_000_000, 'x');
  response.writeHead(200).flushHeaders();
  const closed = once(response, 'close');
  let written = 0;
  for (; written < 100 && !response.destroyed; written += 1)
    if (!response.write(megabyte)) await Promise.race([once(response, 'drain'), closed]);
  response.end();
  await closed;
  return written;
}

test('of an answer of 100 MB nothing is read after the status', async (t) => {
  let written: number | undefined;
  const receiver = await startReceiver(t, async (response) => {
    written = await answerAtLength(response);
  });
  const service = await serve(t, receiver.url);
  await service.runJob(WITHOUT_PRICES);
  await untilSettled(service);
  const megabytes = await until('the connection to close', () => written);
  assert.ok(megabytes < 50, `${megabytes} MB were written`);
  assert.deepEqual(
    service.logLines.filter(({ message }) => message === WARNING),
    [],
  );
});

test('a try that fails is followed by one that succeeds; the times of a service are 10 s, and 1, 5 and 25 s', async (t) => {
  const receiver = await startReceiver(t, () => {});
  const answers = [refuses(503), refuses(404), takes];
  receiver.react = (...request) => answers.shift()?.(...request);
  const service = await serve(t, receiver.url);
  await service.runJob(WITHOUT_PRICES);
  await untilSettled(service);
  assert.deepEqual([receiver.received.length, answers.length], [3, 0]);
  const { announcementMs, announcementPausesMs } = workerLimits;
  assert.deepEqual([announcementMs, ...announcementPausesMs], [10_000, 1_000, 5_000, 25_000]);
});

test('the next job does not wait, nor its announcement; a discarded job is announced as it ended', async (t) => {
  const receiver = await startReceiver(t, hangs);
  const service = await serve(t, receiver.url);
  const { job_id: first } = await service.runJob(WITHOUT_PRICES);
  await until('the first to be announced', () => receiver.received.length === 1);
  receiver.react = takes;
  const { job_id: next } = await service.runJob(DAY);
  await until('the next to be announced', () => stillToAnnounce(service) === 1);
  assert.deepEqual(
    receiver.received.map(({ body: { job_id, status } }) => [job_id, status]),
    [
      [first, 'failed'],
      [next, 'completed'],
    ],
  );
  const url = `${service.url}/jobs/${first}`;
  assert.equal((await fetch(url, { method: 'DELETE' })).status, 200);
  await service.stop();
  const again = await serve(t, receiver.url, { folder: service.folder });
  await untilSettled(again);
  const ends = receiver.received.map(({ text }) => text);
  assert.deepEqual(ends.slice(2), [ends[0]], 'discarding is no end');
});

/** Where a stop breaks off, and the pauses between tries. */
const stops: Record<string, [react: Reaction, pausesMs: number[]]> = {
  'in the middle of a try': [hangs, [1]],
  'in the middle of the last try': [hangs, []],
  'between two tries': [refuses(500), [600_000]],
};
for (const [name, [react, pausesMs]] of Object.entries(stops))
  test(`a stop ${name} takes no time, and the next start sends it`, async (t) => {
    const receiver = await startReceiver(t, react);
    const service = await serve(t, receiver.url, { pausesMs, announcementMs: 600_000 });
    await service.runJob(WITHOUT_PRICES);
    await until('a try', () => receiver.received.length === 1);
    const { database } = service;
    assert.equal(stillToAnnounce(service), 1);
    await service.stop();
    assert.equal(service.logLines.filter(({ level }) => level === 'ERROR').length, 0);
    assert.equal(service.logLines.filter(({ message }) => message === WARNING).length, 0);
    assert.throws(() => database.statement('SELECT 1').all(), 'it has stopped');
    receiver.react = takes;
    const again = await serve(t, receiver.url, { folder: service.folder });
    await untilSettled(again);
    const [one, other, ...more] = receiver.received.map(({ text, headers }) => [
      text,
      headers['webhook-id'],
    ]);
    assert.deepEqual([other, more], [one, []]);
  });

test('what ended while no address was set is not announced, nor what is set later; without one nothing is stored', async (t) => {
  const receiver = await startReceiver(t);
  const service = await serve(t, null);
  await service.runJob(WITHOUT_PRICES);
  assert.equal(stillToAnnounce(service), 0);
  await service.stop();
  const again = await serve(t, receiver.url, { folder: service.folder });
  const { job_id: next } = await again.runJob(WITHOUT_PRICES);
  await untilSettled(again);
  assert.deepEqual(
    receiver.received.map(({ body }) => body.job_id),
    [next],
  );
});

test('what cannot be removed is not announced twice by the same process', async (t) => {
  const receiver = await startReceiver(t);
  const service = await serve(t, receiver.url);
  service.database
    .statement(
      `CREATE TRIGGER stays BEFORE DELETE ON announcements BEGIN SELECT raise(ABORT, 'it stays'); END`,
    )
    .run();
  await service.runJob(WITHOUT_PRICES);
  const broken = () => service.logLines.filter(({ message }) => message === 'unexpected failure');
  await until('the failure to be logged', () => broken().length === 1);
  const { job_id: next } = await service.runJob(DAY);
  await until('the next failure to be logged', () => broken().length === 2);
  assert.deepEqual([receiver.received.length, receiver.received[1]?.body.job_id], [2, next]);
});

/** Stores announcements of as many jobs, which are copies of one that has ended. */
function storeAnnouncements({ database }: TestService, count: number): void {
  const columns = `status, start_date, end_date, dates, replace_existing, agent_config, deployment_mode, created_at, completed_at`;
  const sql = `
    WITH RECURSIVE numbers AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    INSERT INTO jobs (job_id, ${columns}) SELECT 'copy-' || n, ${columns} FROM numbers CROSS JOIN jobs`;
  assert.equal(database.statement(sql).run().changes, count);
  database
    .statement(`INSERT INTO announcements SELECT job_id, '{}' FROM jobs WHERE job_id LIKE 'copy-%'`)
    .run();
}

test('of many that are left to announce a hundred are on their way at a time', async (t) => {
  const service = await serve(t, null);
  await service.runJob(WITHOUT_PRICES);
  storeAnnouncements(service, 250);
  await service.stop();
  const open = new Set<ServerResponse>();
  let most = 0;
  const receiver = await startReceiver(t, (response) => {
    open.add(response);
    most = Math.max(most, open.size);
  });
  const again = await serve(t, receiver.url, { folder: service.folder });
  await until('a hundred to be open', () => open.size === 100);
  await until('all to be taken', () => {
    for (const response of open) response.writeHead(200).end();
    open.clear();
    return stillToAnnounce(again) === 0;
  });
  assert.deepEqual([most, receiver.received.length], [100, 250]);
});
