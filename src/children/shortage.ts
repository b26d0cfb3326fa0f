import { setTimeout as sleep } from 'node:timers/promises';
import { backOff, spread } from '../basics/event-loop.ts';
import { codeOf } from '../basics/domain.ts';
import { count } from '../basics/sentences.ts';
import type { Lost } from './channel.ts';

/** Errors of a start for which the machine lacks processes, memory or open files. */
const SHORTAGES: ReadonlySet<string> = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE']);

/**
 * Whether the machine lacked something when a process was started, so that another try may succeed.
 */
export function isShortage(error: unknown): boolean {
  return SHORTAGES.has(String(codeOf(error)));
}

/** How often the machine ended children of one model-day, and when to give up. */
export interface Shortage {
  /** The number of the next try: one more than the starts in a row that ended without a line. */
  readonly tries: number;
  /**
   * Counts a lost child. Returns why the model-day is given up, or null when it is to be tried
   * again.
   */
  note(lost: Lost): string | null;
  /**
   * How long to wait before the next try, in milliseconds: longer after each loss in a row, and at
   * random, because a shortage takes many children at the same moment.
   */
  pauseMs(): number;
  /** Waits so long; returns early when the job is stopped. */
  pause(signal: AbortSignal): Promise<void>;
}

/** Counts from zero, for one model-day. */
export function createShortage({
  maxStarts,
  maxResumptions,
  restartPauseMs,
}: WorkerLimits): Shortage {
  let silent = 0;
  let killed = 0;
  const pauseMs = () => spread(backOff(Math.max(silent, killed), { firstMs: restartPauseMs }));
  return {
    get tries() {
      return silent + 1;
    },
    note({ hasSpoken, error, launcher }) {
      silent = hasSpoken ? 0 : silent + 1;
      killed += hasSpoken ? 1 : 0;
      if (silent < maxStarts && killed <= maxResumptions) return null;
      const tries = silent === 1 ? '1 try' : `${silent} tries`;
      const what = hasSpoken
        ? `the system killed the model process ${count(killed, 'time')}`
        : `the model process did not start in ${tries}`;
      if (launcher !== undefined && !hasSpoken)
        return `The model process did not start through ${launcher} in ${tries}; the last time, ${error}. ${LAUNCHER_ADVICE}`;
      return `The machine is short of processes or memory: ${what}; the last time, ${error}. ${ADVICE}`;
    },
    pauseMs,
    async pause(signal) {
      await sleep(pauseMs(), undefined, { signal }).catch(() => {});
    },
  };
}

const ADVICE =
  'Give the machine more (in a container: raise its limits of pids and memory), or lower MAX_PARALLEL_MODELS; then run this day again';

const LAUNCHER_ADVICE =
  'Run MODEL_DAY_COMMAND by hand, with `--version` as the arguments of node; then run this day again';

/** The warnings of a job about lost children. */
export function shortageWarning({ hasSpoken, launcher }: Lost): string {
  if (launcher !== undefined && !hasSpoken)
    return `Model processes did not start through ${launcher}; they are started again after a pause, with fewer side by side`;
  const what = hasSpoken
    ? 'the system killed model processes; their model-days continue where their logs end'
    : 'model processes did not start; they are started again after a pause';
  return `The machine is short of processes or memory: ${what}, with fewer side by side`;
}

/**
 * The most children that must end well before another may run, because a shortage may be over by
 * then.
 */
const MAX_GOOD_ENDS_TO_GROW = 160;
/** How many of the latest starts show how slow the machine is. */
const KEPT_STARTS = 8;

/** The children of one job that run side by side: as many as the machine can evidently carry. */
export interface Places {
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
  firstLineLimitMs(tries: number): number;
}

export function createPlaces(
  most: number,
  { firstLineMs, firstLineFactor, goodEndsToGrow }: Omit<WorkerLimits, 'maxStarts'>,
): Places {
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
    firstLineLimitMs: (tries) =>
      Math.max(firstLineMs, firstLineFactor * Math.max(0, ...starts)) * 2 ** (tries - 1),
  };
}

/**
 * How long the worker waits, and how often it retries, on a machine that is slow or short of
 * processes or memory.
 */
export interface WorkerLimits {
  /**
   * A process that made no progress counts as an idle restart when it ran for at least this long.
   */
  lifeCountsAfterMs: number;
  /**
   * A shorter run counts too when it ended while a child of the job had been running for this long.
   */
  childCountsAfterMs: number;
  /**
   * A child that has not sent its first line within this time is ended; each further try gets twice
   * as long.
   */
  firstLineMs: number;
  /**
   * The same for a child that a launcher starts, which may have to wait in a queue, or for an image
   * to be downloaded.
   */
  launcherFirstLineMs: number;
  /**
   * The time limit for the first line is at least this many times the slowest of the latest starts.
   */
  firstLineFactor: number;
  /** A model-day whose child never sends a line fails after this many tries. */
  maxStarts: number;
  /**
   * How often a model-day is resumed, from the end of its reasoning log, after the system killed
   * its child.
   */
  maxResumptions: number;
  /** The pause before a lost child is restarted; it doubles with each loss in a row. */
  restartPauseMs: number;
  /**
   * After this many children in a row without a loss, one more may run side by side; after each
   * loss, twice as many are needed.
   */
  goodEndsToGrow: number;
  /** From the start of a news search to the last byte of its response. */
  newsSearchMs: number;
}

export const workerLimits: WorkerLimits = {
  lifeCountsAfterMs: 30_000,
  childCountsAfterMs: 10_000,
  firstLineMs: 5_000,
  launcherFirstLineMs: 300_000,
  firstLineFactor: 10,
  maxStarts: 6,
  maxResumptions: 5,
  restartPauseMs: 500,
  goodEndsToGrow: 10,
  newsSearchMs: 20_000,
};
