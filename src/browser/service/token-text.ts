/** Signs that word processors and chats put in place of quotes and hyphens, by name. */
const OFTEN_REPLACED: readonly [signs: RegExp, name: string][] = [
  [/[“”„«»‘’‚]/, 'a curly quote'],
  [/[‐‑‒–—]/, 'a dash'],
  [/\s/, 'a blank'],
];

/**
 * Why a text cannot be an access token, for its reader; empty if it can. A header carries visible
 * ASCII characters only.
 */
export function tokenProblem(text: string): string {
  const [wrong] = /[^!-~]/u.exec(text) ?? [];
  if (wrong === undefined) return '';
  const name = OFTEN_REPLACED.find(([signs]) => signs.test(wrong))?.[1] ?? `“${wrong}”`;
  return `No token contains ${name}: copy it once more, as it was given out.`;
}
