import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { StartMessage } from '../../src/core/wire/protocol.ts';
import { launch } from '../../src/core/children/launch.ts';
import { askOnce } from '../support/ask-provider.ts';
import { agentFixture, endpointAt, simulatedStart } from '../support/agents.ts';
import { startConfined } from '../support/children.ts';
import { leftToLongForm } from '../support/long.ts';
import { listenHere } from '../support/loopback.ts';
import { says, startModelServer, TEST_CERTIFICATE } from '../support/model-server.ts';
import { realAgent } from '../support/service.ts';
import { like, tableOf } from '../support/text-table.ts';
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

const codings = [
  ['zstd', zstdCompressSync, true],
  ['gzip', gzipSync, false],
] as const;
test('a child decodes what comes compressed although it did not request that', async (t) => {
  setVariables(t, trusted);
  for (const [coding, compress, tls] of codings) {
    const body = compress(JSON.stringify(says('Done.').body));
    const reply = { headers: { 'content-encoding': coding }, body };
    const server = await startModelServer(t, [reply], { tls });
    assert.equal(await askInChild(server.baseUrl), 'Done.');
  }
});

interface Proxy {
  address: string;
  /** `POST http://...` or `CONNECT host:port`, and the credentials that came with it. */
  seen: string[];
}

/** A name that only the proxies of these tests know: it is a server of this machine. */
const PROVIDER = 'provider.test';
const named = (baseUrl: string) => baseUrl.replace('127.0.0.1', PROVIDER);

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
    const onward = request(url.replace(PROVIDER, '127.0.0.1'), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  server.on('connect', (incoming, socket) => {
    note(incoming);
    if (refusal !== '') return void socket.end(`HTTP/1.1 ${refusal}\r\n\r\n`);
    const [host = '', port] = (incoming.url ?? '').split(':');
    const onward = connect(Number(port), host.replace(PROVIDER, '127.0.0.1'), () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  return { address: `127.0.0.1:${await listenHere(t, server)}`, seen };
}

const trusted = { NODE_EXTRA_CA_CERTS: TEST_CERTIFICATE };
const PASSWORD = Buffer.from('me:word').toString('base64');
const proxied = tableOf<[name: string, scheme: string, variables: string, seen: string]>(`
  HTTP_PROXY takes what goes to http://       | http  | HTTP_PROXY=http://PROXY          | POST http://HOST/v1/chat/completions
  http_proxy does too                         | http  | http_proxy=http://PROXY          | POST http://HOST/v1/chat/completions
  HTTPS_PROXY tunnels https://, with its password | https | HTTPS_PROXY=http://me:word@PROXY | CONNECT HOST Basic ${PASSWORD}
`);
for (const [name, scheme, variables, seen] of proxied) {
  test(`a proxy: ${name}`, async (t) => {
    const server = await startModelServer(t, [says('Done.')], { tls: scheme === 'https' });
    const proxy = await startProxy(t);
    const pairs = variables.replace(/\bPROXY\b/, proxy.address).split(' ');
    setVariables(t, { ...trusted, ...Object.fromEntries(pairs.map((pair) => pair.split('='))) });
    assert.equal(await askInChild(named(server.baseUrl)), 'Done.');
    assert.equal(proxy.seen.join(), seen.replace('HOST', `${PROVIDER}:${server.port}`));
  });
}

const past = tableOf<[name: string, variables: string, host: string, outcome: string]>(`
  none for this machine, whatever NO_PROXY is | HTTP_PROXY=http://PROXY NO_PROXY=example.org | 127.0.0.1 | Done.
  HTTPS_PROXY does not apply to http://       | HTTPS_PROXY=http://PROXY                     | ${PROVIDER} | …could not be reached: …
  NO_PROXY goes past it                       | HTTP_PROXY=http://PROXY NO_PROXY=example.org,${PROVIDER} | ${PROVIDER} | …could not be reached: …
`);
for (const [name, variables, host, outcome] of past) {
  test(`a proxy: ${name}`, async (t) => {
    const server = await startModelServer(t, [says('Done.')]);
    const proxy = await startProxy(t);
    const pairs = variables.replace(/\bPROXY\b/, proxy.address).split(' ');
    setVariables(t, Object.fromEntries(pairs.map((pair) => pair.split('='))));
    const asked = await askInChild(server.baseUrl.replace('127.0.0.1', host));
    assert.match(asked, like(outcome));
    assert.deepEqual(proxy.seen, []);
  });
}

test('a proxy that refuses is reported without its password', async (t) => {
  const server = await startModelServer(t, [says('Done.')], { tls: true });
  const proxy = await startProxy(t, { refusal: '407 Proxy Authentication Required' });
  setVariables(t, { ...trusted, HTTPS_PROXY: `http://me:word@${proxy.address}` });
  const error = await askInChild(named(server.baseUrl));
  assert.match(
    error,
    /^The model provider could not be reached: .* 407 Proxy Authentication Required$/,
  );
  assert.doesNotMatch(error, /word/);
});

test('an invalid proxy stops the request, and nothing bypasses it', async (t) => {
  const server = await startModelServer(t, [says('Done.')]);
  for (const value of [
    'socks5://me:word@127.0.0.1:1080',
    'me:word@proxy:3128',
    'http://me:word@:99999',
  ]) {
    setVariables(t, { HTTP_PROXY: value });
    const { error } = await askOnce(endpointAt(named(server.baseUrl)));
    const reason = 'HTTP_PROXY is not a URL that starts with http:// or https://';
    assert.equal(error, `The model provider could not be reached: ${reason}`);
  }
  assert.equal(server.requests.length, 0);
  for (const near of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '0.0.0.0']) {
    const { error } = await askOnce(endpointAt(server.baseUrl.replace('127.0.0.1', near)));
    assert.equal(error, null, `${near} needs no proxy`);
  }
});

const certificates: [
  name: string,
  variables: Record<string, string>,
  summary: RegExp,
  skip?: string | false,
][] = [
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
    leftToLongForm,
  ],
  [
    'a missing file is reported',
    { NODE_EXTRA_CA_CERTS: '/nowhere.pem' },
    /Ignoring extra certs from `\/nowhere\.pem`[^]*its certificate is not trusted/,
  ],
];
for (const [name, variables, summary, skip = false] of certificates) {
  test(`certificates: ${name}`, { skip }, async (t) => {
    const server = await startModelServer(t, [says('Done.')], { tls: true });
    setVariables(t, variables);
    assert.match(await askInChild(server.baseUrl), summary);
  });
}

const reaches: [model: StartMessage['model'], outcome: string][] = [
  [endpointAt('http://127.0.0.1/v1'), 'connected'],
  [{ kind: 'simulated' }, 'ERR_ACCESS_DENIED'],
];
test('a child with an endpoint reaches the network, one of a simulated model does not', async (t) => {
  const server = await startModelServer(t, [says('Done.')]);
  for (const [model, summary] of reaches) {
    const outcome = await launch(
      { ...simulatedStart, model, signature: String(server.port) },
      { ...WATCHED, program: agentFixture('tries-to-connect') },
    );
    assert.deepEqual(outcome, { status: 'finished', summary });
  }
});
