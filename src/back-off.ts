/**
 * How long to wait after a number of failed tries in a row: `firstMs` after one, doubled after each
 * further one.
 */
export function backOff(
  tries: number,
  { firstMs, maxMs = Infinity }: { firstMs: number; maxMs?: number },
): number {
  return Math.min(maxMs, firstMs * 2 ** (tries - 1));
}

/**
 * From half to all of a time, at random, so that what failed at the same moment is not tried again
 * at the same moment.
 */
export function spread(ms: number): number {
  return ms * (0.5 + Math.random() / 2);
}
