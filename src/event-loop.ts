import { setTimeout as sleep, setImmediate } from 'node:timers/promises';

/**
 * What code that waits needs from the event loop. Tests give it one whose time they set. All times
 * are in milliseconds.
 */
export interface EventLoop {
  /** The time since the start of the process. */
  now(): number;
  sleep(ms: number): Promise<unknown>;
  /** Resolves after one round. */
  round(): Promise<unknown>;
  /** Calls back after a time; the function returned prevents that. */
  after(ms: number, call: () => void): () => void;
}

/** The event loop of this process. */
export const eventLoop: EventLoop = {
  now: () => performance.now(),
  sleep,
  round: () => setImmediate(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};
