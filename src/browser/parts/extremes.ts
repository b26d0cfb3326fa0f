/**
 * The highest and the lowest of many numbers: as arguments of one call (`Math.max`) a browser takes
 * some ten thousand at most.
 */

/** The highest of them and of `least`; `least` for none. */
export function highest(values: readonly number[], least = -Infinity): number {
  return values.reduce((most, value) => Math.max(most, value), least);
}

/** The lowest of them and of `most`; `most` for none. */
export function lowest(values: readonly number[], most = Infinity): number {
  return values.reduce((least, value) => Math.min(least, value), most);
}
