import { jobPath } from '../../page-paths.ts';
import { link, section } from '../parts/blocks.ts';
import { h, replace } from '../parts/element.ts';
import { count } from '../parts/format.ts';
import { type Page, heading } from '../parts/page.ts';
import { numberColumn, table, textColumn } from '../parts/table.ts';
import { localTime } from '../parts/time.ts';
import { getJobs } from '../service/requests.ts';
import type { Jobs } from '../service/responses.ts';

type Job = Jobs['jobs'][number];

const MOST = 200;

/** The jobs, newest first. */
export const showJobs: Page = async (host, _params, signal) => {
  const content = h('div.stack');
  replace(host, heading('Jobs'), content);
  const { jobs } = await getJobs(MOST, signal);
  if (jobs.length === 0) return replace(content, h('p.notice', 'There are no jobs yet.'));
  const columns = [
    textColumn<Job>('Job', ({ job_id: id }) => id, { isName: true, cell: ({ job_id: id }) => link(jobPath(id), id.slice(0, 8)) }),
    textColumn<Job>('Status', ({ status }) => status, {
      cell: ({ status }) => h(`span.state.${status}`, status.replace('_', ' ')),
    }),
    textColumn<Job>('First date', (row) => row.start_date),
    textColumn<Job>('Last date', (row) => row.end_date),
    numberColumn<Job>('Models', ({ models }) => models.length, count),
    numberColumn<Job>('Model-days', ({ progress }) => progress.total_model_days, count),
    numberColumn<Job>('Failed', ({ progress }) => progress.failed, count),
    textColumn<Job>('Created', (row) => row.created_at, { cell: (row) => localTime(row.created_at) }),
  ];
  replace(content, section('All jobs', table({ caption: 'Jobs, newest first', rows: jobs, columns })));
};
