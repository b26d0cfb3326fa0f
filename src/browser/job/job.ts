import { modelDayPath, modelPath } from '../../page-paths.ts';
import { link, missing, section } from '../parts/blocks.ts';
import { changeDetector, h, replace } from '../parts/element.ts';
import { cost, count, duration } from '../parts/format.ts';
import { type Page, heading } from '../parts/page.ts';
import { numberColumn, table, textColumn } from '../parts/table.ts';
import { localTime } from '../parts/time.ts';
import { poll } from '../service/poll.ts';
import type { Detail, Status } from '../service/responses.ts';
import { jobPanel } from './job-panel.ts';

const ROWS_AT_FIRST = 50;

/** One job: its progress, and what every model-day used. */
export const showJob: Page = async (host, params, signal) => {
  const jobId = params['job_id'] ?? '';
  const panel = jobPanel(jobId, { titled: false });
  const details = h('div');
  replace(host, heading(`Job ${jobId.slice(0, 8)}`), h('p.quiet', jobId), panel.element, details);
  const hasChanged = changeDetector();
  const refresh = async (): Promise<Status | null> => {
    const status = await panel.refresh(signal);
    if (status === null) replace(panel.element, ...missing(`There is no job ${jobId}.`, link('/job-list', 'all jobs'), ', '));
    else if (hasChanged([status.status, status.progress.pending])) replace(details, detailTable(status));
    return status;
  };
  const first = await refresh();
  if (first?.completed_at !== null) return;
  return () => poll(async () => ((await refresh())?.completed_at === null ? 'moving' : 'still'), signal);
};

function detailTable({ details }: Status): HTMLElement {
  const rows = details.filter(
    ({ started_at, status }) => started_at !== null || status === 'failed' || status === 'skipped',
  );
  return section(
    'Model-days',
    table<Detail>({
      caption: 'Model-days of this job',
      rows,
      most: ROWS_AT_FIRST,
      columns: [
        textColumn('Date', ({ date }) => date, { cell: ({ date, model }) => link(modelDayPath(model, date), date) }),
        textColumn('Model', ({ model }) => model, { isName: true, cell: ({ model }) => link(modelPath(model), model) }),
        textColumn('Status', (row) => row.status, { cell: ({ status }) => h(`span.state.${status}`, status) }),
        textColumn('Started', (row) => row.started_at, { cell: (row) => localTime(row.started_at) }),
        numberColumn('Took', (row) => row.duration_seconds, duration),
        numberColumn('Steps', (row) => row.steps, count),
        numberColumn('Tokens in', (row) => row.prompt_tokens, count),
        numberColumn('Tokens out', (row) => row.completion_tokens, count),
        numberColumn('Cost', (row) => row.cost_usd, cost),
        { title: 'Reason', cell: ({ error }) => error },
      ],
    }),
  );
}
