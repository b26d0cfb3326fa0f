import assert from 'node:assert/strict';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import zlib, { createGunzip, createZstdDecompress, type Gzip } from 'node:zlib';
import { type AsyncBody, asyncText } from '../../src/core/api/handler.ts';
import { httpRequest } from '../../src/core/network/http-client.ts';
import {
  type ApiCoding,
  MIN_COMPRESSED_BYTES,
  MAX_WHOLE_BYTES,
  sendAsync,
} from '../../src/core/http/response.ts';
import { runs } from '../support/long.ts';
import { listenHere } from '../support/loopback.ts';
import { startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const CODINGS = ['zstd', 'gzip'] as const;
const decoders = { zstd: createZstdDecompress, gzip: createGunzip };
const options = { heartbeatMs: 5, headers: [] };

type Answer = (response: ServerResponse) => Promise<void>;

/** A server of one answer; each compressor that it opens is added to `compressors`. */
async function serve(t: TestContext, answer: Answer, compressors: Gzip[] = []): Promise<Server> {
  for (const make of ['createZstdCompress', 'createGzip'] as const) {
    const open = zlib[make];
    t.mock.method(zlib, make, (...options: []) => {
      const compressor = open(...options);
      compressors.push(compressor as Gzip);
      return compressor;
    });
  }
  const server = createServer(
    (_request, response) => void answer(response).catch(() => response.destroy()),
  );
  await listenHere(t, server);
  return server;
}

/** A long body of these pieces. */
function lateOf(pieces: Iterable<string>, fileName: string | null = null): AsyncBody {
  async function* bytes(): AsyncGenerator<Uint8Array, void, void> {
    for (const piece of pieces) yield Buffer.from(piece);
  }
  const made = Promise.resolve({ bytes: bytes(), fileName });
  return { made, isTable: fileName !== null, end: new AbortController() };
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** The response as it comes over the wire, not decoded. */
async function ask(
  port: number,
  { path = '/', method = 'GET', headers = {} as OutgoingHttpHeaders },
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request({ port, path, method, headers, agent: false }, resolve).on('error', reject).end();
  return promise;
}

async function decoded(response: IncomingMessage): Promise<string> {
  const coding = response.headers['content-encoding'] as ApiCoding | undefined;
  const body = coding === undefined ? response : response.pipe(decoders[coding]());
  return Buffer.concat(await (body as IncomingMessage).toArray()).toString();
}

const words = (length: number) => 'naïve 😀 words '.repeat(Math.ceil(length / 15)).slice(0, length);
function* pieces(): Generator<string> {
  for (let index = 0; index < 800; index += 1) yield `${index} ${words(90)}\n`;
}
const lateWords = (text: Promise<string>) => asyncText(text, new AbortController());
const wordsNow = (length: number) => lateWords(Promise.resolve(words(length)));
const bodies: [name: string, make: () => AsyncBody, isSmall?: true][] = [
  ['a small text', () => wordsNow(MIN_COMPRESSED_BYTES / 4), true],
  ['a text that is not small', () => wordsNow(MIN_COMPRESSED_BYTES)],
  ['a long text', () => wordsNow(MAX_WHOLE_BYTES * 3)],
  ['a few pieces', () => lateOf(['{"a":', words(2_000), '}'])],
  ['many pieces', () => lateOf(pieces())],
  ['a table', () => lateOf(pieces(), 'a.csv')],
  ['a text that takes long to make', () => lateWords(nextRound().then(() => words(5_000)))],
];

test('every body is the same after decoding, in the coding that was accepted; a small one is not compressed', async (t) => {
  const created: Gzip[] = [];
  let make = () => lateOf([]);
  const server = await serve(t, async (response) => sendAsync(response, make(), options), created);
  for (const [name, body, isSmall] of bodies) {
    make = body;
    const plain = await decoded(await ask(portOf(server), {}));
    assert.ok(plain.length > 0);
    for (const coding of CODINGS) {
      const response = await ask(portOf(server), { headers: { 'accept-encoding': coding } });
      const { 'content-encoding': given, 'content-length': length, vary } = response.headers;
      assert.deepEqual([given, vary], [isSmall ? undefined : coding, 'Accept-Encoding'], name);
      if (length !== undefined && !isSmall)
        assert.ok(Number(length) < Buffer.byteLength(plain), name);
      assert.ok((await decoded(response)) === plain, `${name} in ${coding}`);
      const before = created.length;
      const asked = { method: 'HEAD', headers: { 'accept-encoding': coding } };
      const head = await ask(portOf(server), asked);
      const found = [head.headers['content-encoding'], head.headers['content-length']];
      assert.deepEqual(found, [given, length], `HEAD of ${name}`);
      assert.deepEqual([(await head.toArray()).length, created.length], [0, before]);
    }
  }
  await until('all compressors to be closed', () => created.every(({ closed }) => closed));
  assert.ok(created.length >= 2 * 4);
});

/** Where each frame of zstd ends (RFC 8878, 3.1.1), by its header and the sizes of its blocks. */
function frameEnds(bytes: Buffer): number[] {
  const ends: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    assert.equal(bytes.readUInt32LE(at), 0xfd2fb528, `a frame begins at byte ${at}`);
    const descriptor = bytes.readUInt8(at + 4);
    const [isSingle, contentSize] = [(descriptor >> 5) & 1, descriptor >> 6];
    const idBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
    const sizeBytes = contentSize === 0 ? isSingle : 1 << contentSize;
    at += 5 + (1 - isSingle) + idBytes + sizeBytes;
    for (let isLast = 0; isLast === 0; ) {
      const header = bytes.readUIntLE(at, 3);
      isLast = header & 1;
      at += 3 + (((header >> 1) & 3) === 1 ? 1 : header >> 3);
    }
    at += ((descriptor >> 2) & 1) * 4;
    ends.push(at);
  }
  return ends;
}

test('a compressed stream ends once: zstd of a single frame, gzip of a single member', async (t) => {
  let make = () => lateOf([]);
  const server = await serve(t, async (response) => sendAsync(response, make(), options));
  const long = words(MAX_WHOLE_BYTES);
  const lists = [1, 2, 3, 5, 8].map((count) => [
    ...Array.from({ length: count }, () => long + long),
    words(3_000),
    words(count),
  ]);
  for (let round = 0; round < runs(1, 100); round += 1)
    for (const list of lists) {
      for (const coding of CODINGS) {
        make = () => lateOf(list);
        const response = await ask(portOf(server), { headers: { 'accept-encoding': coding } });
        const bytes = Buffer.concat(await response.toArray());
        if (coding === 'zstd') assert.deepEqual(frameEnds(bytes), [bytes.length]);
        const decoder = decoders[coding]();
        decoder.end(bytes);
        assert.equal(Buffer.concat(await decoder.toArray()).toString(), list.join(''));
        assert.equal(decoder.bytesWritten, bytes.length, `all of ${coding} is read`);
      }
    }
});

test('the white space before a late response reaches the client at once', async (t) => {
  let answer = Promise.withResolvers<string>();
  const server = await serve(t, (response) =>
    sendAsync(response, lateWords(answer.promise), options),
  );
  for (const coding of CODINGS) {
    answer = Promise.withResolvers<string>();
    const response = await ask(portOf(server), { headers: { 'accept-encoding': coding } });
    let text = '';
    for await (const bytes of response.pipe(decoders[coding]())) {
      text += String(bytes);
      if (text.length >= 3) answer.resolve('{"late":true}');
    }
    assert.match(text, /^ {3,}\{"late":true\}$/);
  }
});

test('a client that leaves, before its response begins or while it is sent, leaves no compressor', async (t) => {
  const created: Gzip[] = [];
  let stopped = 0;
  let leave: (response: ServerResponse) => unknown = () => {};
  const sent = async (response: ServerResponse) => {
    await leave(response);
    const body = lateOf(pieces());
    body.end.signal.addEventListener('abort', () => (stopped += 1));
    await sendAsync(response, body, options);
  };
  const server = await serve(t, sent, created);
  const headers = 'GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: ';
  for (const coding of CODINGS) {
    leave = (response) => new Promise((left) => response.once('close', left));
    connect(portOf(server), '127.0.0.1', function (this: Socket) {
      this.write(`${headers}${coding}\r\n\r\n`, () => this.destroy());
    });
    await until('the response to be given up', () => stopped === 1);
    assert.equal(created.length, 0);
    leave = ({ req }) => void setImmediate(() => req.socket.destroy());
    connect(portOf(server), '127.0.0.1').write(`${headers}${coding}\r\n\r\n`);
    await until('the next to be given up', () => stopped === 2);
    await until('its compressor to be closed', () => created.pop()?.closed);
    stopped = 0;
  }
});

test('the service compresses what is not small, and programs that do not ask get it plain', async (t) => {
  const service = await startTestService(t);
  const port = Number(new URL(service.url).port);
  const plain = await ask(port, { path: '/openapi.json' });
  assert.equal(plain.headers['content-encoding'], undefined);
  const text = await decoded(plain);
  const browser = { 'accept-encoding': 'gzip, deflate, br, zstd' };
  const described = await ask(port, { path: '/openapi.json', headers: browser });
  assert.equal(described.headers['content-encoding'], 'zstd');
  assert.ok((await decoded(described)) === text);
  const { failure, ...command } = await httpRequest(`${service.url}/openapi.json`, {
    ...{ timeoutMs: 60_000, maxBytes: Infinity, isDirect: true },
  });
  assert.equal(failure, undefined);
  assert.ok('text' in command && command.text === text);
  assert.equal(command.headers['content-encoding'], 'zstd', 'our commands ask for it');
  const health = await ask(port, { path: '/health', headers: browser });
  assert.equal(health.headers['content-encoding'], undefined, 'a small one');
  const long = `/results?${'x'.repeat(30)}=1`;
  const refused = await ask(port, { path: long, headers: { 'accept-encoding': 'gzip' } });
  assert.deepEqual([refused.statusCode, refused.headers['content-encoding']], [422, undefined]);
});
