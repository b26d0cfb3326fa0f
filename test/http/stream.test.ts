import assert from 'node:assert/strict';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { asyncText } from '../../src/core/api/handler.ts';
import { sendAsync } from '../../src/core/http/response.ts';
import { scheduleSliced, SLICE_MS } from '../../src/core/children/turns.ts';
import { listenHere } from '../support/loopback.ts';
import { until } from '../support/until.ts';

const HEARTBEAT_MS = 5;
const BEATS = 20;
const NEVER_MS = 1_000_000_000;
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

test('a late response sends white space meanwhile, and no timeout cuts it while its client reads', async (t) => {
  const heartbeatMs = HEARTBEAT_MS;
  const { promise, resolve } = Promise.withResolvers<string>();
  t.after(() => resolve('')); // a response that is cut is still being made
  let socket: Socket | undefined;
  const late = asyncText(promise, new AbortController());
  const server = await serve(t, (response) => {
    ({ socket } = response.req);
    return sendAsync(response, late, { heartbeatMs, headers: [] });
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

test('no timeout cuts a response while it is compressed', async (t) => {
  const text = 'x'.repeat(4_000_000);
  let timeouts = 0;
  const server = await serve(t, async (response) => {
    const { socket } = response.req;
    const timer = setInterval(() => {
      if (response.writableEnded) return clearInterval(timer);
      timeouts += 1;
      socket.emit('timeout');
    });
    const late = asyncText(Promise.resolve(text), new AbortController());
    await sendAsync(response, late, { heartbeatMs: NEVER_MS, headers: [] });
  });
  assert.equal(await (await fetch(urlOf(server))).text(), text);
  assert.ok(timeouts > 0);
});

test('a response whose client does not read it is cut by a timeout', async (t) => {
  let response: ServerResponse | undefined;
  const server = await serve(t, (opened) => {
    response = opened;
    const late = asyncText(Promise.resolve('x'.repeat(UNREAD_LENGTH)), new AbortController());
    return sendAsync(opened, late, { heartbeatMs: NEVER_MS, headers: [] });
  });
  open(t, server).pause();
  await until('the response to wait', () => response?.writableNeedDrain);
  response?.req.socket.emit('timeout');
  await until('the response to be given up', () => response?.closed);
});

test('a late response that is made in time is an ordinary one; one that fails in time is an error', async (t) => {
  const heartbeatMs = NEVER_MS;
  const texts = [async () => '{}', () => Promise.reject(new Error('no database'))];
  const seen: string[] = [];
  const server = await serve(t, async (response) => {
    const late = asyncText((texts.shift() as () => Promise<string>)(), new AbortController());
    await sendAsync(response, late, { heartbeatMs, headers: [] }).catch((error) => {
      seen.push(`${error.message} ${response.headersSent}`);
      response.end();
    });
  });
  const first = await fetch(urlOf(server));
  assert.deepEqual([first.headers.get('content-length'), await first.text()], ['2', '{}']);
  await fetch(urlOf(server)).then((response) => response.text());
  assert.deepEqual(seen, ['no database false']);
});

test('a late response that fails after white space is reset, and its error is known', async (t) => {
  const { promise, reject } = Promise.withResolvers<string>();
  const failed = Promise.withResolvers<string>();
  const late = asyncText(promise, new AbortController());
  const server = await serve(t, (response) =>
    sendAsync(response, late, { heartbeatMs: HEARTBEAT_MS, headers: [] }).catch((error) =>
      failed.resolve(error.message),
    ),
  );
  const socket = open(t, server);
  const code = new Promise((resolve) => socket.once('error', (error: any) => resolve(error.code)));
  await new Promise((resolve) => socket.once('data', resolve));
  reject(new Error('no database'));
  assert.deepEqual([await failed.promise, await code], ['no database', 'ECONNRESET']);
});

test('a client that leaves stops the making of its late response', async (t) => {
  const heartbeatMs = HEARTBEAT_MS;
  const { promise, reject } = Promise.withResolvers<string>();
  const end = new AbortController();
  end.signal.addEventListener('abort', () => reject(end.signal.reason));
  const server = await serve(t, (response) =>
    sendAsync(response, asyncText(promise, end), { heartbeatMs, headers: [] }),
  );
  const socket = open(t, server);
  await new Promise((resolve) => socket.once('data', resolve));
  socket.destroy();
  await until('the response to be stopped', () => end.signal.aborted);
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
    scheduleSliced(work('short', () => {})),
    scheduleSliced(work('waiting', async () => void (await nextRound()))),
    scheduleSliced(work('long', busy)),
    scheduleSliced(work('last', () => {})),
    scheduleSliced(() => assert.fail('an error')),
  ];
  void asked[2]?.then(() => setImmediate(() => events.push('loop')));
  const settled = await Promise.allSettled(asked);
  const results = settled.map((result) =>
    result.status === 'fulfilled' ? result.value : result.reason.message,
  );
  assert.deepEqual(results, ['short', 'waiting', 'long', 'last', 'an error']);
  const order = events.filter((event) => event !== 'waiting done').join(', ');
  assert.equal(order, 'short, short done, waiting, long, long done, loop, last, last done');
});
