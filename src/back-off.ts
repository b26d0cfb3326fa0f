/** How long to wait after a number of failed tries in a row: `firstMs` after one, doubled after each further one. */
export function backOff(tries: number, { firstMs, maxMs = Infinity }: { firstMs: number; maxMs?: number }): number {
  return Math.min(maxMs, firstMs * 2 ** (tries - 1));
}
