/** Names listed in one sentence; the rest are only counted. */
const MAX_NAMED = 30;

/** "1 date", "2 dates". */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Seconds as `0.4 s`, `31 s`, `5 min 12 s`, `2 h 5 min`. */
export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const all = Math.round(seconds);
  const minutes = Math.floor(all / 60);
  if (minutes === 0) return `${all} s`;
  const hours = Math.floor(minutes / 60);
  return hours === 0 ? `${minutes} min ${all % 60} s` : `${hours} h ${minutes % 60} min`;
}

/** "A, B and 3 more": at most `most` of them by name. `total` is how many there are, where `names` are only the first. */
export function list(names: readonly string[], { most = MAX_NAMED, total = names.length } = {}): string {
  const named = names.slice(0, most);
  const rest = total - named.length;
  return `${named.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`;
}
