import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { test, type TestContext } from 'node:test';
import { createServer as createTlsServer } from 'node:https';
import { makers } from '../../src/core/settings/makers.ts';
import { inProcesses } from '../support/agent-here.ts';
import { isLong } from '../support/long.ts';
import { listenHere } from '../support/loopback.ts';
import '../support/model-server.ts'; // removes the proxies of this machine
import { startProdService } from '../support/prod.ts';
import { realAgent } from '../support/service.ts';
import { setVariables } from '../support/variables.ts';

/**
 * Which key reaches which host: every variable holds one, and a proxy that ends TLS itself reads
 * every request.
 */

const ONE_DAY = { start_date: '2025-10-06', end_date: '2025-10-06' };
/** A certificate for the hosts of all makers, which only the children of this file trust. */
const CERTIFICATE = new URL('../fixtures/tls/makers.pem', import.meta.url).pathname;
const KEY_FILE = new URL('../fixtures/tls/key.pem', import.meta.url).pathname;

const variables = [...new Set(makers.map(({ keyVariable }) => keyVariable)), 'JINA_API_KEY'];
const canary = (variable: string): string =>
  `canary-${variable.toLowerCase().replaceAll('_', '-')}-5f2a9c7e1b`;
const environment = Object.fromEntries(variables.map((variable) => [variable, canary(variable)]));

interface Proxy {
  address: string;
  /** The targets of CONNECT. */
  targets: string[];
  /** What came as text, to the proxy itself and through it, by the host that it was meant for. */
  heard: { host: string; text: string }[];
}

async function startProxy(t: TestContext): Promise<Proxy> {
  const [targets, heard]: [string[], Proxy['heard']] = [[], []];
  const inner = createTlsServer(
    { key: readFileSync(KEY_FILE), cert: readFileSync(CERTIFICATE) },
    async (incoming, outgoing) => {
      const body = (await incoming.toArray()).join('');
      heard.push({
        host: String(incoming.headers.host),
        text: `${incoming.url} ${JSON.stringify(incoming.headers)} ${body}`,
      });
      outgoing
        .writeHead(400, { 'content-type': 'application/json' })
        .end('{"error":{"message":"Not today"}}');
    },
  );
  await listenHere(t, inner);
  const outer = createServer((incoming, outgoing) => {
    heard.push({ host: 'the proxy', text: `${incoming.url} ${JSON.stringify(incoming.headers)}` });
    outgoing.writeHead(400).end();
  });
  outer.on('connect', (incoming, socket) => {
    targets.push(incoming.url ?? '');
    heard.push({ host: 'the proxy', text: `${incoming.url} ${JSON.stringify(incoming.headers)}` });
    socket.on('error', () => {});
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    inner.emit('connection', socket);
  });
  return { address: `http://127.0.0.1:${await listenHere(t, outer)}`, targets, heard };
}

const canariesIn = (text: string): string[] =>
  variables.filter((variable) => text.includes(canary(variable)));

/** A child for each; in the short form for three, one of them for the maker that is not named. */
const prefixes = [null, ...makers.flatMap((maker) => maker.prefixes)].filter(
  (_, place) => isLong || place % 6 === 0,
);

test("each maker's key reaches its own host and no other, whatever keys there are", async (t) => {
  const proxy = await startProxy(t);
  setVariables(t, {
    HTTPS_PROXY: proxy.address,
    HTTP_PROXY: proxy.address,
    NODE_EXTRA_CA_CERTS: CERTIFICATE,
    ...environment,
  });
  const hostOf = (prefix: string | null) =>
    new URL(makers.find((maker) => maker.prefixes.includes(prefix ?? 'openai'))?.url ?? '').host;
  const nameOf = (prefix: string | null) => `m-${prefix ?? 'none'}`;
  const service = await startProdService(t, {
    agent: inProcesses(await realAgent()),
    environment,
    settings: { openaiApiKey: canary('OPENAI_API_KEY'), openaiApiBase: null },
    models: prefixes.map((prefix) => ({
      signature: nameOf(prefix),
      basemodel: `${prefix === null ? '' : `${prefix}/`}m`,
    })),
    agentConfig: { max_retries: 0 },
  });
  const { details } = await service.runJob(ONE_DAY);
  for (const detail of details)
    assert.match(detail.error, /returned 400: Not today$/, `${detail.model}: ${detail.error}`);
  assert.deepEqual(
    [...proxy.targets].sort(),
    prefixes.map((prefix) => `${hostOf(prefix)}:443`).sort(),
  );
  for (const { host, text } of proxy.heard) {
    const maker = makers.find(({ url }) => new URL(url).host === host);
    assert.deepEqual(canariesIn(text), maker === undefined ? [] : [maker.keyVariable], host);
  }
  assert.equal(proxy.heard.filter(({ host }) => host !== 'the proxy').length, prefixes.length);
  const told = JSON.stringify([details, service.logLines, await service.get('/models')]);
  assert.deepEqual(canariesIn(told), []);
});
