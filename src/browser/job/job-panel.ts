import { jobPath } from '../../page-paths.ts';
import { cancelJob, getStatus } from '../api.ts';
import { changeDetector, h, renew, replace } from '../element.ts';
import { count, counted, duration, jobStatusWords, shortId } from '../format.ts';
import { entryView } from '../model/entry.ts';
import { pollSoon } from '../poll.ts';
import type { JobEntry, Status } from '../responses.ts';
import { button, foldAfter, link, localTime, messageOf, openDialog, viewedFile } from '../ui.ts';
import { type JobGrid, jobGrid } from './job-grid.ts';
import { entryName, failuresInWords, jobCost } from './job-words.ts';
import { secondsToGo } from './pace.ts';

/** A job with its progress, warnings and model-days, kept up to date while it is unfinished. */
export interface JobPanel {
  element: HTMLElement;
  /** Requests the job's status, shows it and returns it; null for an unknown job. */
  refresh(signal: AbortSignal): Promise<Status | null>;
}

/**
 * The panel of a job, empty until its first refresh; with `titled` it links to the page of the job
 * and folds what ran.
 */
export function jobPanel(jobId: string, { titled }: { titled: boolean }): JobPanel {
  const parts = {
    state: h('span.state'),
    figures: h('p.quiet'),
    bar: h('progress', { 'aria-label': 'Finished model-days' }),
    cancel: button('Cancel job', () => confirmCancel(jobId), { class: 'danger', hidden: true }),
  };
  const notes = h('div.notes');
  const fold = h('details.fold');
  const ran = h('details.fold');
  const spoken = h('div.unseen', { role: 'status' });
  const [stateHasChanged, notesHaveChanged] = [changeDetector(), changeDetector()];
  let grid: JobGrid | null = null;
  const show = (status: Status) => {
    if (grid === null) {
      grid = jobGrid(status);
      if (titled) replace(ran, h('summary', 'What ran'), ...status.entries.map(showEntry));
      replace(fold, h('summary', 'Model-days'), grid.element);
      fold.open = !titled || status.completed_at === null; // the overview shows the results of a finished job
    } else grid.update(status);
    showState(status, parts);
    if (stateHasChanged(status.status)) replace(spoken, jobStatusWords[status.status]);
    const later = notesOf(status);
    if (notesHaveChanged(later.map(({ textContent }) => textContent))) replace(notes, ...later);
  };
  const name = `Job ${shortId(jobId)}`;
  const title = titled && h('h2', link(jobPath(jobId), name));
  const bar = h('div.bar', title, parts.state, parts.figures, parts.cancel);
  return {
    element: h(
      'section.job',
      { 'aria-label': name },
      bar,
      parts.bar,
      notes,
      fold,
      titled && ran,
      spoken,
    ),
    async refresh(signal) {
      const status = await getStatus(jobId, signal);
      if (status !== null) show(status);
      return status;
    },
  };
}

type Parts = Record<'state' | 'figures' | 'cancel', HTMLElement> & { bar: HTMLProgressElement };

function showState(status: Status, { state, figures, bar, cancel }: Parts): void {
  const { total_model_days: total, failed, pending } = status.progress;
  const isOver = status.completed_at !== null;
  state.className = `state ${status.status}`;
  renew(state, jobStatusWords[status.status]);
  const finished = total - pending;
  bar.max = Math.max(1, total);
  bar.value = finished;
  bar.hidden = isOver;
  cancel.hidden = isOver || viewedFile() !== null;
  const percent = total === 0 ? 100 : Math.floor((finished / total) * 100);
  const when = isOver
    ? ['ended ', localTime(status.completed_at), ', took ', duration(status.total_duration_seconds)]
    : ['started ', localTime(status.started_at ?? status.created_at), timeToGo(status)];
  renew(
    figures,
    `${count(finished)} of ${counted(total, 'model-day')} (${percent} %)`,
    failed > 0 && ', ',
    failed > 0 && h('strong.loss', `${count(failed)} failed`),
    pending > 0 && isOver && `, ${count(pending)} not run`,
    ` · ${jobCost(status.usage)}`,
    status.universe !== null && ` · universe ${status.universe}`,
    ' · ',
    ...when,
  );
}

/** An estimate from the pace so far. */
function timeToGo(status: Status): string {
  const seconds = secondsToGo(status);
  return seconds === null ? '' : `, about ${duration(seconds)} to go`;
}

function showEntry(ran: JobEntry): HTMLElement {
  return h('div', h('h3', entryName(ran)), entryView(ran.entry));
}

/** The other warnings of a job are folded: each of a thousand models may have one. */
const WARNINGS_AT_FIRST = 10;

function notesOf(status: Status): HTMLElement[] {
  const problems = [status.error, ...failuresInWords(status)].filter((words) => words !== null);
  const warnings = (status.warnings ?? []).map((warning) => h('p.notice', warning));
  const folded = foldAfter(WARNINGS_AT_FIRST, warnings, (others) =>
    counted(others, 'more warning'),
  );
  return [...problems.map((words) => h('p.notice.bad', words)), ...folded];
}

/**
 * Asks for confirmation before stopping anything; if the server refuses, the dialog shows its
 * reason.
 */
function confirmCancel(jobId: string): void {
  const problem = h('p.notice.bad', { role: 'alert', hidden: true });
  const cancel = () => {
    stop.disabled = true;
    cancelJob(jobId)
      .then(() => dialog.close())
      .catch((error: unknown) => {
        replace(problem, messageOf(error));
        problem.hidden = stop.disabled = false;
      })
      .finally(pollSoon);
  };
  const stop = button('Cancel the job', cancel, { class: 'danger' });
  const keep = button('Let it run', () => dialog.close(), { autofocus: true });
  const consequences =
    'This stops its model processes. Completed model-days are kept; the others will not run.';
  const dialog = openDialog(
    'Cancel this job?',
    h('p', consequences),
    problem,
    h('div.actions', keep, stop),
  );
}
