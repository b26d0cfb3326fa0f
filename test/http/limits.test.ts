import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { openDatabase } from '../../src/database/database.ts';
import { type HttpLimits, httpLimits } from '../../src/http/limits.ts';
import { createHttpServer } from '../../src/http/server.ts';
import { createLog } from '../../src/basics/log.ts';
import { readSettings } from '../../src/basics/settings.ts';
import { listenHere } from '../support/loopback.ts';
import { startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { openWire, readAnswers, send, type Wire } from '../support/wire.ts';
import { inLongForm } from '../support/long.ts';

/**
 * Every limit of src/http/limits.ts: requests within it pass, those beyond are refused, and other
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

const sizes: [name: string, bytes: string, statuses: number[]][] = [
  [
    'as many headers as allowed',
    `GET /health HTTP/1.1\r\n${LAST}${headers(maxHeaders - 2)}\r\n`,
    [200],
  ],
  ['one header more', `GET /health HTTP/1.1\r\n${HOST}${headers(maxHeaders)}\r\n`, [431]],
  ['very many headers', `GET /health HTTP/1.1\r\n${HOST}${'a:b\r\n'.repeat(2_500)}\r\n`, [431]],
  [
    'a long head',
    `GET /health HTTP/1.1\r\n${LAST}X: ${'x'.repeat(maxHeadBytes - 200)}\r\n\r\n`,
    [200],
  ],
  [
    'a head that is too long',
    `GET /health HTTP/1.1\r\n${HOST}X: ${'x'.repeat(maxHeadBytes)}\r\n\r\n`,
    [431],
  ],
  ['a head that never ends', `GET /health HTTP/1.1\r\nX: ${'x'.repeat(10 * maxHeadBytes)}`, [431]],
  [
    'a request target as long as allowed',
    `GET ${target(maxTargetLength)} HTTP/1.1\r\n${LAST}\r\n`,
    [404],
  ],
  [
    'a request target one longer',
    `GET ${target(maxTargetLength + 1)} HTTP/1.1\r\n${LAST}\r\n`,
    [414],
  ],
  [
    'a request target longer than a head',
    `GET ${target(maxHeadBytes + 1)} HTTP/1.1\r\n${LAST}\r\n`,
    [431],
  ],
  [
    'a body as long as allowed',
    `${TRIGGER}Content-Length: ${maxBodyBytes}\r\n\r\n${'[]'.padEnd(maxBodyBytes)}${LAST_HEALTH}`,
    [422, 200],
  ],
  [
    'a body one longer',
    `${TRIGGER}Content-Length: ${maxBodyBytes + 1}\r\n\r\n${'[]'.padEnd(maxBodyBytes + 1)}${LAST_HEALTH}`,
    [413, 200],
  ],
  [
    'chunks one longer',
    `${TRIGGER}Transfer-Encoding: chunked\r\n\r\n${chunked(maxBodyBytes + 1)}${LAST_HEALTH}`,
    [413, 200],
  ],
  [
    'chunks as long as allowed',
    `${TRIGGER}Transfer-Encoding: chunked\r\n\r\n${chunked(maxBodyBytes)}${LAST_HEALTH}`,
    [400, 200],
  ],
];
test('sizes', async (t) => {
  const service = await startTestService(t);
  for (const [name, bytes, statuses] of sizes) {
    await t.test(`${name}: ${statuses.join(', ')}`, async () => {
      assert.deepEqual(statusesOf(await send(service.url, bytes)), statuses);
    });
  }
});

test('a refused body is read for as long as a request may take, so that the client can read the response, and then cut off', async (t) => {
  const service = await startTestService(t, {
    httpLimits: {
      maxBodyBytes: 1_000,
      ...{ headersTimeoutMs: 200, requestTimeoutMs: 200, checkIntervalMs: 20 },
    },
  });
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

interface Slow {
  bytes: string;
  /** What it sends from time to time: that extends no limit. */
  drip?: string;
  /**
   * The limit of Node's server that ends the connection. It is lowered only when the quick part has
   * come through.
   */
  limit: 'headersTimeout' | 'requestTimeout' | 'keepAliveTimeout';
  /** What the client has received by then, if it receives anything. */
  before?: RegExp;
  statuses: number[];
}

