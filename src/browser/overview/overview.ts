import { getJobs, getModels, getPerformance } from '../service/requests.ts';
import { type Curves, equityCurves } from './curves.ts';
import { h, replace, replaceKeepingFocus } from '../parts/element.ts';
import { type JobPanel, jobPanel } from '../job/job-panel.ts';
import { jobList } from './job-list.ts';
import { type Leaderboard, leaderboard } from './leaderboard.ts';
import { poll } from '../service/poll.ts';
import { type Page, heading } from '../parts/page.ts';
import type { KnownModels, Status } from '../service/responses.ts';
import { type TriggerForm, triggerForm } from './trigger-form.ts';

const LATEST_JOBS = 8;
/** While a job runs the figures are computed anew at most this often. */
const RECOMPUTE_AFTER_MS = 5_000;

/** Who is ahead, what is running, and a form to run more. */
export const showOverview: Page = async (host, _params, signal) => {
  const places = { job: h('div'), results: h('div', { class: 'stack' }), jobs: h('div') };
  const form = triggerForm();
  replace(
    host,
    heading('Overview'),
    places.job,
    h('div', { class: 'columns' }, places.results, h('aside', { class: 'stack' }, form.element, places.jobs)),
  );
  const results = resultsView(places.results);
  const follow = jobFollower(places.job, signal);
  const showJob = async () => follow(await showJobs(places.jobs, signal));
  const [known] = await Promise.all([getModels(signal), results.refresh(signal), showJob()]);
  offerModels(form, known);
  return () =>
    poll(async () => {
      const status = await showJob();
      const hasMoved = status !== null && (await results.refreshFor(status, signal));
      return (status !== null && status.completed_at === null) || hasMoved ? 'moving' : 'still';
    }, signal);
};

/** Lists the latest jobs and returns the id of the one to show: the unfinished one, which is always the newest. */
async function showJobs(place: HTMLElement, signal: AbortSignal): Promise<string | null> {
  const { jobs } = await getJobs(LATEST_JOBS, signal);
  const key = JSON.stringify(jobs);
  if (place.dataset['shown'] !== key) replaceKeepingFocus(place, jobs.length > 0 && jobList(jobs));
  place.dataset['shown'] = key;
  return jobs[0]?.job_id ?? null;
}

/** Shows one job at a time: the latest. */
function jobFollower(place: HTMLElement, signal: AbortSignal): (jobId: string | null) => Promise<Status | null> {
  let current: { jobId: string; panel: JobPanel; isOver: boolean } | null = null;
  let last: Status | null = null;
  return async (jobId) => {
    if (jobId === null) return null;
    if (current?.jobId !== jobId) {
      current = { jobId, panel: jobPanel(jobId, { titled: true }), isOver: false };
      replace(place, current.panel.element);
    }
    if (current.isOver) return last;
    last = await current.panel.refresh(signal);
    current.isOver = last === null || last.completed_at !== null;
    return last;
  };
}

interface ResultsView {
  refresh(signal: AbortSignal): Promise<void>;
  /** Computes again when the job has added something. Resolves to whether it did. */
  refreshFor(status: Status, signal: AbortSignal): Promise<boolean>;
}

function resultsView(place: HTMLElement): ResultsView {
  let drawing = new AbortController();
  let computed = { what: '', at: -Infinity };
  let shown: { curves: Curves; board: Leaderboard } | null = null;
  const refresh = async (signal: AbortSignal) => {
    const performance = await getPerformance(undefined, signal);
    if (shown?.curves.update(performance)) return shown.board.update(performance);
    drawing.abort();
    drawing = new AbortController();
    shown = null;
    if (performance.models.length === 0) return replace(place, newcomer());
    const over = AbortSignal.any([signal, drawing.signal]);
    shown = { curves: equityCurves(performance, over), board: leaderboard(performance) };
    replace(place, shown.curves.element, shown.board.element);
  };
  return {
    refresh,
    async refreshFor({ job_id, status, progress, completed_at }, signal) {
      const what = `${job_id} ${status} ${progress.completed}`;
      const isDue = completed_at !== null || performance.now() - computed.at > RECOMPUTE_AFTER_MS;
      if (what === computed.what || !isDue) return false;
      const isFirst = computed.what === '';
      computed = { what, at: performance.now() };
      if (isFirst && completed_at !== null) return false; // the page has just been computed
      await refresh(signal);
      return true;
    },
  };
}

/** What to do when there is nothing yet. */
function newcomer(): HTMLElement {
  return h(
    'section',
    { class: 'empty' },
    h('h2', {}, 'No results yet'),
    h(
      'p',
      {},
      'A job runs every model on every weekday of a range: each sees the prices of that morning, trades, and is measured at the close.',
    ),
    h(
      'ol',
      {},
      h('li', {}, 'Choose a first and a last date; two or three weeks are a good start.'),
      h('li', {}, 'Choose models, or none to run all that the server’s configuration enables.'),
      h('li', {}, 'Start the job and watch it here. Curves and the leaderboard appear as model-days complete.'),
    ),
    h(
      'p',
      { class: 'quiet' },
      'The same over HTTP, with examples, is on the ',
      h('a', { href: '/api' }, 'API page'),
      '.',
    ),
  );
}

/** The models that can be ticked: those of the configuration, and those that have results. */
function offerModels(form: TriggerForm, { models, configuration_error: fault }: KnownModels): void {
  form.offer(
    models.map(({ signature, enabled }) => ({ model: signature, isEnabled: enabled })),
    fault,
  );
}
