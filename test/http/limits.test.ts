import assert from 'node:assert/strict';
import { routes } from '../../src/routes.ts';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { openDatabase } from '../../src/core/database/database.ts';
import { type HttpLimits, httpLimits } from '../../src/core/http/limits.ts';
import { createHttpServer } from '../../src/core/http/server.ts';
import { createLog } from '../../src/core/process/log.ts';
import { readSettings } from '../../src/core/settings/settings.ts';
import { listenHere } from '../support/loopback.ts';
import { pagesOf, startTestService } from '../support/service.ts';
import { openWire, readAnswers, send, type Wire } from '../support/wire.ts';

/**
 * Every limit of src/core/http/limits.ts: requests within it pass, those beyond are refused, and other
 * clients are not affected.
 */

const HOST = 'Host: localhost\r\n';
const LAST = `${HOST}Connection: close\r\n`;
const LAST_HEALTH = `GET /health HTTP/1.1\r\n${LAST}\r\n`;
const HEALTH = `GET /health HTTP/1.1\r\n${HOST}\r\n`;
const TRIGGER = `POST /simulate/trigger HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n`;
const statusesOf = (text: string) => readAnswers(text).map(({ status }) => status);

/** A request target of this length: the path of a job that does not exist. */
const target = (length: number) =>
  `/simulate/status/${'x'.repeat(length - '/simulate/status/'.length)}`;
const headers = (count: number) =>
  Array.from({ length: count }, (_, index) => `X-${index}: y\r\n`).join('');
/** A chunked body of this many bytes, in chunks of 64 KiB. */
const chunked = (bytes: number) => {
  const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
  const rest = bytes % 0x10000;
  return `${chunk.repeat(Math.floor(bytes / 0x10000))}${rest ? `${rest.toString(16)}\r\n${' '.repeat(rest)}\r\n` : ''}0\r\n\r\n`;
};
const { maxBodyBytes, maxHeaders, maxHeadBytes, maxTargetLength } = httpLimits;

const get = (path: string, headers: string) => `GET ${path} HTTP/1.1\r\n${headers}\r\n`;
const body = (bytes: number) =>
  `${TRIGGER}Content-Length: ${bytes}\r\n\r\n${'[]'.padEnd(bytes)}${LAST_HEALTH}`;
const inChunks = (bytes: number) =>
  `${TRIGGER}Transfer-Encoding: chunked\r\n\r\n${chunked(bytes)}${LAST_HEALTH}`;
const endless = `GET /health HTTP/1.1\r\nX: ${'x'.repeat(10 * maxHeadBytes)}`;
const sizes: [name: string, bytes: string, statuses: number[]][] = [
  ['all headers', get('/health', LAST + headers(maxHeaders - 2)), [200]],
  ['one header more', get('/health', HOST + headers(maxHeaders)), [431]],
  ['very many headers', get('/health', HOST + 'a:b\r\n'.repeat(2_500)), [431]],
  ['a long head', get('/health', `${LAST}X: ${'x'.repeat(maxHeadBytes - 200)}\r\n`), [200]],
  ['too long a head', get('/health', `${HOST}X: ${'x'.repeat(maxHeadBytes)}\r\n`), [431]],
  ['a head that never ends', endless, [431]],
  ['the longest target', get(target(maxTargetLength), LAST), [404]],
  ['a target one longer', get(target(maxTargetLength + 1), LAST), [414]],
  ['a target longer than a head', get(target(maxHeadBytes + 1), LAST), [431]],
  ['the longest body', body(maxBodyBytes), [422, 200]],
  ['a body one longer', body(maxBodyBytes + 1), [413, 200]],
  ['the longest chunks', inChunks(maxBodyBytes), [400, 200]],
  ['chunks one longer', inChunks(maxBodyBytes + 1), [413, 200]],
];
test('sizes', async (t) => {
  const service = await startTestService(t);
  for (const [name, bytes, statuses] of sizes)
    assert.deepEqual(statusesOf(await send(service.url, bytes)), statuses, name);
});

test('a refused body is read for as long as a request may take, so that the client can read the response, and then cut off', async (t) => {
  const short = { headersTimeoutMs: 200, requestTimeoutMs: 200, checkIntervalMs: 20 };
  const service = await startTestService(t, { httpLimits: { maxBodyBytes: 1_000, ...short } });
  const wire = await openWire(service.url);
  const kilobyte = Buffer.alloc(1_000, 'x');
  wire.socket.write(`${TRIGGER}Content-Length: 100000000\r\n\r\n`);
  const sending = setInterval(() => wire.socket.write(kilobyte), 10);
  t.after(() => clearInterval(sending));
  assert.deepEqual(statusesOf(await wire.ended), [413]);
});

/** Longer than any test runs. */
const NEVER_MS = 1_000_000_000;
const SOON_MS = 50;
const NEVER = {
  headersTimeoutMs: NEVER_MS,
  requestTimeoutMs: NEVER_MS,
  keepAliveTimeoutMs: NEVER_MS,
};

/** A request that is cut off in the middle by one of the limits of Node's server. */
interface Slow {
  bytes: string;
  /** What it sends from time to time: that extends no limit. */
  drip?: string;
  /** It is lowered only when the quick part has come through. */
  limit: 'headersTimeout' | 'requestTimeout' | 'keepAliveTimeout';
  /** What the client has received by then, if it receives anything. */
  before?: RegExp;
  statuses: number[];
}

