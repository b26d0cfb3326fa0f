import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { type AccessToken, rightsOf } from './access-tokens.ts';
import { HttpError } from './http-error.ts';

/** The fields of a route that decide who may use it. */
interface AccessedRoute {
  method: string;
  path: string;
  /** Needs no access token. */
  isPublic?: true;
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
 * Without tokens every request is allowed. With tokens every request needs one, except for public
 * routes; for requests that change nothing, a read-only one is enough. `route` is null for an
 * unknown path. Throws an `HttpError`.
 */
export function checkToken(
  { tokens }: AccessRules,
  { headers }: IncomingMessage,
  route: AccessedRoute | null,
): void {
  if (tokens.length === 0 || route?.isPublic) return;
  const rights = rightsOf(tokens, headers.authorization);
  if (rights === null) {
    const fault =
      headers.authorization === undefined ? 'this request has none' : "this request's is unknown";
    throw new HttpError(
      401,
      `An access token is needed, as "Authorization: Bearer TOKEN"; ${fault}`,
      {
        headers: ['WWW-Authenticate', 'Bearer realm="Trading Simulation Service"'],
      },
    );
  }
  if (rights === 'reading' && route !== null && route.method !== 'GET')
    throw new HttpError(
      403,
      `This access token is read-only: it does not allow ${route.method} ${route.path}`,
    );
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
    throw new HttpError(
      403,
      'This request comes from a web page of another origin, which is not allowed',
    );
  const name = own.hostname;
  if (isIP(name.replace(/^\[|\]$/g, '')) === 0 && !pageHosts.has(name))
    throw new HttpError(
      403,
      `Web pages may not use this service as ${name}: ALLOWED_HOSTS does not name it`,
    );
}
