import { jobStatuses } from '../format.ts';
import type { Status } from '../responses.ts';

/**
 * Which jobs a reader looks at, in the words of the address and of `GET /jobs`; empty means all, or
 * the newest.
 */
export interface JobChoice {
  status: Status['status'] | '';
  /** A job_id or a timestamp: only jobs created before it. */
  before: string;
}

/** How many jobs the page of jobs shows at a time. */
const JOBS_PER_PAGE = 25;

/** The choice in the page's address. A status that does not exist counts as none. */
export function jobChoiceIn(search: string): JobChoice {
  const query = new URLSearchParams(search);
  const wanted = query.get('status');
  return {
    status: jobStatuses.find((status) => status === wanted) ?? '',
    before: query.get('before')?.trim() ?? '',
  };
}

/** The page's address with this choice. */
export function jobListPath(choice: JobChoice): string {
  return `/job-list${queryOf(choice)}`;
}

/** The request for this choice. */
export function jobsRequest(choice: JobChoice): string {
  return `/jobs${queryOf(choice, [`limit=${JOBS_PER_PAGE}`])}`;
}

function queryOf({ status, before }: JobChoice, more: readonly string[] = []): string {
  const given = [
    ...(status === '' ? [] : [`status=${status}`]),
    ...(before === '' ? [] : [`before=${encodeURIComponent(before)}`]),
    ...more,
  ];
  return given.length === 0 ? '' : `?${given.join('&')}`;
}
