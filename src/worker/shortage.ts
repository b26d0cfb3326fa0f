import { setTimeout as sleep } from 'node:timers/promises';
import { backOff } from '../back-off.ts';
import type { Lost } from './channel.ts';
import type { WorkerLimits } from './limits.ts';

/** How often the machine ended children of one model-day, and when to give up. */
export interface Shortage {
  /** The number of the next try: one more than the starts in a row that ended without a line. */
  readonly tries: number;
  /** Counts a lost child. Returns why the model-day is given up, or null when it is to be tried again. */
  note(lost: Lost): string | null;
  /** Waits before the next try; returns early when the job is stopped. */
  pause(signal: AbortSignal): Promise<void>;
}

export function createShortage({ maxStarts, maxResumptions, restartPauseMs }: WorkerLimits): Shortage {
  let silent = 0;
  let killed = 0;
  return {
    get tries() {
      return silent + 1;
    },
    note({ hasSpoken, error }) {
      silent = hasSpoken ? 0 : silent + 1;
      killed += hasSpoken ? 1 : 0;
      if (silent < maxStarts && killed <= maxResumptions) return null;
      const what = hasSpoken
        ? `the system killed its model process ${killed} times`
        : `its model process did not start in ${silent} tries`;
      return `The machine is short of processes or memory: ${what} (the last time: ${error}). ${ADVICE}`;
    },
    async pause(signal) {
      const pauseMs = backOff(Math.max(silent, killed), { firstMs: restartPauseMs });
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    },
  };
}

const ADVICE =
  'Give it more (in a container: its limits of pids and memory) or lower MAX_PARALLEL_MODELS, then run this day again';

/** The warnings of a job about lost children. */
export function shortageWarning({ hasSpoken }: Lost): string {
  const what = hasSpoken
    ? 'the system killed model processes; their model-days continue where their logs end'
    : 'model processes did not start; they are started again after a pause';
  return `The machine is short of processes or memory: ${what}, with fewer side by side`;
}
