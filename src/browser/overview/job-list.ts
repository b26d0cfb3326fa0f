import { h, replace } from '../parts/element.ts';
import { counted } from '../parts/format.ts';
import { jobPath } from '../../page-paths.ts';
import type { JobEntry } from '../service/responses.ts';
import { moment } from '../parts/time.ts';

/** The latest jobs, newest first. */
export function jobList(jobs: readonly JobEntry[]): HTMLElement {
  const items = jobs.map((job) =>
    h(
      'li',
      {},
      h(
        'a',
        { href: jobPath(job.job_id) },
        h('span', { class: `state ${job.status}` }, job.status.replace('_', ' ')),
        ` ${job.start_date} to ${job.end_date}`,
      ),
      h('span', { class: 'quiet' }, `${counted(job.models.length, 'model')}, `, moment(job.created_at)),
    ),
  );
  const list = h('ul', { class: 'jobs' });
  replace(list, ...items);
  return h('section', { 'aria-labelledby': 'jobs-title' }, h('h2', { id: 'jobs-title' }, 'Latest jobs'), list);
}
