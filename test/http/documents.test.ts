import assert from 'node:assert/strict';
import { before, test, type TestContext } from 'node:test';
import { storeDocuments } from '../support/documents.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { like, tableOf } from '../support/text-table.ts';

const FIRST = {
  ...{ id: 'a/b ü?', kind: '10-K', symbols: ['AAPL', 'MSFT'], published_at: '2025-01-02' },
  ...{ title: 'First', source: 'S', url: 'https://a.example', text: 'Once.' },
};
const ROWS = [
  FIRST,
  { ...FIRST, symbols: ['AAPL'], published_at: '2025-01-06T14:29:59Z', title: 'Later' },
  { ...FIRST, symbols: ['AAPL'], published_at: '2025-01-06T14:30:00Z', title: 'At the open' },
  { id: 'n', published_at: '2025-01-07T02:00:00Z' },
];
const ID = encodeURIComponent(FIRST.id);
const AUTHORIZATION = { authorization: 'Bearer SECRET' };
const deployment = { deployment_mode: 'DEV', is_dev_mode: true, preserve_dev_data: false };

let service: TestService;
before(async (t) => {
  const options = { pages: true, settings: { apiToken: 'SECRET' } };
  service = await startTestService(t as TestContext, options);
});

async function ask(path: string) {
  const response = await fetch(service.url + path, { headers: AUTHORIZATION });
  return { status: response.status, body: (await response.json()) as any }; // any: the tests check its fields
}

test('coverage is by kind and symbol, counts ids, and follows what is stored', async () => {
  assert.deepEqual(await ask('/documents/coverage'), {
    status: 200,
    body: { coverage: [], ...deployment },
  });
  storeDocuments(service.database, ROWS);
  const { body } = await ask('/documents/coverage');
  const [one] = body.coverage;
  assert.deepEqual(Object.keys(one), ['kind', 'symbol', 'documents', 'first_date', 'last_date']);
  assert.deepEqual(body.coverage.map(Object.values), [
    ['10-K', 'AAPL', 1, '2025-01-02', '2025-01-06'],
    ['10-K', 'MSFT', 1, '2025-01-02', '2025-01-02'],
    ['news', null, 1, '2025-01-06', '2025-01-06'],
  ]);
});

/** What is asked for → the title of the version, or the status and words of the refusal. */
const mornings = tableOf<[path: string, expected: string]>(`
  ${ID}?as_of=2025-01-03      | First
  ${ID}/?as_of=2025-01-06     | Later
  ${ID}?as_of=2025-01-07      | At the open
  ${ID}?as_of=2025-01-02      | 404 No document 'a/b ü?' …by the morning of 2025-01-02
  n?as_of=2025-01-06          | 404 No document 'n' …by the morning of 2025-01-06
  n?as_of=2025-01-07          | A title
  %3Cb%3E?as_of=2025-01-07    | 404 No document '<b>' …by the morning of 2025-01-07
  n                           | 422 as_of: …either as_of or version
  n?as_of=2025-01-07&version= | A title
  n?as_of=2025-01-07&version=2025-01-07T02:00:00.000Z | 422 as_of: …either as_of or version
  n?version=2025-01-07T02:00:00.000Z     | A title
  n?version=2025-01-07                   | 404 No version of document 'n' …at 2025-01-07
  ${ID}?version=2025-01-02               | First
  ${ID}?version=2025-01-06T14:29:59.000Z | Later
  ${ID}?version=2025-01-06T14:30:00.000Z | At the open
  n?as_of=2025-13-01          | 422 as_of: Invalid date format: 2025-13-01. Expected YYYY-MM-DD
  n?as_of=2025-01-07&date=x   | 422 date: unknown query parameter; …as_of, version
  coverage?as_of=2025-01-07   | 422 as_of: unknown query parameter; …
  a/b?as_of=2025-01-07        | 404 There is no /documents/a/b; GET /openapi.json lists all paths`);
test('a document is that of a morning, or missing in words', async () => {
  for (const [path, expected] of mornings) {
    const { status, body } = await ask(`/documents/${path}`);
    assert.match(body.title ?? `${status} ${body.detail}`, like(expected), path);
  }
  const { digest, ...own } = (await ask(`/documents/${ID}?as_of=2025-01-03`)).body;
  assert.deepEqual(own, { ...FIRST, date: '2025-01-02', ...deployment });
  assert.match(digest, /^[\da-f]{64}$/);
  const { responses } = (await ask('/openapi.json')).body.paths['/documents/{id}'].get;
  assert.ok(responses[404], 'described');
});

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
/** Who asks → the status and the type with the token, and without one. */
const clients = tableOf<[path: string, accept: string, known: string, unknown: string]>(`
  /documents/n?as_of=2025-01-07  | ${BROWSER}                       | 200 text/html        | 200 text/html
  /documents/${ID}/              | ${BROWSER}                       | 200 text/html        | 200 text/html
  /documents/n?as_of=2025-01-07  | */*                              | 200 application/json | 401 application/json
  /documents/n?as_of=2025-01-07  | application/json,text/html;q=0.5 | 200 application/json | 401 application/json
  /documents/coverage            | ${BROWSER}                       | 200 application/json | 401 application/json
  /data                          | */*                              | 200 text/html        | 200 text/html`);
test('a browser that goes to a document gets the page, every other client the document', async () => {
  for (const [path, accept, ...expected] of clients) {
    const types: string[] = [];
    for (const token of [AUTHORIZATION, {}]) {
      const response = await fetch(service.url + path, { headers: { accept, ...token } });
      const [type] = (response.headers.get('content-type') ?? '').split(';');
      types.push(`${response.status} ${type}`);
    }
    assert.deepEqual(types, expected, `${path} ${accept}`);
  }
});
