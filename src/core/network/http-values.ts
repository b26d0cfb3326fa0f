import * as v from 'valibot';

const TRUE_WORDS = ['true', '1', 'yes', 'on', 't', 'y'];
const FALSE_WORDS = ['false', '0', 'no', 'off', 'f', 'n'];

/**
 * True or false as text, in the words of environment variables and of clients in several languages,
 * in either case.
 */
export function booleanSchema(message: v.ErrorMessage<v.PicklistIssue>) {
  return v.pipe(
    v.string(),
    v.toLowerCase(),
    v.picklist([...TRUE_WORDS, ...FALSE_WORDS], message),
    v.transform((word) => TRUE_WORDS.includes(word)),
    v.boolean(),
  );
}

/** The values that HTTP can carry: URLs that can be requested, and keys that fit into a header. */

/** The second half of an error about a URL. */
export const HTTP_URL = 'a URL that starts with http:// or https://';

export function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** Whether a host, as a URL has it, is this machine itself, where no proxy could reach it. */
export function isLoopback(host: string): boolean {
  return /^((.+\.)?localhost|0\.0\.0\.0|127(\.\d+){3}|\[::1?\]|\[::ffff:7f[\da-f]{2}:[\da-f]+\])$/.test(
    host,
  );
}

/** Whether an `Authorization` header can carry a key or token: visible ASCII characters only. */
export function isHeaderKey(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** A text for a header: all but visible ASCII is percent-encoded, and the `%` itself. */
export function visibleAscii(text: string): string {
  return text.toWellFormed().replace(/[^\x21-\x7e]|%/gu, encodeURIComponent);
}

export function isSameServer(one: string, other: string): boolean {
  return new URL(one).origin === new URL(other).origin;
}

/**
 * A URL without user, password and fragment, the values of its query blank; `isCut` says whether it
 * had any of these.
 */
export function cutUrl(text: string): { url: string; isCut: boolean } {
  const url = new URL(text);
  const values = [...url.searchParams.values()];
  const isCut = url.username !== '' || url.password !== '' || values.some((value) => value !== '');
  if (!isCut && url.hash === '') return { url: text, isCut };
  url.username = url.password = url.hash = '';
  for (const name of new Set(url.searchParams.keys())) url.searchParams.set(name, '');
  return { url: url.href, isCut };
}

/**
 * A URL that was cut, with what was cut from another one of the same server; null where that does
 * not have it.
 */
export function fillUrl(cut: string, from: string): string | null {
  if (!isSameServer(cut, from)) return null;
  const [url, source] = [new URL(cut), new URL(from)];
  const names = new Set(url.searchParams.keys());
  const hasUser = source.username !== '' || source.password !== '';
  if ((names.size === 0 && !hasUser) || ![...names].every((name) => source.searchParams.has(name)))
    return null;
  url.username = source.username;
  url.password = source.password;
  url.search = new URLSearchParams(
    [...source.searchParams].filter(([name]) => names.has(name)),
  ).toString();
  return url.href;
}
