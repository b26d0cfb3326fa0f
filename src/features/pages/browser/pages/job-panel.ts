import { jobPath } from '../../paths.ts';
import { progressText } from '#text/sentences.ts';
import { get, send, nullIfNotFound } from '../api.ts';
import { h, type LiveView, morph, replace } from '../element.ts';
import { cost, counted, duration, jobStatusLabels, shortId, wholeNumber } from '../format.ts';
import { highest } from '../plot/scale.ts';
import { pollSoon } from '../poll.ts';
import type { Detail, JobEntry, Status, Job } from '../../responses.ts';
import {
  button,
  definitionList,
  foldAfter,
  link,
  localTime,
  errorText,
  openDialog,
  RETRY_NOTE,
  viewedFile,
} from '../ui.ts';
import { jobGrid } from './job-grid.ts';

/**
 * What went wrong in the job that ended last, of jobs that begin with the newest; false if nothing
 * did, so that a failure stays until a later job has ended well.
 */
export function newestTrouble(jobs: readonly Job[]): HTMLElement | false {
  const job = jobs.find(({ completed_at: end, status }) => end !== null && status !== 'discarded');
  if (job?.status !== 'failed' && job?.status !== 'partial') return false;
  return h(
    mostlyFailed(job) ? 'p.notice.bad.trouble' : 'p.notice.trouble',
    link(jobPath(job.job_id), `Job ${shortId(job.job_id)}`),
    `: ${failureText(job)}`,
  );
}

/** Whether at least as many model-days failed as were completed. */
function mostlyFailed({ progress: { failed, completed } }: Pick<Job, 'progress'>): boolean {
  return failed >= completed;
}

/** "100 of 100 model-days failed, 98 of them with: The model responded with status 401". */
export function failureText({
  progress,
  error,
  most_frequent_error: most,
}: Pick<Job, 'progress' | 'error' | 'most_frequent_error'>): string {
  const { failed, total_model_days: total } = progress;
  if (most === null) return error ?? 'it failed.';
  const those = most.model_days < failed ? `, ${wholeNumber(most.model_days)} of them with` : '';
  return `${wholeNumber(failed)} of ${counted(total, 'model-day')} failed${those}: ${most.reason}`;
}

/** All model-days that failed, were skipped or never ran for one reason, with the first of them. */
export interface ReasonGroup extends Detail {
  error: string;
  days: readonly Detail[];
}

const NOT_RUN = 'The job ended before this model-day ran';

/** What a job left out, in this order; what waits when it ends has never run. */
const LEFT_OUT: readonly Detail['status'][] = ['failed', 'pending', 'skipped'];

/** What a job has not simulated, by reason; of many, the most frequent first. */
export function groupLeftOut({
  details,
  completed_at: end,
}: Pick<Status, 'details' | 'completed_at'>): ReasonGroup[] {
  const without = details
    .map((detail) =>
      detail.status === 'running' ? { ...detail, status: 'pending' as const } : detail,
    )
    .filter(({ status }) => LEFT_OUT.includes(status) && (status !== 'pending' || end !== null))
    .map((detail) => ({ ...detail, error: detail.error ?? NOT_RUN }));
  return [...Map.groupBy(without, ({ status, error }) => `${status} ${error}`).values()]
    .flatMap((days) => days.slice(0, 1).map((first) => ({ ...first, days })))
    .sort(
      (one, other) =>
        LEFT_OUT.indexOf(one.status) - LEFT_OUT.indexOf(other.status) ||
        other.days.length - one.days.length,
    );
}

/**
 * A job with its progress, warnings and model-days, kept up to date while it is unfinished: empty
 * until its first refresh; with `titled` it links to the job's page.
 */
