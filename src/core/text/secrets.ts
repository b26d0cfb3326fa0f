import { hexCode } from './text.ts';

/** Hides secrets in a text. */
export type Hide = (text: string) => string;

/** A shorter key is not a secret but a word such as `none`, which many a text contains. */
export const MIN_SECRET_LENGTH = 8;
/** What is shown and stored in place of a secret. */
export const HIDDEN = '[key]';

/**
 * What one pattern can hold: V8 refuses one of some thousands of characters. The rest of a long
 * secret is not hidden if it is a word; a short one may have lost its backslashes.
 */
const PIECES = /[^]{8,1000}|^[^]{4,7}$/g;
/** Quotation marks around a key came with it by mistake, and would be those of JSON. */
const QUOTES = /^["']+|["']+$/g;
/**
 * What JSON within JSON puts before a character, and what a backslash itself is there and in a URL.
 */
const BACKSLASHES = String.raw`(?:\\(?:u005c)?|%(?:25)*5c)*`;
/** A secret is hidden with the backslashes before it, of which there may be many. */
const PREFIX = String.raw`(?:(?<!\\)\\+)?`;
const HTML: Record<string, string> = { '"': 'quot', "'": 'apos', '<': 'lt', '>': 'gt', '&': 'amp' };

/**
 * Hides these secrets, however JSON, URLs and HTML spell them, also one within another, the longest
 * first, because one may be part of another. JSON stays JSON.
 */
export function secretHider(secrets: readonly (string | null)[]): Hide {
  const patterns = secrets
    .map((secret) => (secret ?? '').replace(QUOTES, ''))
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .sort((one, other) => other.length - one.length)
    .flatMap((secret) => secret.replaceAll('\\', '').match(PIECES) ?? [])
    .map(
      (piece) => new RegExp(PREFIX + piece.split('').map(characterPattern).join(BACKSLASHES), 'gi'),
    );
  return (text) => patterns.reduce((shown, pattern) => shown.replace(pattern, HIDDEN), text);
}

/** A pattern of all that a character can be spelled as; in JSON a line break is an `n`. */
function characterPattern(sign: string): string {
  const [code, inJson] = [sign, JSON.stringify(sign).at(-2) ?? ''].map(hexCode);
  const inUrl = Buffer.from(sign).toString('hex').replace(/../g, '%(?:25)*$&');
  const inHtml = `#0*${sign.charCodeAt(0)}|#x${code?.replace(/^0+/, '0*')}|${HTML[sign] ?? '#'}`;
  return String.raw`(?:\u${code}|\u${inJson}|u${code}|${inUrl}|&(?:amp;)*(?:${inHtml});)`;
}

/** A response, or why there is none, without secrets in any part of it. */
export function redactSecrets<Response extends object>(response: Response, hide: Hide): Response {
  const shown = Object.entries(response).map(([name, value]) => [
    name,
    typeof value === 'string' ? hide(value) : JSON.parse(hide(JSON.stringify(value))),
  ]);
  return Object.fromEntries(shown);
}
