import { cancelJob, getStatus } from '../service/requests.ts';
import { h, newId, on, replace } from '../parts/element.ts';
import { count, counted, duration } from '../parts/format.ts';
import { type JobGrid, jobGrid } from './job-grid.ts';
import { secondsToGo } from './pace.ts';
import { jobPath } from '../../page-paths.ts';
import { pollSoon } from '../service/poll.ts';
import type { Status } from '../service/responses.ts';
import { moment } from '../parts/time.ts';

const words: Record<Status['status'], string> = {
  pending: 'Waiting to start',
  downloading_data: 'Preparing prices',
  running: 'Running',
  completed: 'Completed',
  partial: 'Completed in part',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

/** A job with its progress, warnings and model-days, kept up to date as long as it is unfinished. */
export interface JobPanel {
  element: HTMLElement;
  /** Asks the server how the job stands, shows it and returns it; null for an unknown job. */
  refresh(signal: AbortSignal): Promise<Status | null>;
}

export function jobPanel(jobId: string, { titled }: { titled: boolean }): JobPanel {
  const parts = {
    state: h('span', { class: 'state' }),
    figures: h('p', { class: 'quiet' }),
    bar: h('progress', { 'aria-label': 'Model-days that have ended' }),
    notes: h('div', { class: 'notes' }),
    cancel: h('button', { type: 'button', class: 'danger', hidden: true, 'data-action': 'cancel' }, 'Cancel job'),
    grid: h('details', { class: 'fold' }),
  };
  const said = h('div', { class: 'unseen', role: 'status' });
  on(parts.cancel, 'click', () => confirmCancel(jobId));
  let grid: JobGrid | null = null;
  let shown = '';
  const show = (status: Status) => {
    if (grid === null) {
      grid = jobGrid(status);
      replace(parts.grid, h('summary', {}, 'Model-days'), grid.element);
      parts.grid.open = !titled || status.completed_at === null; // of a job that is over the overview shows the outcome
    } else grid.update(status);
    showState(status, parts);
    if (said.textContent !== words[status.status]) replace(said, words[status.status]);
    const notes = JSON.stringify([
      status.error,
      status.warnings,
      status.details.filter(({ status: state }) => state === 'failed'),
    ]);
    if (notes !== shown) replace(parts.notes, ...notesOf(status));
    shown = notes;
  };
  const title = titled && h('h2', {}, h('a', { href: jobPath(jobId) }, `Job ${jobId.slice(0, 8)}`));
  const element = h(
    'section',
    { class: 'job', 'aria-label': `Job ${jobId.slice(0, 8)}` },
    h('div', { class: 'bar' }, title, parts.state, parts.figures, parts.cancel),
    parts.bar,
    parts.notes,
    parts.grid,
    said,
  );
  return {
    element,
    async refresh(signal) {
      const status = await getStatus(jobId, signal);
      if (status !== null) show(status);
      return status;
    },
  };
}

type Parts = Record<'state' | 'figures' | 'bar' | 'cancel', HTMLElement>;

function showState(status: Status, { state, figures, bar, cancel }: Parts): void {
  const { total_model_days: total, failed, pending } = status.progress;
  const isOver = status.completed_at !== null;
  state.className = `state ${status.status}`;
  replace(state, words[status.status]);
  const ended = total - pending;
  (bar as HTMLProgressElement).max = Math.max(1, total);
  (bar as HTMLProgressElement).value = ended;
  const percent = total === 0 ? 100 : Math.floor((ended / total) * 100);
  bar.hidden = isOver;
  cancel.hidden = isOver;
  const when = isOver
    ? [moment(status.completed_at), ', after ', duration(status.total_duration_seconds)]
    : ['started ', moment(status.started_at ?? status.created_at), remaining(status)];
  replace(
    figures,
    `${count(ended)} of ${counted(total, 'model-day')} (${percent} %)`,
    failed > 0 && ', ',
    failed > 0 && h('strong', { class: 'loss' }, `${count(failed)} failed`),
    pending > 0 && isOver && `, ${count(pending)} not run`,
    ' · ',
    ...when,
  );
}

/** A guess from the pace so far, all by the server's clock. */
function remaining(status: Status): string {
  const seconds = secondsToGo(status);
  return seconds === null ? '' : `, about ${duration(seconds)} to go`;
}

function notesOf({ error, warnings, details }: Status): HTMLElement[] {
  const failures = details.filter(({ status }) => status === 'failed');
  const byError = [...Map.groupBy(failures, (detail) => detail.error ?? '')];
  return [
    ...(error === null ? [] : [h('p', { class: 'notice bad' }, error)]),
    ...byError.map(([reason, own]) =>
      h('p', { class: 'notice bad' }, `${counted(own.length, 'model-day')} failed: ${reason}`),
    ),
    ...(warnings ?? []).map((warning) => h('p', { class: 'notice' }, warning)),
  ];
}

/** Asks before it stops anything; the server's answer stays in the dialog when it refuses. */
function confirmCancel(jobId: string): void {
  const id = newId();
  const problem = h('p', { class: 'notice bad', role: 'alert', hidden: true });
  const stop = h('button', { type: 'button', class: 'danger', 'data-action': 'confirm-cancel' }, 'Cancel the job');
  const keep = h('button', { type: 'button', autofocus: true }, 'Let it run');
  const dialog = h(
    'dialog',
    { 'aria-labelledby': id },
    h('h2', { id }, 'Cancel this job?'),
    h('p', {}, 'Its model processes are stopped. Model-days that have completed stay; the others are not run.'),
    problem,
    h('div', { class: 'actions' }, keep, stop),
  );
  on(keep, 'click', () => dialog.close());
  on(dialog, 'close', () => dialog.remove());
  on(stop, 'click', () => {
    stop.disabled = true;
    cancelJob(jobId)
      .then(() => dialog.close())
      .catch((error: unknown) => {
        replace(problem, error instanceof Error ? error.message : String(error));
        problem.hidden = false;
        stop.disabled = false;
      })
      .finally(pollSoon);
  });
  document.body.append(dialog);
  dialog.showModal();
}
