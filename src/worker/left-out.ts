import { addWarnings, storeLeftOut } from '../database/jobs.ts';
import type { ModelDay } from '../database/sessions.ts';
import { tryParse } from '../json.ts';
import { additions, type RefusedAdditions } from '../protocol.ts';
import { list } from '../sentences.ts';
import type { ActiveJob, Job, LeftOut } from './active-job.ts';
import type { WorkerContext } from './context.ts';

/** As it is stored with each run, which an earlier process may have begun. */
export function storedLeftOut({ runs }: Pick<Job, 'runs'>): LeftOut {
  return new Map(
    runs.map(({ model, leftOut }) => {
      const stored: unknown = tryParse(leftOut);
      return [
        model,
        new Set(additions.filter((addition) => Array.isArray(stored) && stored.includes(addition))),
      ];
    }),
  );
}

/**
 * Stores what a provider refused, and warns of it in the provider's words: once for all runs of an
 * entry.
 */
export async function noteRefused(
  { database }: Pick<WorkerContext, 'database'>,
  { leftOut, job, entries, signal }: Pick<ActiveJob, 'leftOut' | 'job' | 'entries' | 'signal'>,
  { model }: ModelDay,
  { additions: refused, reason }: RefusedAdditions,
): Promise<void> {
  const all = new Set([...(leftOut.get(model) ?? []), ...refused]);
  leftOut.set(model, all);
  const family = entries.get(model)?.signature ?? model;
  const warning = `'${family}' is asked without ${list(refused)}, which the service adds and the provider refuses: it ${reason}`;
  await database.write(
    () => {
      storeLeftOut(database, { jobId: job.jobId, model }, [...all]);
      addWarnings(database, job.jobId, [warning]);
    },
    { signal },
  );
}
