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
  let isLong = false;
  let longChildren = 0;
  let noted: boolean | null = false; // null when unknown
  const note = async () => {
    try {
      await database.write(
        () => {
          const counts = isLong || longChildren > 0;
          if (counts !== noted) noteLife(database, jobId, counts);
          noted = counts;
        },
        { signal },
      );
    } catch (error) {
      noted = null;
      if (signal.aborted) return;
      // A storage fault stops the job by itself; failing to store the mark loses nothing.
      log.warning('cannot record how long the process has run', { jobId, error: messageOf(error) });
    }
  };
  const last = () => {
    isLong = true;
    void note();
  };
  const remainingMs = limits.lifeCountsAfterMs - loop.now(); // which counts from the start of the process
  let cancel = () => {};
  if (remainingMs > 0) cancel = loop.after(remainingMs, last);
  else last();
  return {
    childStarted() {
      let isLongChild = false;
      const cancelChild = loop.after(limits.childCountsAfterMs, () => {
        isLongChild = true;
        longChildren += 1;
        void note();
      });
      return () => {
        cancelChild();
        if (!isLongChild || signal.aborted) return; // when the process ends, its children are ended first
        longChildren -= 1;
        void note();
      };
    },
    stop: cancel,
  };
}
