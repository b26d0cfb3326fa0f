import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createNetServer } from 'node:net';
import { join } from 'node:path';
import { before, test, type TestContext } from 'node:test';
import type { AsyncBody } from '../../src/core/api/handler.ts';
import { MAX_WHOLE_BYTES, sendAsync } from '../../src/core/http/response.ts';
import { temporaryFolder } from '../../test/support/folder.ts';
import { canInstall, pythonWith, run } from '../../test/support/foreign-tools.ts';
import { listenHere } from '../../test/support/loopback.ts';
import { followProgram } from '../../test/support/program.ts';
import { until } from '../../test/support/until.ts';

/**
 * Programs that many people use read responses of the service, in every coding that they accept,
 * alone and behind reverse proxies. Those that cannot be had are skipped by name.
 */

/** In bytes: whole responses, and streamed ones, of one piece, of a few and of many. */
const SIZES = [
  ...[1, 1_023, 1_024, MAX_WHOLE_BYTES, MAX_WHOLE_BYTES + 1],
  ...[150_000, 300_000, 1_000_000, 20_000_000],
];
/** A fault that depends on what is still queued shows now and then. */
const TIMES = 5;
const PIECE_BYTES = 128 * 1024;
const AUTOMATIC = 'automatic';
const CODINGS = ['identity', 'gzip', 'deflate', 'br', 'zstd', 'gzip, deflate, br, zstd', AUTOMATIC];
const WITHOUT_ZSTD = CODINGS.filter((coding) => !coding.includes('zstd'));
const NEWER = ['httpx==0.28.1', 'requests==2.34.2', 'urllib3==2.8.0', 'aiohttp==3.14.5'];
const OLDER = ['requests==2.32.3', 'urllib3==2.2.3', 'aiohttp==3.13.2', 'httpx==0.27.2'];
/** Some libraries decode zstd with the one, some with the other. */
const DECODERS = ['zstandard==0.25.0', 'backports.zstd==1.8.0', 'brotli==1.2.1'];
const LIBRARIES = ['httpx', 'requests', 'urllib3', 'aiohttp'];
const fixture = (name: string) => new URL(`../fixtures/clients/${name}`, import.meta.url);

/** Text as results are: much of it repeats, not all. */
const TEXT = Buffer.from(
  Array.from({ length: 460_000 }, (_none, index) => {
    const amount = (index * 2_654_435_761) % 1_000_003;
    return `{"id":${index},"model":"model-${index % 7}","cash":${amount}}`;
  }).join(),
).subarray(0, Math.max(...SIZES));

const paths = SIZES.flatMap((size) => {
  const times = size > MAX_WHOLE_BYTES && size <= 1_000_000 ? TIMES : 1;
  return Array.from({ length: times }, (_none, index) => `/${size}/${index}`);
});

async function* piecesOf(bytes: Buffer): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

let port: number;
before(async (t) => {
  const server = createServer((request, response) => {
    const bytes = TEXT.subarray(0, Number(request.url?.split('/')[1]));
    const isShort = bytes.length <= MAX_WHOLE_BYTES;
    const made = { bytes: isShort ? bytes : piecesOf(bytes), fileName: null };
    const body: AsyncBody = {
      made: Promise.resolve(made),
      isTable: false,
      end: new AbortController(),
    };
    void sendAsync(response, body, { headers: [], heartbeatMs: 10_000 });
  });
  await listenHere(t as TestContext, server);
  port = (server.address() as AddressInfo).port;
});

/** Runs a client over all paths and codings, and compares what it has read. */
async function checkClient(
  command: string,
  args: string[],
  { origin = `http://127.0.0.1:${port}`, codings = CODINGS } = {},
) {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
  const words = [...args, origin, paths.join(' '), codings.join('|')];
  const { code, stdout, stderr } = await followProgram(spawn(command, words, { env })).ended;
  assert.equal(code, 0, stderr.slice(-2_000));
  checkLines(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
    codings,
  );
}

type Line = [path: string, coding: string, given: string | null, length: number, digest: string];

function checkLines(lines: readonly Line[], codings = CODINGS): void {
  assert.equal(lines.length, paths.length * codings.length);
  for (const [path, coding, given, length, digest] of lines) {
    const size = Number(path.split('/')[1]);
    const expected = createHash('sha256').update(TEXT.subarray(0, size)).digest('hex');
    assert.deepEqual([length, digest], [size, expected], `${path} as ${coding}`);
    const wanted = size < 1_024 ? '' : { zstd: 'zstd', gzip: 'gzip' }[coding];
    if (wanted !== undefined && given !== null) assert.equal(given, wanted, path);
  }
}

for (const [name, packages] of Object.entries({ newer: NEWER, older: OLDER }))
  test(`${LIBRARIES.join(', ')} for Python read every size in every coding: ${name} ones`, async (t) => {
    const command = pythonWith(t, [...packages, ...DECODERS]);
    if (command === null) return;
    for (const library of LIBRARIES)
      await checkClient(command, [fixture('read.py').pathname, library]);
  });

