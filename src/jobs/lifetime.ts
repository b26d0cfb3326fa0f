import type { WorkerLimits } from '../children/places.ts';
import type { Database } from '../database/database.ts';
import { noteLife } from '../database/model-days.ts';
import { messageOf } from '../basics/domain.ts';
import { type EventLoop, eventLoop } from '../basics/event-loop.ts';
import type { Log } from '../basics/log.ts';

/** The lifetime of this process, as it matters to a job. */
export interface Lifetime {
  /** Called when a child of the job starts; the function it returns, when that child has exited. */
  childStarted(): () => void;
  /** The job no longer runs. */
  stop(): void;
}

/**
 * Keeps a mark in the database that says whether this process, if it ended now without progress,
 * would count as an idle restart: it has run for `lifeCountsAfterMs`, or a child of the job has
 * been running for `childCountsAfterMs`. Written while the process lives, because SIGKILL leaves no
 * time to write at the end.
 */
export function watchLifetime(
  { database, log, limits }: { database: Database; log: Log; limits: WorkerLimits },
  jobId: string,
  { signal, loop = eventLoop }: { signal: AbortSignal; loop?: Pick<EventLoop, 'now' | 'after'> },
): Lifetime {
  let longOnes = 0;
  const note = () => {
    const work = () => noteLife(database, jobId, longOnes > 0);
    database.write(work, { signal }).catch((error: unknown) => {
      if (signal.aborted) return;
      // A storage fault stops the job by itself; failing to store the mark loses nothing.
      log.warning('cannot record how long the process has run', { jobId, error: messageOf(error) });
    });
  };
  const begin = (afterMs: number) => {
    let isLong = false;
    const cancel = loop.after(afterMs, () => {
      isLong = true;
      longOnes += 1;
      note();
    });
    return () => {
      cancel();
      if (!isLong || signal.aborted) return; // when the process ends, its children are ended first
      longOnes -= 1;
      note();
    };
  };
  // The loop's time counts from the start of the process.
  const stop = begin(Math.max(0, limits.lifeCountsAfterMs - loop.now()));
  return { childStarted: () => begin(limits.childCountsAfterMs), stop };
}
