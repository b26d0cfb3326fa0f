import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { Server as PlainServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextRound } from 'node:timers/promises';
import type { Context } from '#api/handler.ts';
import { deploymentFields } from '#settings/settings.ts';
import { printableJson } from '#text/text.ts';
import { cutOff, rawResponse, reset } from './response.ts';
import type { HttpLimits } from './limits.ts';

/** How long a client has to read the last response before its connection is destroyed. */
const LINGER_MS = 1_000;
/** The log mentions refused connections at most this often. */
const DROPS_LOGGED_EVERY_MS = 10_000;
/** How long a server that stops reads what arrives, when there is no end to it. */
const READING_MS = 500;

/** What llhttp and Node call their reasons for refusing a request; all others are a 400. */
const faults: Record<string, [status: number, detail: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time'],
  HPE_HEADER_OVERFLOW: [431, 'Cannot read the request: its request line and headers are too long'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'Cannot read the body: its chunk extensions are too long'],
};

/**
 * The connections of the server: the order of their requests, and how they are closed after sending
 * something that is not HTTP.
 */
export type Connections = ReturnType<typeof watchConnections>;

interface Connection {
  /** Responses that have not yet been handed to Node, in the order of their requests. */
  pending: ServerResponse[];
  latest: ServerResponse | null;
  /** The response to something unreadable, after which nothing is read. */
  last: string | null;
  /** Whether it ends with the responses to the requests that have been read. */
  isEnding: boolean;
}

export function watchConnections(server: Server, context: Context, limits: HttpLimits) {
  const connections = new Map<Duplex, Connection>();
  let accepted = 0;
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    connections.set(socket, { pending: [], latest: null, last: null, isEnding: false });
    socket.once('close', () => connections.delete(socket));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const connection = connections.get(socket);
    if (connection === undefined || connection.last !== null) return;
    const invalid = `Cannot read the request: ${describeParseError(error)}`;
    const [status, detail] = faults[error.code ?? ''] ?? [400, invalid];
    const body = printableJson({ detail, ...deploymentFields(context.settings) });
    connection.last = rawResponse(status, body, context.clock());
    context.log.debug('request refused', { status, code: error.code });
    refuse(socket, connection, connection.last);
  });
  logDrops(server, context, limits);
  return {
    /**
     * Admits a request once all earlier requests on its connection have their responses. Resolves
     * to whether it should still be served.
     */
    enter: (response: ServerResponse) => enter(connections.get(response.req.socket), response),
    /** Called when a response has been handed to Node. */
    leave({ req: { socket } }: ServerResponse) {
      const connection = connections.get(socket);
      connection?.pending.shift();
      if (connection?.last && connection.pending.length === 0) endWith(socket, connection.last);
      else if (connection?.isEnding) endWhenAnswered(socket, connection);
    },
    /**
     * Stops listening, answers what has been read completely, closes what is idle or half read, and
     * resets what is left in the end.
     */
    async stop() {
      await waitUntilRead(() => accepted);
      await stop(server, connections, limits);
    },
  };
}

/**
 * Resolves when all that had arrived has been read. In a round of the event loop one waiting
 * connection is accepted, and what has come over those accepted earlier is read.
 */
async function waitUntilRead(accepted: () => number): Promise<void> {
  const until = performance.now() + READING_MS;
  for (let before = -1; before !== accepted() && performance.now() < until; ) {
    before = accepted();
    await nextRound();
    await nextRound();
  }
}

/**
 * Answers what has been read completely, closes what is idle or half read, and resets what is left
 * when the time is over.
 */
async function stop(
  server: Server,
  connections: ReadonlyMap<Duplex, Connection>,
  { stoppingMs }: HttpLimits,
): Promise<void> {
  // An HTTP server's own `close` also closes connections on which a response is still being sent.
  const closed = new Promise<void>(
    (resolve) => void PlainServer.prototype.close.call(server, () => resolve()),
  );
  for (const [socket, connection] of connections) {
    connection.isEnding = true;
    endWhenAnswered(socket, connection);
  }
  const timer = setTimeout(
    () => [...connections.keys()].forEach((socket) => reset(socket as Socket)),
    stoppingMs,
  );
  await closed;
  clearTimeout(timer);
  server.close(); // now without connections: it ends its timers
}

/**
 * Closes a connection as soon as what was written is sent, unless a request that has been read
 * completely still waits for its response.
 */
function endWhenAnswered(socket: Duplex, { pending, last }: Connection): void {
  if (last !== null) return; // it ends with that response
  const final = pending.findLast(({ req }) => req.complete);
  if (final !== undefined) final.shouldKeepAlive = false;
  else (socket as Socket).destroySoon();
}

async function enter(
  connection: Connection | undefined,
  response: ServerResponse,
): Promise<boolean> {
  if (connection === undefined) return true;
  connection.latest = response;
  connection.pending.push(response);
  // Node gives a response its socket when all earlier ones are sent. Without this order, a POST
  // could overtake another.
  if (response.socket !== null) return true;
  await once(response, 'socket');
  if (connection.last === null || response.req.complete) return true;
  endWith(response.req.socket, connection.last);
  return false;
}

/**
 * Sends the last response in its turn: after the responses to earlier requests, and never in the
 * middle of one.
 */
function refuse(socket: Duplex, { pending, latest }: Connection, last: string): void {
  const isInBody = latest !== null && !latest.req.complete;
  if (isInBody && latest.writableEnded) socket.destroy();
  else if (isInBody && latest.headersSent) cutOff(latest);
  else if (pending.length === 0 || (isInBody && pending[0] === latest)) endWith(socket, last);
}

function endWith(socket: Duplex, response: string): void {
  if (!socket.writable) return void socket.destroy();
  socket.on('error', () => {}); // the client has left, which also ends the connection
  socket.end(response);
  socket.resume(); // bytes left unread would make the system cut the response off
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** llhttp's reasons are constant sentences that repeat nothing of the request. */
function describeParseError(error: NodeJS.ErrnoException & { reason?: string }): string {
  return error.reason ? `it is not valid HTTP (${error.reason})` : 'it is not valid HTTP';
}

function logDrops(server: Server, { log }: Context, { maxConnections }: HttpLimits): void {
  let quietUntil = 0;
  server.on('drop', () => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + DROPS_LOGGED_EVERY_MS;
    log.warning('too many connections: new ones are refused', { maxConnections });
  });
}
