import type { IncomingMessage } from 'node:http';
import { HttpError } from './http-error.ts';
import type { HttpLimits } from './limits.ts';

/** The target of a request: its path and query, still percent-encoded, and its host. */
export interface Target {
  path: string;
  query: string;
  /** From the target when that is a whole URL, otherwise from the Host header. */
  host: string;
}

/** Reads the request target, which may be a whole URL (RFC 9112, 3.2.2). */
export function readTarget({
  url = '',
  headers,
}: Pick<IncomingMessage, 'url' | 'headers'>): Target {
  const { host = '' } = headers;
  if (url.startsWith('/')) return splitAtQuery(url, host);
  const [, authority = host, rest = url] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url) ?? [];
  return splitAtQuery(rest === '' || rest.startsWith('?') ? `/${rest}` : rest, authority);
}

/** Whether it has no fragment, which only browsers use, and its percent-encoding can be decoded. */
export function isReadable(text: string): boolean {
  if (text.includes('#')) return false;
  if (!text.includes('%')) return true;
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function splitAtQuery(text: string, host: string): Target {
  const mark = text.indexOf('?');
  if (mark === -1) return { path: text, query: '', host };
  return { path: text.slice(0, mark), query: text.slice(mark + 1), host };
}

/**
 * Refuses ambiguous messages, which a proxy might read differently: request smuggling relies on
 * that. Node's parser already refuses the cruder ones. Throws an `HttpError`; most of these close
 * the connection.
 */
export function checkMessage(
  request: IncomingMessage,
  { maxHeaders, maxTargetLength }: HttpLimits,
): void {
  const { httpVersion, rawHeaders, headers, url = '' } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    throw ambiguous(`Cannot read the request: HTTP/${httpVersion} is not supported`);
  if (rawHeaders.length > 2 * maxHeaders)
    throw new HttpError(431, `Cannot read the request: it has more than ${maxHeaders} headers`, {
      closesConnection: true,
    });
  if (url.length > maxTargetLength)
    throw new HttpError(
      414,
      `Cannot read the request target: it is longer than ${maxTargetLength} characters`,
    );
  if (/^https?:\/\/([/?#]|$|[^/?#]*@)/i.test(url))
    throw ambiguous('Cannot read the request target: it names no host, or a user before the host');
  checkHostLines(rawHeaders, httpVersion);
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked'))
    throw ambiguous('Cannot read the body: its Transfer-Encoding must be chunked, in HTTP/1.1');
}

/**
 * Exactly one in HTTP/1.1, at most one in 1.0. Its value matters only to requests from web pages
 * (access.ts).
 */
function checkHostLines(rawHeaders: readonly string[], httpVersion: string): void {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name === 'Host' || (name?.length === 4 && name.toLowerCase() === 'host')) count += 1;
  }
  if (count === 1 || (count === 0 && httpVersion === '1.0')) return;
  throw ambiguous(`Cannot read the request: expected one Host header, got ${count}`);
}

function ambiguous(message: string): HttpError {
  return new HttpError(400, message, { closesConnection: true });
}
