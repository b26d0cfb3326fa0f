import { h, replace } from '../parts/element.ts';
import { cost, count, duration } from '../parts/format.ts';
import { jobPanel } from './job-panel.ts';
import { modelDayPath, modelPath } from '../../page-paths.ts';
import { poll } from '../service/poll.ts';
import { type Page, heading } from '../parts/page.ts';
import type { Detail, Status } from '../service/responses.ts';
import { table } from '../parts/table.ts';
import { moment } from '../parts/time.ts';

const ROWS_AT_FIRST = 50;

/** One job: how far it is, and what every model-day took. */
export const showJob: Page = async (host, params, signal) => {
  const jobId = params['job_id'] ?? '';
  const panel = jobPanel(jobId, { titled: false });
  const details = h('div');
  replace(host, heading(`Job ${jobId.slice(0, 8)}`), h('p', { class: 'quiet' }, jobId), panel.element, details);
  const refresh = async (): Promise<Status | null> => {
    const status = await panel.refresh(signal);
    if (status === null) replace(panel.element, h('p', { class: 'notice' }, `There is no job ${jobId}.`));
    return status;
  };
  const first = await refresh();
  if (first === null) return;
  let shown = '';
  const showDetails = (status: Status) => {
    const key = `${status.progress.pending} ${status.status}`;
    if (key !== shown) replace(details, detailTable(status));
    shown = key;
  };
  showDetails(first);
  if (first.completed_at !== null) return;
  return () =>
    poll(async () => {
      const status = await refresh();
      if (status !== null) showDetails(status);
      return status?.completed_at === null ? 'moving' : 'still';
    }, signal);
};

function detailTable({ details }: Status): HTMLElement {
  const rows = details.filter(
    ({ started_at, status }) => started_at !== null || status === 'failed' || status === 'skipped',
  );
  return h(
    'section',
    {},
    h('h2', {}, 'Model-days'),
    table<Detail>({
      caption: 'Model-days of this job',
      rows,
      most: ROWS_AT_FIRST,
      columns: [
        {
          title: 'Date',
          by: ({ date }) => date,
          cell: ({ date, model }) => h('a', { href: modelDayPath(model, date) }, date),
        },
        {
          title: 'Model',
          isName: true,
          by: ({ model }) => model,
          cell: ({ model }) => h('a', { href: modelPath(model) }, model),
        },
        {
          title: 'Status',
          by: ({ status }) => status,
          cell: ({ status }) => h('span', { class: `state ${status}` }, status),
        },
        { title: 'Started', by: ({ started_at }) => started_at, cell: ({ started_at }) => moment(started_at) },
        figure('Took', ({ duration_seconds }) => duration_seconds, duration),
        figure('Steps', ({ steps }) => steps, count),
        figure('Tokens in', ({ prompt_tokens }) => prompt_tokens, count),
        figure('Tokens out', ({ completion_tokens }) => completion_tokens, count),
        figure('Cost', ({ cost_usd }) => cost_usd, cost),
        { title: 'Reason', cell: ({ error }) => error },
      ],
    }),
  );
}

function figure(title: string, by: (row: Detail) => number | null, format: (value: number | null) => string) {
  return { title, by, isFigure: true, cell: (row: Detail) => format(by(row)) };
}
