import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What code that waits needs from the event loop. Tests give it one whose time they set. All times
 * are in milliseconds.
 */
export interface EventLoop {
  /** The time since the start of the process. */
  now(): number;
  sleep(ms: number): Promise<unknown>;
  /** Calls back after a time; the function returned prevents that. */
  after(ms: number, call: () => void): () => void;
}

/** The event loop of this process. */
export const eventLoop: EventLoop = {
  now: () => performance.now(),
  sleep,
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

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
export function jitter(ms: number): number {
  return ms * (0.5 + Math.random() / 2);
}
