/** The values that HTTP can carry: URLs that can be requested, and keys that fit into a header. */

/** The second half of an error about a URL. */
export const HTTP_URL = 'a URL that starts with http:// or https://';

export function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** Whether an `Authorization` header can carry a key or token: visible ASCII characters only. */
export function isHeaderKey(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}
