import { timestamp } from '../basics/calendar.ts';
import { endJob, statusOfJob, unfinishedJobId, discard } from '../database/jobs.ts';
import { ServiceError, skipReasons } from '../basics/domain.ts';
import type { WorkerContext } from './active-job.ts';
import { warnOfDays } from './warnings.ts';
import { endModelDays } from '../database/model-days.ts';

/**
 * Cancels a job in one transaction; completed model-days are kept. Resolves to how many were not
 * run; null for a job that was already cancelled. Rejects with a `ServiceError` for an unknown job
 * or one that has ended.
 */
export function cancelJob(
  { database, clock }: WorkerContext,
  jobId: string,
): Promise<number | null> {
  return database.write(() => {
    const status = statusOfJob(database, jobId);
    if (status === null) throw new ServiceError('job_not_found', `Job ${jobId} not found`);
    if (status === 'cancelled') return null;
    if (unfinishedJobId(database) !== jobId)
      throw new ServiceError('job_conflict', `Job ${jobId} cannot be cancelled: it is ${status}`);
    const at = timestamp(clock());
    const notRun = endModelDays(database, jobId, {
      status: 'skipped',
      error: skipReasons.cancelled,
      at,
    });
    endJob(database, jobId, { status: 'cancelled', error: null, at });
    warnOfDays(database, jobId);
    return notRun;
  });
}

/**
 * Discards a job in one transaction, and names what is stale then in its warnings. Resolves to null
 * for a job that was already discarded. Rejects with a `ServiceError` while any job is unfinished:
 * what that one skips, and where its model-days start, rests on what there is.
 */
export async function discardJob(
  { database, log }: Pick<WorkerContext, 'database' | 'log'>,
  jobId: string,
) {
  const discarded = await database.write(() => {
    if (statusOfJob(database, jobId) === 'discarded') return null;
    const unfinished = unfinishedJobId(database);
    if (unfinished !== null)
      throw new ServiceError(
        'job_conflict',
        `Cannot discard job ${jobId}: job ${unfinished} has not ended; cancel it, or wait for its end`,
      );
    const changed = discard(database, jobId);
    warnOfDays(database, jobId);
    return changed;
  });
  if (discarded !== null) log.info('job discarded', { jobId, ...discarded });
  return discarded;
}
