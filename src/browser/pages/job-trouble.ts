import { jobPath } from '../../basics/paths.ts';
import { h } from '../element.ts';
import { count, counted, shortId } from '../format.ts';
import type { Detail, Job, Status } from '../responses.ts';
import { link } from '../ui.ts';

/**
 * What went wrong in the job that ended last, of jobs that begin with the newest; false if nothing
 * did, so that a failure stays until a later job has ended well.
 */
export function newestTrouble(jobs: readonly Job[]): HTMLElement | false {
  const job = jobs.find(({ completed_at: end, status }) => end !== null && status !== 'discarded');
  if (job?.status !== 'failed' && job?.status !== 'partial') return false;
  const way = link(jobPath(job.job_id), `Job ${shortId(job.job_id)}`);
  return h(isBad(job) ? 'p.notice.bad.trouble' : 'p.notice.trouble', way, `: ${troubleOf(job)}`);
}

/** Whether at least as many model-days failed as were completed. */
export function isBad({ progress: { failed, completed } }: Pick<Job, 'progress'>): boolean {
  return failed >= completed;
}

/** "100 of 100 model-days failed, 98 of them with: The model responded with status 401". */
export function troubleOf({
  progress,
  error,
  most_frequent_error: most,
}: Pick<Job, 'progress' | 'error' | 'most_frequent_error'>): string {
  const { failed, total_model_days: total } = progress;
  if (most === null) return error ?? 'it failed.';
  const all = `${count(failed)} of ${counted(total, 'model-day')} failed`;
  const those = most.model_days < failed ? `, ${count(most.model_days)} of them with` : '';
  return `${all}${those}: ${most.reason}`;
}

/** All model-days that failed, were skipped or never ran for one reason, with the first of them. */
export interface Alike extends Detail {
  error: string;
  days: readonly Detail[];
}

const NOT_RUN = 'The job ended before this model-day ran';

/** What a job left out, in this order; what waits when it ends has never run. */
const LEFT_OUT: readonly Detail['status'][] = ['failed', 'pending', 'skipped'];

/** What a job has not simulated, by reason; of many, the most frequent first. */
export function leftOutOf({
  details,
  completed_at: end,
}: Pick<Status, 'details' | 'completed_at'>): Alike[] {
  const without = details
    .map((detail) =>
      detail.status === 'running' ? { ...detail, status: 'pending' as const } : detail,
    )
    .filter(({ status }) => LEFT_OUT.includes(status) && (status !== 'pending' || end !== null))
    .map((detail) => ({ ...detail, error: detail.error ?? NOT_RUN }));
  const byReason = Map.groupBy(without, ({ status, error }) => `${status} ${error}`);
  const alike = [...byReason.values()].flatMap((days) =>
    days.slice(0, 1).map((first) => ({ ...first, days })),
  );
  return alike.sort(
    (one, other) =>
      LEFT_OUT.indexOf(one.status) - LEFT_OUT.indexOf(other.status) ||
      other.days.length - one.days.length,
  );
}