test("Go's net/http reads every size in every coding but zstd, which it cannot decode", async (t) => {
  const folder = temporaryFolder();
  copyFileSync(fixture('read.go.txt'), join(folder, 'read.go'));
  const build = () => run('go', ['build', '-o', 'read', 'read.go'], { cwd: folder });
  if (canInstall(t, 'Go', build))
    await checkClient(join(folder, 'read'), [], { codings: WITHOUT_ZSTD });
});

test('curl reads every size in every coding', async (t) => {
  if (!canInstall(t, 'curl', () => run('curl', ['--version'], { cwd: '/' }))) return;
  checkLines(await read(curl));
});

test("Node's fetch reads every size in every coding", async () => {
  checkLines(await read(fetched));
});

type Read = (url: string, coding: string) => Promise<[given: string | null, body: Buffer]>;

async function read(one: Read, origin = `http://127.0.0.1:${port}`): Promise<Line[]> {
  const lines: Line[] = [];
  for (const path of paths)
    for (const coding of CODINGS) {
      const [given, body] = await one(origin + path, coding);
      const digest = createHash('sha256').update(body).digest('hex');
      lines.push([path, coding, given, body.length, digest]);
    }
  return lines;
}

async function fetched(url: string, coding: string): ReturnType<Read> {
  const headers = coding === AUTOMATIC ? undefined : { 'accept-encoding': coding };
  const response = await fetch(url, headers && { headers });
  return [
    response.headers.get('content-encoding') ?? '',
    Buffer.from(await response.arrayBuffer()),
  ];
}

/** Asks for all codings that it knows, if none is named. */
async function curl(url: string, coding: string): ReturnType<Read> {
  const header = coding === AUTOMATIC ? [] : ['--header', `Accept-Encoding: ${coding}`];
  const child = spawn('curl', [
    '--silent',
    '--show-error',
    '--fail',
    '--compressed',
    ...header,
    url,
  ]);
  const [body, [code]] = await Promise.all([child.stdout.toArray(), once(child, 'close')]);
  assert.equal(code, 0, `${url} as ${coding}`);
  return [null, Buffer.concat(body)];
}

/** A reverse proxy in front of the server, with its configuration. */
interface Proxy {
  name: string;
  command: string;
  args: string[];
  configuration(to: number, folder: string): string;
}

const nginx = (buffering: 'on' | 'off', version: '1.0' | '1.1'): Proxy => ({
  name: `nginx, proxy_buffering ${buffering}, HTTP/${version}`,
  command: '/usr/sbin/nginx',
  args: ['-p', '.', '-e', 'stderr', '-c', 'configuration'],
  configuration: (
    listening,
    folder,
  ) => `daemon off;${process.getuid?.() === 0 ? '\n    user root;' : ''}
    worker_processes 1;
    pid ${folder}/pid;
    error_log stderr;
    events {}
    http {
      access_log off;
      ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((of) => `${of}_temp_path ${folder}/${of};`).join('\n')}
      server {
        listen 127.0.0.1:${listening};
        location / {
          proxy_pass http://127.0.0.1:${port};
          proxy_buffering ${buffering};
          proxy_http_version ${version};
        }
      }
    }`,
});

const proxies: Proxy[] = [
  nginx('on', '1.0'),
  nginx('on', '1.1'),
  nginx('off', '1.0'),
  nginx('off', '1.1'),
  {
    name: 'HAProxy',
    command: '/usr/sbin/haproxy',
    args: ['-f', 'configuration'],
    configuration: (listening) => `defaults
  mode http
  timeout connect 10s
  timeout client 60s
  timeout server 60s
frontend front
  bind 127.0.0.1:${listening}
  default_backend back
backend back
  server one 127.0.0.1:${port}
`,
  },
];

async function freePort(): Promise<number> {
  const server = createNetServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: free } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return free;
}

/** Starts a proxy, and ends it after the test. */
async function startProxy(t: TestContext, proxy: Proxy): Promise<string> {
  const folder = temporaryFolder();
  const listening = await freePort();
  writeFileSync(join(folder, 'configuration'), proxy.configuration(listening, folder));
  const child: ChildProcess = spawn(proxy.command, proxy.args, { cwd: folder });
  const { ended } = followProgram(child);
  t.after(() => (child.kill('SIGTERM'), ended));
  const origin = `http://127.0.0.1:${listening}`;
  const isThere = () =>
    fetch(`${origin}/1/0`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(`${proxy.name} to listen`, async () => {
    assert.equal(child.exitCode, null, 'it ended');
    return isThere();
  });
  return origin;
}

for (const proxy of proxies)
  test(`behind ${proxy.name} every size is read in every coding`, {
    skip: existsSync(proxy.command) ? false : `there is no ${proxy.command}`,
  }, async (t) => {
    const origin = await startProxy(t, proxy);
    checkLines(await read(fetched, origin));
    const command = pythonWith(t, [...NEWER, ...DECODERS]);
    if (command !== null)
      await checkClient(command, [fixture('read.py').pathname, 'httpx'], { origin });
  });
