import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { serveLines } from './helper.ts';
import type { Load } from './load.ts';

/**
 * The load generator, a helper. Connections to loopback are kept from slice to slice, with one
 * request at a time on each. It reads no more of a response than its length, so that the server is
 * what is measured.
 */

interface Slice {
  url: string;
  connections: number;
  ms: number;
}

/** What a connection calls when its response is complete. */
const onComplete = new WeakMap<Socket, () => void>();
const open = new Map<string, Socket[]>();
let errors = 0;

await serveLines(run);

async function run({ url, connections, ms }: Slice): Promise<Load> {
  const { hostname, port, pathname, search, origin } = new URL(url);
  if (hostname !== '127.0.0.1') throw new Error('The load generator only talks to 127.0.0.1');
  const sockets = (open.get(origin) ?? []).filter((socket) => !socket.closed); // idle ones may have been closed
  open.set(origin, sockets);
  while (sockets.length < connections) sockets.push(await connectTo(Number(port)));
  const request = Buffer.from(`GET ${pathname}${search} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  errors = 0;
  const startedAt = performance.now();
  const requests = await Promise.all(
    sockets.slice(0, connections).map((socket) => askUntil(startedAt + ms, { socket, request })),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  const total = requests.reduce((sum, count) => sum + count, 0);
  return { perSecond: total / seconds, requests: total, errors };
}

/** Resolves to the number of responses. */
function askUntil(
  endAt: number,
  { socket, request }: { socket: Socket; request: Buffer },
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const onClose = () => reject(new Error('The server closed a connection of the load generator'));
  let count = 0;
  onComplete.set(socket, () => {
    count += 1;
    if (performance.now() >= endAt) resolve(count);
    else socket.write(request);
  });
  socket.once('close', onClose);
  socket.write(request);
  return promise.finally(() => socket.off('close', onClose));
}

async function connectTo(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let missing = 0;
  socket.setNoDelay(true);
  socket.on('data', (chunk) => {
    missing = missing > 0 ? missing - chunk.length : lengthOf(chunk) - chunk.length;
    if (missing <= 0) onComplete.get(socket)?.();
  });
  socket.on('error', () => {}); // a close follows
  return socket;
}

/**
 * Bytes of the whole response: head and Content-Length. The head arrives in the first chunk on
 * loopback.
 */
function lengthOf(chunk: Buffer): number {
  if (chunk.toString('latin1', 0, 12) !== 'HTTP/1.1 200') errors += 1;
  const end = chunk.indexOf('\r\n\r\n');
  const length = /content-length: (\d+)/i.exec(chunk.toString('latin1', 0, end))?.[1];
  if (end < 0 || length === undefined)
    throw new Error(
      'The load generator needs the head of a response in one piece, with its length',
    );
  return end + 4 + Number(length);
}
