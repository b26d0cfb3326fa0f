import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { storageFaultOf } from '../database/storage/faults.ts';
import { type ErrorCode, ServiceError } from '../domain.ts';
import { type Context, type Format, type Input, deploymentFields } from '../handlers/handler.ts';
import { logUnexpected } from '../log.ts';
import { printableJson } from '../text.ts';
import { type AccessRules, checkOrigin, checkToken, createAccessRules } from './access.ts';
import type { AccessToken } from './access-tokens.ts';
import { drain, readJsonBody } from './body.ts';
import { type Connections, watchConnections } from './connections.ts';
import type { Exchange } from './exchange.ts';
import { type HttpLimits, httpLimits } from './limits.ts';
import { chooseFormat, prefersHtml } from './negotiate.ts';
import { type BuiltPages, type PageRoute, type Pages, createPages } from './pages.ts';
import { sendJson, statusOfError } from './reply.ts';
import { type Match, type Router, createRouter } from './router.ts';
import { type Route, routes } from './routes.ts';
import { type LongAnswers, createLongAnswers, sendLate, sendPieces } from './stream.ts';
import { type Target, checkMessage, isReadable, readTarget } from './target.ts';
import { validateBody, validateHeaders, validateQuery } from './validate.ts';

/** How much of an address is repeated in an error or the log. */
const MAX_SHOWN_PATH = 200;
/** When a client that was one too many may ask again. */
const RETRY_AFTER_SECONDS = 10;
const TOKEN_CHALLENGE = 'Bearer realm="Trading Simulation Service"';

type AnyRoute = Route | PageRoute;

export interface HttpOptions {
  /** None: everybody may do everything. */
  accessTokens: readonly AccessToken[];
  pages: BuiltPages;
  limits?: HttpLimits;
}

interface Site {
  context: Context;
  limits: HttpLimits;
  access: AccessRules;
  router: Router<AnyRoute>;
  sendMissing: Pages['sendMissing'];
  connections: Connections;
  long: LongAnswers;
}

/** Builds the HTTP server; it is not listening yet. */
export function createHttpServer(context: Context, { accessTokens, pages, limits = httpLimits }: HttpOptions): Server {
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
    maxHeaderSize: limits.maxHeadBytes,
    requireHostHeader: false, // checkMessage asks for it, and answers in JSON
  });
  server.timeout = limits.stalledTimeoutMs;
  server.maxConnections = limits.maxConnections;
  server.maxHeadersCount = limits.maxHeaders + 1; // Node drops what is beyond; one more is enough to be refused
  const { routes: pageRoutes, sendMissing } = createPages(pages);
  const site: Site = {
    context,
    limits,
    access: createAccessRules(accessTokens, context.settings.allowedHosts),
    router: createRouter<AnyRoute>([...routes, ...pageRoutes]),
    sendMissing,
    connections: watchConnections(server, context, limits),
    long: createLongAnswers(limits),
  };
  const onRequest = (expects: Exchange['expects']) => (request: IncomingMessage, response: ServerResponse) => {
    // The client may hold its body back, and then nobody could tell where the next request begins.
    if (expects !== 'nothing') response.shouldKeepAlive = false;
    void respond(site, { request, response, expects });
  };
  server.on('request', onRequest('nothing'));
  server.on('checkContinue', onRequest('continue'));
  server.on('checkExpectation', onRequest('something else'));
  return server;
}

/** Every request ends here in exactly one answer, whatever is thrown on the way. */
async function respond(site: Site, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  const turn = site.connections.enter(exchange);
  if (turn !== true && !(await turn)) return;
  const target = readTarget(request);
  let match: Match<AnyRoute> | null = null;
  try {
    checkMessage(request, site.limits);
    match = find(site.router, request, target);
    if (match !== null || !isForPeople(site, request)) checkToken(site.access, request, match?.route ?? null);
    checkOrigin(site.access, request.headers.origin, target.host);
    checkExpectation(exchange);
    const { route, params } = choose(match, request, target);
    if ('send' in route) route.send(request, response);
    else await answer(site, exchange, { route, params, query: target.query });
  } catch (error) {
    refuse(site, exchange, { error, match, target });
  }
  site.connections.leave(exchange);
  site.context.log.debug('request', {
    method: request.method,
    path: target.path.slice(0, MAX_SHOWN_PATH),
    status: response.statusCode,
  });
}

