import { getJobs, getModels } from '../api.ts';
import { changeDetector, h, renew, replace } from '../element.ts';
import { filterBar } from '../filter-bar.ts';
import { filtersIn } from '../filters.ts';
import { type JobPanel, jobPanel } from '../job/job-panel.ts';
import { poll } from '../poll.ts';
import type { Jobs, Status } from '../responses.ts';
import { type Page, heading } from '../router.ts';
import { viewedFile } from '../ui.ts';
import { jobList } from './job-list.ts';
import { jobStrip } from './job-strip.ts';
import { resultsView } from './results.ts';
import { triggerForm } from './trigger-form.ts';

const LATEST_JOBS = 8;
/**
 * How many jobs the bar of filters offers: more than on other pages, because this one does not wait
 * for them.
 */
const OFFERED_JOBS = 200;

/**
 * Which model leads, what is running, and a form to run more. Results, jobs and models are
 * requested side by side and shown as they arrive, each in a place that it has from the start.
 */
export const showOverview: Page = async (host, _params, signal) => {
  const filters = filtersIn(location.search);
  const places = {
    strip: h('div.newest-job'),
    results: h('div.stack'),
    job: h('div'),
    jobs: h('div'),
  };
  const [form, bar] = [triggerForm(), filterBar(filters)];
  const main = h('div.stack', places.results, places.job);
  const side = h(
    'aside.stack',
    { 'aria-label': 'Jobs' },
    viewedFile() === null && form.element,
    places.jobs,
  );
  replace(
    host,
    h('div.bar', heading('Overview'), places.strip),
    bar.element,
    h('div.columns', main, side),
  );
  const results = resultsView(places.results, filters);
  const showJobs = jobsView(places, signal);
  const offerModels = async () => {
    const known = await getModels(signal);
    form.offer(known);
    const withDays = known.models.filter(({ completed_model_days: days }) => days > 0);
    bar.offer({ models: withDays.map(({ family }) => family) });
  };
  const [newest] = await Promise.all([
    showJobs(),
    results.show(signal).catch(() => null),
    offerModels(),
  ]);
  const follow = jobFollower(places.job, newest, signal);
  return async () => {
    const offered = getJobs(OFFERED_JOBS, signal).then(({ jobs }) => bar.offer({ jobs }));
    offered.catch(() => null); // then the bar offers all jobs or none
    await poll(async () => {
      const status = await follow(await showJobs());
      const hasMoved = status !== null && (await results.refreshFor(status, signal));
      return status?.completed_at === null || hasMoved ? 'moving' : 'still';
    }, signal);
  };
};

/** Shows the latest jobs, and returns the newest one; if any job is unfinished, it is that one. */
function jobsView(
  { strip, jobs: place }: Record<'strip' | 'jobs', HTMLElement>,
  signal: AbortSignal,
): () => Promise<Jobs['jobs'][number] | null> {
  const hasChanged = changeDetector();
  const list = jobList();
  return async () => {
    const { jobs } = await getJobs(LATEST_JOBS, signal);
    if (hasChanged(jobs)) {
      renew(strip, jobStrip(jobs));
      list.update(jobs);
      renew(place, jobs.length > 0 && list.element);
    }
    return jobs[0] ?? null;
  };
}

/**
 * Shows the newest job, unless it had ended before the page was opened: such a job has a page of
 * its own.
 */
function jobFollower(
  place: HTMLElement,
  first: Jobs['jobs'][number] | null,
  signal: AbortSignal,
): (newest: Jobs['jobs'][number] | null) => Promise<Status | null> {
  let current: { jobId: string; panel: JobPanel; last: Status | null } | null = null;
  const ended = first !== null && first.completed_at !== null ? first.job_id : null;
  return async (newest) => {
    if (newest === null || newest.job_id === ended) return null;
    const { job_id: jobId } = newest;
    if (current?.jobId !== jobId) {
      current = { jobId, panel: jobPanel(jobId, { titled: true }), last: null };
      replace(place, current.panel.element);
    }
    const isOver = current.last !== null && current.last.completed_at !== null;
    return isOver ? current.last : (current.last = await current.panel.refresh(signal));
  };
}
