import { jobPath } from '../../page-paths.ts';
import { h, renew } from '../element.ts';
import { counted, jobStatusWords } from '../format.ts';
import type { Jobs } from '../responses.ts';
import { link, localTime, section } from '../ui.ts';

/** The latest jobs, newest first. */
export function jobList(): { element: HTMLElement; update(jobs: Jobs['jobs']): void } {
  const list = h('ul.jobs');
  const element = section('Latest jobs', list, link('/job-list', 'All jobs'));
  return { element, update: (jobs) => renew(list, ...jobs.map(itemOf)) };
}

function itemOf({
  job_id,
  status,
  start_date,
  end_date,
  models,
  universe,
  created_at,
}: Jobs['jobs'][number]): HTMLElement {
  const state = h(`span.state.${status}`, jobStatusWords[status]);
  const chosen = universe !== null && `universe ${universe}, `;
  const size = h(
    'span.quiet',
    `${counted(models.length, 'model')}, `,
    chosen,
    localTime(created_at),
  );
  return h('li', link(jobPath(job_id), state, ` ${start_date} to ${end_date}`), size);
}
