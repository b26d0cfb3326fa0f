import { setTimeout as sleep } from 'node:timers/promises';
import { backOff, spread } from '../back-off.ts';
import { codeOf } from '../domain.ts';
import { count } from '../sentences.ts';
import type { Lost } from './channel.ts';
import type { WorkerLimits } from './limits.ts';

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
