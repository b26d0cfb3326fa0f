import { availableParallelism } from 'node:os';
import { type EventLoop, eventLoop } from '../basics/event-loop.ts';

/**
 * The start of a model-day blocks the event loop, above all the start of its process: for a
 * millisecond or two, and for much longer when processors are short. Starts therefore take turns,
 * and leave the event loop free between them, so that a thousand of them do not delay other
 * requests.
 */

/** After a turn, the event loop is left free for this many times what the turn took. */
const REST_FACTOR = 1;
/** A round of the event loop that takes longer has other work in it, which goes first. */
const BUSY_ROUND_MS = 4;
/**
 * A turn waits no longer than this for other work: a service that is always busy starts model-days
 * too.
 */
const MAX_WAIT_MS = 250;
/**
 * To start takes a child some 40 ms of a processor: more at the same time start no sooner, and
 * leave less to the service.
 */
export const MOST_STARTING = 2 * availableParallelism();
/** A child that has been starting for this long may be stuck, and holds back no other. */
const MAX_STARTING_MS = 1_000;

/** Spaces out work that blocks the event loop. */
interface Pace {
  /**
   * Does work that blocks, in its turn. Urgent work comes before all other. Resolves to what the
   * work returns, and rejects with what it throws.
   */
  inTurn<Result>(
    work: () => Result | PromiseLike<Result>,
    options?: { isUrgent?: boolean },
  ): Promise<Result>;
  /**
   * Counts a child that starts on this machine: while many do, no turn is given. The function
   * returned says that it has started.
   */
  starting(): () => void;
}

/** A pace of its own: turns of different paces are not spaced. */
export function createPace(loop: EventLoop = eventLoop, mostStarting = MOST_STARTING): Pace {
  const children = new Set<object>();
  let hasPlace = Promise.withResolvers<void>();
  const waiting: (() => void)[] = [];
  let isGiving = false;
  let freeAt = -Infinity;
  const giveTurns = async () => {
    isGiving = true;
    while (waiting.length > 0) {
      await rest(loop, freeAt); // in which the child of the last turn is counted
      if (children.size >= mostStarting) {
        await hasPlace.promise;
        continue;
      }
      const startedAt = loop.now();
      waiting.shift()?.();
      const endedAt = loop.now();
      freeAt = endedAt + REST_FACTOR * (endedAt - startedAt);
    }
    isGiving = false;
  };
  return {
    inTurn<Result>(work: () => Result | PromiseLike<Result>, { isUrgent = false } = {}) {
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      const turn = () => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      };
      if (isUrgent) waiting.unshift(turn);
      else waiting.push(turn);
      if (!isGiving) void giveTurns();
      return promise;
    },
    starting() {
      const child = {};
      children.add(child);
      const hasStarted = () => {
        cancel();
        children.delete(child);
        hasPlace.resolve();
        hasPlace = Promise.withResolvers();
      };
      const cancel = loop.after(MAX_STARTING_MS, hasStarted);
      return hasStarted;
    },
  };
}

/** Resolves when the event loop has been free until `freeAt` and is not busy with other work. */
async function rest(loop: EventLoop, freeAt: number): Promise<void> {
  const giveUpAt = loop.now() + MAX_WAIT_MS;
  const restMs = Math.min(freeAt - loop.now(), MAX_WAIT_MS);
  if (restMs > 0) await loop.sleep(restMs);
  for (let roundMs = Infinity; roundMs > BUSY_ROUND_MS && loop.now() < giveUpAt; ) {
    const startedAt = loop.now();
    await loop.round();
    roundMs = loop.now() - startedAt;
  }
}

/** The pace of this process: all jobs share one event loop. */
export const { inTurn, starting } = createPace();
