import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
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
import zlib, {
  createBrotliDecompress,
  createGunzip,
  createZstdDecompress,
  type Gzip,
} from 'node:zlib';
import { type LateBody, lateText } from '../../src/api/handler.ts';
import { httpRequest } from '../../src/basics/http-client.ts';
import { MIN_COMPRESSED_BYTES, openOutlet } from '../../src/http/response.ts';
import type { Coding } from '../../src/http/negotiate.ts';
import { MAX_WHOLE_BYTES, sendLate } from '../../src/http/stream.ts';
import { inLongForm, runs } from '../support/long.ts';
import { listenHere } from '../support/loopback.ts';
import { startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const CODINGS: readonly Coding[] = ['zstd', 'br', 'gzip'];
const decoders = { zstd: createZstdDecompress, br: createBrotliDecompress, gzip: createGunzip };
const options = { heartbeatMs: 5, headers: [] };

type Answer = (response: ServerResponse) => Promise<void>;

/** A server of one answer; each compressor that it opens is added to `compressors`. */
async function serve(t: TestContext, answer: Answer, compressors: Gzip[] = []): Promise<Server> {
  for (const make of ['createZstdCompress', 'createBrotliCompress', 'createGzip'] as const) {
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

/** A body of these pieces, each a chunk. */
function lateOf(pieces: Iterable<string>, fileName: string | null = null): LateBody {
  const source = pieces[Symbol.iterator]();
  let isOver = false;
  async function* chunks(): AsyncGenerator<Uint8Array, void, void> {
    for (let next = source.next(); next.done !== true; next = source.next())
      yield Buffer.from(next.value);
    isOver = true;
  }
  const rest = { fileName: () => fileName, isTable: fileName !== null, isOver: () => isOver };
  return { chunks: chunks(), ...rest, stop: () => void source.return?.() };
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
  const coding = response.headers['content-encoding'] as Coding | undefined;
  const body = coding === undefined ? response : response.pipe(decoders[coding]());
  return Buffer.concat(await (body as IncomingMessage).toArray()).toString();
}

const words = (length: number) => 'naïve 😀 words '.repeat(Math.ceil(length / 15)).slice(0, length);
function* pieces(): Generator<string> {
  for (let index = 0; index < 3_000; index += 1) yield `${index} ${words(90)}\n`;
}
const bodies: [name: string, make: () => LateBody, isSmall?: true][] = [
  [
    'a small text',
    () => lateText(Promise.resolve(words(MIN_COMPRESSED_BYTES / 4)), () => {}),
    true,
  ],
  [
    'a text that is not small',
    () => lateText(Promise.resolve(words(MIN_COMPRESSED_BYTES)), () => {}),
  ],
  ['a long text', () => lateText(Promise.resolve(words(MAX_WHOLE_BYTES * 3)), () => {})],
  ['a few pieces', () => lateOf(['{"a":', words(2_000), '}'])],
  ['many pieces', () => lateOf(pieces())],
  ['a table', () => lateOf(pieces(), 'a.csv')],
  [
    'a text that takes long to make',
    () =>
      lateText(
        nextRound().then(() => words(5_000)),
        () => {},
      ),
  ],
];

test('every body is the same after decoding, in the coding that was accepted; a small one is not compressed', async (t) => {
  const created: Gzip[] = [];
  let make = () => lateOf([]);
  const server = await serve(t, async (response) => sendLate(response, make(), options), created);
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
      const head = await ask(portOf(server), {
        method: 'HEAD',
        headers: { 'accept-encoding': coding },
      });
      assert.deepEqual(
        [head.headers['content-encoding'], head.headers['content-length']],
        [given, length],
        `HEAD of ${name}`,
      );
      assert.deepEqual([(await head.toArray()).length, created.length], [0, before]);
    }
  }
  await until('all compressors to be closed', () => created.every(({ closed }) => closed));
  assert.ok(created.length >= 3 * 4);
});

test('the white space before a late response reaches the client at once', async (t) => {
  let answer = Promise.withResolvers<string>();
  const server = await serve(t, (response) =>
    sendLate(
      response,
      lateText(answer.promise, () => {}),
      options,
    ),
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

test(
  'an error in the middle cuts the response off, and its compressor ends',
  inLongForm,
  async (t) => {
    const created: Gzip[] = [];
    function* broken(): Generator<string> {
      for (let index = 0; index < 100; index += 1) yield words(MAX_WHOLE_BYTES);
      throw new Error('no database');
    }
    const server = await serve(
      t,
      async (response) => sendLate(response, lateOf(broken()), options),
      created,
    );
    for (const coding of CODINGS) {
      const response = await ask(portOf(server), { headers: { 'accept-encoding': coding } });
      await assert.rejects(response.toArray(), /aborted/);
    }
    const url = `http://127.0.0.1:${portOf(server)}`;
    const { failure } = await httpRequest(url, {
      timeoutMs: 60_000,
      maxBytes: Infinity,
      isDirect: true,
    });
    assert.equal(failure, 'connection', 'our commands notice');
    await until(
      'all compressors to be closed',
      () => created.length === 4 && created.every(({ closed }) => closed),
    );
  },
);

/** More than any window, so that nothing in it repeats. */
const NOISE = randomBytes(1_000_000).toString('base64');

/** A body without end that does not compress well. */
function* endless(state: { pieces: number; open: number }): Generator<string> {
  state.open += 1;
  try {
    for (let at = 0; ; at = (at + 8_192) % NOISE.length) {
      state.pieces += 1;
      yield NOISE.slice(at, at + 8_192);
    }
  } finally {
    state.open -= 1;
  }
}

test(
  'many clients that stop reading hold a bounded part of their responses; when they leave, their compressors end',
  inLongForm,
  async (t) => {
    const created: Gzip[] = [];
    const state = { pieces: 0, open: 0 };
    const responses: ServerResponse[] = [];
    const server = await serve(
      t,
      async (response) => {
        responses.push(response);
        return sendLate(response, lateOf(endless(state)), options);
      },
      created,
    );
    const sockets: Socket[] = [];
    for (const coding of Array.from({ length: runs(1, 2) }, () => CODINGS).flat()) {
      const socket = connect(portOf(server), '127.0.0.1').pause();
      socket.on('error', () => {});
      socket.write(`GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: ${coding}\r\n\r\n`);
      sockets.push(socket);
    }
    t.after(() => sockets.forEach((socket) => socket.destroy()));
    let turns = 0;
    let seen = -1;
    await until('all responses to stall', async () => {
      turns = seen === state.pieces && responses.length === sockets.length ? turns + 1 : 0;
      seen = state.pieces;
      for (let round = 0; round < 20; round += 1) await nextRound();
      return turns > 50;
    });
    for (const { writableLength } of responses)
      assert.ok(writableLength <= 2 * MAX_WHOLE_BYTES, `${writableLength} wait for the client`);
    for (const { writableLength, readableLength, writableHighWaterMark: mark } of created) {
      assert.ok(writableLength <= 2 * MAX_WHOLE_BYTES, `${writableLength} wait for the compressor`);
      assert.ok(
        readableLength <= 2 * Math.max(mark, MAX_WHOLE_BYTES),
        `${readableLength} wait behind it`,
      );
    }
    assert.equal(state.open, sockets.length);
    sockets.forEach((socket) => socket.destroy());
    await until('all work to stop', () => state.open === 0);
    await until('all compressors to be closed', () => created.every(({ closed }) => closed));
    assert.equal(created.length, sockets.length);
  },
);

test('a client that left before its response begins leaves no compressor', async (t) => {
  const created: Gzip[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const server = await serve(
    t,
    async (response) => {
      await new Promise((left) => response.once('close', left));
      await openOutlet(response, 'gzip', () => {}).end();
      resolve();
    },
    created,
  );
  const socket = connect(portOf(server), '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n', () => socket.destroy());
  await promise;
  assert.deepEqual(
    created.map(({ closed }) => closed),
    [true],
  );
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
  const command = await httpRequest(`${service.url}/openapi.json`, {
    timeoutMs: 60_000,
    maxBytes: Infinity,
    isDirect: true,
  });
  assert.ok(
    command.failure === undefined &&
      command.headers['content-encoding'] === 'zstd' &&
      command.text === text,
    'our commands ask for it',
  );
  const health = await ask(port, { path: '/health', headers: browser });
  assert.equal(health.headers['content-encoding'], undefined, 'a small one');
  const refused = await ask(port, {
    path: `/results?${'x'.repeat(30)}=1`,
    headers: { 'accept-encoding': 'gzip' },
  });
  assert.deepEqual([refused.statusCode, refused.headers['content-encoding']], [422, undefined]);
});
