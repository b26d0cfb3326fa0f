import assert from 'node:assert/strict';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { lateText, type ResponseBody } from '../../src/api/handler.ts';
import { HttpError } from '../../src/http/errors.ts';
import {
  createLongResponses,
  type LongResponses,
  sendBody,
  sendLate,
  sendPieces,
  STREAM_CHUNK_LENGTH,
} from '../../src/http/stream.ts';
import { bySlices, inShortTurn, nextTurn, SLICE_MS } from '../../src/basics/turns.ts';
import { listenHere } from '../support/loopback.ts';
import { startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const PIECE = `${'x'.repeat(1_023)}\n`;
const HEARTBEAT_MS = 5;
const BEATS = 20;
/** More than the system takes for a client that reads nothing. */
const UNREAD_LENGTH = 20_000_000;

/** A server on loopback whose requests a function serves. */
async function serve(
  t: TestContext,
  answer: (response: ServerResponse) => Promise<void>,
): Promise<Server> {
  const server = createServer(
    (_request, response) => void answer(response).catch(() => response.destroy()),
  );
  await listenHere(t, server);
  return server;
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function open(t: TestContext, server: Server): Socket {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  t.after(() => socket.destroy());
  return socket;
}

/** A body without end, which records how many pieces were made and whether it was given up. */
function endless() {
  const state = { pieces: 0, isOver: false };
  function* make(): Generator<string> {
    try {
      for (;;) {
        state.pieces += 1;
        yield PIECE;
      }
    } finally {
      state.isOver = true;
    }
  }
  return { state, answer: make() };
}

test('a client that reads nothing holds a chunk and its place; when it leaves, the work stops', async (t) => {
  const long = createLongResponses({ maxLongResponses: 1, heartbeatMs: 60_000 });
  const { state, answer } = endless();
  let response: ServerResponse | undefined;
  const server = await serve(t, (opened) =>
    sendPieces((response = opened), answer, { long, headers: [] }),
  );
  const socket = open(t, server).pause();
  // It has stopped when the system takes no more: the event loop goes round many times, and no
  // piece is made.
  let turns = 0;
  let seen = -1;
  await until('the response to stall', async () => {
    turns = seen === state.pieces && response?.writableNeedDrain ? turns + 1 : 0;
    seen = state.pieces;
    for (let round = 0; round < 20; round += 1) await nextTurn();
    return turns > 5;
  });
  assert.ok(
    (response?.writableLength ?? Infinity) <= STREAM_CHUNK_LENGTH + PIECE.length + 100,
    'one chunk and its frame',
  );
  await assert.rejects(
    long.during(async () => {}),
    (error) => error instanceof HttpError && error.status === 503,
  );
  assert.equal(state.isOver, false);
  socket.destroy();
  await until('the response to be given up', () => state.isOver);
  await until('its place', () => isFree(long));
});

/** Whether a long response would have a place now. */
function isFree(long: LongResponses): Promise<boolean> {
  return long.during(async () => true).catch(() => false);
}

test('a short response needs no place; a long one without a place becomes an error and is given up', async (t) => {
  const long = createLongResponses({ maxLongResponses: 0, heartbeatMs: 60_000 });
  const { state, answer } = endless();
  const answers = [['[', ']'], answer];
  const errors: string[] = [];
  const server = await serve(t, async (response) => {
    const pieces = answers.shift() as Iterable<string>;
    await sendPieces(response, pieces, { long, headers: [] }).catch((error) => {
      errors.push(`${error.status} ${response.headersSent}`);
      response.end();
    });
  });
  assert.deepEqual([await (await fetch(urlOf(server))).text(), errors], ['[]', []]);
  await (await fetch(urlOf(server))).text();
  assert.deepEqual([errors, state.isOver], [['503 false'], true]);
});

test('a long text that exists already needs a place too, and arrives whole', async (t) => {
  const long = createLongResponses({ maxLongResponses: 1, heartbeatMs: 60_000 });
  const text = `"${'😀'.repeat(STREAM_CHUNK_LENGTH)}"`; // an odd offset: a chunk would end in the middle of a character
  const server = await serve(t, async (response) =>
    sendBody(response, text, { long, headers: [] }),
  );
  assert.equal(await (await fetch(urlOf(server))).text(), text);
  const { promise, resolve } = Promise.withResolvers<void>();
  const held = long.during(() => promise);
  await assert.rejects(
    fetch(urlOf(server)).then((response) => response.text()),
    'the place is taken',
  );
  resolve();
  await held;
});

test('a late response sends white space meanwhile, and no timeout cuts it while its client reads', async (t) => {
  const long = createLongResponses({ maxLongResponses: 1, heartbeatMs: HEARTBEAT_MS });
  const { promise, resolve } = Promise.withResolvers<string>();
  t.after(() => resolve('')); // a response that is cut is still being made
  let socket: Socket | undefined;
  const server = await serve(t, (response) => {
    ({ socket } = response.req);
    return sendLate(
      response,
      lateText(promise, () => {}),
      { long, headers: [] },
    );
  });
  const response = await fetch(urlOf(server));
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.length >= BEATS) resolve('{"late":true}');
    else socket?.emit('timeout'); // as on a machine that was too busy for a heartbeat
  }
  assert.deepEqual(JSON.parse(text), { late: true });
  assert.match(text, new RegExp(`^ {${BEATS},}\\{`));
});

