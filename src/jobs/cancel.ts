import { timestamp } from '../basics/calendar.ts';
import type { Database } from '../database/database.ts';
import { cancelModelDays, type DateSpan, writeBySpans } from '../database/model-days.ts';
import { endJob, statusOfJob, unfinishedJobId } from '../database/jobs.ts';
import { ServiceError } from '../basics/domain.ts';
import { discard } from '../database/discard.ts';
import type { WorkerContext } from './active-job.ts';
import { warnOfStale } from './run.ts';

/**
 * Cancels a job in the database, the model-days of some dates at a time. `onBegun` is called once,
 * when the first of them are stored: from then on the job will be cancelled, if need be by the next
 * process. Resolves to how many model-days this call cancelled; null for a job that was already
 * cancelled, for which it does not take the write lock. Rejects with a `ServiceError` for an
 * unknown job or one that has ended.
 */
export async function cancelJob(
  { database, clock }: Pick<WorkerContext, 'database' | 'clock'>,
  jobId: string,
  { onBegun = () => {}, signal }: { onBegun?: () => void; signal?: AbortSignal } = {},
): Promise<number | null> {
  if (!isCancellable(database, jobId)) return null;
  const at = timestamp(clock());
  let notRun = 0;
  let [isBegun, isByAnother] = [false, false];
  const write = (span: DateSpan, isLast: boolean) => {
    isByAnother ||= !isCancellable(database, jobId); // meanwhile, by another request
    if (isByAnother) return;
    notRun += cancelModelDays(database, jobId, { span, at });
    if (isLast) endJob(database, jobId, { status: 'cancelled', error: null, at });
  };
  const onWritten = (isLast: boolean) => {
    if (isBegun || isByAnother || (notRun === 0 && !isLast)) return;
    isBegun = true;
    onBegun();
  };
  await writeBySpans(database, jobId, write, { signal, onWritten });
  return isByAnother ? null : notRun;
}

/**
 * Whether a job is unfinished; false when it was already cancelled. Throws a `ServiceError` for an
 * unknown job or one that has ended.
 */
function isCancellable(database: Database, jobId: string): boolean {
  const status = statusOfJob(database, jobId);
  if (status === null) throw new ServiceError('job_not_found', `Job ${jobId} not found`);
  if (status === 'cancelled') return false;
  if (unfinishedJobId(database) === jobId) return true;
  throw new ServiceError('job_conflict', `Job ${jobId} cannot be cancelled: it is ${status}`);
}

/**
 * Discards a job in one transaction, and names what is stale then in its warnings. Resolves to null
 * for a job that was already discarded. Rejects with a `ServiceError` while any job is unfinished:
 * what that one skips, and where its model-days start, rests on what there is.
 */
export async function discardJob(context: Pick<WorkerContext, 'database' | 'log'>, jobId: string) {
  const { database, log } = context;
  const discarded = await database.write(() => {
    if (statusOfJob(database, jobId) === 'discarded') return null;
    const unfinished = unfinishedJobId(database);
    if (unfinished === null) return discard(database, jobId);
    throw new ServiceError(
      'job_conflict',
      `Cannot discard job ${jobId}: job ${unfinished} has not ended; cancel it, or wait for its end`,
    );
  });
  if (discarded === null) return null;
  log.info('job discarded', { jobId, ...discarded });
  await warnOfStale(context, jobId);
  return discarded;
}
