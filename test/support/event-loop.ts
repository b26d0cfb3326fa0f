import { setImmediate } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import { type EventLoop, eventLoop } from '../../src/basics/event-loop.ts';
import { until } from './until.ts';

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
    round: () => setImmediate(),
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

/**
 * Follows the pace at which model-days start, which rests on the event loop of this process before
 * each turn. The function returned resolves once the pace has rested and rests no more: every turn
 * has been given that may be.
 */
export function followPace(t: TestContext): () => Promise<unknown> {
  let [begun, ended] = [0, 0];
  const follow =
    <Words extends unknown[]>(wait: (...words: Words) => Promise<unknown>) =>
    (...words: Words) => {
      begun += 1;
      return wait(...words).finally(() => (ended += 1));
    };
  t.mock.method(eventLoop, 'sleep', follow(eventLoop.sleep));
  t.mock.method(eventLoop, 'round', follow(eventLoop.round));
  return () =>
    until('all turns to be given', async () => {
      const before = begun;
      await settled();
      return begun > 0 && begun === before && begun === ended;
    });
}
