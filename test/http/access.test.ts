import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { before, test, type TestContext } from 'node:test';
import {
  readServiceToken,
  readAccessTokens,
  type AccessRights,
  findRights,
} from '../../src/core/http/access.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { like, tableOf } from '../support/text-table.ts';
import { readAnswers, send } from '../support/wire.ts';
import { temporaryFolder } from '../support/folder.ts';

const CLOSE = 'Connection: close\r\n';

/** One request with chosen headers, and its response. */
async function ask(url: string, head: string, { headers = '', body = '' } = {}) {
  const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  const host = /^host:/im.test(headers) ? '' : 'Host: localhost\r\n';
  const [answer] = readAnswers(
    await send(url, `${head} HTTP/1.1\r\n${host}${CLOSE}${headers}${length}\r\n${body}`),
  );
  assert.ok(answer);
  const isPage = answer.headers['content-type']?.startsWith('text/html');
  const detail: string = isPage ? 'PAGE' : JSON.parse(answer.body || '{}').detail;
  return { ...answer, detail };
}

const ODD = '!"$%&/()=?#read-only';
/** Text of a tokens file → the token's rights, or what is wrong. */
const files: [text: string, expected: Record<string, AccessRights | null> | string][] = [
  ['alpha\n', { alpha: 'everything', beta: null, ALPHA: null, alph: null, alphaa: null }],
  ['alpha\nbeta read-only\n', { alpha: 'everything', beta: 'reading' }],
  [
    '\ufeff# mine\r\n\r\n  alpha  \r\n\tbeta\tread-only \r\n# end',
    { alpha: 'everything', beta: 'reading' },
  ],
  [`${ODD}\n`, { [ODD]: 'everything' }],
  ['', '…it holds no token'],
  ['# alpha\n', '…it holds no token'],
  ['alpha\nSECRET readonly\n', '…line 2: expected a token, or a token and read-only'],
  ['SECRET read-only please\n', '…line 1: expected a token…'],
  ['SECRET\nSECRET read-only\n', '…line 2: this token is a duplicate'],
  ['SECRET\u00e9\n', '…line 1: a token is 1 to 1000 visible ASCII characters'],
  [`SECRET${'x'.repeat(1_000)}\n`, '…line 1: a token is 1 to 1000…'],
  [
    Array.from({ length: 1_001 }, (_, index) => `SECRET${index}\n`).join(''),
    '…line 1001: more than 1000 tokens',
  ],
];
test('the tokens of a file, or what is wrong with it, without a token in the message', () => {
  const apiTokensFile = join(temporaryFolder(), 'tokens.txt');
  for (const [text, expected] of files) {
    writeFileSync(apiTokensFile, text);
    const read = () => readAccessTokens({ apiToken: null, apiTokensFile });
    if (typeof expected === 'string') {
      const isRefusal = (error: Error & { code?: string }) =>
        error.code === 'cannot_start' &&
        like(expected).test(error.message) &&
        !error.message.includes('SECRET');
      assert.throws(read, isRefusal, text.slice(0, 50));
      continue;
    }
    const tokens = read();
    for (const [token, rights] of Object.entries(expected)) {
      assert.equal(findRights(tokens, `Bearer ${token}`), rights, token);
      assert.equal(findRights(tokens, `bearer  ${token}`), rights, token);
      assert.ok(!JSON.stringify(tokens).includes(token));
    }
  }
});

test('a missing tokens file prevents the start', () => {
  const settings = { apiToken: 'SECRET', apiTokensFile: '/nonexistent/tokens' };
  assert.throws(() => readAccessTokens(settings), {
    code: 'cannot_start',
    message:
      /^Cannot use the access tokens of \/nonexistent\/tokens \(API_TOKENS_FILE\): there is no such file or folder/,
  });
});

