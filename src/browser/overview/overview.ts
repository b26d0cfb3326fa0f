import { type JobPanel, jobPanel } from '../job/job-panel.ts';
import { link, section } from '../parts/blocks.ts';
import { changeDetector, h, replace, replaceKeepingFocus } from '../parts/element.ts';
import { type Page, heading } from '../parts/page.ts';
import { poll } from '../service/poll.ts';
import { getJobs, getModels, getPerformance } from '../service/requests.ts';
import type { Status } from '../service/responses.ts';
import { type Curves, equityCurves } from '../board/curves.ts';
import { jobList } from './job-list.ts';
import { type Leaderboard, leaderboard } from '../board/leaderboard.ts';
import { triggerForm } from './trigger-form.ts';

const LATEST_JOBS = 8;
/** While a job runs, the figures are computed again at most this often. */
const RECOMPUTE_AFTER_MS = 5_000;

/** Which model leads, what is running, and a form to run more. */
export const showOverview: Page = async (host, _params, signal) => {
  const places = { job: h('div'), results: h('div.stack'), jobs: h('div') };
  const form = triggerForm();
  const side = h('aside.stack', form.element, places.jobs);
  replace(host, heading('Overview'), places.job, h('div.columns', places.results, side));
  const results = resultsView(places.results);
  const follow = jobFollower(places.job, signal);
  const showJobs = jobsView(places.jobs, signal);
  const showJob = async () => follow(await showJobs());
  const [known] = await Promise.all([getModels(signal), results.refresh(signal), showJob()]);
  form.offer(known);
  return () =>
    poll(async () => {
      const status = await showJob();
      const hasMoved = status !== null && (await results.refreshFor(status, signal));
      return status?.completed_at === null || hasMoved ? 'moving' : 'still';
    }, signal);
};

/** Lists the latest jobs and returns the id of the newest one; if any job is unfinished, it is that one. */
function jobsView(place: HTMLElement, signal: AbortSignal): () => Promise<string | null> {
  const hasChanged = changeDetector();
  return async () => {
    const { jobs } = await getJobs(LATEST_JOBS, signal);
    if (hasChanged(jobs)) replaceKeepingFocus(place, jobs.length > 0 && jobList(jobs));
    return jobs[0]?.job_id ?? null;
  };
}

/** Shows one job at a time: the newest. */
function jobFollower(place: HTMLElement, signal: AbortSignal): (jobId: string | null) => Promise<Status | null> {
  let current: { jobId: string; panel: JobPanel } | null = null;
  let last: Status | null = null;
  return async (jobId) => {
    if (jobId === null) return null;
    if (current?.jobId !== jobId) {
      current = { jobId, panel: jobPanel(jobId, { titled: true }) };
      replace(place, current.panel.element);
    } else if (last?.completed_at !== null) return last;
    return (last = await current.panel.refresh(signal));
  };
}

interface ResultsView {
  refresh(signal: AbortSignal): Promise<void>;
  /** Refreshes if the job has added something since the last time. Resolves to whether it has. */
  refreshFor(status: Status, signal: AbortSignal): Promise<boolean>;
}

function resultsView(place: HTMLElement): ResultsView {
  let drawing = new AbortController();
  let computed = { what: '', at: -Infinity };
  let shown: { curves: Curves; board: Leaderboard } | null = null;
  const refresh = async (signal: AbortSignal) => {
    const performance = await getPerformance({}, signal);
    if (shown?.curves.update(performance)) return shown.board.update(performance);
    drawing.abort();
    drawing = new AbortController();
    shown = null;
    if (performance.models.length === 0) return replace(place, newcomer());
    const over = AbortSignal.any([signal, drawing.signal]);
    shown = { curves: equityCurves(performance, over), board: leaderboard(performance) };
    const further = h('p', 'Is the difference chance? ', link('/compare', 'Compare the models with intervals'), '.');
    replace(place, shown.curves.element, shown.board.element, further);
  };
  return {
    refresh,
    async refreshFor({ job_id, status, progress, completed_at }, signal) {
      const what = `${job_id} ${status} ${progress.completed}`;
      const isDue = completed_at !== null || performance.now() - computed.at > RECOMPUTE_AFTER_MS;
      if (what === computed.what || !isDue) return false;
      const isFirst = computed.what === '';
      computed = { what, at: performance.now() };
      if (isFirst && completed_at !== null) return false; // the page was just loaded
      await refresh(signal);
      return true;
    },
  };
}

/** What to do while there are no results. */
function newcomer(): HTMLElement {
  const job =
    'A job runs every model on every weekday in a range. Each model sees the prices of the morning and trades; its ' +
    'portfolio is valued at the close.';
  const steps = [
    'Choose a first and a last date; two or three weeks make a good start.',
    'Choose models, or choose none to run every model that the server’s configuration enables.',
    'Start the job and watch it here. Curves and the leaderboard appear as model-days complete.',
  ];
  const help = h('p.quiet', 'To do the same over HTTP, see the examples on the ', link('/api', 'API page'), '.');
  const list = h('ol', ...steps.map((step) => h('li', step)));
  return Object.assign(section('No results yet', h('p', job), list, help), { className: 'empty' });
}
