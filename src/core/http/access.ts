import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { cannot, errorMessage, type ServiceError } from '#domain/service-error.ts';
import { sha256 } from '#text/hash.ts';
import { isAccessToken, type Settings } from '#settings/settings.ts';
import { readTrustedText } from '#settings/trusted-file.ts';
import type { AgentDays } from '#trading/agent-days.ts';
import { HttpError } from './errors.ts';
import type { Rights } from '#api/handler.ts';
import type { Route } from '#api/route.ts';

const MAX_TOKENS = 1_000;
/** Maximum size of the tokens file. */
const MAX_BYTES = 4 * 1024 * 1024;
const READ_ONLY = 'read-only';
const AUTHORIZATION = /^bearer +(\S+)$/i;

/** The rights of a token: everything, or only reading. */
export type AccessRights = Exclude<Rights, 'day'>;

/** A token as the service stores it: hashed, so that no dump, log or error can show it. */
export interface AccessToken {
  sha256: Buffer;
  rights: AccessRights;
}

type TokenSettings = Pick<Settings, 'apiToken' | 'apiTokensFile'>;

/**
 * The tokens of `API_TOKEN` and `API_TOKENS_FILE`; none when neither is set, and then every client
 * may do everything. Throws a `ServiceError` (`cannot_start`) that names file and line, and never a
 * token.
 */
export function readAccessTokens(settings: TokenSettings): AccessToken[] {
  return [...readTokens(settings)].map(([token, rights]) => ({ sha256: sha256(token), rights }));
}

/**
 * A token with which a command of this program can use its own service; null when none is needed.
 */
export function readServiceToken(settings: TokenSettings): string | null {
  const tokens = [...readTokens(settings)];
  const [own = null] = tokens.find(([, rights]) => rights === 'everything') ?? [];
  if (own === null && tokens.length > 0)
    throw cannot('start a job', `every token of ${settings.apiTokensFile} is ${READ_ONLY}`);
  return own;
}

/** The token of an `Authorization` header; null without one. */
export function bearerToken(authorization: string | undefined): string | null {
  return AUTHORIZATION.exec(authorization ?? '')?.[1] ?? null;
}

/**
 * The rights that an `Authorization` header gives; null when it holds no known token. Compares the
 * hashes of all tokens in constant time, so that the time of a response reveals nothing about them.
 */
export function findRights(
  tokens: readonly AccessToken[],
  authorization: string | undefined,
): AccessRights | null {
  const token = bearerToken(authorization);
  if (token === null) return null;
  const { timingSafeEqual } = process.getBuiltinModule('node:crypto');
  const given = sha256(token);
  let rights: AccessRights | null = null;
  for (const known of tokens) if (timingSafeEqual(known.sha256, given)) rights = known.rights;
  return rights;
}

function readTokens({ apiToken, apiTokensFile }: TokenSettings): Map<string, AccessRights> {
  const tokens = new Map<string, AccessRights>();
  if (apiToken !== null) tokens.set(apiToken, 'everything');
  if (apiTokensFile !== null) addTokensFromFile(apiTokensFile, tokens);
  return tokens;
}

/**
 * A token per line, optionally followed by `read-only`; empty lines and lines that begin with # are
 * ignored.
 */
function addTokensFromFile(path: string, tokens: Map<string, AccessRights>): void {
  const before = tokens.size;
  for (const [index, line] of readLines(path).entries()) {
    const [token, word, ...rest] = line.split(/\s+/).filter((part) => part !== '');
    if (token === undefined || token.startsWith('#')) continue;
    const isForeign = rest.length > 0 || (word !== undefined && word !== READ_ONLY);
    const fault =
      (isForeign && `expected a token, or a token and ${READ_ONLY}`) ||
      (!isAccessToken(token) && 'a token is 1 to 1000 visible ASCII characters') ||
      (tokens.has(token) && 'this token is a duplicate') ||
      (tokens.size >= MAX_TOKENS && `more than ${MAX_TOKENS} tokens`);
    if (fault) throw tokensFileError(path, `line ${index + 1}: ${fault}`);
    tokens.set(token, word === READ_ONLY ? 'reading' : 'everything');
  }
  if (tokens.size === before) throw tokensFileError(path, 'it holds no token');
}