const compressedBodies: [name: string, make: (text: string) => ResponseBody][] = [
  ['a late response', (text) => lateText(Promise.resolve(text), () => {})],
  ['a long response', (text) => text],
];
for (const [name, make] of compressedBodies) {
  test(`no timeout cuts ${name} while its last piece is compressed`, async (t) => {
    const long = createLongResponses({ maxLongResponses: 1, heartbeatMs: 60_000 });
    const text = PIECE.repeat((2 * STREAM_CHUNK_LENGTH) / PIECE.length);
    let timeouts = 0;
    const server = await serve(t, async (response) => {
      response.once('pipe', (compressor: Readable) => {
        // The pipe ends the response in its own listener of this event, which comes later.
        compressor.prependOnceListener('end', () => {
          timeouts += 1;
          response.req.socket.emit('timeout');
        });
      });
      return sendBody(response, make(text), { long, headers: [] });
    });
    assert.equal(await (await fetch(urlOf(server))).text(), text);
    assert.equal(timeouts, 1);
  });
}

test('a response that has been handed over whole, and whose client does not read it, is cut by a timeout', async (t) => {
  const long = createLongResponses({ maxLongResponses: 1, heartbeatMs: 60_000 });
  let response: ServerResponse | undefined;
  const server = await serve(t, async (opened) => {
    await sendBody(
      opened,
      lateText(Promise.resolve('x'.repeat(UNREAD_LENGTH)), () => {}),
      { long, headers: [] },
    );
    response = opened;
  });
  open(t, server).pause();
  await until('the response to be handed over', () => response?.writableEnded);
  response?.req.socket.emit('timeout');
  await until('the response to be given up', () => response?.closed);
});

test('a late response that is made in time is an ordinary one; one that fails in time is an error', async (t) => {
  const long = createLongResponses({ maxLongResponses: 1, heartbeatMs: 60_000 });
  const texts = [async () => '{}', () => Promise.reject(new Error('no database'))];
  const seen: string[] = [];
  const server = await serve(t, async (response) => {
    const late = lateText((texts.shift() as () => Promise<string>)(), () => {});
    await sendLate(response, late, { long, headers: [] }).catch((error) => {
      seen.push(`${error.message} ${response.headersSent}`);
      response.end();
    });
  });
  const first = await fetch(urlOf(server));
  assert.deepEqual([first.headers.get('content-length'), await first.text()], ['2', '{}']);
  await fetch(urlOf(server)).then((response) => response.text());
  assert.deepEqual(seen, ['no database false']);
});

