/** Names listed in one sentence; the rest are only counted. */
const MAX_NAMED = 30;

/** "1 date", "2 dates". */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** "A, B and 3 more": at most `most` of them by name. `total` is how many there are, where `names` are only the first. */
export function list(names: readonly string[], { most = MAX_NAMED, total = names.length } = {}): string {
  const named = names.slice(0, most);
  const rest = total - named.length;
  return `${named.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`;
}