function readLines(path: string): string[] {
  try {
    return readTrustedText(path, MAX_BYTES).split('\n');
  } catch (error) {
    throw tokensFileError(path, errorMessage(error));
  }
}

function tokensFileError(path: string, what: string): ServiceError {
  return cannot(`use the access tokens of ${path} (API_TOKENS_FILE)`, what);
}

/**
 * Who may use the service: the holders of tokens, if any are configured, and web pages under these
 * hosts.
 */
export interface AccessRules {
  tokens: readonly AccessToken[];
  pageHosts: ReadonlySet<string>;
}

export function createAccessRules(
  tokens: readonly AccessToken[],
  allowedHosts: readonly string[],
): AccessRules {
  return { tokens, pageHosts: new Set(['localhost', hostname().toLowerCase(), ...allowedHosts]) };
}

/**
 * Returns what a request may do. Without tokens every request is allowed. With tokens every request
 * needs one, except for public routes; for requests that change nothing, a read-only one is enough.
 * `route` is null for an unknown path. Throws an `HttpError`.
 */
export function checkToken(
  { tokens }: AccessRules,
  { headers }: IncomingMessage,
  {
    route,
    agentDays,
  }: {
    route: Pick<Route, 'method' | 'path' | 'isPublic' | 'isOfDay' | 'isRpc'> | null;
    agentDays: AgentDays | null;
  },
): Rights {
  if (route?.isOfDay) return 'day';
  if (agentDays?.has(bearerToken(headers.authorization) ?? '')) {
    if (route?.isRpc) return 'day';
    throw new HttpError(
      403,
      'The token of a model-day gives access only to /mcp, /day and the paths below /day',
    );
  }
  // Without tokens a Bearer that opens nothing is perhaps that of a day which is over.
  const isNeeded = tokens.length > 0 || (route?.isRpc && headers.authorization !== undefined);
  if (!isNeeded || route?.isPublic) return 'everything';
  const rights = findRights(tokens, headers.authorization);
  if (rights === null) {
    const fault = headers.authorization === undefined ? 'Missing' : 'Unknown';
    const scheme = ['WWW-Authenticate', 'Bearer realm="Trading Simulation Service"'];
    const remedy = 'send the header "Authorization: Bearer TOKEN"';
    throw new HttpError(401, `${fault} access token: ${remedy}`, { headers: scheme });
  }
  if (rights === 'reading' && route !== null && route.method !== 'GET' && !route.isRpc)
    throw new HttpError(
      403,
      `This access token is read-only: it does not allow ${route.method} ${route.path}`,
    );
  return rights;
}

/**
 * A browser sends `Origin` with every request from another site's page, and with every request that
 * could change something. Such a request must come from a page of this service, under a name that
 * no one else controls, because anyone can make a DNS name that leads here (DNS rebinding). Throws
 * a 403.
 */
export function checkOrigin(
  { pageHosts }: AccessRules,
  origin: string | undefined,
  host: string,
): void {
  if (origin === undefined) return;
  const page = URL.parse(origin);
  const own = page === null ? null : URL.parse(`${page.protocol}//${host}`);
  if (page === null || !/^https?:$/.test(page.protocol) || page.host !== own?.host)
    throw new HttpError(403, 'Requests from web pages of another origin are not allowed');
  const name = own.hostname;
  if (isIP(name.replace(/^\[|\]$/g, '')) === 0 && !pageHosts.has(name))
    throw new HttpError(
      403,
      `Web pages cannot use this service under the name ${name}: add it to ALLOWED_HOSTS`,
    );
}
