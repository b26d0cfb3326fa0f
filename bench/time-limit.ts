/**
 * Ends the bench with exit code 1 when one of its measurements takes longer, whatever still runs.
 */
export function endAfter(ms: number, what: string): NodeJS.Timeout {
  const end = () => {
    console.log(`The bench ends: ${what} has taken ${Math.round(ms / 1000)} seconds`);
    process.exit(1);
  };
  return setTimeout(end, ms).unref();
}

/**
 * Divides a time among the parts of a measurement. Each call returns the milliseconds of the next
 * part: an equal share of what is left, so that parts have what those before them did not need; 0
 * when nothing is left.
 */
export function divideTime(ms: number, parts: number, now = () => performance.now()): () => number {
  const endAt = now() + ms;
  let left = parts;
  return () => {
    const share = Math.max(0, endAt - now()) / Math.max(1, left);
    left -= 1;
    return share;
  };
}
