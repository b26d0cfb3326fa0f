import { connect } from 'node:net';

/**
 * A load generator as a program of its own: `node load.ts URL CONNECTIONS SECONDS`. Keep-alive connections to loopback,
 * one request at a time on each; prints `{ perSecond, p50Ms, p99Ms, errors }`. It reads no more of an answer than its
 * length, so that the server is what is measured.
 */
const [url = '', connections = '1', seconds = '1'] = process.argv.slice(2);
const { hostname, port, pathname, search } = new URL(url);
if (hostname !== '127.0.0.1') throw new Error('The load generator only talks to 127.0.0.1');

const request = Buffer.from(`GET ${pathname}${search} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
const endAt = performance.now() + Number(seconds) * 1000;
const times: number[] = [];
let errors = 0;

await Promise.all(Array.from({ length: Number(connections) }, runConnection));
times.sort((one, other) => one - other);
const quantile = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? NaN;
console.log(
  JSON.stringify({ perSecond: times.length / Number(seconds), p50Ms: quantile(0.5), p99Ms: quantile(0.99), errors }),
);

function runConnection(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect(Number(port), hostname, ask);
  let startedAt = 0;
  let missing = -1;
  function ask() {
    if (performance.now() >= endAt) return void socket.destroy();
    startedAt = performance.now();
    missing = -1;
    socket.write(request);
  }
  socket.setNoDelay(true);
  socket.on('data', (chunk) => {
    missing = missing === -1 ? lengthOf(chunk) - chunk.length : missing - chunk.length;
    if (missing > 0) return;
    times.push(performance.now() - startedAt);
    ask();
  });
  socket.on('error', () => (errors += 1));
  socket.on('close', () => resolve());
  return promise;
}

/** Bytes of the whole answer: head and Content-Length. Head and status line arrive in the first chunk on loopback. */
function lengthOf(chunk: Buffer): number {
  const head = chunk.toString('latin1', 0, 600);
  if (!head.startsWith('HTTP/1.1 200')) errors += 1;
  const end = head.indexOf('\r\n\r\n');
  return end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
}
