import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { contentVersion } from '#database/state.ts';
import {
  type Context,
  type HandlerResult,
  type Input,
  type Rights,
  isReady,
  type AsyncBody,
  bodyPieces,
} from '#api/handler.ts';
import { RPC_KINDS, rpcError } from '#api/rpc-error.ts';
import { errorCode } from '#domain/service-error.ts';
import { logUnexpected } from '#process/log.ts';
import { deploymentFields, type Settings } from '#settings/settings.ts';
import { printableJson } from '#text/text.ts';
import {
  type AccessRules,
  type AccessToken,
  checkOrigin,
  checkToken,
  bearerToken,
  createAccessRules,
} from './access.ts';
import {
  checkMessage,
  isReadable,
  readJsonBody,
  readTarget,
  type Target,
  validateBody,
  validateHeaders,
  validateQuery,
} from './request.ts';
import { type Connections, watchConnections } from './connections.ts';
import { cutOff, JSON_TYPE, sendText, sendAsync, typeHeaders } from './response.ts';
import { HttpError, toHttpError, loggedError } from './errors.ts';
import { type HttpLimits, httpLimits } from './limits.ts';
import { chooseFormat, prefersHtml } from './negotiate.ts';
import type { Application, PageRoute, Pages } from './application.ts';
import { createReports, type Reports } from './reports.ts';
import { createRouter, type Match, type Router } from './router.ts';
import type { Asked, Caller, Route } from '#api/route.ts';

/** How much of a path an error or the log repeats. */
const MAX_SHOWN_PATH = 200;

const VARIES_BY_ACCEPT = ['Vary', 'Accept'];
/** Below it clients look, without a token, for other ways to get one: there are none. */
const WELL_KNOWN = '/.well-known/';

type AnyRoute = Route | PageRoute;

interface HttpOptions extends Application {
  /** None: every client may do everything. */
  accessTokens: readonly AccessToken[];
  limits?: HttpLimits | undefined;
}

/** Everything that serving a request needs. */
interface Site {
  context: Context;
  limits: HttpLimits;
  access: AccessRules;
  router: Router<AnyRoute>;
  pages: Router<AnyRoute>;
  sendMissing: Pages['sendMissing'];
  connections: Connections;
  reports: Reports;
}

/** Builds the HTTP server; it is not listening yet. */
export function createHttpServer(
  context: Context & { settings: Pick<Settings, 'allowedHosts'> },
  { accessTokens, routes, createPages, limits = httpLimits }: HttpOptions,
) {
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
    maxHeaderSize: limits.maxHeadBytes,
    requireHostHeader: false, // checkMessage requires it, with a JSON error
  });
  server.timeout = limits.stalledTimeoutMs;
  server.maxConnections = limits.maxConnections;
  server.maxRequestsPerSocket = limits.maxRequestsPerSocket;
  server.maxHeadersCount = limits.maxHeaders + 1; // Node drops further ones; one too many is enough to refuse the request
  const { routes: pageRoutes, sendMissing } = createPages(context);
  const site: Site = {
    context,
    limits,
    access: createAccessRules(accessTokens, context.settings.allowedHosts),
    router: createRouter<AnyRoute>(routes),
    pages: createRouter<AnyRoute>(pageRoutes),
    sendMissing,
    connections: watchConnections(server, context, limits),
    reports: createReports(limits),
  };
  server.on('request', async (_request, response) => {
    if (await site.connections.enter(response)) await respond(site, response);
  });
  return {
    server,
    /**
     * Stops listening, answers what has been read completely, and closes all connections: within
     * `stoppingMs`.
     */
    stop: site.connections.stop,
  };
}

/** Every request ends here in exactly one response, whatever is thrown on the way. */
async function respond(site: Site, response: ServerResponse): Promise<void> {
  const { connections, context, limits, access } = site;
  const request = response.req;
  const target = readTarget(request);
  let match: Match<AnyRoute> | null = null;
  try {
    checkMessage(request, limits);
    match = findRoute(site, request, target);
    const isLost = isFromBrowser(site, request) || target.path.startsWith(WELL_KNOWN);
    const asked = { route: match?.route ?? null, agentDays: context.agentDays };
    const rights = match === null && isLost ? 'everything' : checkToken(access, request, asked);
    checkOrigin(access, request.headers.origin, target.host);
    const chosen = requireRoute(match, request, { ...target, viewedFile: context.viewedFile });
    await send(site, response, { ...chosen, query: target.query, rights });
  } catch (error) {
    sendError(site, response, { error, match, target });
  }
  connections.leave(response);
  const route = match?.route;
  context.log.debug('request', {
    method: request.method,
    // An agent may write its token where the name of a tool should be.
    path: route && 'isOfDay' in route ? route.path : target.path.slice(0, MAX_SHOWN_PATH),
    status: response.statusCode,
  });
}

