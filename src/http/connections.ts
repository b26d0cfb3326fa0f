import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { type Context, deploymentFields } from '../handlers/handler.ts';
import { printableJson } from '../text.ts';
import type { Exchange } from './exchange.ts';
import type { HttpLimits } from './limits.ts';
import { lastAnswer } from './reply.ts';

/** How long a client has to read the last answer before its connection is gone. */
const LINGER_MS = 1_000;
/** Refused connections are told in the log at most this often. */
const REFUSALS_TOLD_EVERY_MS = 10_000;

/** What llhttp and Node call the reasons for which a request is not read to its end; all others are a 400. */
const faults: Record<string, [status: number, detail: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time'],
  HPE_HEADER_OVERFLOW: [431, 'Cannot read the request: its first line and headers are too long'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'Cannot read the body: its chunk extensions are too long'],
};

/** The connections of the server: the order of their requests, and their end when what they send is no HTTP. */
export interface Connections {
  /**
   * Takes a request in. Resolves when all before it on its connection are answered, to whether it is to be answered too;
   * at once and without a promise where it is the only one.
   */
  enter(exchange: Exchange): boolean | Promise<boolean>;
  /** Its answer is on its way. */
  leave(exchange: Exchange): void;
}

/** Kept on the socket itself: it is asked twice for every request. */
const STATE = Symbol('connection');
type Tracked = Socket & { [STATE]?: Connection };

interface Connection {
  /** Requests whose answer is not yet on its way, in the order in which they came. */
  unanswered: Exchange[];
  latest: Exchange | null;
  /** The answer to what cannot be read; nothing is read after it. */
  last: string | null;
}

export function watchConnections(server: Server, context: Context, limits: HttpLimits): Connections {
  server.on('connection', (socket: Tracked) => {
    socket[STATE] = { unanswered: [], latest: null, last: null };
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const connection = (socket as Tracked)[STATE];
    if (connection === undefined || connection.last !== null) return;
    const [status, what] = faults[error.code ?? ''] ?? [400, `Cannot read the request: ${describe(error)}`];
    connection.last = errorAnswer(context, status, what);
    context.log.debug('request refused', { status, code: error.code });
    refuse(socket as Socket, connection);
  });
  server.on('connect', (_request, socket) => {
    if ((socket as Tracked)[STATE]?.unanswered.length) return void socket.destroy();
    endWith(socket as Socket, errorAnswer(context, 400, 'Cannot open a tunnel: this service is not a proxy'));
  });
  tellOfDrops(server, context, limits);
  return {
    enter: (exchange) => enter(exchange, limits),
    leave({ request: { socket } }) {
      const connection = (socket as Tracked)[STATE];
      connection?.unanswered.shift();
      if (connection?.last && connection.unanswered.length === 0) endWith(socket, connection.last);
    },
  };
}

function enter(exchange: Exchange, { maxPipelinedRequests }: HttpLimits): boolean | Promise<boolean> {
  const { request, response } = exchange;
  const connection = (request.socket as Tracked)[STATE];
  if (connection === undefined) return true;
  connection.latest = exchange;
  connection.unanswered.push(exchange);
  if (connection.unanswered.length > maxPipelinedRequests + 1) request.socket.destroy();
  // Node gives a response its socket when all before it are sent. Out of that order a POST could overtake another.
  if (response.socket !== null) return true;
  return once(response, 'socket').then(() => {
    if (connection.last === null || request.complete) return true;
    endWith(request.socket, connection.last);
    return false;
  });
}

/** Answers what cannot be read in its turn: after the answers to the requests before it, and never into one of them. */
function refuse(socket: Socket, { unanswered, latest, last }: Connection): void {
  const isInBody = latest !== null && !latest.request.complete;
  if (isInBody && latest.response.headersSent) socket.destroy();
  else if (unanswered.length === 0 || (isInBody && unanswered[0] === latest)) endWith(socket, last as string);
}

function endWith(socket: Socket, answer: string): void {
  if (!socket.writable) return void socket.destroy();
  socket.on('error', () => {}); // the client has gone, which is as good
  socket.end(answer);
  socket.resume(); // bytes left unread would make the system cut the answer off
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

function errorAnswer({ settings, clock }: Context, status: number, detail: string): string {
  return lastAnswer(status, printableJson({ detail, ...deploymentFields(settings) }), clock());
}

/** llhttp's own words: constant sentences, with nothing of the request in them. */
function describe(error: NodeJS.ErrnoException & { reason?: string }): string {
  return error.reason ? `it is not valid HTTP (${error.reason})` : 'it is not valid HTTP';
}

function tellOfDrops(server: Server, { log }: Context, { maxConnections }: HttpLimits): void {
  let count = 0;
  server.on('drop', () => {
    count += 1;
    if (count > 1) return;
    log.warning('connections are refused: there are too many', { maxConnections });
    setTimeout(() => {
      if (count > 1) log.warning('more connections were refused', { count: count - 1 });
      count = 0;
    }, REFUSALS_TOLD_EVERY_MS).unref();
  });
}
