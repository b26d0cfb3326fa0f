import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { serveBench } from './helper.ts';

/**
 * The load generator. It reads no more of a response than its length: the server counts. A helper.
 */

const CONNECTIONS = 16;
/** They stay from slice to slice, with one request at a time on each. */
const connections = new Map<string, Socket[]>();

serveBench(async ({ url, ms }: { url: string; ms: number }) => {
  const { port, pathname, origin } = new URL(url);
  const open = Array.from({ length: CONNECTIONS }, () => connectTo(Number(port)));
  const sockets = connections.get(origin) ?? (await Promise.all(open));
  connections.set(origin, sockets);
  const request = Buffer.from(`GET ${pathname} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  const startedAt = performance.now();
  const asking = sockets.map((socket) => askUntil(startedAt + ms, { socket, request }));
  const requests = (await Promise.all(asking)).reduce((sum, own) => sum + own, 0);
  return { requests, ms: performance.now() - startedAt };
});

async function connectTo(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  await once(socket, 'connect');
  return socket.on('error', () => {}); // a close follows
}

/** Resolves to the number of responses. */
function askUntil(
  endAt: number,
  { socket, request }: { socket: Socket; request: Buffer },
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const onClose = () => reject(new Error('The server closed a connection'));
  let count = 0;
  let missing = 0;
  const hear = (chunk: Buffer) => {
    missing = (missing > 0 ? missing : lengthOf(chunk)) - chunk.length;
    if (missing > 0) return;
    count += 1;
    if (performance.now() < endAt) socket.write(request);
    else resolve(count);
  };
  socket.on('data', hear).once('close', onClose).write(request);
  return promise.finally(() => socket.off('data', hear).off('close', onClose));
}

/** Bytes of the whole response, by its head, which arrives in one piece. */
function lengthOf(chunk: Buffer): number {
  const end = chunk.indexOf('\r\n\r\n');
  const head = chunk.toString('latin1', 0, end);
  const [, length] = /^HTTP\/1\.1 200[^]*content-length: (\d+)/i.exec(head) ?? [];
  if (length === undefined) throw new Error(`Cannot read a response that begins with ${head}`);
  return end + 4 + Number(length);
}
