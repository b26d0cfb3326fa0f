import assert from 'node:assert/strict';
import { before, test, type TestContext } from 'node:test';
import { bearer, encoded, mcp, META, modern, MODERN, request } from '../support/mcp.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { tableOf } from '../support/text-table.ts';

/** The wire of `POST /mcp`: both generations of the protocol, and what is refused. */

let service: TestService;
before(async (t) => {
  service = await startTestService(t as TestContext);
});

/** A body, headers → the status, and the code of the error or what the result has. */
const messages: [body: unknown, headers: Record<string, string>, expected: string][] = [
  ['{', {}, '400 -32700'],
  ['', {}, '400 -32700'],
  ['{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}', {}, '400 -32600'],
  [[], {}, '400 -32600'],
  [[request('ping')], {}, '400 -32600'],
  [7, {}, '400 -32600'],
  [null, {}, '400 -32600'],
  [{}, {}, '400 -32600'],
  [{ ...request('ping'), jsonrpc: '1.0' }, {}, '400 -32600'],
  [{ ...request('ping'), id: null }, {}, '400 -32600'],
  [{ ...request('ping'), id: 1.5 }, {}, '400 -32600'],
  ['{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', {}, '400 -32600'],
  [{ ...request('ping'), method: 7 }, {}, '400 -32600'],
  [{ ...request('ping'), params: [] }, {}, '400 -32600'],
  [{ jsonrpc: '2.0', id: 1, result: {} }, {}, '400 -32600'],
  [request('tools/call'), {}, '400 -32602'],
  [request('tools/call', { name: 7 }), {}, '400 -32602'],
  [request('tools/call', { name: 'models', arguments: [] }), {}, '400 -32602'],
  [request('tools/call', { name: 'nope' }), {}, '200 -32602'],
  [request('no/such'), {}, '200 -32601'],
  [request('server/discover'), {}, '200 -32601'],
  [request('ping'), {}, '200 {}'],
  [request('ping'), { accept: 'text/csv' }, '200 {}'],
  [request('ping'), { 'mcp-protocol-version': '2025-06-18' }, '200 {}'],
  [request('ping'), { 'mcp-protocol-version': '2024-11-05' }, '400 -32600'],
  [request('ping'), { 'mcp-protocol-version': 'new' }, '400 -32600'],
  [{ jsonrpc: '2.0', method: 'notifications/initialized' }, {}, '202'],
  [{ jsonrpc: '2.0', method: 'no/such' }, {}, '202'],
];

test('messages of the revisions with a handshake, and malformed ones', async () => {
  for (const [sent, headers, expected] of messages) {
    const { status, body, text } = await mcp(service.url, sent, headers);
    const { error, result } = body ?? {};
    const found = error?.code ?? (result && JSON.stringify(result)) ?? '';
    assert.equal(`${status} ${found}`.trim(), expected, `${JSON.stringify(sent)} ${text}`);
    if (body !== undefined) assert.equal(body.jsonrpc, '2.0');
  }
});

/** The version that a client asks for → the one that it gets. */
const versions = tableOf<[asked: string, given: string]>(`
  2025-03-26 | 2025-03-26
  2025-06-18 | 2025-06-18
  2025-11-25 | 2025-11-25
  2026-07-28 | 2025-11-25
  2024-11-05 | 2025-11-25
  1          | 2025-11-25
`);
test('a handshake agrees on the version, and ids come back as they were', async () => {
  for (const [protocolVersion, given] of versions) {
    const id = `id ${protocolVersion}`;
    const { body } = await mcp(service.url, request('initialize', { protocolVersion }, id));
    assert.deepEqual([body.id, body.result.protocolVersion], [id, given]);
    assert.deepEqual(body.result.capabilities, { tools: {} });
  }
  assert.equal((await mcp(service.url, request('ping', {}, -3))).body.id, -3);
});

