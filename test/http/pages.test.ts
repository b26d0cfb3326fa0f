import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { before, test, type TestContext } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import { createPages } from '../../src/features/pages/built-pages.ts';
import { routes } from '../../src/routes.ts';
import { matchPage, modelDayPath, modelPath } from '../../src/features/pages/paths.ts';
import { listenHere } from '../support/loopback.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { send } from '../support/wire.ts';

let service: TestService;
before(async (t) => {
  service = await startTestService(t as TestContext, { pages: true });
});

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const HTML = 'text/html; charset=utf-8';
const html = /^<!doctype html>[^]*<body data-dev="erased">/;
const files: [path: string, contentType: string, content: RegExp][] = [
  ['/', HTML, html],
  ['/?from=somewhere', HTML, html],
  ['/compare?models=a,b&days=clean', HTML, html],
  ['/models/openai%2Fgpt-5', HTML, html],
  ['/model-days/gpt-5/2025-09-15', HTML, html],
  ['/jobs/3f0c9a52', HTML, html],
  ['/api', HTML, html],
  ['/app.js', 'text/javascript; charset=utf-8', /^"use strict"/],
  ['/app.css', 'text/css; charset=utf-8', /color-scheme/],
  ['/favicon.svg', 'image/svg+xml', /^<svg/],
];