export function jobPanel(jobId: string, { titled }: { titled: boolean }) {
  const parts = {
    state: h('span.state'),
    figures: h('p.quiet'),
    bar: h('progress', { 'aria-label': 'Finished model-days' }),
    cancel: button('Cancel job', () => confirmAction(jobId, CANCEL), {
      class: 'danger',
      hidden: true,
    }),
    discard: button('Discard job', () => confirmAction(jobId, DISCARD), { hidden: true }),
  };
  const notes = h('div.notes', h('p.quiet', 'Loading the progress …'));
  const fold = h('details.fold');
  const spoken = h('div.unseen', { role: 'status' });
  let grid: LiveView<Status> | null = null;
  const show = (status: Status) => {
    if (grid === null) {
      grid = jobGrid(status);
      replace(fold, h('summary', 'Model-days'), grid.element);
      fold.open = status.completed_at === null || (!titled && status.status !== 'completed'); // then come the results
    } else grid.update(status);
    showState(status, parts);
    morph(spoken, jobStatusLabels[status.status]);
    const later = h('div.notes', ...jobNotes(status));
    // What a reader has unfolded stays as long as it says the same.
    if (notes.textContent !== later.textContent) replace(notes, ...later.childNodes);
  };
  const name = `Job ${shortId(jobId)}`;
  const bar = h(
    'div.bar',
    titled && h('h2', link(jobPath(jobId), name)),
    parts.state,
    parts.figures,
    parts.cancel,
    !titled && parts.discard,
  );
  return {
    element: h('section.job', { 'aria-label': name }, bar, parts.bar, notes, fold, spoken),
    /** Requests the job's status, shows it and returns it; null for an unknown job. */
    async refresh(signal: AbortSignal): Promise<Status | null> {
      const asked = get(`/simulate/status/${encodeURIComponent(jobId)}`, '', signal);
      const status = await asked.catch(nullIfNotFound).catch((error: unknown) => {
        if (grid === null) replace(notes, h('p.notice.bad', `${errorText(error)} ${RETRY_NOTE}`));
        throw error;
      });
      if (status !== null) show(status);
      return status;
    },
  };
}

type Parts = Record<'state' | 'figures' | 'cancel' | 'discard', HTMLElement> & {
  bar: HTMLProgressElement;
};

function showState(status: Status, { state, figures, bar, cancel, discard }: Parts): void {
  const { total_model_days: total, pending } = status.progress;
  const isOver = status.completed_at !== null;
  state.className = `state ${status.status}`;
  morph(state, jobStatusLabels[status.status]);
  bar.max = Math.max(1, total);
  bar.value = total - pending;
  bar.hidden = isOver;
  const isView = viewedFile() !== null;
  cancel.hidden = isOver || isView;
  discard.hidden = !isOver || isView || status.status === 'discarded';
  const { cost_usd: known, model_days_without_cost: without } = status.usage;
  const seconds = remainingSeconds(status);
  const toGo = seconds === null ? '' : `, about ${duration(seconds)} to go`;
  const when = isOver
    ? ['ended ', localTime(status.completed_at), ', took ', duration(status.total_duration_seconds)]
    : ['started ', localTime(status.started_at ?? status.created_at), toGo];
  morph(
    figures,
    progressText(status),
    (known !== null || without > 0) && ` · ${jobCost(status.usage)}`,
    status.universe !== null && ` · universe ${status.universe}`,
    ' · ',
    ...when,
  );
}

/** The other warnings of a job are folded: each of a thousand models may have one. */
const WARNINGS_AT_FIRST = 10;

function jobNotes(status: Status): HTMLElement[] {
  const [first] = groupLeftOut(status);
  const most =
    first?.status === 'failed' ? { reason: first.error, model_days: first.days.length } : null;
  const trouble = most && failureText({ ...status, most_frequent_error: most });
  const look = mostlyFailed(status) ? 'p.notice.bad' : 'p.notice';
  const problems = [status.error, trouble].flatMap((words) =>
    words === null ? [] : h(look, words),
  );
  const warnings = (status.warnings ?? []).map((warning) => h('p.notice', warning));
  const summary = (others: number) => counted(others, 'more warning');
  return [...problems, ...foldAfter(WARNINGS_AT_FIRST, warnings, summary)];
}

const CANCEL = {
  title: 'Cancel this job?',
  consequences:
    'This stops the model processes of the job. Completed model-days are kept; the others will not run.',
  no: 'Keep it running',
  yes: 'Cancel the job',
  act: (jobId: string) => send('POST', `/simulate/cancel/${encodeURIComponent(jobId)}`),
};

const DISCARD = {
  title: 'Discard this job?',
  consequences:
    'The results of this job leave all figures, and the results that it replaced come back. Later days that started ' +
    'from its results may become stale. The data is kept, but you cannot undo this.',
  no: 'Keep it',
  yes: 'Discard the job',
  act: (jobId: string) => send('DELETE', jobPath(jobId)).then(() => location.reload()),
};

