import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { before, test, type TestContext } from 'node:test';
import { ownToken, readAccessTokens, type Rights, rightsOf } from '../../src/http/access.ts';
import { startTestService, temporaryFolder, type TestService } from '../support/service.ts';
import { readAnswers, send } from '../support/wire.ts';

const CLOSE = 'Connection: close\r\n';

/** One request with chosen headers, and its response. */
async function ask(url: string, head: string, { headers = '', body = '' } = {}) {
  const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  const host = /^host:/im.test(headers) ? '' : 'Host: localhost\r\n';
  const [answer] = readAnswers(
    await send(url, `${head} HTTP/1.1\r\n${host}${CLOSE}${headers}${length}\r\n${body}`),
  );
  assert.ok(answer);
  return { ...answer, detail: JSON.parse(answer.body || '{}').detail as string };
}

/** Text of a tokens file → the token's rights, or what is wrong. */
const files: [name: string, text: string, expected: Record<string, Rights | null> | RegExp][] = [
  [
    'one token',
    'alpha\n',
    { alpha: 'everything', beta: null, ALPHA: null, alph: null, alphaa: null },
  ],
  [
    'two tokens, one of them read-only',
    'alpha\nbeta read-only\n',
    { alpha: 'everything', beta: 'reading' },
  ],
  [
    'comments, empty lines and odd spaces',
    '\ufeff# mine\r\n\r\n  alpha  \r\n\tbeta\tread-only \r\n# end',
    { alpha: 'everything', beta: 'reading' },
  ],
  ['a token of odd characters', '!"$%&/()=?#read-only\n', { '!"$%&/()=?#read-only': 'everything' }],
  ['an empty file', '', /it holds no token$/],
  ['only comments', '# alpha\n', /it holds no token$/],
  [
    'an unknown word',
    'alpha\nSECRET readonly\n',
    /line 2: expected a token, or a token and read-only$/,
  ],
  ['three words', 'SECRET read-only please\n', /line 1: expected a token/],
  ['a token twice', 'SECRET\nSECRET read-only\n', /line 2: this token is a duplicate$/],
  [
    'a token beyond ASCII',
    'SECRET\u00e9\n',
    /line 1: a token is 1 to 1000 visible ASCII characters$/,
  ],
  ['a token that is too long', `SECRET${'x'.repeat(1_000)}\n`, /line 1: a token is 1 to 1000/],
  [
    'too many',
    Array.from({ length: 1_001 }, (_, index) => `SECRET${index}\n`).join(''),
    /line 1001: more than 1000 tokens$/,
  ],
];
for (const [name, text, expected] of files) {
  test(`a tokens file with ${name}`, (t) => {
    const apiTokensFile = join(temporaryFolder(t), 'tokens.txt');
    writeFileSync(apiTokensFile, text);
    const read = () => readAccessTokens({ apiToken: null, apiTokensFile });
    if (expected instanceof RegExp) {
      const isRefusal = (error: Error & { code?: string }) =>
        error.code === 'cannot_start' &&
        expected.test(error.message) &&
        !error.message.includes('SECRET');
      return assert.throws(read, isRefusal);
    }
    const tokens = read();
    for (const [token, rights] of Object.entries(expected)) {
      assert.equal(rightsOf(tokens, `Bearer ${token}`), rights, token);
      assert.equal(rightsOf(tokens, `bearer  ${token}`), rights, token);
      assert.ok(!JSON.stringify(tokens).includes(token));
    }
  });
}

test('a missing tokens file prevents the start', () => {
  const settings = { apiToken: 'SECRET', apiTokensFile: '/nonexistent/tokens' };
  assert.throws(() => readAccessTokens(settings), {
    code: 'cannot_start',
    message: /^Cannot use the access tokens of \/nonexistent\/tokens \(API_TOKENS_FILE\): ENOENT/,
  });
});