async function answer(
  { context, limits, long }: Site,
  exchange: Exchange,
  { route, params, query }: { route: Route; params: Record<string, string>; query: string },
): Promise<void> {
  const json = route.body === undefined ? undefined : await readJsonBody(exchange, limits);
  const input = checkInput(route, exchange.request, { params, query, json });
  const body = await route.handle(context, input as Input<never, never, never>);
  const headers = route.hasTable ? ['Vary', 'Accept'] : [];
  if (typeof body === 'string') sendJson(exchange.response, 200, body, headers);
  else if ('stop' in body) await sendLate(exchange.response, body, { long, headers });
  else await sendPieces(exchange.response, body, { long, headers });
}

/** The `format` of a query that has passed its schema. */
function formatIn(query: unknown): Format | undefined {
  return (query as { format?: Format }).format;
}

/** Null for an unknown path, and for one that cannot be read. */
function find(router: Router<AnyRoute>, { method = '' }: IncomingMessage, { path }: Target): Match<AnyRoute> | null {
  return isReadable(path) ? router(method, path) : null;
}

function checkExpectation({ expects }: Exchange): void {
  if (expects === 'something else')
    throw new ServiceError('expectation_failed', 'Cannot meet the expectation: of Expect only 100-continue is known');
}

function choose(
  match: Match<AnyRoute> | null,
  { method }: IncomingMessage,
  { path, query }: Target,
): { route: AnyRoute; params: Record<string, string> } {
  if (!isReadable(path) || !isReadable(query))
    throw new ServiceError('bad_request', 'Cannot read the address: its percent-encoding is broken, or it has a fragment (#)');
  if (match === null)
    throw new ServiceError(
      'not_found',
      `There is no ${path.slice(0, MAX_SHOWN_PATH)}; GET /openapi.json lists what there is`,
    );
  if ('params' in match) return match;
  throw new ServiceError(
    'method_not_allowed',
    `${match.route.path} has no method ${method}; it has ${match.allowed.join(', ')}`,
  );
}

function checkInput(
  route: Route,
  request: IncomingMessage,
  { params, query, json }: { params: Record<string, string>; query: string; json: unknown },
): Input {
  const values = validateQuery(route.query, query);
  return {
    params,
    query: values,
    format: route.hasTable ? chooseFormat(formatIn(values), request.headers.accept) : 'json',
    body: route.body === undefined ? undefined : validateBody(route.body, json),
    headers: route.headers === undefined ? {} : validateHeaders(route.headers, request.headersDistinct),
  };
}

interface Refusal {
  error: unknown;
  match: Match<AnyRoute> | null;
  target: Target;
}

/** Tells what is wrong, or cuts the connection where an answer has begun or nobody is left to read it. */
function refuse(site: Site, exchange: Exchange, { error, match, target }: Refusal): void {
  const { context, limits } = site;
  const { request, response } = exchange;
  const isClientGone = request.destroyed && !request.complete;
  if (isClientGone || response.headersSent) {
    if (!isClientGone) logUnexpected(context.log, error, { path: target.path, consequence: 'the answer was cut off' });
    response.destroy();
    return;
  }
  const fault = storageFaultOf(error);
  const known = error instanceof ServiceError && fault === null;
  const detail = known
    ? error.message
    : `Internal server error: ${fault ?? 'unexpected failure'} (reference ${logUnexpected(context.log, error)})`;
  const body = match?.route.bareErrors ? { detail } : { detail, ...deploymentFields(context.settings) };
  const code = known ? error.code : null;
  // Where such a request ends and the next begins is not certain.
  if (code === 'malformed' || code === 'headers_too_large') response.shouldKeepAlive = false;
  const [status, headers] = [known ? statusOfError[error.code] : 500, headersFor(code, match)];
  const isMissing = code === 'method_not_allowed' || (code === 'not_found' && match === null);
  if (isMissing && isForPeople(site, request)) site.sendMissing?.(request, response, { status, headers });
  else sendJson(response, status, printableJson(body), headers);
  drain(request, limits);
}

/** Whether somebody typed the address into a browser and there are pages to answer with. */
function isForPeople({ sendMissing }: Site, { method, headers }: IncomingMessage): boolean {
  return sendMissing !== undefined && (method === 'GET' || method === 'HEAD') && prefersHtml(headers.accept);
}

function headersFor(code: ErrorCode | null, match: Match<AnyRoute> | null): string[] {
  if (code === 'unauthorized') return ['WWW-Authenticate', TOKEN_CHALLENGE];
  if (code === 'busy') return ['Retry-After', String(RETRY_AFTER_SECONDS)];
  if (code === 'method_not_allowed' && match !== null && 'allowed' in match) return ['Allow', match.allowed.join(', ')];
  return [];
}
