import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { serveBench } from './helper.ts';

/**
 * The load generator. It reads no more of a response than its length: the server counts. A helper.
 */

const CONNECTIONS = 16;
/** They stay from slice to slice, with one request at a time on each. */
const connections = new Map<string, Connection[]>();

interface Connection {
  socket: Socket;
  /** Whether its last response was sent: a server limits the requests on one connection. */
  isClosing: boolean;
}

serveBench(async ({ url, ms }: { url: string; ms: number }) => {
  const { port, pathname, search, origin } = new URL(url);
  const connect = () => connectTo(Number(port));
  const own =
    connections.get(origin) ?? (await Promise.all(Array.from(Array(CONNECTIONS), connect)));
  connections.set(origin, own);
  const request = Buffer.from(`GET ${pathname}${search} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  const startedAt = performance.now();
  const asking = own.map(async (connection) => {
    let count = 0;
    do {
      if (connection.isClosing) Object.assign(connection, await connect());
      count += await askUntil(startedAt + ms, { connection, request });
    } while (performance.now() < startedAt + ms);
    return count;
  });
  const requests = (await Promise.all(asking)).reduce((sum, count) => sum + count, 0);
  return { requests, ms: performance.now() - startedAt };
});

async function connectTo(port: number): Promise<Connection> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  await once(socket, 'connect');
  return { socket: socket.on('error', () => {}), isClosing: false }; // a close follows
}

/** Resolves to the number of responses; earlier, with the last one on its connection. */
function askUntil(
  endAt: number,
  { connection, request }: { connection: Connection; request: Buffer },
): Promise<number> {
  const { socket } = connection;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const onClose = () => reject(new Error('The server closed a connection'));
  let count = 0;
  let missing = 0;
  const hear = (chunk: Buffer) => {
    if (missing === 0) {
      const head = headOf(chunk);
      missing = lengthOf(head);
      connection.isClosing = /\nconnection: close/i.test(head);
    }
    missing -= chunk.length;
    if (missing > 0) return;
    count += 1;
    if (performance.now() < endAt && !connection.isClosing) socket.write(request);
    else resolve(count);
  };
  socket.on('data', hear).once('close', onClose).write(request);
  return promise.finally(() => socket.off('data', hear).off('close', onClose));
}

/** The head of a response, which arrives in one piece, with the empty line after it. */
function headOf(chunk: Buffer): string {
  return chunk.toString('latin1', 0, chunk.indexOf('\r\n\r\n') + 4);
}

/** Bytes of the whole response. */
function lengthOf(head: string): number {
  const [, length] = /^HTTP\/1\.1 200[^]*content-length: (\d+)/i.exec(head) ?? [];
  if (length === undefined) throw new Error(`Cannot read a response that begins with ${head}`);
  return head.length + Number(length);
}
