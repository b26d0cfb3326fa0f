import { modelPath } from '../../page-paths.ts';
import { getPerformance } from '../api.ts';
import { h, replace } from '../element.ts';
import { byName, cost, count, ratio } from '../format.ts';
import { type RefreshFor, recompute } from '../poll.ts';
import type { ModelReport, Performance, Status } from '../responses.ts';
import { liveTable, numberColumn, textColumn } from '../table.ts';
import { link, section } from '../ui.ts';
import { equityCurves } from './equity-curves.ts';
import { totalInWords } from './job-panel.ts';
import { leaderboard } from './leaderboard.ts';

/** The curves, the leaderboard and the cost of one job, over its own model-days. */
interface JobResults {
  element: HTMLElement;
  refreshFor: RefreshFor;
}

type Shown = {
  curves: ReturnType<typeof equityCurves>;
  board: ReturnType<typeof leaderboard>;
  cost: CostTable;
};

/** The results of a job, empty until its first refresh. */
export function jobResults(jobId: string): JobResults {
  const element = h('div.stack');
  let drawing = new AbortController();
  let shown: Shown | null = null;
  const refresh = async (status: Status, signal: AbortSignal) => {
    const performance = await getPerformance({ job_id: jobId }, signal);
    if (shown?.curves.update(performance)) {
      shown.board.update(performance);
      return shown.cost.update(performance, status.usage);
    }
    drawing.abort();
    drawing = new AbortController();
    shown = null;
    if (performance.models.length === 0) return replace(element, h('p.notice', noResults(status)));
    const over = AbortSignal.any([signal, drawing.signal]);
    const cost = costSection(performance, status.usage);
    const query = `?job_id=${encodeURIComponent(jobId)}`;
    const choice = h(
      'p',
      link(`/${query}`, 'Rank these models over the days that they have in common'),
    );
    shown = {
      curves: equityCurves(performance, over),
      board: leaderboard(performance, choice),
      cost,
    };
    const compare = link(`/compare${query}`, 'Compare the models of this job with intervals');
    const further = h('p', 'Could the difference be chance? ', compare, '.');
    replace(element, shown.curves.element, shown.board.element, further, cost.element);
  };
  return { element, refreshFor: recompute(refresh) };
}

function noResults({ completed_at, progress }: Status): string {
  if (completed_at === null) return 'Curves and figures appear as model-days complete.';
  if (progress.completed === 0)
    return 'This job has no results: none of its model-days was completed.';
  return 'No results of this job are in use: its model-days were skipped, or later jobs have replaced them.';
}

/** A table of costs that follows a job. */
interface CostTable {
  element: HTMLElement;
  /** Shows later figures of the same models. */
  update(performance: Performance, usage: Status['usage']): void;
}

/** What a job's models used and cost, and the cost of the whole job. */
function costSection(performance: Performance, total: Status['usage']): CostTable {
  const meanings = performance.conventions.definitions;
  const usage = (
    title: string,
    read: (row: ModelReport) => number | null,
    format: typeof count,
    name: string,
  ) =>
    numberColumn<ModelReport>(title, read, format, {
      meaning: meanings[name],
      reason: ({ usage: own }) => own.unavailable[name],
    });
  const all = h('p');
  const show = (used: Status['usage']) => replace(all, totalInWords(used));
  const models = liveTable<ModelReport>({
    caption: 'Usage and cost of the models',
    rows: inOrder(performance),
    key: ({ model }) => model,
    sortedBy: 'Cost',
    columns: [
      textColumn('Model', ({ model }) => model, {
        isName: true,
        cell: ({ model }) => link(modelPath(model), model),
      }),
      usage('Model-days', (row) => row.model_days, count, 'model_days'),
      usage('Requests', (row) => row.usage.requests, count, 'requests'),
      usage('Tokens in', (row) => row.usage.prompt_tokens, count, 'prompt_tokens'),
      usage('Cached', (row) => row.usage.cached_tokens, count, 'cached_tokens'),
      usage('Tokens out', (row) => row.usage.completion_tokens, count, 'completion_tokens'),
      usage('Reasoning', (row) => row.usage.reasoning_tokens, count, 'reasoning_tokens'),
      usage('Cost', (row) => row.usage.cost_usd, cost, 'cost_usd'),
      usage(
        'Profit per dollar',
        (row) => row.usage.profit_per_cost_usd,
        ratio,
        'profit_per_cost_usd',
      ),
    ],
  });
  show(total);
  return {
    element: section('Cost', all, models.element),
    update(later, used) {
      models.update(inOrder(later));
      show(used);
    },
  };
}

function inOrder({ models }: Performance): ModelReport[] {
  return models.toSorted((one, other) => byName(one.model, other.model));
}