test('a client that leaves stops the making of its late response', async (t) => {
  const long = createLongResponses({ maxLongResponses: 1, heartbeatMs: HEARTBEAT_MS });
  let isStopped = false;
  const { promise, reject } = Promise.withResolvers<string>();
  const stop = () => {
    isStopped = true;
    reject(new Error('stopped'));
  };
  const server = await serve(t, (response) =>
    sendLate(response, lateText(promise, stop), { long, headers: [] }),
  );
  const socket = open(t, server);
  await new Promise((resolve) => socket.once('data', resolve));
  socket.destroy();
  await until('the response to be stopped', () => isStopped);
  await until('its place', () => isFree(long));
});

test('one long response too many is a 503 that says when to try again; short ones are sent', async (t) => {
  const service = await startTestService(t, { httpLimits: { maxLongResponses: 0 } });
  const refused = await service.get('/openapi.json');
  assert.equal(refused.status, 503);
  assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/);
  assert.match(refused.body.detail, /^Cannot send another long response/);
  assert.deepEqual((await service.get('/results')).body, { results: [], count: 0 });
});

test('the event loop runs between any two slices of work', async () => {
  let rounds = 0;
  let isOver = false;
  const count = () => {
    rounds += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const seen: number[] = [];
  function* slow(): Generator<undefined, string> {
    for (let step = 0; step < 3; step += 1) {
      for (const end = performance.now() + 10; performance.now() < end; );
      seen.push(rounds);
      yield;
    }
    return 'done';
  }
  const results = await Promise.all([bySlices(slow()), bySlices(slow())]);
  isOver = true;
  assert.deepEqual(results, ['done', 'done']);
  // The callers take their first steps immediately; each later step has its own round.
  const later = seen.slice(2);
  assert.equal(new Set(later).size, later.length);
});

test('the event loop runs between any two slices of a long response that has nothing to send yet', async (t) => {
  let rounds = 0;
  const seen: number[] = [];
  function* slow(): Generator<string> {
    for (let piece = 0; piece < 20; piece += 1) {
      for (const end = performance.now() + SLICE_MS; performance.now() < end; );
      seen.push(rounds);
      setImmediate(() => (rounds += 1));
      yield '';
    }
    yield '{}';
  }
  const long = createLongResponses({ maxLongResponses: 1, heartbeatMs: 60_000 });
  const server = await serve(t, (response) => sendPieces(response, slow(), { long, headers: [] }));
  assert.equal(await (await fetch(urlOf(server))).text(), '{}');
  assert.equal(new Set(seen).size, seen.length);
});

test('new callers share the turns with those already at work', async () => {
  const order: string[] = [];
  const take = (name: string, isFirst: boolean) =>
    nextTurn({ isFirst }).then(() => order.push(name));
  await Promise.all([
    ...['a', 'b', 'c'].map((name) => take(name, false)),
    take('new', true),
    take('newer', true),
  ]);
  assert.ok(order.indexOf('new') < 2 && order.indexOf('newer') < 4, order.join(' '));
  assert.ok(
    order.indexOf('a') < 2,
    `one at work has a turn between two new ones: ${order.join(' ')}`,
  );
});

test('short work of many begins in order, one after another, and the event loop runs after each slice', async () => {
  const events: string[] = [];
  const busy = () => {
    for (const end = performance.now() + 2 * SLICE_MS; performance.now() < end; );
  };
  const work = (name: string, wait: () => void | Promise<void>) => async () => {
    events.push(name);
    await null;
    await wait();
    events.push(`${name} done`);
    return name;
  };
  const asked = [
    inShortTurn(work('short', () => {})),
    inShortTurn(work('waiting', async () => void (await nextRound()))),
    inShortTurn(work('long', busy)),
    inShortTurn(work('last', () => {})),
    inShortTurn(() => assert.fail('an error')),
  ];
  void asked[2]?.then(() => setImmediate(() => events.push('loop')));
  const settled = await Promise.allSettled(asked);
  const results = settled.map((result) =>
    result.status === 'fulfilled' ? result.value : result.reason.message,
  );
  assert.deepEqual(results, ['short', 'waiting', 'long', 'last', 'an error']);
  assert.deepEqual(
    events.filter((event) => event !== 'waiting done'),
    ['short', 'short done', 'waiting', 'long', 'long done', 'loop', 'last', 'last done'],
  );
});