interface MatchedRoute {
  route: AnyRoute;
  params: Record<string, string>;
  query: string;
  rights: Rights;
}

/** Resolves when the response has been handed to Node. */
async function send(
  site: Site,
  response: ServerResponse,
  { route, params, query, rights }: MatchedRoute,
): Promise<void> {
  const { context, limits } = site;
  const request = response.req;
  if ('send' in route) return route.send(request, response);
  const token = bearerToken(request.headers.authorization);
  if ((route.isRpc && token !== null) || context.agentDays?.has(token ?? ''))
    response.on('finish', () => request.socket.setTimeout(limits.agentKeepAliveMs));
  const json = route.body && (await readJsonBody(request, limits));
  const input = checkInput(route, request, { params, query, json });
  const take = (handled: HandlerResult) => sendResult(site, response, route, handled);
  if (route.isRpc) return take(await route.handle(context, input, createCaller(site, rights)));
  await serve(site, route, input, take);
}

/**
 * A response that reads the database is of one moment, whatever is committed meanwhile. It is made
 * in a reader thread, or here where that takes little time.
 */
async function serve<Result>(
  site: Site,
  route: Route,
  input: Input,
  take: (handled: HandlerResult) => Result,
): Promise<Awaited<Result>> {
  const { context } = site;
  if (route.method !== 'GET' || route.isDirect)
    return await take(await route.handle(context, input));
  const report = route.isShort?.(context, input) ? null : requestReport(site, route, input);
  if (report !== null) return await take(report);
  return await context.database.read((moment) =>
    take(route.handle({ ...context, database: moment }, input)),
  );
}

function sendResult(
  { limits }: Site,
  response: ServerResponse,
  { hasTable }: Route,
  handled: HandlerResult,
): Promise<void> | void {
  const headers = hasTable ? VARIES_BY_ACCEPT : [];
  if (!isReady(handled)) {
    assert(!(handled instanceof Promise), 'it has been awaited');
    return sendAsync(response, handled, { headers, heartbeatMs: limits.heartbeatMs });
  }
  const { pieces, fileName } = bodyPieces(handled);
  const text = [...pieces].join('');
  sendText(response, text === '' ? 202 : 200, { type: typeHeaders(fileName), text, headers });
}

/** What answers other routes for a request. */
function createCaller(site: Site, rights: Rights): Caller {
  const { context } = site;
  return {
    rights: context.viewedFile === null ? rights : 'reading',
    explain: (error) => refusalOf(context, error).message,
    call: async (route, asked, end) =>
      serve(site, route, checkInput(route, NO_HEADERS, asked), (handled) =>
        wholeText(handled, end),
      ),
  };
}

async function wholeText(handled: HandlerResult, end: AbortController): Promise<string> {
  if (typeof handled === 'string') return handled;
  assert('made' in handled, 'it is called for its text');
  end.signal.addEventListener('abort', () => handled.end.abort(end.signal.reason));
  const { bytes } = await handled.made;
  assert(bytes instanceof Uint8Array, 'it is short');
  return new TextDecoder().decode(bytes);
}

/** The response in a reader thread; null where there is no file that it could open. */
function requestReport({ context, reports }: Site, route: Route, input: Input): AsyncBody | null {
  const { database, viewedFile } = context;
  const address = database.address();
  if (address === null) return null;
  const { deploymentMode, preserveDevData, riskFreeRate, configurationPath, openaiApiBase } =
    context.settings; // no others: the service's have its keys
  const settings = {
    deploymentMode,
    preserveDevData,
    riskFreeRate,
    configurationPath,
    openaiApiBase,
  };
  const request = { path: route.path, input, settings, viewedFile, database: address };
  return reports.make(request, route.isKept ? contentVersion(database) : null);
}

/**
 * Null for an unknown path, and for one that cannot be read. A page may have the path of a request:
 * then only a browser finds it.
 */
