import type { Status } from './responses.ts';

/** The statuses of a job in words, in the order of a job's life. */
export const jobStatusWords: Record<Status['status'], string> = {
  pending: 'Waiting to start',
  downloading_data: 'Preparing prices',
  running: 'Running',
  completed: 'Completed',
  partial: 'Partly completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

/** In the order of a job's life. */
export const jobStatuses = Object.keys(jobStatusWords) as Status['status'][];