test('API_TOKEN is a token like those of the file, and may do everything', () => {
  const apiTokensFile = join(temporaryFolder(), 'tokens.txt');
  writeFileSync(apiTokensFile, 'beta read-only\n');
  const tokens = readAccessTokens({ apiToken: 'alpha', apiTokensFile });
  const found = [findRights(tokens, 'Bearer alpha'), findRights(tokens, 'Bearer beta')];
  assert.deepEqual(found, ['everything', 'reading']);
  assert.equal(readServiceToken({ apiToken: 'alpha', apiTokensFile }), 'alpha');
  assert.equal(readServiceToken({ apiToken: null, apiTokensFile: null }), null);
  assert.throws(() => readServiceToken({ apiToken: null, apiTokensFile }), {
    code: 'cannot_start',
    message: /is read-only$/,
  });
});

const FULL = 'Authorization: Bearer full-token\r\n';
const READ_ONLY = 'Authorization: Bearer read-token\r\n';
const JSON_TYPE = 'Content-Type: application/json\r\n';

let guarded: TestService;
let open: TestService;
before(async (t) => {
  const apiTokensFile = join(temporaryFolder(), 'tokens.txt');
  writeFileSync(apiTokensFile, 'read-token read-only\n');
  guarded = await startTestService(t as TestContext, {
    settings: { apiToken: 'full-token', apiTokensFile },
    pages: true,
  });
  open = await startTestService(t as TestContext, {
    settings: { allowedHosts: ['sim.example.com'] },
  });
});

/** Status, request, headers, detail. */
const tokenRows = tableOf<[status: string, head: string, headers: string, detail: string]>(`
  401 | GET /results   |                                       | Missing access token: …"Authorization: Bearer TOKEN"
  401 | GET /results   | Authorization: Bearer wrong           | Unknown access token: …
  401 | GET /results   | Authorization: Bearer full-token2     | Unknown…
  401 | GET /results   | Authorization: Bearer full-toke       | Unknown…
  401 | GET /results   | Authorization: Bearer                 | Unknown…
  401 | GET /results   | Authorization: full-token             | Unknown…
  401 | GET /results   | Authorization: Basic full-token       | Unknown…
  401 | GET /results   | Authorization: Bearer full-token, Bearer x | Unknown…
  401 | GET /results?access_token=full-token |                 | Missing…
  200 | GET /results   | FULL                                  | …
  200 | GET /results   | authorization: BEARER full-token      | …
  200 | GET /results   | READ                                  | …
  401 | GET /jobs      |                                       | Missing…
  401 | GET /openapi.json |                                    | Missing…
  200 | GET /openapi.json | READ                               | …
  200 | GET /health    |                                       | …
  200 | HEAD /health   |                                       | …
  200 | GET /health    | Authorization: Bearer wrong           | …
  405 | POST /health   |                                       | …
  401 | GET /nowhere   |                                       | Missing…
  404 | GET /nowhere   | FULL                                  | …
  401 | GET /%zz       |                                       | Missing…
  405 | DELETE /results | READ                                 | …
  401 | DELETE /jobs/a |                                       | Missing…
  403 | DELETE /jobs/a | READ                                  | This access token is read-only: … DELETE /jobs/{job_id}
  403 | DELETE /jobs/a | FULL; Origin: http://evil.example     | …another origin…
  404 | DELETE /jobs/a | FULL                                  | …
  401 | POST /simulate/trigger | JSON                          | Missing…
  403 | POST /simulate/trigger | JSON; READ                    | This access token is read-only: it does not allow POST /simulate/trigger
  422 | POST /simulate/trigger | JSON; FULL                    | …
  415 | POST /simulate/trigger | FULL                          | …
  401 | POST /simulate/trigger |                               | Missing…
  401 | POST /simulate/trigger | Origin: http://evil.example   | Missing…
  404 | GET /nowhere   | Accept: text/html                     | PAGE
  401 | GET /nowhere   | Accept: */*                           | Missing…
  401 | GET /jobs      | Accept: text/html                     | Missing…
  401 | GET /simulate/trigger | Accept: text/html              | Missing…
`);
test('with access tokens: who may do what; without one the response reveals nothing else', async () => {
  const short: Record<string, string> = { FULL, READ: READ_ONLY, JSON: JSON_TYPE };
  for (const [status, head, headers, detail] of tokenRows) {
    const lines = headers.split('; ').map((line) => short[line] ?? (line && `${line}\r\n`));
    const body = head.startsWith('POST') ? '{}' : '';
    const answer = await ask(guarded.url, head, { headers: lines.join(''), body });
    assert.equal(answer.status, Number(status), `${head} ${headers}: ${answer.detail}`);
    assert.match(answer.detail ?? '', like(detail));
    const challenge = status === '401' ? 'Bearer realm="Trading Simulation Service"' : undefined;
    assert.equal(answer.headers['www-authenticate'], challenge);
  }
  assert.doesNotMatch(JSON.stringify(guarded.logLines), /full-token|read-token/);
});

