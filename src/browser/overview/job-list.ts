import { jobPath } from '../../page-paths.ts';
import { link, section } from '../parts/blocks.ts';
import { h } from '../parts/element.ts';
import { counted } from '../parts/format.ts';
import { localTime } from '../parts/time.ts';
import { jobStatusWords } from '../service/job-status.ts';
import type { Jobs } from '../service/responses.ts';

/** The latest jobs, newest first. */
export function jobList(jobs: Jobs['jobs']): HTMLElement {
  const items = jobs.map(({ job_id, status, start_date, end_date, models, universe, created_at }) => {
    const state = h(`span.state.${status}`, jobStatusWords[status]);
    const chosen = universe !== null && `universe ${universe}, `;
    const size = h('span.quiet', `${counted(models.length, 'model')}, `, chosen, localTime(created_at));
    return h('li', link(jobPath(job_id), state, ` ${start_date} to ${end_date}`), size);
  });
  return section('Latest jobs', h('ul.jobs', ...items), link('/job-list', 'All jobs'));
}
