import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { Start } from '../../src/wire/protocol.ts';
import { launch } from '../../src/children/launch.ts';
import { agentFixture, endpointAt, simulatedStart } from '../support/agents.ts';
import { startConfined } from '../support/children.ts';
import { listenHere } from '../support/loopback.ts';
import { says, startModelServer, TEST_CERTIFICATE } from '../support/model-server.ts';
import { realAgent } from '../support/service.ts';
import { setVariables } from '../support/variables.ts';

/**
 * How a child reaches its model: proxies, certificates, and what of the network it may reach at
 * all.
 */

const WATCHED = {
  startChild: startConfined,
  timeoutMs: 600_000,
  memoryMb: 512,
  signal: new AbortController().signal,
  onMessage: async () => null,
};

/** A model-day of the real agent; resolves to its summary or its error. */
async function askInChild(baseUrl: string): Promise<string> {
  let stderr = '';
  const outcome = await launch(
    { ...simulatedStart, model: endpointAt(baseUrl) },
    {
      ...{ ...WATCHED, program: await realAgent() },
      onStderr: (tail) => (stderr = tail),
    },
  );
  return stderr + (outcome.status === 'finished' ? outcome.summary : outcome.error);
}

test('a child decodes what comes compressed although it did not request that', async (t) => {
  for (const [coding, compress] of [
    ['zstd', zstdCompressSync],
    ['gzip', gzipSync],
  ] as const) {
    const body = compress(JSON.stringify(says('Done.').body));
    for (const tls of [true, false]) {
      setVariables(t, trusted);
      const server = await startModelServer(
        t,
        [{ headers: { 'content-encoding': coding }, body }],
        { tls },
      );
      assert.equal(await askInChild(server.baseUrl), 'Done.');
    }
  }
});

interface Proxy {
  address: string;
  /** `POST http://...` or `CONNECT host:port`, and the credentials that came with it. */
  seen: string[];
}

/** A proxy on loopback that forwards and tunnels; with `refusal` it tunnels nothing. */
async function startProxy(t: TestContext, { refusal = '' } = {}): Promise<Proxy> {
  const seen: string[] = [];
  const note = ({ method, url, headers }: IncomingMessage) =>
    seen.push(
      [method, url, headers['proxy-authorization']].filter((part) => part !== undefined).join(' '),
    );
  const server = createServer((incoming, outgoing) => {
    note(incoming);
    const { method, url = '', headers } = incoming;
    const onward = request(url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  server.on('connect', (incoming, socket) => {
    note(incoming);
    if (refusal !== '') return void socket.end(`HTTP/1.1 ${refusal}\r\n\r\n`);
    const [host = '', port] = (incoming.url ?? '').split(':');
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  return { address: `127.0.0.1:${await listenHere(t, server)}`, seen };
}

const trusted = { NODE_EXTRA_CA_CERTS: TEST_CERTIFICATE };
const proxied: [
  name: string,
  tls: boolean,
  variables: Record<string, string>,
  seen: (host: string) => string[],
][] = [
  [
    'HTTP_PROXY takes what goes to http://',
    false,
    { HTTP_PROXY: 'http://PROXY' },
    (host) => [`POST http://${host}/v1/chat/completions`],
  ],
  [
    'http_proxy does too',
    false,
    { http_proxy: 'http://PROXY' },
    (host) => [`POST http://${host}/v1/chat/completions`],
  ],
  [
    'HTTPS_PROXY tunnels what goes to https://, with its password',
    true,
    { ...trusted, HTTPS_PROXY: 'http://me:word@PROXY' },
    (host) => [`CONNECT ${host} Basic ${Buffer.from('me:word').toString('base64')}`],
  ],
  ['HTTPS_PROXY does not apply to http://', false, { HTTPS_PROXY: 'http://PROXY' }, () => []],
  [
    'NO_PROXY goes past it',
    false,
    { HTTP_PROXY: 'http://PROXY', NO_PROXY: 'example.org,127.0.0.1' },
    () => [],
  ],
];
for (const [name, tls, variables, seen] of proxied) {
  test(`a proxy: ${name}`, async (t) => {
    const [server, proxy] = await Promise.all([
      startModelServer(t, [says('Done.')], { tls }),
      startProxy(t),
    ]);
    setVariables(t, JSON.parse(JSON.stringify(variables).replace(/\bPROXY\b/, proxy.address)));
    assert.equal(await askInChild(server.baseUrl), 'Done.');
    assert.deepEqual(proxy.seen, seen(`127.0.0.1:${server.port}`));
  });
}

test('a proxy that refuses is reported without its password', async (t) => {
  const server = await startModelServer(t, [says('Done.')], { tls: true });
  const proxy = await startProxy(t, { refusal: '407 Proxy Authentication Required' });
  setVariables(t, { ...trusted, HTTPS_PROXY: `http://me:word@${proxy.address}` });
  const error = await askInChild(server.baseUrl);
  assert.match(
    error,
    /^The model provider could not be reached: .* 407 Proxy Authentication Required$/,
  );
  assert.doesNotMatch(error, /word/);
});

for (const value of [
  'socks5://me:word@127.0.0.1:1080',
  'me:word@proxy:3128',
  'http://me:word@:99999',
]) {
  test(`an invalid proxy stops the request, and nothing bypasses it: ${value.replace('word', '...')}`, async (t) => {
    const server = await startModelServer(t, [says('Done.')]);
    setVariables(t, { HTTP_PROXY: value });
    assert.equal(
      await askInChild(server.baseUrl),
      'The model provider could not be reached: HTTP_PROXY is not a URL that starts with http:// or https://',
    );
    assert.equal(server.requests.length, 0);
  });
}

const certificates: [name: string, variables: Record<string, string>, summary: RegExp][] = [
  [
    'without a word, a private certificate is not trusted',
    {},
    /its certificate is not trusted: self-signed certificate/,
  ],
  ['NODE_EXTRA_CA_CERTS names one to trust', trusted, /^Done\.$/],
  [
    'the certificates of the system count when that is wished',
    { NODE_USE_SYSTEM_CA: '1', SSL_CERT_FILE: TEST_CERTIFICATE },
    /^Done\.$/,
  ],
  [
    'a missing file is reported',
    { NODE_EXTRA_CA_CERTS: '/nowhere.pem' },
    /Ignoring extra certs from `\/nowhere\.pem`[^]*its certificate is not trusted/,
  ],
];
for (const [name, variables, summary] of certificates) {
  test(`certificates: ${name}`, async (t) => {
    const server = await startModelServer(t, [says('Done.')], { tls: true });
    setVariables(t, variables);
    assert.match(await askInChild(server.baseUrl), summary);
  });
}

const reaches: [name: string, model: Start['model'], outcome: string][] = [
  ['a child with an endpoint reaches the network', endpointAt('http://127.0.0.1/v1'), 'connected'],
  ['a child of a simulated model reaches no network', { kind: 'simulated' }, 'ERR_ACCESS_DENIED'],
];
for (const [name, model, summary] of reaches) {
  test(name, async (t) => {
    const server = await startModelServer(t, [says('Done.')]);
    const outcome = await launch(
      { ...simulatedStart, model, signature: String(server.port) },
      { ...WATCHED, program: agentFixture('tries-to-connect') },
    );
    assert.deepEqual(outcome, { status: 'finished', summary });
  });
}
