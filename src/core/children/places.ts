import { totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { backOff, jitter } from '#time/event-loop.ts';
import { MAX_RUNS } from '#domain/runs.ts';
import { count } from '#text/sentences.ts';
import type { Settings } from '#settings/settings.ts';
import type { ChildLoss } from './channel.ts';

/**
 * How many children of a job run side by side on this machine, and what becomes of those that it
 * cannot carry: fewer run, and the lost ones are tried again.
 */

/** Memory of a child that waits for its provider, and of the service with a thousand of them. */
const CHILD_MEMORY_MB = 14;
const SERVICE_MEMORY_MB = 150;
const BYTES_PER_MB = 1024 * 1024;
/** A lost model-day is tried again after this pause at the latest. */
const MAX_PAUSE_MS = 30_000;

/** Number of parallel children: the setting, or what the memory of the machine or its group allows. */
export function maxParallelChildren(
  { maxParallelModels }: Pick<Settings, 'maxParallelModels'>,
  memory = Math.min(totalmem(), process.constrainedMemory() || Infinity),
): number {
  const carried = Math.floor((memory / BYTES_PER_MB - SERVICE_MEMORY_MB) / CHILD_MEMORY_MB);
  return maxParallelModels ?? Math.min(MAX_RUNS, Math.max(1, carried));
}

/** The children of one job that run side by side. */
export type Places = ReturnType<typeof createPlaces>;

/**
 * A loss halves the number of those that run. Children that ran side by side are often lost
 * together, and halve it once. Each model-day that ends well adds one, after the second halving a
 * half, after the third a third: a machine that is always short loses few children to the question
 * whether it carries more.
 */
export function createPlaces(most: number) {
  const waiting: (() => void)[] = [];
  let size = most;
  let running = 0;
  let halvings = 0;
  const fill = () => {
    for (; running + 1 <= size && waiting.length > 0; running += 1) waiting.shift()?.();
  };
  const createRelease = (halvingsBefore: number) => (isLost: boolean) => {
    if (!isLost) size = Math.min(most, size + 1 / Math.max(1, halvings));
    else if (halvingsBefore === halvings && size >= 2) {
      size = Math.max(1, Math.floor(Math.min(size, running) / 2));
      halvings += 1;
    }
    running -= 1;
    fill();
  };
  return {
    most,
    get size() {
      return Math.floor(size);
    },
    /**
     * Resolves when there is a place, to the function that returns it after a child was lost or the
     * model-day has ended.
     */
    join() {
      const { promise, resolve } = Promise.withResolvers<(isLost: boolean) => void>();
      waiting.push(() => resolve(createRelease(halvings)));
      fill();
      return promise;
    },
  };
}

/**
 * The tries of one model-day within its time limit, in which waiting for a place is not counted.
 */
export function createTries(
  limitMs: number,
  { maxResumptions, restartPauseMs }: Pick<WorkerLimits, 'maxResumptions' | 'restartPauseMs'>,
  now = () => performance.now(),
) {
  let leftMs = limitMs;
  let since = 0;
  let silent = 0;
  let killed = 0;
  let pauseMs = 0;
  const spend = () => {
    leftMs -= now() - since;
    since = now();
  };
  return {
    begin() {
      since = now();
      return leftMs;
    },
    /**
     * Counts a lost child. Returns why the model-day is given up, because it was killed too often
     * or no time is left for another try; null when it is to be tried again.
     */
    lose({ hasSentMessage, error }: ChildLoss) {
      spend();
      silent = hasSentMessage ? 0 : silent + 1;
      killed += hasSentMessage ? 1 : 0;
      const losses = Math.max(silent, killed);
      pauseMs = jitter(backOff(losses, { firstMs: restartPauseMs, maxMs: MAX_PAUSE_MS }));
      if (pauseMs < leftMs && killed <= maxResumptions) return null;
      const what = hasSentMessage
        ? `the system killed the model process ${count(killed, 'time')}`
        : `the model process failed to start ${count(silent, 'time')}`;
      return `${SHORTAGE}: ${what} (last error: ${error}). ${ADVICE}`;
    },
    /**
     * How long to wait before the next try, in milliseconds: longer after each loss in a row, and
     * at random, because a shortage takes many children at the same moment.
     */
    get pauseMs() {
      return pauseMs;
    },
    /** Waits so long; returns early when the job is stopped. */
    async pause(signal: AbortSignal) {
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
      spend();
    },
  };
}

const SHORTAGE = 'Not enough memory or processes on this machine';
const ADVICE =
  'Lower MAX_PARALLEL_MODELS, or give the machine more (in a container, raise the pids and memory limits); then run this day again';

export function shortageWarning({ hasSentMessage }: ChildLoss): string {
  const what = hasSentMessage
    ? 'the system killed model processes, and their model-days continue where their logs end'
    : 'model processes failed to start, and start again after a pause';
  return `${SHORTAGE}: ${what}. Fewer of them run side by side now`;
}

/** The worker's limits; tests have shorter ones. */
export type WorkerLimits = typeof workerLimits;

export const workerLimits = {
  /**
   * A process that made no progress counts as an idle restart when it ran for at least this long.
   */
  minLifetimeMs: 30_000,
  /**
   * A shorter run counts too when it ended while a child of the job had been running for this long.
   */
  minChildLifetimeMs: 10_000,
  /**
   * How often a model-day is resumed, from the end of its reasoning log, after the system killed
   * its child.
   */
  maxResumptions: 5,
  /** The pause before a lost child is restarted; it doubles with each loss in a row. */
  restartPauseMs: 500,
  /** From the start of a news search to the last byte of its response. */
  newsSearchMs: 20_000,
  /** From the start of an announcement to the status of its response. */
  announcementMs: 10_000,
  /** The pauses before an announcement that failed is sent again. */
  announcementPausesMs: [1_000, 5_000, 25_000],
};