const slow: Record<string, Slow> = {
  'a silent connection': { bytes: '', limit: 'headersTimeout', statuses: [408] },
  'headers that never end': {
    bytes: 'GET /health HTTP/1.1\r\nX: ',
    drip: 'x',
    limit: 'headersTimeout',
    statuses: [408],
  },
  'headers that never end after a request': {
    bytes: `${HEALTH}GET /health HTTP/1.1\r\nX: `,
    drip: 'x',
    limit: 'headersTimeout',
    before: /^HTTP\S+ 200/,
    statuses: [200, 408],
  },
  'a body that never ends': {
    bytes: `${TRIGGER}Content-Length: 100000\r\n\r\n{`,
    drip: 'x',
    limit: 'requestTimeout',
    statuses: [408],
  },
  'chunks that never end': {
    bytes: `${TRIGGER}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`,
    drip: '1\r\nx\r\n',
    limit: 'requestTimeout',
    statuses: [408],
  },
  'a refused body that never ends': {
    bytes: `POST /health HTTP/1.1\r\n${HOST}Content-Length: 100000\r\n\r\n{`,
    drip: 'x',
    limit: 'requestTimeout',
    before: /^HTTP\S+ 405/,
    statuses: [405],
  },
  'a body that waits for 100 Continue and never comes': {
    bytes: `${TRIGGER}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`,
    limit: 'requestTimeout',
    before: /^HTTP\S+ 100/,
    statuses: [100, 408],
  },
  'a connection without further requests': {
    bytes: HEALTH,
    limit: 'keepAliveTimeout',
    statuses: [200],
  },
};
for (const [name, { bytes, drip = '', limit, before = /^/, statuses }] of Object.entries(slow))
  test(`closed in time: ${name}`, async (t) => {
    const lines: string[] = [];
    const { server, url } = await startServer(t, {
      limits: { ...httpLimits, ...NEVER, checkIntervalMs: 20 },
      write: (line) => lines.push(line),
    });
    if (limit === 'keepAliveTimeout') server.keepAliveTimeout = SOON_MS; // it counts from the response
    const hasRequest = limit === 'requestTimeout' ? once(server, 'request') : null;
    const wire = await openWire(url);
    wire.socket.write(bytes);
    await Promise.all([hasRequest, wire.until(before)]);
    if (limit === 'requestTimeout') server.headersTimeout = SOON_MS; // the headers are here, and Node wants it to be the lower one
    server[limit] = SOON_MS;
    const trickle =
      drip === '' ? undefined : setInterval(() => wire.socket.write(drip), SOON_MS / 5);
    t.after(() => clearInterval(trickle));
    assert.deepEqual(statusesOf(await wire.ended), statuses);
    assert.deepEqual(lines, []);
  });

test('the time limits of the server are those of its limits', async (t) => {
  const limits = {
    ...httpLimits,
    headersTimeoutMs: 1_001,
    requestTimeoutMs: 1_002,
    keepAliveTimeoutMs: 1_003,
    stalledTimeoutMs: 1_004,
  };
  const { server } = await startServer(t, { limits });
  const { headersTimeout, requestTimeout, keepAliveTimeout, timeout } = server;
  assert.deepEqual(
    [headersTimeout, requestTimeout, keepAliveTimeout, timeout],
    [1_001, 1_002, 1_003, 1_004],
  );
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
  const shown = {
    jobs: null,
    viewedFile: null,
    isFixed: false,
    interfaceDescription: async () => '{}',
  };
  const { server } = createHttpServer(
    { database, settings: readSettings({}), log, clock, ...shown },
    { accessTokens: [], pages: {}, limits },
  );
  return { server, url: `http://127.0.0.1:${await listenHere(t, server)}` };
}

test('a stalled response is given up', inLongForm, async (t) => {
  const service = await startTestService(t, {
    httpLimits: { stalledTimeoutMs: 300 },
    isForged: true,
  });
  const { job_id } = await service.runJob({ end_date: '2025-11-10', models: ['model-a'] });
  service.database
    .statement(
      `UPDATE reasoning_logs SET content = printf('%.*c', 20000000, 'x') WHERE message_index = 1`,
    )
    .run();
  const wire = await openWire(service.url);
  wire.socket.pause();
  wire.socket.write(
    `GET /reasoning?include_full_conversation=true&job_id=${job_id} HTTP/1.1\r\n${HOST}\r\n`,
  );
  // Nothing is read, so the end of the connection shows only in the server's own log.
  await until('the log line', () => service.logLines.some(({ path }) => path === '/reasoning'));
  wire.socket.resume();
  assert.ok((await wire.ended).length < 20_000_000);
});

test('with too many connections further ones are closed, and when some end others are admitted', async (t) => {
  const service = await startTestService(t, { httpLimits: { maxConnections: 3 } });
  const ask = async (wire: Wire) => {
    const before = wire.received().length;
    wire.socket.write(HEALTH);
    await Promise.race([wire.ended, wire.until(new RegExp(`^[^]{${before + 1}}[^]*\\}$`))]);
    return wire.received().length > before;
  };
  const wires = [
    await openWire(service.url),
    await openWire(service.url),
    await openWire(service.url),
  ];
  assert.deepEqual(await Promise.all(wires.map(ask)), [true, true, true]);
  assert.equal(await (await openWire(service.url)).ended, '');
  assert.deepEqual(await Promise.all(wires.map(ask)), [true, true, true]);
  assert.match(JSON.stringify(service.logLines), /connections are refused: there are too many/);
  wires[0]?.socket.end();
  await wires[0]?.ended;
  assert.deepEqual(statusesOf(await send(service.url, LAST_HEALTH)), [200]);
  for (const { socket } of wires) socket.destroy();
});

test('a connection is closed with its last request, and what comes behind that is a 503', async (t) => {
  const service = await startTestService(t, { httpLimits: { maxRequestsPerSocket: 3 } });
  const answers = readAnswers(await send(service.url, HEALTH.repeat(5)));
  assert.deepEqual(
    answers.slice(0, 3).map(({ status, headers }) => [status, headers['connection']]),
    [
      [200, 'keep-alive'],
      [200, 'keep-alive'],
      [200, 'close'],
    ],
  );
  assert.equal((await service.get('/health')).status, 200);
});
