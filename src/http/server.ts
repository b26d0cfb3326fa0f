import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { storageFaultOf } from '../database/faults.ts';
import { ServiceError } from '../domain.ts';
import { type Context, type Input, deploymentFields } from '../handlers/handler.ts';
import { logUnexpected } from '../log.ts';
import { drain, readJsonBody } from './body.ts';
import { sendAnswer, sendJson, statusOfError } from './reply.ts';
import { type Match, type Router, createRouter } from './router.ts';
import { type Route, routes } from './routes.ts';
import { validateBody, validateQuery } from './validate.ts';

/** How long a client may take to send its headers, and its whole request. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_TIMEOUT_MS = 5_000;
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_CONNECTIONS = 1_000;
/** How much of an address is repeated in an error or the log. */
const MAX_SHOWN_PATH = 200;

/** Builds the HTTP server; it is not listening yet. */
export function createHttpServer(context: Context): Server {
  const router = createRouter(routes);
  const options = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
  const server = createServer(options, (request, response) => void respond(context, router, { request, response }));
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/** Every request ends here in exactly one answer, whatever is thrown on the way. */
async function respond(context: Context, router: Router<Route>, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  const [path, query] = splitUrl(request.url ?? '');
  let match: Match<Route> | null = null;
  try {
    match = find(router, request.method ?? '', path);
    const route = match.route;
    const input = {
      params: readParams(match, request.method ?? ''),
      query: route.query === undefined ? {} : validateQuery(route.query, query),
      body: route.body === undefined ? undefined : validateBody(route.body, await readJsonBody(request)),
    };
    await sendAnswer(response, await route.handle(context, input as Input<never, never>));
  } catch (error) {
    if (response.headersSent) {
      logUnexpected(context.log, error, { path, consequence: 'the answer was cut off' });
      response.destroy();
      return;
    }
    sendError(context, exchange, { error, match });
  }
  context.log.debug('request', {
    method: request.method,
    path: path.slice(0, MAX_SHOWN_PATH),
    status: response.statusCode,
  });
}

function find(router: Router<Route>, method: string, path: string): Match<Route> {
  let match: Match<Route> | null;
  try {
    match = router(method, path);
  } catch {
    throw new ServiceError('bad_request', 'Cannot read the address: its percent-encoding is broken');
  }
  if (match === null)
    throw new ServiceError(
      'not_found',
      `There is no ${path.slice(0, MAX_SHOWN_PATH)}; GET /openapi.json lists what there is`,
    );
  return match;
}

function readParams(match: Match<Route>, method: string): Record<string, string> {
  if ('params' in match) return match.params;
  throw new ServiceError(
    'method_not_allowed',
    `${match.route.path} has no method ${method}; it has ${match.allowed.join(', ')}`,
  );
}

function sendError(
  context: Context,
  { request, response }: Exchange,
  { error, match }: { error: unknown; match: Match<Route> | null },
): void {
  const fault = storageFaultOf(error);
  const known = error instanceof ServiceError && fault === null;
  const detail = known
    ? error.message
    : `Internal server error: ${fault ?? 'unexpected failure'} (reference ${logUnexpected(context.log, error)})`;
  const body = match?.route.bareErrors ? { detail } : { detail, ...deploymentFields(context.settings) };
  const allow = match !== null && 'allowed' in match ? ['Allow', match.allowed.join(', ')] : [];
  sendJson(response, known ? statusOfError[error.code] : 500, JSON.stringify(body), allow);
  drain(request);
}

function splitUrl(url: string): [path: string, query: string] {
  const mark = url.indexOf('?');
  return mark === -1 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
}
