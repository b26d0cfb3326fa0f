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
const TRIGGER = 'POST /simulate/trigger HTTP/1.1\r\n';
const SMUGGLED = 'GET /results HTTP/1.1\r\nHost: localhost\r\n\r\n';

const shapes: [name: string, bytes: string | Buffer, statuses: number[]][] = [
  // Where a message ends
  [
    'Content-Length and chunked',
    `${TRIGGER}${HOST}${JSON_TYPE}Content-Length: 5\r\n${CHUNKED}\r\n0\r\n\r\n${SMUGGLED}`,
    [400],
  ],
  [
    'chunked and Content-Length',
    `${TRIGGER}${HOST}${JSON_TYPE}${CHUNKED}Content-Length: 5\r\n\r\n0\r\n\r\n${SMUGGLED}`,
    [400],
  ],
  [
    'two lengths',
    `${TRIGGER}${HOST}${JSON_TYPE}Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}${SMUGGLED}`,
    [400],
  ],
  [
    'one length twice',
    `${TRIGGER}${HOST}${JSON_TYPE}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}${SMUGGLED}`,
    [400],
  ],
  ['a list of lengths', `${TRIGGER}${HOST}${JSON_TYPE}Content-Length: 2, 2\r\n\r\n{}`, [400]],
  ['a length with a sign', `${TRIGGER}${HOST}${JSON_TYPE}Content-Length: +2\r\n\r\n{}`, [400]],
  ['a negative length', `${TRIGGER}${HOST}${JSON_TYPE}Content-Length: -2\r\n\r\n{}`, [400]],
  ['a hexadecimal length', `${TRIGGER}${HOST}${JSON_TYPE}Content-Length: 0x2\r\n\r\n{}`, [400]],
  [
    'a length beyond all bounds',
    `${TRIGGER}${HOST}${JSON_TYPE}Content-Length: ${'9'.repeat(40)}\r\n\r\n{}`,
    [400],
  ],
  ['a space before the colon', `${TRIGGER}${HOST}${JSON_TYPE}Content-Length : 2\r\n\r\n{}`, [400]],
  [
    'an unknown coding',
    `${TRIGGER}${HOST}${JSON_TYPE}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'chunked and another coding',
    `${TRIGGER}${HOST}${JSON_TYPE}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'another coding and chunked',
    `${TRIGGER}${HOST}${JSON_TYPE}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  ['chunked twice', `${TRIGGER}${HOST}${JSON_TYPE}${CHUNKED}${CHUNKED}\r\n0\r\n\r\n`, [400]],
  [
    'chunked in HTTP/1.0',
    `POST /simulate/trigger HTTP/1.0\r\n${JSON_TYPE}${CHUNKED}\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'an invalid chunk size',
    `${TRIGGER}${HOST}${JSON_TYPE}${CHUNKED}\r\nzz\r\n{}\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'a chunk longer than it says',
    `${TRIGGER}${HOST}${JSON_TYPE}${CHUNKED}\r\n1\r\n{}\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'chunk extensions without end',
    `${TRIGGER}${HOST}${JSON_TYPE}${CHUNKED}\r\n2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
    [413],
  ],
  [
    'a length in the trailers',
    `${TRIGGER}${HOST}${JSON_TYPE}${CHUNKED}\r\n2\r\n{}\r\n0\r\nContent-Length: 9\r\n\r\n`,
    [400],
  ],
  [
    'trailers without end',
    `${TRIGGER}${HOST}${JSON_TYPE}${CHUNKED}\r\n2\r\n{}\r\n0\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    [431],
  ],
  ['a folded header', `GET /health HTTP/1.1\r\n${HOST}X: a\r\n b\r\n\r\n`, [400]],
  ['lines that end in LF without CR', 'GET /health HTTP/1.1\nHost: localhost\n\n', [400]],
  ['a CR inside a header', `GET /health HTTP/1.1\r\n${HOST}X: a\rb\r\n\r\n`, [400]],
  ['a NUL in a header', `GET /health HTTP/1.1\r\n${HOST}X: a\0b\r\n\r\n`, [400]],
  // Host and request target
  ['no Host', 'GET /health HTTP/1.1\r\n\r\n', [400]],
  ['two Hosts', `GET /health HTTP/1.1\r\n${HOST}host: evil.example\r\n\r\n`, [400]],
  ['two Hosts in HTTP/1.0', `GET /health HTTP/1.0\r\n${HOST}${HOST}\r\n`, [400]],
  ['an empty Host', `GET /health HTTP/1.1\r\nHost:\r\n${CLOSE}\r\n`, [200]],
  ['a foreign Host', `GET /health HTTP/1.1\r\nHost: evil.example\r\n${CLOSE}\r\n`, [200]],
  [
    'a whole URL as request target',
    `GET http://other.example/health?x HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
    [200],
  ],
  [
    'a whole URL without a path',
    `GET http://other.example?x HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
    [404],
  ],
  [
    'a URL of another scheme',
    `GET ftp://other.example/health HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
    [404],
  ],
  ['host and port as request target', `GET localhost:80 HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a request target without a slash', `GET health HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['two slashes', `GET //health HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [404]],
  ['a way up', `GET /health/../results HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [404]],
  ['a fragment', `GET /health#x HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [400]],
  ['a fragment after the query', `GET /jobs?before=a#b HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [400]],
  ['a whole URL without a host', `GET http:///health HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a whole URL that ends before its host', `GET http:// HTTP/1.1\r\n${HOST}\r\n`, [400]],
  [
    'a whole URL with a user',
    `GET http://user:secret@other.example/health HTTP/1.1\r\n${HOST}\r\n`,
    [400],
  ],
  [
    'an @ behind the host',
    `GET http://other.example/jobs?status=@ HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
    [422],
  ],
  ['a slash at the end', `GET /health/ HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [200]],
  ['a slash at the end, and a query', `GET /jobs/?limit=1 HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [200]],
  ['two slashes at the end', `GET /health// HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [404]],
  [
    'an encoded literal before a parameter',
    `GET /simulate/%73tatus/x HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
    [404],
  ],
  ['the asterisk', `OPTIONS * HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [404]],
  ['bytes beyond ASCII', `GET /caf\u00e9 HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['broken percent-encoding', `GET /simulate/status/%zz HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [400]],
  ['percent-encoding cut short', `GET /simulate/status/% HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [400]],
  ['an overlong encoding', `GET /simulate/status/%c0%af HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [400]],
  ['an encoded surrogate', `GET /simulate/status/%ed%a0%80 HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [400]],
  [
    'broken percent-encoding in the query',
    `GET /reasoning?model=%zz HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
    [400],
  ],
  ['an encoded NUL', `GET /simulate/status/a%00b HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [404]],
  ['an encoded path', `GET /%68ealth HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [404]],
  // What it wants
  ['HEAD', `HEAD /health HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [200]],
  ['OPTIONS', `OPTIONS /simulate/trigger HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [405]],
  ['TRACE', `TRACE /health HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [405]],
  ['an unknown method', `BREW /health HTTP/1.1\r\n${HOST}\r\n`, [400]],
  ['a method in lower case', `get /health HTTP/1.1\r\n${HOST}\r\n`, [400]],
  [
    'Upgrade to a socket',
    `GET /health HTTP/1.1\r\n${HOST}Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`,
    [200],
  ],
  [
    'Upgrade to HTTP/2',
    `GET /health HTTP/1.1\r\n${HOST}Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
    [200],
  ],
  ['HTTP/2 at once', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
  ['HTTP/1.0', 'GET /health HTTP/1.0\r\n\r\n', [200]],
  ['HTTP/0.9', 'GET /health\r\n\r\n', [400]],
  ['HTTP/1.2', `GET /health HTTP/1.2\r\n${HOST}\r\n`, [400]],
  ['TLS', Buffer.from('16030100a5010000a10303', 'hex'), [400]],
  ['noise', Buffer.from([0, 255, 254, 13, 10, 13, 10]), [400]],
  ['empty lines in front', `\r\n\r\n${LAST_HEALTH}`, [200]],
  // Expect
  [
    'Expect: 100-continue',
    `${TRIGGER}${HOST}${CLOSE}${JSON_TYPE}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`,
    [100, 422],
  ],
  [
    'Expect with a body that is refused',
    `${TRIGGER}${HOST}${CLOSE}${JSON_TYPE}Expect: 100-continue\r\nContent-Length: 2000000\r\n\r\n`,
    [100, 413],
  ],
  [
    'Expect with a content type that is refused',
    `${TRIGGER}${HOST}${CLOSE}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`,
    [100, 415],
  ],
  [
    'Expect where no body is read',
    `GET /health HTTP/1.1\r\n${HOST}${CLOSE}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`,
    [100, 200],
  ],
  [
    'Expect on a path that is none',
    `POST /nowhere HTTP/1.1\r\n${HOST}${CLOSE}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`,
    [100, 404],
  ],
  // Several on one connection
  [
    'a body where none belongs',
    `GET /health HTTP/1.1\r\n${HOST}Content-Length: 47\r\n\r\n${SMUGGLED.padEnd(47, 'x')}${LAST_HEALTH}`,
    [200, 200],
  ],
  [
    'a refused body, then a request',
    `POST /health HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\n{}${LAST_HEALTH}`,
    [405, 200],
  ],
  ['noise after a request', `${HEALTH}NOISE\r\n\r\n`, [200, 400]],
  [
    'noise after a request with a body',
    `${TRIGGER}${HOST}${JSON_TYPE}Content-Length: 2\r\n\r\n{}NOISE\r\n\r\n`,
    [422, 400],
  ],
  [
    'a broken body after a request',
    `${HEALTH}${TRIGGER}${HOST}${JSON_TYPE}${CHUNKED}\r\nzz\r\n`,
    [200, 400],
  ],
  ['a request after noise', `NOISE\r\n\r\n${LAST_HEALTH}`, [400]],
];
for (const [name, bytes, statuses] of shapes) {
  test(`${name}: ${statuses.join(', ')}`, async () => {
    const answers = readAnswers(await send(service.url, bytes));
    assert.deepEqual(
      answers.map(({ status }) => status),
      statuses,
      JSON.stringify(answers.map(({ body }) => body)),
    );
    for (const answer of answers) checkAnswer(answer, name === 'HEAD');
    assert.equal(answers.at(-1)?.headers['connection'], 'close');
  });
}

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
  wire.socket.end(`${TRIGGER}${HOST}${JSON_TYPE}Content-Length: 10\r\n\r\n{}`);
  assert.deepEqual(
    readAnswers(await wire.ended).map(({ status }) => status),
    [400],
  );
});

test('a client that disappears in the middle of its request is not logged as a failure', async () => {
  const before = service.logLines.length;
  const wire = await openWire(service.url);
  await new Promise((resolve) =>
    wire.socket.write(`${TRIGGER}${HOST}${JSON_TYPE}Content-Length: 10\r\n\r\n{}`, resolve),
  );
  wire.socket.resetAndDestroy();
  await wire.ended;
  assert.equal((await service.get('/health')).status, 200);
  assert.deepEqual(
    service.logLines.slice(before).filter(({ level }) => level === 'ERROR'),
    [],
  );
});

test('pipelined requests are served one after another, in order', async () => {
  const trigger = (endDate: string) => {
    const body = JSON.stringify({ end_date: endDate, models: ['model-a'] });
    return `${TRIGGER}${HOST}${JSON_TYPE}Content-Length: ${body.length}\r\n\r\n${body}`;
  };
  const jobs = `GET /jobs HTTP/1.1\r\n${HOST}${CLOSE}\r\n`;
  const answers = readAnswers(
    await send(
      service.url,
      `${HEALTH}${trigger('2025-11-10')}${trigger('2025-11-11')}${HEALTH}${jobs}`,
    ),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 400, 200, 200],
  );
  assert.equal(JSON.parse(answers[4]?.body ?? '').count, 1);
});

test('a tunnel is not opened: the connection is closed', async () => {
  const head = 'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n';
  assert.equal(await send(service.url, head), '');
});
