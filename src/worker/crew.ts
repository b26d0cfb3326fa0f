import type { WorkerLimits } from './limits.ts';

/**
 * The most children that must end well before another may run, because a shortage may be over by
 * then.
 */
const MAX_GOOD_ENDS_TO_GROW = 160;
/** How many of the latest starts show how slow the machine is. */
const KEPT_STARTS = 8;

/** The children of one job that run side by side: as many as the machine can evidently carry. */
export interface Crew {
  /** How many may run side by side now. */
  readonly size: number;
  /** Waits for a place; each place is returned by one `leave`. */
  join(): Promise<void>;
  /**
   * Returns a place. After a loss, only as many children may run as the machine was carrying
   * without the lost one.
   */
  leave(how: 'well' | 'lost'): void;
  /** Records how long a child took to its first line. */
  noteStart(ms: number): void;
  /** How long a child may take to its first line, on this try of its model-day; the first is 1. */
  patienceMs(tries: number): number;
}

export function createCrew(
  most: number,
  { firstLineMs, firstLineFactor, goodEndsToGrow }: Omit<WorkerLimits, 'maxStarts'>,
): Crew {
  const waiting: (() => void)[] = [];
  const starts: number[] = [];
  let size = most;
  let running = 0;
  let goodEnds = 0;
  let needed = goodEndsToGrow;
  const fill = () => {
    while (running < size && waiting.length > 0) {
      running += 1;
      waiting.shift()?.();
    }
  };
  return {
    get size() {
      return size;
    },
    join() {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      fill();
      return promise;
    },
    leave(how) {
      running -= 1;
      if (how === 'lost') {
        size = Math.max(1, Math.min(size, running));
        needed = Math.min(needed * 2, MAX_GOOD_ENDS_TO_GROW);
        goodEnds = 0;
      } else if (size < most && ++goodEnds >= needed) {
        size += 1;
        goodEnds = 0;
      }
      fill();
    },
    noteStart(ms) {
      starts.push(ms);
      if (starts.length > KEPT_STARTS) starts.shift();
    },
    patienceMs: (tries) =>
      Math.max(firstLineMs, firstLineFactor * Math.max(0, ...starts)) * 2 ** (tries - 1),
  };
}
