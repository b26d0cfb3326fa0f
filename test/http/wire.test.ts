import assert from 'node:assert/strict';
import { type TestContext, before, test } from 'node:test';
import { type TestService, startTestService } from '../support/service.ts';
import { type WireAnswer, openWire, readAnswers, send } from '../support/wire.ts';

/**
 * Requests as bytes: invalid HTTP and ambiguous requests are refused, and their connections closed.
 */

let service: TestService;
before(async (t) => {
  service = await startTestService(t as TestContext, { httpLimits: { keepAliveTimeoutMs: 1_000 } });
});

const HOST = 'Host: localhost\r\n';
const CLOSE = 'Connection: close\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const JSON_TYPE = 'Content-Type: application/json\r\n';
const HEALTH = `GET /health HTTP/1.1\r\n${HOST}\r\n`;
const LAST_HEALTH = `GET /health HTTP/1.1\r\n${HOST}${CLOSE}\r\n`;
const TRIGGER = `POST /simulate/trigger HTTP/1.1\r\n${HOST}`;
const SMUGGLED = 'GET /results HTTP/1.1\r\nHost: localhost\r\n\r\n';
const LONG = 'x'.repeat(20_000);

type Shapes = [bytes: string, ...statuses: number[]][];

/** Of a trigger in JSON: how its length is said, and what comes behind its headers. */
const lengths: Shapes = [
  [`Content-Length: 5\r\n${CHUNKED}\r\n0\r\n\r\n${SMUGGLED}`, 400],
  [`${CHUNKED}Content-Length: 5\r\n\r\n0\r\n\r\n${SMUGGLED}`, 400],
  [`Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}${SMUGGLED}`, 400],
  [`Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}${SMUGGLED}`, 400],
  ['Content-Length: 2, 2\r\n\r\n{}', 400],
  ['Content-Length: +2\r\n\r\n{}', 400],
  ['Content-Length: -2\r\n\r\n{}', 400],
  ['Content-Length: 0x2\r\n\r\n{}', 400],
  [`Content-Length: ${'9'.repeat(40)}\r\n\r\n{}`, 400],
  ['Content-Length : 2\r\n\r\n{}', 400],
  ['Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n', 400],
  ['Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n', 400],
  ['Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n', 400],
  [`${CHUNKED}${CHUNKED}\r\n0\r\n\r\n`, 400],
  [`${CHUNKED}\r\nzz\r\n{}\r\n0\r\n\r\n`, 400],
  [`${CHUNKED}\r\n1\r\n{}\r\n0\r\n\r\n`, 400],
  [`${CHUNKED}\r\n2;${LONG}\r\n{}\r\n0\r\n\r\n`, 413],
  [`${CHUNKED}\r\n2\r\n{}\r\n0\r\nContent-Length: 9\r\n\r\n`, 400],
  [`${CHUNKED}\r\n2\r\n{}\r\n0\r\nX: ${LONG}\r\n\r\n`, 431],
  [`${CLOSE}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`, 100, 422],
  [`${CLOSE}Expect: 100-continue\r\nContent-Length: 2000000\r\n\r\n`, 100, 413],
  ['Content-Length: 2\r\n\r\n{}NOISE\r\n\r\n', 422, 400],
];

/** Targets of a GET, the last request of its connection. */
const targets: Shapes = [
  ['http://other.example/health?x', 200],
  ['http://other.example?x', 404],
  ['ftp://other.example/health', 404],
  ['localhost:80', 400],
  ['health', 400],
  ['//health', 404],
  ['/health/../results', 404],
  ['/health#x', 400],
  ['/jobs?before=a#b', 400],
  ['http:///health', 400],
  ['http://', 400],
  ['http://user:secret@other.example/health', 400],
  ['http://other.example/jobs?status=@', 422],
  ['/health/', 200],
  ['/jobs/?limit=1', 200],
  ['/health//', 404],
  ['/simulate/%73tatus/x', 404],
  ['/caf\u00e9', 400],
  ['/simulate/status/%zz', 400],
  ['/simulate/status/%', 400],
  ['/simulate/status/%c0%af', 400],
  ['/simulate/status/%ed%a0%80', 400],
  ['/reasoning?model=%zz', 400],
  ['/simulate/status/a%00b', 404],
  ['/%68ealth', 404],
];