/** How a request differs from one of 2026-07-28 → the answer. */
interface Later {
  method?: string;
  params?: { name?: string };
  meta?: object;
  headers?: Record<string, string>;
  expected: string;
}
const NAMED = { name: 'models' };
const VERSION = 'io.modelcontextprotocol/protocolVersion';
const later: Later[] = [
  { method: 'server/discover', expected: '200' },
  { method: 'tools/list', expected: '200' },
  { params: NAMED, expected: '200' },
  { params: NAMED, headers: { 'mcp-name': encoded('models') }, expected: '200' },
  { params: NAMED, headers: { 'mcp-name': encoded('other') }, expected: '400 -32020' },
  { params: NAMED, headers: { 'mcp-name': 'other' }, expected: '400 -32020' },
  { params: NAMED, headers: { 'mcp-name': '' }, expected: '400 -32020' },
  { params: NAMED, headers: { 'mcp-method': 'tools/list' }, expected: '400 -32020' },
  { params: NAMED, headers: { 'mcp-method': 'TOOLS/CALL' }, expected: '400 -32020' },
  {
    params: NAMED,
    headers: { 'mcp-protocol-version': '2025-11-25' },
    expected: '400 -32020',
  },
  { params: { name: 'nope' }, expected: '200 -32602' },
  { params: NAMED, meta: {}, expected: '400 -32602' },
  { params: NAMED, meta: { [VERSION]: MODERN }, expected: '400 -32602' },
  { params: NAMED, meta: { ...META, [VERSION]: 7 }, expected: '400 -32602' },
  {
    params: NAMED,
    meta: { ...META, [VERSION]: '2027-01-01' },
    headers: { 'mcp-protocol-version': '2027-01-01' },
    expected: '400 -32022',
  },
  {
    params: NAMED,
    meta: { ...META, [VERSION]: '2025-11-25' },
    headers: { 'mcp-protocol-version': '2025-11-25' },
    expected: '400 -32022',
  },
  { method: 'initialize', expected: '404 -32601' },
  { method: 'ping', expected: '404 -32601' },
  { method: 'no/such', expected: '404 -32601' },
];
test('messages of 2026-07-28: headers, what they say of themselves, results', async () => {
  for (const { method = 'tools/call', params = {}, meta = META, headers = {}, expected } of later) {
    const sent = modern(method, params);
    const given = request(method, { ...params, _meta: meta });
    const { status, body, text } = await mcp(service.url, given, { ...sent.headers, ...headers });
    assert.equal(`${status} ${body.error?.code ?? ''}`.trim(), expected, text);
    assert.equal(body.id, 1);
    if (body.error?.code === -32_022)
      assert.equal(body.error.data.supported.includes(MODERN), true, text);
    if (expected !== '200') continue;
    const { resultType, _meta, ttlMs, cacheScope, tools } = body.result;
    const [server] = Object.values(_meta as Record<string, { name: string }>);
    assert.deepEqual([resultType, server?.name], ['complete', 'trading-simulation-service']);
    const isCached = method !== 'tools/call';
    assert.deepEqual([ttlMs > 0, cacheScope], isCached ? [true, 'private'] : [false, undefined]);
    assert.equal(Array.isArray(tools), method === 'tools/list');
  }
});

test('what is refused before the message is read has the words of both', async () => {
  const ping = JSON.stringify(request('ping'));
  const refused: [body: string, headers: Record<string, string>, status: number][] = [
    [ping, { 'content-type': 'text/plain' }, 415],
    [ping, { origin: 'http://elsewhere.example' }, 403],
    [ping, bearer('of-no-one'), 401],
    [ping.padEnd(128 * 1024 + 1), {}, 413],
  ];
  for (const [sent, headers, expected] of refused) {
    const { status, body } = await mcp(service.url, sent, headers);
    assert.equal(status, expected);
    assert.equal(body.id, null);
    assert.equal(body.error.message, body.detail);
  }
  const { status } = await mcp(service.url, ping.padEnd(128 * 1024));
  assert.equal(status, 200);
  for (const method of ['GET', 'DELETE']) {
    const response = await fetch(`${service.url}/mcp`, { method });
    assert.deepEqual([response.status, response.headers.get('allow')], [405, 'POST']);
  }
});