for (const [path, contentType, content] of files) {
  test(`GET ${path} is a file of the pages: its type, its policy, cached only with revalidation`, async () => {
    const accept = path.startsWith('/jobs/') ? BROWSER : '*/*';
    const response = await fetch(service.url + path, { headers: { accept } });
    assert.deepEqual([response.status, response.headers.get('content-type')], [200, contentType]);
    assert.match(await response.text(), content);
    assert.equal(
      response.headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    assert.equal(response.headers.get('cache-control'), 'no-cache');
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
    const again = await fetch(service.url + path, {
      headers: { accept, 'if-none-match': response.headers.get('etag') ?? '' },
    });
    assert.deepEqual([again.status, await again.text()], [304, '']);
  });
}

/** The mode, what is viewed and whether it is fixed, and the body. */
const modes: [
  deploymentMode: 'PROD' | 'DEV',
  kept: boolean | null,
  viewed: string,
  body: string,
][] = [
  ['PROD', true, '', '<body>'],
  ['DEV', true, '', '<body data-dev="kept">'],
  ['DEV', false, '', '<body data-dev="erased">'],
  ['PROD', null, 'a"b.db', '<body data-view="a&#34;b.db">'],
  ['DEV', null, 'x fixed', '<body data-dev="kept" data-view="x" data-fixed>'],
];
test('the HTML file says in which mode it is served, and what it shows', async (t) => {
  for (const [deploymentMode, preserveDevData, viewed, body] of modes) {
    const [viewedFile, fixed] = viewed === '' ? [null] : viewed.split(' ');
    const settings = { deploymentMode, preserveDevData };
    const mode = { settings, viewedFile: viewedFile ?? null, isFixed: fixed !== undefined };
    const files = { 'index.html': brotliCompressSync('<body>').toString('base64') };
    const [page] = createPages(files, mode).routes;
    const server = createServer((request, response) => page?.send(request, response));
    const url = `http://127.0.0.1:${await listenHere(t, server)}`;
    assert.equal(await (await fetch(url)).text(), body);
  }
});

/** The client's Accept-Encoding → the coding of the script. */
const codings: [accepts: string | null, coding: string | null][] = [
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip', 'gzip'],
  ['br;q=0.5, gzip', 'gzip'],
  ['identity', null],
  ['gzip;q=0', null],
  ['x-gzippy', null],
  [null, null],
];

test('the script comes in the coding that the client prefers, and is the same in each', async () => {
  const request = (accepts: string | null) =>
    `GET /app.js HTTP/1.1\r\nHost: x\r\n${accepts === null ? '' : `Accept-Encoding: ${accepts}\r\n`}Connection: close\r\n\r\n`;
  const plain = await (
    await fetch(`${service.url}/app.js`, { headers: { 'accept-encoding': 'identity' } })
  ).text();
  for (const [accepts, coding] of codings) {
    const head = await send(service.url, request(accepts));
    const given = /^content-encoding: (.*)\r$/im.exec(head)?.[1] ?? null;
    assert.equal(given, coding, String(accepts));
    const init = { headers: { 'accept-encoding': accepts ?? 'identity' } };
    const response = await fetch(`${service.url}/app.js`, init);
    assert.equal(response.headers.get('vary'), 'Accept-Encoding, Accept');
    assert.ok((await response.text()) === plain, 'the same text');
  }
});

test('If-None-Match with the tag of the file is a 304: weak, strong, in a list, or *', async () => {
  const tag = (await fetch(service.url)).headers.get('etag') as string;
  const known: [tags: string, status: number][] = [
    [tag, 304],
    [tag.replace('W/', ''), 304],
    [`"other", ${tag}`, 304],
    ['*', 304],
    ['"other"', 200],
    [`${tag.slice(0, -2)}"`, 200],
  ];
  for (const [tags, status] of known) {
    const response = await fetch(service.url, { headers: { 'if-none-match': tags } });
    assert.equal(response.status, status, tags);
  }
});

test('pages hide no route, and unknown paths remain errors in JSON', async () => {
  for (const { path } of routes.filter(({ method }) => method === 'GET')) {
    const page = matchPage(path.replace(/\{\w+\}/, 'x'))?.page;
    const expected = path.startsWith('/documents/') ? '/documents/{id}' : undefined;
    assert.equal(page, expected, `${path} is a page and a route`);
  }
  for (const path of ['/nothing', '/models/a/b', '/index.html', '/API', '/api//']) {
    const { status, headers, body } = await service.get(path);
    assert.deepEqual([status, headers.get('content-type')], [404, 'application/json'], path);
    assert.match(body.detail, /^There is no /);
  }
  const health = await service.get('/health');
  assert.deepEqual([health.status, health.body.status], [200, 'healthy']);
});

const lost: [name: string, path: string, init: RequestInit, status: number, type: string][] = [
  ['a path that does not exist', '/nowhere', {}, 404, HTML],
  ['such a path by HEAD', '/nowhere', { method: 'HEAD' }, 404, HTML],
  ['a path of the API without GET', '/simulate/trigger', {}, 405, HTML],
  ['such a path by POST', '/nowhere', { method: 'POST', body: 'a=b' }, 404, 'application/json'],
  ['a job that does not exist', '/simulate/status/nowhere', {}, 404, 'application/json'],
  ['a path of the API', '/jobs', {}, 200, 'application/json'],
];
for (const [name, path, init, status, type] of lost) {
  test(`a browser that requests ${name} gets ${status} as ${type}`, async () => {
    const response = await fetch(service.url + path, { ...init, headers: { accept: BROWSER } });
    assert.deepEqual([response.status, response.headers.get('content-type')], [status, type]);
    if (type.startsWith('text/html') && init.method === undefined)
      assert.match(await response.text(), html);
    if (status === 405) assert.equal(response.headers.get('allow'), 'POST');
  });
}

test('the page about a path that does not exist is never cached', async () => {
  const { headers } = await fetch(service.url);
  const tagged = { accept: BROWSER, 'if-none-match': headers.get('etag') as string };
  assert.equal((await fetch(`${service.url}/nowhere`, { headers: tagged })).status, 404);
});

test("paths of other servers' interface descriptions lead to the API page", async () => {
  for (const path of ['/docs', '/redoc', '/docs/']) {
    const response = await fetch(service.url + path, { redirect: 'manual' });
    assert.deepEqual([response.status, response.headers.get('location')], [302, '/api'], path);
  }
});

test('a slash at the end of a path changes nothing, here and in the browser', async () => {
  for (const path of ['/api/', '/models/gpt-5/', '/jobs/3f0c9a52/']) {
    const response = await fetch(service.url + path, { headers: { accept: BROWSER } });
    assert.equal(`${response.status} ${response.headers.get('content-type')}`, `200 ${HTML}`, path);
    assert.deepEqual(matchPage(path), matchPage(path.slice(0, -1)));
  }
  assert.equal((await service.get('/models/')).body.count, 3);
});

test('a page may have the path of a request with another method: only a browser finds it', async () => {
  const ask = (method: string, accept = '*/*') =>
    fetch(`${service.url}/jobs/3f0c9a52`, { method, headers: { accept } });
  const page = await ask('GET', BROWSER);
  assert.equal(`${page.status} ${page.headers.get('content-type')}`, `200 ${HTML}`);
  assert.equal((await ask('DELETE', BROWSER)).status, 404);
  for (const method of ['GET', 'HEAD', 'OPTIONS']) {
    const { status, headers } = await ask(method);
    assert.deepEqual([status, headers.get('allow')], [405, 'DELETE'], method);
  }
});

test('a page allows only GET and HEAD', async () => {
  const { status, headers, body } = await service.post('/', {});
  assert.deepEqual([status, headers.get('allow')], [405, 'GET, HEAD']);
  assert.equal(body.detail, '/ has no method POST; it has GET, HEAD');
  const head = await fetch(service.url, { method: 'HEAD' });
  assert.deepEqual([head.status, await head.text()], [200, '']);
});

test('a path contains the names from which it was made, whatever their characters', () => {
  for (const name of ['gpt-5', 'openai/gpt-5', '100%', 'a?b#c', '<b>"\'&', '日本']) {
    assert.deepEqual(matchPage(modelPath(name)), {
      page: '/models/{model}',
      params: { model: name },
    });
    const day = { page: '/model-days/{model}/{date}', params: { model: name, date: '2025-09-15' } };
    assert.deepEqual(matchPage(modelDayPath(name, '2025-09-15')), day);
  }
  assert.equal(matchPage('/models/'), null);
});