/** Asks for confirmation before it acts; if the server refuses, the dialog shows its reason. */
function confirmAction(
  jobId: string,
  { title, consequences, no, yes, act }: typeof CANCEL | typeof DISCARD,
): void {
  const problem = h('p.notice.bad', { role: 'alert', hidden: true });
  const send = () => {
    yesButton.disabled = true;
    act(jobId)
      .then(() => dialog.close())
      .catch((error: unknown) => {
        replace(problem, errorText(error));
        problem.hidden = yesButton.disabled = false;
      })
      .finally(pollSoon);
  };
  const yesButton = button(yes, send, { class: 'danger' });
  const noButton = button(no, () => dialog.close(), { autofocus: true });
  const dialog = openDialog(
    title,
    h('p', consequences),
    problem,
    h('div.actions', noButton, yesButton),
  );
}

/** Before this time, the pace of a job is not meaningful. */
const LEAST_SECONDS = 3;

interface RunningJob extends Pick<Status, 'started_at'> {
  progress: Pick<Status['progress'], 'pending'>;
  details: readonly Pick<Detail, 'started_at' | 'completed_at'>[];
}

/**
 * The remaining time of a job at its pace so far; null if unknown, and when only the end of the job
 * is still to be stored. Skipped model-days took no time, so they do not count.
 */
export function remainingSeconds({
  started_at: start,
  progress,
  details,
}: RunningJob): number | null {
  const ended = details.flatMap(({ started_at: began, completed_at: end }) =>
    began !== null && end !== null ? Date.parse(end) : [],
  );
  const seconds = (highest(ended) - Date.parse(start ?? '')) / 1000;
  return progress.pending > 0 && seconds >= LEAST_SECONDS
    ? (seconds / ended.length) * progress.pending
    : null;
}

/** What a job cost: `$1.83`; `at least $1.83` while the cost of some model-days is not known. */
export function jobCost({
  cost_usd: known,
  model_days_without_cost: without,
}: Status['usage']): string {
  const words = cost(known);
  if (without === 0) return words;
  return /[1-9]/.test(words) ? `at least ${words}` : 'cost unknown'; // "at least $0" says nothing
}

/** The cost of a job in a sentence, and for how many of its model-days it is not known. */
export function totalCostText(usage: Status['usage']): string {
  const { model_days_without_cost: without } = usage;
  const unknown = without > 0 ? `, ${counted(without, 'model-day')} without a known cost` : '';
  return `The whole job: ${jobCost(usage)}, with failed model-days${unknown}. The table covers the completed model-days in use.`;
}

/**
 * An entry by the name of its run, or of its family with the number of its runs: `gpt-5, 3 runs`.
 */
export function entryName({ family, runs }: Pick<JobEntry, 'family' | 'runs'>): string {
  return runs.length > 1 ? `${family}, ${counted(runs.length, 'run')}` : (runs[0] ?? family);
}

type Entry = JobEntry['entry'];

const KINDS: Record<Entry['kind'], string> = {
  provider: 'real model',
  agent: 'outside agent',
  simulated: 'simulated model',
  baseline: 'baseline',
  unlisted: 'not in the configuration',
};

/** What a run asks its model, as it was stored with the run. */
export function entryView(entry: Entry): HTMLElement {
  const {
    kind,
    basemodel,
    url,
    parameters,
    repeats,
    price_per_million_tokens: prices,
    knowledge_cutoff: cutoff,
    max_cost_usd: limit,
  } = entry;
  const { model: _model, ...others } = parameters;
  const rows: [string, string | null][] = [
    ['Model', `${basemodel} (${KINDS[kind]})`],
    ['Runs', repeats > 1 ? `run ${entry.run} of ${repeats}` : null],
    ['Endpoint', url],
    ['Parameters', Object.keys(others).length > 0 ? JSON.stringify(others) : null],
    ['Notes', entry.notes ? 'kept from day to day' : null],
    ['Knowledge cutoff', cutoff],
    [
      'Dollars per million tokens',
      prices && kind !== 'baseline' ? `${prices.input} in, ${prices.output} out` : null,
    ],
    ['Cost limit per job', limit === null ? null : `$${limit}`],
    ['Tools', entry.tools.join(', ')],
    ['Prompt', entry.prompt],
  ];
  return definitionList(
    'entry',
    rows.filter(([, words]) => words !== null),
  );
}