const H2C = 'Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n';
const CONTINUES = `${CLOSE}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`;
const others: Shapes = [
  ['POST /simulate/trigger HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400],
  // Headers
  [`GET /health HTTP/1.1\r\n${HOST}X: a\r\n b\r\n\r\n`, 400],
  ['GET /health HTTP/1.1\nHost: localhost\n\n', 400],
  [`GET /health HTTP/1.1\r\n${HOST}X: a\rb\r\n\r\n`, 400],
  [`GET /health HTTP/1.1\r\n${HOST}X: a\0b\r\n\r\n`, 400],
  ['GET /health HTTP/1.1\r\n\r\n', 400],
  [`GET /health HTTP/1.1\r\n${HOST}host: evil.example\r\n\r\n`, 400],
  [`GET /health HTTP/1.0\r\n${HOST}${HOST}\r\n`, 400],
  [`GET /health HTTP/1.1\r\nHost:\r\n${CLOSE}\r\n`, 200],
  [`GET /health HTTP/1.1\r\nHost: evil.example\r\n${CLOSE}\r\n`, 200],
  // What it wants
  [`OPTIONS * HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, 404],
  [`HEAD /health HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, 200],
  [`OPTIONS /simulate/trigger HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, 405],
  [`TRACE /health HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, 405],
  [`BREW /health HTTP/1.1\r\n${HOST}\r\n`, 400],
  [`get /health HTTP/1.1\r\n${HOST}\r\n`, 400],
  [`GET /health HTTP/1.1\r\n${HOST}Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`, 200],
  [`GET /health HTTP/1.1\r\n${HOST}${H2C}\r\n`, 200],
  ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['GET /health HTTP/1.0\r\n\r\n', 200],
  ['GET /health\r\n\r\n', 400],
  [`GET /health HTTP/1.2\r\n${HOST}\r\n`, 400],
  ['\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03', 400], // TLS
  ['\x00\xff\xfe\r\n\r\n', 400],
  [`\r\n\r\n${LAST_HEALTH}`, 200],
  // Expect
  [`${TRIGGER}${CLOSE}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`, 100, 415],
  [`GET /health HTTP/1.1\r\n${HOST}${CONTINUES}`, 100, 200],
  [`POST /nowhere HTTP/1.1\r\n${HOST}${CONTINUES}`, 100, 404],
  // Several on one connection
  [`GET /health HTTP/1.1\r\n${HOST}Content-Length: 42\r\n\r\n${SMUGGLED}${LAST_HEALTH}`, 200, 200],
  [`POST /health HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\n{}${LAST_HEALTH}`, 405, 200],
  [`${HEALTH}NOISE\r\n\r\n`, 200, 400],
  [`${HEALTH}${TRIGGER}${JSON_TYPE}${CHUNKED}\r\nzz\r\n`, 200, 400],
  [`NOISE\r\n\r\n${LAST_HEALTH}`, 400],
];

const shapes: Shapes = [
  ...lengths.map(([own, ...rest]): Shapes[0] => [`${TRIGGER}${JSON_TYPE}${own}`, ...rest]),
  ...targets.map(([target, status = 0]): Shapes[0] => [
    `GET ${target} HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
    status,
  ]),
  ...others,
];
test('requests as bytes: each gets its answers, and its connection is closed', async () => {
  for (const [bytes, ...statuses] of shapes) {
    const answers = readAnswers(await send(service.url, Buffer.from(bytes, 'latin1')));
    const what = JSON.stringify([bytes.slice(0, 300), ...answers.map(({ body }) => body)]);
    const found = answers.map(({ status }) => status);
    assert.deepEqual(found, statuses, what);
    for (const answer of answers) checkAnswer(answer, bytes.startsWith('HEAD'));
    assert.equal(answers.at(-1)?.headers['connection'], 'close', what);
  }
});

/** Whoever wrote it, Node's parser or a handler: an answer is JSON under the same headers. */
function checkAnswer({ status, headers, body }: WireAnswer, isHead: boolean): void {
  if (status < 200) return;
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['content-security-policy'], "default-src 'none'; frame-ancestors 'none'");
  assert.equal(headers['referrer-policy'], 'no-referrer');
  assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
  assert.match(headers['date'] ?? '', / GMT$/);
  if (isHead) return assert.equal(body, '');
  const { detail, deployment_mode } = JSON.parse(body) as Record<string, unknown>;
  assert.equal(deployment_mode, 'DEV');
  if (status >= 400) assert.match(String(detail), /\w{3}/);
}

test('a client that half-closes in the middle of its request gets a response', async () => {
  const wire = await openWire(service.url);
  wire.socket.end(`${TRIGGER}${JSON_TYPE}Content-Length: 10\r\n\r\n{}`);
  assert.equal(readAnswers(await wire.ended)[0]?.status, 400);
});

test('a client that disappears in the middle of its request is not logged as a failure', async () => {
  const before = service.logLines.length;
  const wire = await openWire(service.url);
  await new Promise((resolve) =>
    wire.socket.write(`${TRIGGER}${JSON_TYPE}Content-Length: 10\r\n\r\n{}`, resolve),
  );
  wire.socket.resetAndDestroy();
  await wire.ended;
  assert.equal((await service.get('/health')).status, 200);
  assert.ok(service.logLines.slice(before).every(({ level }) => level !== 'ERROR'));
});

test('pipelined requests are served one after another, in order', async () => {
  const trigger = (endDate: string) => {
    const body = JSON.stringify({ end_date: endDate, models: ['model-a'] });
    return `${TRIGGER}${JSON_TYPE}Content-Length: ${body.length}\r\n\r\n${body}`;
  };
  const jobs = `GET /jobs HTTP/1.1\r\n${HOST}${CLOSE}\r\n`;
  const triggers = trigger('2025-11-10') + trigger('2025-11-11');
  const answers = readAnswers(await send(service.url, HEALTH + triggers + HEALTH + jobs));
  assert.equal(answers.map(({ status }) => status).join(), '200,200,400,200,200');
  assert.equal(JSON.parse(answers[4]?.body ?? '').count, 1);
});

test('a tunnel is not opened: the connection is closed', async () => {
  const head = 'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n';
  assert.equal(await send(service.url, head), '');
});