/** Origin and Host as browsers or other clients send them; which are refused, and why. */
const originRows = tableOf<[refused: string, origin: string, host: string]>(`
             | none                              | evil.example
             | none                              | ]:x:99999
             | http://127.0.0.1:8080             | 127.0.0.1:8080
             | http://[::1]:8080                 | [::1]:8080
             | http://localhost:8080             | localhost:8080
             | http://localhost                  | LocalHost
             | http://localhost                  | localhost:80
             | http://${hostname()}:8080         | ${hostname()}:8080
             | https://sim.example.com           | sim.example.com
             | https://sim.example.com           | sim.example.com:443
  another    | http://evil.example               | localhost:8080
  another    | http://localhost:3000             | localhost:8080
  another    | http://127.0.0.2:8080             | 127.0.0.1:8080
  another    | https://localhost                 | localhost:80
  another    | http://localhost.evil.example     | localhost
  another    | null                              | localhost:8080
  another    | chrome-extension://abcdef         | abcdef
  another    | http://                           | localhost
  another    | http://localhost, http://evil.example | localhost
  rebinding  | http://evil.example:8080          | evil.example:8080
  rebinding  | http://evil.localhost:8080        | evil.localhost:8080
  rebinding  | http://localhost.:8080            | localhost.:8080
  rebinding  | http://127.0.0.1.evil.example     | 127.0.0.1.evil.example
  rebinding  | http://x.sim.example.com          | x.sim.example.com
`);
/** Each request, with its status where no page of another origin sends it. */
const originRequests: [head: string, status: number][] = [
  ['GET /results', 200],
  ['GET /health', 200],
  ['OPTIONS /simulate/trigger', 405],
  ['POST /simulate/trigger', 422],
];
test('a page of another origin is refused, also under our address (DNS rebinding)', async () => {
  const details: Record<string, string> = {
    another: '…another origin…',
    rebinding: '…ALLOWED_HOSTS…',
  };
  for (const [refused, origin, host] of originRows)
    for (const [head, status] of originRequests) {
      const page = origin === 'none' ? '' : `Origin: ${origin}\r\n`;
      const headers = `Host: ${host}\r\n${page}${JSON_TYPE}`;
      const body = head.startsWith('POST') ? '{}' : '';
      const answer = await ask(open.url, head, { headers, body });
      const what = `${head} of ${origin} at ${host}: ${answer.detail}`;
      assert.equal(answer.status, refused === '' ? status : 403, what);
      if (refused !== '') assert.match(answer.detail, like(details[refused] ?? ''), what);
      assert.equal(answer.headers['access-control-allow-origin'], undefined);
    }
});

test('the host of a whole URL as request target takes precedence over the Host header', async () => {
  const headers = 'Host: localhost\r\nOrigin: http://localhost\r\n';
  assert.equal((await ask(open.url, 'GET http://localhost/health', { headers })).status, 200);
  assert.equal((await ask(open.url, 'GET http://evil.example/health', { headers })).status, 403);
});

test('every content type that a page of another origin may send is refused', async () => {
  const body = JSON.stringify({ end_date: '2025-11-10' });
  const forms = ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'];
  for (const type of ['text/plain', ...forms, 'text/plain; application/json', '']) {
    const headers = type === '' ? '' : `Content-Type: ${type}\r\n`;
    const { status } = await ask(open.url, 'POST /simulate/trigger', { headers, body });
    assert.equal(status, 415, type);
  }
  assert.equal((await open.get('/jobs')).body.count, 0);
});
