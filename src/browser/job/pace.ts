import { highest } from '../parts/extremes.ts';
import type { Detail, Status } from '../responses.ts';

/** Before this time, the pace of a job is not meaningful. */
const LEAST_SECONDS = 3;

type Times = 'started_at' | 'completed_at';

interface Timed extends Pick<Status, Times> {
  details: readonly Pick<Detail, Times | 'status'>[];
}

/**
 * The remaining time of a job at its pace so far; null if unknown, and when only the end of the job
 * is still to be stored. Skipped model-days took no time, so they do not count.
 */
export function secondsToGo({ started_at, completed_at, details }: Timed): number | null {
  if (started_at === null || completed_at !== null) return null;
  const ended = details.flatMap((detail) =>
    detail.started_at !== null && detail.completed_at !== null
      ? [Date.parse(detail.completed_at)]
      : [],
  );
  const left = details.filter(({ status }) => status === 'pending' || status === 'running').length;
  const seconds = (highest(ended) - Date.parse(started_at)) / 1000;
  return ended.length === 0 || left === 0 || seconds < LEAST_SECONDS
    ? null
    : (seconds / ended.length) * left;
}
