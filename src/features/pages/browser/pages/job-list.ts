import { jobPath } from '../../paths.ts';
import { progressText } from '#text/sentences.ts';
import { pageUrl, isPublished } from '../address.ts';
import { get } from '../api.ts';
import { h, morph, replace } from '../element.ts';
import {
  cost,
  counted,
  duration,
  entryNames,
  jobStatuses,
  jobStatusLabels,
  shortId,
  shortList,
  nonBreakingDate,
} from '../format.ts';
import { NO_FILTERS, filterNames, readParameters, filterQuery } from '../filters.ts';
import { filterBar } from '../filter-bar.ts';
import { poll } from '../poll.ts';
import type { Job, Jobs, Status } from '../../responses.ts';
import { heading, type Page } from '../router.ts';
import { liveTable, nameColumn, numberColumn, textColumn } from '../table.ts';
import { link, localTime, section, startJobHint } from '../ui.ts';
import { jobCost, newestTrouble } from './job-panel.ts';

/** All jobs, newest first, a page at a time; those that are unfinished are followed. */
export const showJobs: Page = async (host, _params, signal) => {
  const choice = readJobChoice(pageUrl().search);
  const content = h('div.stack');
  const bar = filterBar(NO_FILTERS, { hides: filterNames, words: 'All jobs' }, signal);
  replace(host, h('div.bar', heading('Jobs'), bar), statusLinks(choice), content);
  const view = jobsView(content, choice);
  const refresh = async () => view(await get('/jobs', jobListQuery(choice), signal));
  await refresh();
  // Older pages never get another job; one that has ended no longer changes.
  if (choice.before === '') return () => poll(refresh, signal);
};

/** A link per status: the address keeps the choice, and Back undoes it. */
function statusLinks({ status: chosen }: JobChoice): HTMLElement {
  const entries = Object.entries({ '': 'All', ...jobStatusLabels });
  const links = entries.map(([status, words]) => {
    const href = jobListPath({ status, before: '' });
    return h('a', { href, 'aria-current': status === chosen && 'true' }, words);
  });
  return h('nav.tabs', { 'aria-label': 'Jobs by status', hidden: isPublished() }, ...links);
}

/**
 * Shows a page of the jobs, and later states of the same page; resolves to whether any of them is
 * unfinished.
 */
function jobsView(content: HTMLElement, choice: JobChoice): (page: Jobs) => 'moving' | 'still' {
  let board: ReturnType<typeof liveTable<Job>> | null = null;
  const trouble = h('div.trouble-place');
  const pager = h('nav.way', { 'aria-label': 'Pages of jobs' });
  return ({ jobs, next_before: next }) => {
    // The service counts jobs from the newest on, so the way back to newer ones is Back, or the
    // first page.
    morph(
      pager,
      choice.before !== '' && link(jobListPath({ ...choice, before: '' }), 'Newest jobs'),
      next !== null && link(jobListPath({ ...choice, before: next }), 'Older jobs'),
    );
    if (jobs.length === 0) {
      board = null;
      replace(content, h('p.notice', ...noJobs(choice)), pager);
    } else if (board === null) {
      board = jobTable(jobs);
      const list = section(choice.before === '' ? 'Newest jobs' : 'Older jobs', board.element);
      list.className = 'job-list';
      replace(content, trouble, list, pager);
    } else board.update(jobs);
    if (choice.before + choice.status === '') morph(trouble, newestTrouble(jobs));
    return jobs.some(({ completed_at: end }) => end === null) ? 'moving' : 'still';
  };
}

function noJobs({ status, before }: JobChoice): (Node | string)[] {
  if (before !== '') return ['There are no older jobs.'];
  if (status !== '') return [`No job has the status “${jobStatusLabels[status]}”.`];
  return ['There are no jobs yet.', ...startJobHint('Start one')];
}

function jobTable(jobs: readonly Job[]) {
  return liveTable<Job>({
    caption: 'Jobs, newest first',
    rows: jobs,
    key: ({ job_id: id }) => id,
    isFixed: true, // the page is a part of the list: sorted, it would look like the whole
    columns: [
      nameColumn('Job', 'job_id', {
        cell: ({ job_id: id }) => link(jobPath(id), shortId(id)),
      }),
      textColumn('Status', 'status', { cell: statusCell }),
      textColumn('Dates', datesText, { look: () => 'on-one-line' }),
      textColumn('Models', ({ models }) => models.join(', '), {
        cell: modelsCell,
        look: () => 'names',
      }),
      textColumn('Model-days', (row) => progressText(row), { cell: progressCell }),
      {
        ...numberColumn<Job>('Cost', ({ usage }) => usage.cost_usd, cost, {
          meaning: 'Of all its model-days whose cost is known',
        }),
        cell: ({ usage }) => jobCost(usage),
      },
      textColumn('Created', 'created_at', { cell: (row) => localTime(row.created_at) }),
      numberColumn('Took', 'total_duration_seconds', duration),
    ],
  });
}

function statusCell({ status, error }: Job): HTMLElement {
  return h(`span.state.${status}`, { title: error }, jobStatusLabels[status]);
}

function datesText({ start_date: first, end_date: last }: Job): string {
  return [...new Set([first, last])].map(nonBreakingDate).join('\u00a0to ');
}

function progressCell(job: Job): HTMLElement {
  const warnings = job.warnings?.length ?? 0;
  return h(
    'span',
    h('span', { class: job.progress.failed > 0 && 'loss' }, progressText(job)),
    warnings > 0 && h('small.quiet', ` ${counted(warnings, 'warning')}`),
  );
}

function modelsCell({ models, universe }: Job): HTMLElement {
  const names = shortList(entryNames(models));
  const all = models.join(', ');
  return h(
    'span',
    { title: names === all ? null : all },
    names,
    universe !== null && h('small.quiet', ` universe ${universe}`),
  );
}

/**
 * Which jobs a reader looks at, in the words of the address and of `GET /jobs`; empty means all, or
 * the newest.
 */
interface JobChoice {
  status: Status['status'] | '';
  /** A job_id or a timestamp: only jobs created before it. */
  before: string;
}

/** How many jobs the page of jobs shows at a time. */
const JOBS_PER_PAGE = 25;

/** The choice in the page's address. A status that does not exist counts as none. */
export function readJobChoice(search: string): JobChoice {
  const { status: wanted, before } = readParameters(search, ['status', 'before']);
  return { status: jobStatuses.find((status) => status === wanted) ?? '', before };
}

/** The page's address with this choice. */
export function jobListPath(choice: Record<keyof JobChoice, string>): string {
  return `/job-list${filterQuery(NO_FILTERS, [], { ...choice })}`;
}

/** The query for this choice. */
export function jobListQuery(choice: JobChoice): string {
  return filterQuery(NO_FILTERS, [], { ...choice, limit: String(JOBS_PER_PAGE) });
}