const [NO_HEADERS, NO_BODY] = ['headersTimeout', 'requestTimeout'] as const;
const HALF = 'GET /health HTTP/1.1\r\nX: ';
const LENGTH = 'Content-Length: 100000\r\n\r\n{';
const CHUNKS = `${TRIGGER}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`;
const REFUSED = `POST /health HTTP/1.1\r\n${HOST}${LENGTH}`;
const EXPECTS = `${TRIGGER}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`;
const [OK, CONTINUES, NO_METHOD] = [/^HTTP\S+ 200/, /^HTTP\S+ 100/, /^HTTP\S+ 405/];
const slow: Slow[] = [
  { bytes: '', limit: NO_HEADERS, statuses: [408] },
  { bytes: HALF, drip: 'x', limit: NO_HEADERS, statuses: [408] },
  { bytes: HEALTH + HALF, drip: 'x', limit: NO_HEADERS, before: OK, statuses: [200, 408] },
  { bytes: TRIGGER + LENGTH, drip: 'x', limit: NO_BODY, statuses: [408] },
  { bytes: CHUNKS, drip: '1\r\nx\r\n', limit: NO_BODY, statuses: [408] },
  { bytes: REFUSED, drip: 'x', limit: NO_BODY, before: NO_METHOD, statuses: [405] },
  { bytes: EXPECTS, limit: NO_BODY, before: CONTINUES, statuses: [100, 408] },
  { bytes: HEALTH, limit: 'keepAliveTimeout', statuses: [200] },
];
for (const { bytes, drip = '', limit, before = /^/, statuses } of slow)
  test(`closed in time: ${JSON.stringify(bytes)}`, async (t) => {
    const lines: string[] = [];
    const { server, url } = await startServer(t, {
      limits: { ...httpLimits, ...NEVER, checkIntervalMs: 20 },
      write: (line) => lines.push(line),
    });
    if (limit === 'keepAliveTimeout') server.keepAliveTimeout = SOON_MS; // it counts from the response
    const hasRequest = limit === NO_BODY ? once(server, 'request') : null;
    const wire = await openWire(url);
    wire.socket.write(bytes);
    await Promise.all([hasRequest, wire.until(before)]);
    if (limit === NO_BODY) server.headersTimeout = SOON_MS; // they are here, and Node wants it to be the lower one
    server[limit] = SOON_MS;
    const trickle = drip && setInterval(() => wire.socket.write(drip), SOON_MS / 5);
    t.after(() => clearInterval(trickle));
    assert.deepEqual(statusesOf(await wire.ended), statuses);
    assert.deepEqual(lines, []);
  });

test('the time limits of the server are those of its limits', async (t) => {
  const own = { headersTimeoutMs: 1_001, requestTimeoutMs: 1_002, keepAliveTimeoutMs: 1_003 };
  const { server } = await startServer(t, {
    limits: { ...httpLimits, ...own, stalledTimeoutMs: 1_004 },
  });
  const { headersTimeout, requestTimeout, keepAliveTimeout, timeout } = server;
  const found = [headersTimeout, requestTimeout, keepAliveTimeout, timeout];
  assert.deepEqual(found, [1_001, 1_002, 1_003, 1_004]);
});

/** The HTTP server of a service without jobs, whose errors are written. */
async function startServer(
  t: TestContext,
  { limits, write = () => {} }: { limits: HttpLimits; write?: (line: string) => void },
) {
  const clock = () => new Date();
  const database = openDatabase(':memory:');
  t.after(() => database.close());
  const log = createLog({ level: 'ERROR', json: true, write, clock });
  const view = { jobs: null, agentDays: null, viewedFile: null, isFixed: false };
  const { server } = createHttpServer(
    { database, settings: readSettings({}), log, clock, ...view },
    { accessTokens: [], routes, createPages: pagesOf({}), limits },
  );
  return { server, url: `http://127.0.0.1:${await listenHere(t, server)}` };
}

test('with too many connections further ones are closed, and when some end others are admitted', async (t) => {
  const service = await startTestService(t, { httpLimits: { maxConnections: 3 } });
  const ask = async (wire: Wire) => {
    const before = wire.received().length;
    wire.socket.write(HEALTH);
    await Promise.race([wire.ended, wire.until(new RegExp(`^[^]{${before + 1}}[^]*\\}$`))]);
    return wire.received().length > before;
  };
  const wires = [];
  for (let count = 0; count < 3; count += 1) wires.push(await openWire(service.url));
  assert.deepEqual(await Promise.all(wires.map(ask)), [true, true, true]);
  assert.equal(await (await openWire(service.url)).ended, '');
  assert.deepEqual(await Promise.all(wires.map(ask)), [true, true, true]);
  assert.match(JSON.stringify(service.logLines), /too many connections/);
  wires[0]?.socket.end();
  await wires[0]?.ended;
  assert.deepEqual(statusesOf(await send(service.url, LAST_HEALTH)), [200]);
  for (const { socket } of wires) socket.destroy();
});

test('a connection is closed with its last request, and what comes behind that is a 503', async (t) => {
  const service = await startTestService(t, { httpLimits: { maxRequestsPerSocket: 3 } });
  const answers = readAnswers(await send(service.url, HEALTH.repeat(5)));
  assert.deepEqual(
    answers.slice(0, 3).map(({ status, headers }) => `${status} ${headers['connection']}`),
    ['200 keep-alive', '200 keep-alive', '200 close'],
  );
  assert.equal((await service.get('/health')).status, 200);
});
