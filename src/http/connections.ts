import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Context, deploymentFields } from '../handlers/handler.ts';
import { printableJson } from '../text.ts';
import type { Exchange } from './exchange.ts';
import type { HttpLimits } from './limits.ts';
import { rawResponse } from './reply.ts';

/** How long a client has to read the last response before its connection is destroyed. */
const LINGER_MS = 1_000;
/** The log mentions refused connections at most this often. */
const DROPS_LOGGED_EVERY_MS = 10_000;

/** What llhttp and Node call their reasons for refusing a request; all others are a 400. */
const faults: Record<string, [status: number, detail: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time'],
  HPE_HEADER_OVERFLOW: [431, 'Cannot read the request: its request line and headers are too long'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'Cannot read the body: its chunk extensions are too long'],
};

/** The connections of the server: the order of their requests, and how they are closed after sending something that is not HTTP. */
export interface Connections {
  /**
   * Admits a request once all earlier requests on its connection have their responses: true at once, without a promise, when
   * there are none. Resolves to whether it should still be served.
   */
  enter(exchange: Exchange): true | Promise<boolean>;
  /** Called when its response has been handed to Node. */
  leave(exchange: Exchange): void;
}

interface Connection {
  /** Requests whose response has not yet been handed to Node, in the order of their arrival. */
  pending: Exchange[];
  latest: Exchange | null;
  /** The response to something unreadable, after which nothing is read. */
  last: string | null;
}

export function watchConnections(server: Server, context: Context, limits: HttpLimits): Connections {
  const connections = new WeakMap<Duplex, Connection>();
  server.on('connection', (socket) => connections.set(socket, { pending: [], latest: null, last: null }));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const connection = connections.get(socket);
    if (connection === undefined || connection.last !== null) return;
    const [status, detail] = faults[error.code ?? ''] ?? [400, `Cannot read the request: ${describe(error)}`];
    connection.last = errorResponse(context, status, detail);
    context.log.debug('request refused', { status, code: error.code });
    refuse(socket, connection, connection.last);
  });
  server.on('connect', (_request, socket) => {
    if (connections.get(socket)?.pending.length) return void socket.destroy();
    endWith(socket, errorResponse(context, 400, 'Cannot open a tunnel: this service is not a proxy'));
  });
  logDrops(server, context, limits);
  return {
    enter: (exchange) => enter(connections.get(exchange.request.socket), exchange, limits),
    leave({ request: { socket } }) {
      const connection = connections.get(socket);
      connection?.pending.shift();
      if (connection?.last && connection.pending.length === 0) endWith(socket, connection.last);
    },
  };
}

function enter(
  connection: Connection | undefined,
  exchange: Exchange,
  { maxPipelinedRequests }: HttpLimits,
): true | Promise<boolean> {
  const { request, response } = exchange;
  if (connection === undefined) return true;
  connection.latest = exchange;
  connection.pending.push(exchange);
  if (connection.pending.length > maxPipelinedRequests + 1) request.socket.destroy();
  // Node gives a response its socket when all earlier ones are sent. Without this order, a POST could overtake another.
  if (response.socket !== null) return true;
  return once(response, 'socket').then(() => {
    if (connection.last === null || request.complete) return true;
    endWith(request.socket, connection.last);
    return false;
  });
}

/** Sends the last response in its turn: after the responses to earlier requests, and never in the middle of one. */
function refuse(socket: Duplex, { pending, latest }: Connection, last: string): void {
  const isInBody = latest !== null && !latest.request.complete;
  if (isInBody && latest.response.headersSent) socket.destroy();
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

function errorResponse({ settings, clock }: Context, status: number, detail: string): string {
  return rawResponse(status, printableJson({ detail, ...deploymentFields(settings) }), clock());
}

/** llhttp's reasons are constant sentences that repeat nothing of the request. */
function describe(error: NodeJS.ErrnoException & { reason?: string }): string {
  return error.reason ? `it is not valid HTTP (${error.reason})` : 'it is not valid HTTP';
}

function logDrops(server: Server, { log }: Context, { maxConnections }: HttpLimits): void {
  let count = 0;
  server.on('drop', () => {
    count += 1;
    if (count > 1) return;
    log.warning('connections are refused: there are too many', { maxConnections });
    setTimeout(() => {
      if (count > 1) log.warning('more connections were refused', { count: count - 1 });
      count = 0;
    }, DROPS_LOGGED_EVERY_MS).unref();
  });
}
