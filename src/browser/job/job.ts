import { modelDayPath, modelPath } from '../../page-paths.ts';
import { changeDetector, h, replace } from '../element.ts';
import { cost, count, duration, shortId } from '../format.ts';
import { poll } from '../poll.ts';
import type { Detail, Status } from '../responses.ts';
import { type Page, heading } from '../router.ts';
import { liveTable, numberColumn, textColumn } from '../table.ts';
import { link, localTime, missing, section } from '../ui.ts';
import { jobPanel } from './job-panel.ts';
import { leftOutView } from './left-out-view.ts';
import { ranWith } from './ran-with.ts';
import { jobResults } from './results.ts';

const ROWS_AT_FIRST = 50;

/**
 * One job: its progress, curves, figures and cost, what it left out, what it ran with, and every
 * model-day.
 */
export const showJob: Page = async (host, params, signal) => {
  const jobId = params['job_id'] ?? '';
  const panel = jobPanel(jobId, { titled: false });
  const results = jobResults(jobId);
  const [leftOut, details] = [leftOutView(), detailTable()];
  const ran = h('div');
  const way = h(
    'nav.way',
    { 'aria-label': 'Jobs' },
    link('/job-list', 'All jobs'),
    h('span.quiet', jobId),
  );
  const title = heading(`Job ${shortId(jobId)}`);
  const modelDays = section('Model-days', details.element);
  leftOut.element.hidden = modelDays.hidden = true; // until the job is known
  replace(host, title, way, panel.element, results.element, leftOut.element, ran, modelDays);
  const [detailsHaveChanged, leftOutHasChanged] = [changeDetector(), changeDetector()];
  const show = (status: Status) => {
    leftOut.element.hidden = modelDays.hidden = false;
    if (ran.childElementCount === 0) replace(ran, ranWith(status));
    if (detailsHaveChanged([status.status, status.progress.pending]))
      details.update(withDetails(status));
    const { progress, completed_at } = status;
    const skipped = status.details.filter((detail) => detail.status === 'skipped').length;
    if (leftOutHasChanged([progress.failed, skipped, completed_at])) leftOut.update(status);
  };
  const refresh = async (): Promise<{ status: Status | null; hasMoved: boolean }> => {
    const status = await panel.refresh(signal);
    if (status === null) {
      replace(
        panel.element,
        ...missing(`There is no job ${jobId}.`, link('/job-list', 'all jobs'), ', '),
      );
      return { status, hasMoved: false };
    }
    show(status);
    return { status, hasMoved: await results.refreshFor(status, signal) };
  };
  const { status: first } = await refresh();
  if (first?.completed_at !== null) return;
  return () =>
    poll(async () => {
      const { status, hasMoved } = await refresh();
      return status?.completed_at === null || hasMoved ? 'moving' : 'still';
    }, signal);
};

/** The model-days that have begun, or never will. */
function withDetails({ details }: Status): Detail[] {
  return details.filter(
    ({ started_at, status }) => started_at !== null || status === 'failed' || status === 'skipped',
  );
}

function detailTable() {
  return liveTable<Detail>({
    caption: 'Model-days of this job',
    rows: [],
    key: ({ date, model }) => `${date} ${model}`,
    most: ROWS_AT_FIRST,
    columns: [
      textColumn('Date', ({ date }) => date, {
        cell: ({ date, model }) => link(modelDayPath(model, date), date),
      }),
      textColumn('Model', ({ model }) => model, {
        isName: true,
        cell: ({ model }) => link(modelPath(model), model),
      }),
      textColumn('Status', (row) => row.status, {
        cell: ({ status }) => h(`span.state.${status}`, status),
      }),
      textColumn('Started', (row) => row.started_at, { cell: (row) => localTime(row.started_at) }),
      numberColumn('Took', (row) => row.duration_seconds, duration),
      numberColumn('Steps', (row) => row.steps, count),
      numberColumn('Tokens in', (row) => row.prompt_tokens, count),
      numberColumn('Tokens out', (row) => row.completion_tokens, count),
      numberColumn('Cost', (row) => row.cost_usd, cost),
      { title: 'Reason', cell: ({ error }) => error, look: () => 'reason' },
    ],
  });
}