function findRoute(site: Site, request: IncomingMessage, { path }: Target): Match<AnyRoute> | null {
  if (!isReadable(path)) return null;
  const { method = '' } = request;
  const match = site.router(method, path);
  const page = site.pages(method, path);
  const isShared = match?.route.path === page?.route.path;
  return match === null || (isShared && isFromBrowser(site, request)) ? page : match;
}

function requireRoute(
  match: Match<AnyRoute> | null,
  { method }: IncomingMessage,
  { path, query, viewedFile }: Target & Pick<Context, 'viewedFile'>,
): { route: AnyRoute; params: Record<string, string> } {
  if (!isReadable(path) || !isReadable(query))
    throw new HttpError(
      400,
      'Cannot read the request target: its percent-encoding is broken, or it has a fragment (#)',
    );
  if (match === null)
    throw new HttpError(
      404,
      `There is no ${path.slice(0, MAX_SHOWN_PATH)}; GET /openapi.json lists all paths`,
    );
  const isOpen = viewedFile === null || 'isRpc' in match.route;
  if ('params' in match && (isOpen || match.route.method === 'GET')) return match;
  const methods = 'params' in match ? [] : match.allowed;
  const names = isOpen ? methods : methods.filter((name) => name === 'GET' || name === 'HEAD');
  const allowed = names.join(', ');
  const detail = isOpen
    ? `${match.route.path} has no method ${method}; it has ${allowed}`
    : `Cannot ${method} ${path.slice(0, MAX_SHOWN_PATH)}: this service only shows the file ${viewedFile}, and changes nothing`;
  throw new HttpError(405, detail, { headers: ['Allow', allowed] });
}

/** Of the request that a call of a route is. */
const NO_HEADERS = { headers: {}, headersDistinct: {} };

function checkInput(
  route: Route,
  request: Pick<IncomingMessage, 'headers' | 'headersDistinct'>,
  { params, query = '', json }: Asked,
): Input {
  const values = validateQuery(route.query, query);
  return {
    params,
    query: values,
    format: route.hasTable ? chooseFormat(values['format'], request.headers.accept) : 'json',
    token: route.isOfDay || route.isRpc ? bearerToken(request.headers.authorization) : null,
    body: route.body && !route.isRpc ? validateBody(route.body, json) : json,
    headers:
      route.headers === undefined ? {} : validateHeaders(route.headers, request.headersDistinct),
  };
}

/** How an error is explained to a client; one that is unexpected goes to the log. */
function refusalOf({ log }: Context, error: unknown): HttpError {
  return toHttpError(error) ?? loggedError(error, logUnexpected(log, error));
}

interface Failure {
  error: unknown;
  match: Match<AnyRoute> | null;
  target: Target;
}

/**
 * Responds with the error, or cuts the connection when a response has begun or the client has left.
 */
function sendError(site: Site, response: ServerResponse, { error, match, target }: Failure): void {
  const { context } = site;
  const request = response.req;
  const isClientGone = request.destroyed && !request.complete;
  if (isClientGone || response.headersSent) {
    const consequence = 'the response was cut off';
    if (!isClientGone) logUnexpected(context.log, error, { path: target.path, consequence });
    return cutOff(response);
  }
  const refusal = refusalOf(context, error);
  const { message: detail, headers } = refusal;
  const isRpc = match !== null && 'isRpc' in match.route;
  const status = isRpc && refusal.status === 422 ? 400 : refusal.status;
  if (refusal.closesConnection) response.shouldKeepAlive = false;
  const fields = match?.route.bareErrors ? {} : deploymentFields(context.settings);
  // What a program need not take for an error: there is nothing left to do.
  const code = errorCode(error) === 'nothing_to_resume' && { code: 'nothing_to_resume' };
  const rpc = isRpc && rpcError(null, RPC_KINDS[refusal.status] ?? 'other', detail);
  const text = refusal.json ?? printableJson({ detail, ...code, ...rpc, ...fields });
  const isMissing = status === 405 || (status === 404 && match === null);
  if (isMissing && isFromBrowser(site, request)) site.sendMissing?.(request, response, refusal);
  else sendText(response, status, { type: JSON_TYPE, text, headers });
}

/** Whether a person entered the URL in a browser, and there are pages to show. */
function isFromBrowser({ sendMissing }: Site, { method, headers }: IncomingMessage): boolean {
  return (
    sendMissing !== undefined &&
    (method === 'GET' || method === 'HEAD') &&
    prefersHtml(headers.accept)
  );
}
