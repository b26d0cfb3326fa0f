/** Names listed in one sentence; the rest are only counted. */
const MAX_NAMED = 30;

/** "1 date", "2 dates". */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** "A, B and 3 more". */
export function list(names: readonly string[], most = MAX_NAMED): string {
  const named = names.slice(0, most).join(', ');
  return names.length <= most ? named : `${named} and ${names.length - most} more`;
}
