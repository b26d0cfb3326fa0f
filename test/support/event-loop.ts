import { setImmediate } from 'node:timers/promises';
import type { EventLoop } from '../../src/core/time/event-loop.ts';

/** An event loop whose time passes only when a test says so. */
export interface TestLoop extends EventLoop {
  /**
   * Lets so much time pass: calls what falls due, in that order, and lets promises settle after
   * each call.
   */
  pass(ms: number): Promise<void>;
}

export function createTestLoop(): TestLoop {
  let now = 0;
  const calls = new Set<{ dueAt: number; call: () => void }>();
  const after: EventLoop['after'] = (ms, call) => {
    const entry = { dueAt: now + ms, call };
    calls.add(entry);
    return () => void calls.delete(entry);
  };
  return {
    now: () => now,
    after,
    sleep: (ms) => new Promise((resolve) => after(ms, () => resolve(undefined))),
    async pass(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = [...calls]
          .filter(({ dueAt }) => dueAt <= end)
          .sort((one, other) => one.dueAt - other.dueAt);
        if (next === undefined) break;
        calls.delete(next);
        now = next.dueAt;
        next.call();
        await settled();
      }
      now = end;
    },
  };
}

/** Rounds of the real event loop after which promises that wait for no event have settled. */
const ROUNDS = 3;

/** Resolves once promises that wait for no event have settled. */
export async function settled(): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) await setImmediate();
}
