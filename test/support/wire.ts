import { type Socket, connect } from 'node:net';

/** An answer as it came over the wire. */
export interface WireAnswer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
}

/**
 * Sends bytes as they are and resolves to all that came back when the server has closed the
 * connection.
 */
export async function send(url: string, bytes: string | Buffer): Promise<string> {
  const wire = await openWire(url);
  wire.socket.write(bytes);
  return wire.ended;
}

export interface Wire {
  socket: Socket;
  /** All that has come so far. */
  received(): string;
  /** Resolves to what has come as soon as it matches. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves to all that came when the connection has ended, however it ended. */
  ended: Promise<string>;
}

export async function openWire(url: string): Promise<Wire> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  const received = () => Buffer.concat(chunks).toString('latin1');
  const ended = new Promise<string>((resolve) => socket.on('close', () => resolve(received())));
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => {}); // a reset is an end like others
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  const until = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        if (!pattern.test(received())) return;
        socket.off('data', look);
        resolve(received());
      };
      socket.on('data', look);
      void ended.then(() =>
        reject(new Error(`The connection ended without ${pattern}: ${received()}`)),
      );
      look();
    });
  return { socket, received, until, ended };
}

/** Cuts what came over a connection into answers. Interim answers have no body. */
export function readAnswers(text: string): WireAnswer[] {
  const answers: WireAnswer[] = [];
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n');
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
    if (end === -1 || Number.isNaN(status))
      throw new Error(`This is no answer: ${JSON.stringify(rest.slice(0, 200))}`);
    const pairs = lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 2),
    ]);
    const headers: Record<string, string> = Object.fromEntries(pairs);
    const rawBody = rest.slice(end + 4);
    const isChunked = headers['transfer-encoding'] === 'chunked';
    const length =
      status < 200
        ? 0
        : isChunked
          ? rawBody.indexOf('\r\n0\r\n\r\n') + 7
          : Number(headers['content-length']);
    answers.push({
      status,
      headers,
      body: isChunked ? joinChunks(rawBody) : rawBody.slice(0, length),
    });
    rest = rawBody.slice(length);
  }
  return answers;
}

function joinChunks(text: string): string {
  let body = '';
  for (let at = 0; ; ) {
    const end = text.indexOf('\r\n', at);
    const size = parseInt(text.slice(at, end), 16);
    if (!(size > 0)) return body;
    body += text.slice(end + 2, end + 2 + size);
    at = end + 2 + size + 2;
  }
}