test('API_TOKEN is a token like those of the file, and may do everything', (t) => {
  const apiTokensFile = join(temporaryFolder(t), 'tokens.txt');
  writeFileSync(apiTokensFile, 'beta read-only\n');
  const tokens = readAccessTokens({ apiToken: 'alpha', apiTokensFile });
  assert.deepEqual(
    [rightsOf(tokens, 'Bearer alpha'), rightsOf(tokens, 'Bearer beta')],
    ['everything', 'reading'],
  );
  assert.equal(ownToken({ apiToken: 'alpha', apiTokensFile }), 'alpha');
  assert.equal(ownToken({ apiToken: null, apiTokensFile: null }), null);
  assert.throws(() => ownToken({ apiToken: null, apiTokensFile }), {
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
  const apiTokensFile = join(temporaryFolder(t as TestContext), 'tokens.txt');
  writeFileSync(apiTokensFile, 'read-token read-only\n');
  guarded = await startTestService(t as TestContext, {
    settings: { apiToken: 'full-token', apiTokensFile },
  });
  open = await startTestService(t as TestContext, {
    settings: { allowedHosts: ['sim.example.com'] },
  });
});

const tokenRows: [head: string, headers: string, status: number, detail?: RegExp][] = [
  [
    'GET /results',
    '',
    401,
    /^An access token is needed, as "Authorization: Bearer TOKEN"; this request has none$/,
  ],
  ['GET /results', 'Authorization: Bearer wrong\r\n', 401, /; this request's is unknown$/],
  ['GET /results', 'Authorization: Bearer full-token2\r\n', 401, /is unknown$/],
  ['GET /results', 'Authorization: Bearer full-toke\r\n', 401, /is unknown$/],
  ['GET /results', 'Authorization: Bearer \r\n', 401, /is unknown$/],
  ['GET /results', 'Authorization: full-token\r\n', 401, /is unknown$/],
  ['GET /results', 'Authorization: Basic full-token\r\n', 401, /is unknown$/],
  ['GET /results', 'Authorization: Bearer full-token, Bearer x\r\n', 401, /is unknown$/],
  ['GET /results?access_token=full-token', '', 401, /has none$/],
  ['GET /results', FULL, 200],
  ['GET /results', 'authorization: BEARER full-token\r\n', 200],
  ['GET /results', READ_ONLY, 200],
  ['GET /jobs', '', 401, /has none$/],
  ['GET /openapi.json', '', 401, /has none$/],
  ['GET /openapi.json', READ_ONLY, 200],
  ['GET /health', '', 200],
  ['HEAD /health', '', 200],
  ['GET /health', 'Authorization: Bearer wrong\r\n', 200],
  ['POST /health', '', 405],
  ['GET /nowhere', '', 401, /has none$/],
  ['GET /nowhere', FULL, 404],
  ['GET /%zz', '', 401, /has none$/],
  ['DELETE /results', READ_ONLY, 405],
  ['POST /simulate/trigger', JSON_TYPE, 401, /has none$/],
  [
    'POST /simulate/trigger',
    JSON_TYPE + READ_ONLY,
    403,
    /^This access token is read-only: it does not allow POST \/simulate\/trigger$/,
  ],
  ['DELETE /jobs/a', '', 401, /has none$/],
  [
    'DELETE /jobs/a',
    READ_ONLY,
    403,
    /^This access token is read-only: .* DELETE \/jobs\/{job_id}$/,
  ],
  ['DELETE /jobs/a', `${FULL}Origin: http://evil.example\r\n`, 403, /another origin/],
  ['DELETE /jobs/a', FULL, 404],
  ['POST /simulate/trigger', JSON_TYPE + FULL, 422],
  ['POST /simulate/trigger', FULL, 415],
  // Without a token the response reveals nothing else.
  ['POST /simulate/trigger', '', 401, /has none$/],
  ['POST /simulate/trigger', 'Origin: http://evil.example\r\n', 401, /has none$/],
];
for (const [head, headers, status, detail = /^/] of tokenRows) {
  test(`with access tokens: ${head} ${headers.trim().replaceAll('\r\n', ', ') || 'without one'} is ${status}`, async () => {
    const answer = await ask(guarded.url, head, {
      headers,
      body: head.startsWith('POST') ? '{}' : '',
    });
    assert.equal(answer.status, status, answer.detail);
    assert.match(answer.detail ?? '', detail);
    const challenge = status === 401 ? 'Bearer realm="Trading Simulation Service"' : undefined;
    assert.equal(answer.headers['www-authenticate'], challenge);
  });
}

test('no log contains a token', () => {
  assert.doesNotMatch(JSON.stringify(guarded.logLines), /full-token|read-token/);
});

/** Origin and Host as browsers or other clients send them. */
const originRows: [
  name: string,
  origin: string | null,
  host: string,
  status: number,
  detail?: RegExp,
][] = [
  ['no page: any Host', null, 'evil.example', 200],
  ['no page: an invalid Host', null, ']:x:99999', 200],
  ['our own page, by address', 'http://127.0.0.1:8080', '127.0.0.1:8080', 200],
  ['our own page, by IPv6 address', 'http://[::1]:8080', '[::1]:8080', 200],
  ['our own page, as localhost', 'http://localhost:8080', 'localhost:8080', 200],
  ['our own page, in capitals', 'http://localhost', 'LocalHost', 200],
  ['our own page, on the default port', 'http://localhost', 'localhost:80', 200],
  [
    "our own page, under the machine's name",
    `http://${hostname()}:8080`,
    `${hostname()}:8080`,
    200,
  ],
  ['our own page, behind a proxy', 'https://sim.example.com', 'sim.example.com', 200],
  [
    'our own page, behind a proxy that sends its port',
    'https://sim.example.com',
    'sim.example.com:443',
    200,
  ],
  [
    'a page of another site',
    'http://evil.example',
    'localhost:8080',
    403,
    /web page of another origin/,
  ],
  [
    'a page of another port',
    'http://localhost:3000',
    'localhost:8080',
    403,
    /web page of another origin/,
  ],
  [
    'a page of another address',
    'http://127.0.0.2:8080',
    '127.0.0.1:8080',
    403,
    /web page of another origin/,
  ],
  [
    'a page on the default port of another scheme',
    'https://localhost',
    'localhost:80',
    403,
    /another origin/,
  ],
  [
    'a page whose name begins like ours',
    'http://localhost.evil.example',
    'localhost',
    403,
    /another origin/,
  ],
  [
    'a page without a name (file, sandbox, redirect)',
    'null',
    'localhost:8080',
    403,
    /another origin/,
  ],
  ['an extension', 'chrome-extension://abcdef', 'abcdef', 403, /another origin/],
  ['nonsense', 'http://', 'localhost', 403, /another origin/],
  ['two origins', 'http://localhost, http://evil.example', 'localhost', 403, /another origin/],
  [
    'DNS rebinding: their name, our address',
    'http://evil.example:8080',
    'evil.example:8080',
    403,
    /^Web pages may not use this service as evil\.example: ALLOWED_HOSTS does not name it$/,
  ],
  [
    'DNS rebinding: a name below localhost',
    'http://evil.localhost:8080',
    'evil.localhost:8080',
    403,
    /ALLOWED_HOSTS/,
  ],
  [
    'DNS rebinding: localhost with a dot',
    'http://localhost.:8080',
    'localhost.:8080',
    403,
    /ALLOWED_HOSTS/,
  ],
  [
    'DNS rebinding: an address as a name',
    'http://127.0.0.1.evil.example',
    '127.0.0.1.evil.example',
    403,
    /ALLOWED_HOSTS/,
  ],
  [
    'DNS rebinding: below an allowed host',
    'http://x.sim.example.com',
    'x.sim.example.com',
    403,
    /ALLOWED_HOSTS/,
  ],
];
for (const [name, origin, host, status, detail = /^/] of originRows) {
  test(`Origin: ${name} is ${status}`, async () => {
    const headers = `Host: ${host}\r\n${origin === null ? '' : `Origin: ${origin}\r\n`}`;
    for (const head of [
      'GET /results',
      'GET /health',
      'OPTIONS /simulate/trigger',
      'POST /simulate/trigger',
    ]) {
      const answer = await ask(open.url, head, {
        headers: headers + JSON_TYPE,
        body: head.startsWith('POST') ? '{}' : '',
      });
      const allowed = head.startsWith('GET') ? 200 : head.startsWith('POST') ? 422 : 405;
      assert.equal(answer.status, status === 200 ? allowed : 403, `${head}: ${answer.detail}`);
      if (status === 403) assert.match(answer.detail, detail);
      assert.equal(answer.headers['access-control-allow-origin'], undefined);
    }
  });
}

test('the host of a whole URL as request target takes precedence over the Host header', async () => {
  const headers = 'Host: localhost\r\nOrigin: http://localhost\r\n';
  assert.equal((await ask(open.url, 'GET http://localhost/health', { headers })).status, 200);
  assert.equal((await ask(open.url, 'GET http://evil.example/health', { headers })).status, 403);
});

test('a page of another origin cannot start a job: every content type that it may send is refused', async () => {
  const body = JSON.stringify({ end_date: '2025-11-10' });
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain; application/json',
    '',
  ]) {
    const headers = type === '' ? '' : `Content-Type: ${type}\r\n`;
    assert.equal(
      (await ask(open.url, 'POST /simulate/trigger', { headers, body })).status,
      415,
      type,
    );
  }
  assert.equal((await open.get('/jobs')).body.count, 0);
});

test('a path that does not exist shows its page without a token, and nothing else', async (t) => {
  const service = await startTestService(t, { settings: { apiToken: 'SECRET' }, pages: true });
  const ask = (path: string, accept: string) => fetch(service.url + path, { headers: { accept } });
  assert.equal((await ask('/nowhere', 'text/html')).status, 404);
  assert.equal((await ask('/nowhere', '*/*')).status, 401);
  assert.equal((await ask('/jobs', 'text/html')).status, 401);
  assert.equal((await ask('/simulate/trigger', 'text/html')).status, 401);
});
