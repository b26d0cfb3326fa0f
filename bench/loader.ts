import { type Socket, connect } from 'node:net';
import { serveLines } from './helper.ts';

/**
 * The load generator, a helper. Connections to loopback are kept from slice to slice, with one request at a time on each. It reads no
 * more of a response than its length, so that the server is what is measured.
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

async function run({ url, connections, ms }: Slice): Promise<object> {
  const { hostname, port, pathname, search, origin } = new URL(url);
  if (hostname !== '127.0.0.1') throw new Error('The load generator only talks to 127.0.0.1');
  const sockets = (open.get(origin) ?? []).filter((socket) => !socket.closed); // idle ones may have been closed
  open.set(origin, sockets);
  while (sockets.length < connections) sockets.push(await connectTo(Number(port)));
  const request = Buffer.from(`GET ${pathname}${search} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  errors = 0;
  const times: number[] = [];
  const startedAt = performance.now();
  await Promise.all(sockets.slice(0, connections).map((socket) => askUntil(startedAt + ms, { socket, request, times })));
  const seconds = (performance.now() - startedAt) / 1000;
  times.sort((one, other) => one - other);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
  return { perSecond: times.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99), requests: times.length, errors };
}

function askUntil(endAt: number, { socket, request, times }: { socket: Socket; request: Buffer; times: number[] }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onClose = () => reject(new Error('The server closed a connection of the load generator'));
  let askedAt = performance.now();
  onComplete.set(socket, () => {
    const now = performance.now();
    times.push(now - askedAt);
    if (now >= endAt) return resolve();
    askedAt = now;
    socket.write(request);
  });
  socket.once('close', onClose);
  socket.write(request);
  return promise.finally(() => socket.off('close', onClose));
}

async function connectTo(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  let missing = 0;
  socket.setNoDelay(true);
  socket.on('data', (chunk) => {
    missing = missing > 0 ? missing - chunk.length : lengthOf(chunk) - chunk.length;
    if (missing <= 0) onComplete.get(socket)?.();
  });
  socket.on('error', () => {}); // a close follows
  await new Promise((resolve) => socket.once('connect', resolve));
  return socket;
}

/** Bytes of the whole response: head and Content-Length. Head and status line arrive in the first chunk on loopback. */
function lengthOf(chunk: Buffer): number {
  const head = chunk.toString('latin1', 0, 600);
  if (!head.startsWith('HTTP/1.1 200')) errors += 1;
  const end = head.indexOf('\r\n\r\n');
  return end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
}
