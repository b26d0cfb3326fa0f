import { setTimeout as pause } from 'node:timers/promises';

/**
 * Polled often at first, less often the longer it takes: polling costs the processor time that the
 * work needs.
 */
const FIRST_POLL_MS = 5;
const MAX_POLL_MS = 100;
const POLL_GROWTH = 1.2;
/** Patience on a machine at full speed: far more than anything of ours takes. */
const CEILING_MS = 30_000;
/** What `measureWork` takes on an idle core of an ordinary machine. */
const IDLE_WORK_MS = 60;
/** A machine this much slower than an ordinary one is taken as hung. */
const MAX_SLOWNESS = 40;

/**
 * Polls until `look` returns something other than false, null or undefined, and resolves to that.
 * Rejects with `what` after a ceiling that grows with how slow the machine is at that moment, so a
 * busy machine fails no test. `patienceMs` is for foreign programs that take longer by themselves.
 */
export async function until<Found>(
  what: string | (() => string),
  look: () => Found | Promise<Found>,
  patienceMs = CEILING_MS,
): Promise<Exclude<Found, false | null | undefined>> {
  const start = performance.now();
  let ceilingMs = patienceMs;
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(MAX_POLL_MS, pollMs * POLL_GROWTH)) {
    const found = await look();
    if (found !== false && found !== null && found !== undefined)
      return found as Exclude<Found, false | null | undefined>;
    if (performance.now() - start > ceilingMs) {
      const allowedMs = patienceMs * slowness();
      if (allowedMs <= ceilingMs) {
        const waited = `${Math.round(ceilingMs / 1000)} seconds`;
        throw new Error(`Waited ${waited} for: ${typeof what === 'function' ? what() : what}`);
      }
      ceilingMs = allowedMs;
    }
    await pause(pollMs);
  }
}

/**
 * How many times slower this machine is, as busy as it is now, than an ordinary idle one; at least
 * 1.
 */
export function slowness(): number {
  return Math.min(MAX_SLOWNESS, Math.max(1, measureWork() / IDLE_WORK_MS));
}

/** Wall-clock time of a fixed piece of work, in milliseconds. */
function measureWork(): number {
  const start = performance.now();
  let sum = 0;
  for (let n = 0; n < 10_000_000; n += 1) sum = (sum * 31 + n) | 0;
  return performance.now() - start + (sum === 0.5 ? 1 : 0);
}
