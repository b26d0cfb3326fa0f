import { modelPath } from '../../basics/paths.ts';
import { getPerformance } from '../api.ts';
import { h, replace } from '../element.ts';
import { byName, cost, count, ratio } from '../format.ts';
import { recompute, type RefreshFor } from '../poll.ts';
import type { ModelReport, Performance, Status } from '../responses.ts';
import { liveTable, nameColumn } from '../table.ts';
import { link, section } from '../ui.ts';
import { type Curves, equityCurves } from './equity-curves.ts';
import { totalInWords } from './job-panel.ts';
import { type Leaderboard, leaderboard } from './leaderboard.ts';
import { type Figure, figureColumn, reportFigure, usageFigure } from './model-figures.ts';

/** The curves, the leaderboard and the cost of one job, over its own model-days. */
interface JobResults {
  element: HTMLElement;
  refreshFor: RefreshFor;
}

interface Shown {
  curves: Curves;
  board: Leaderboard;
  cost: CostTable;
}

/** The results of a job, empty until its first refresh. */
export function jobResults(jobId: string): JobResults {
  const element = h('div.stack');
  let drawing = new AbortController();
  let shown: Shown | null = null;
  const refresh = async (status: Status, signal: AbortSignal) => {
    const chosen = { job_id: jobId };
    // Ranked as on the overview; what the runs cost is over all their days.
    const [performance, all] = await Promise.all([
      getPerformance({ ...chosen, by: 'entry', common: 'true' }, signal),
      getPerformance(chosen, signal),
    ]);
    if (shown?.curves.update(performance)) {
      shown.board.update(performance);
      return shown.cost.update(all, status.usage);
    }
    drawing.abort();
    drawing = new AbortController();
    shown = null;
    if (all.models.length === 0) return replace(element, h('p.notice', noResults(status)));
    const over = AbortSignal.any([signal, drawing.signal]);
    const cost = costSection(all, status.usage);
    const query = `?job_id=${encodeURIComponent(jobId)}`;
    if (performance.models.length === 0) {
      const way = link(`/${query}&common=false`, 'Show each model over all its days');
      const words = h('p.notice', 'The models have no day in common. ', way, '.');
      return replace(element, words, cost.element);
    }
    const choice = link(`/${query}`, 'On the overview');
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

const USAGE: readonly Figure[] = [
  reportFigure('model_days', count, { label: 'Model-days' }),
  usageFigure('requests', count),
  usageFigure('prompt_tokens', count, { label: 'Tokens in' }),
  usageFigure('cached_tokens', count, { label: 'Cached' }),
  usageFigure('completion_tokens', count, { label: 'Tokens out' }),
  usageFigure('reasoning_tokens', count, { label: 'Reasoning' }),
  usageFigure('cost_usd', cost, { label: 'Cost' }),
  usageFigure('profit_per_cost_usd', ratio, { label: 'Profit per dollar' }),
];

/** What a job's models used and cost, and the cost of the whole job. */
function costSection(performance: Performance, total: Status['usage']): CostTable {
  const { definitions } = performance.conventions;
  const all = h('p');
  const show = (used: Status['usage']) => replace(all, totalInWords(used));
  const models = liveTable<ModelReport>({
    caption: 'Usage and cost of the models',
    rows: inOrder(performance),
    key: ({ model }) => model,
    sortedBy: 'Cost',
    columns: [
      nameColumn('Model', 'model', {
        cell: ({ model }) => link(modelPath(model), model),
      }),
      ...USAGE.map((figure) => figureColumn(figure, definitions)),
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
