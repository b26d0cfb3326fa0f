import { modelPath } from '../../basics/paths.ts';
import { MAX_COMPARED } from '../../basics/runs.ts';
import { isPublished } from '../address.ts';
import { get } from '../api.ts';
import { h, type Live, renew, replace } from '../element.ts';
import { byName, entriesIn } from '../format.ts';
import { recompute, type RefreshFor } from '../poll.ts';
import type { ModelReport, Performance, Status } from '../responses.ts';
import { liveTable, nameColumn } from '../table.ts';
import { link, section } from '../ui.ts';
import { askWhoLeads } from './answer.ts';
import { totalInWords } from './job-panel.ts';
import { figureColumn, figureNamed } from './model-figures.ts';
import { rankedModels } from './ranked-models.ts';

/** Who leads in one job, its curves, leaderboard and cost, over its own model-days. */
interface JobResults {
  element: HTMLElement;
  refreshFor: RefreshFor;
}

/** The results of a job, empty until its first refresh. */
export function jobResults(jobId: string, signal: AbortSignal): JobResults {
  const element = h('div.stack');
  const query = `?job_id=${encodeURIComponent(jobId)}`;
  const choice = link(`/${query}`, 'On the overview');
  choice.hidden = isPublished();
  const own = { job_id: jobId, by: 'entry', common: 'true' };
  const detailed = () => get('/performance', { ...own, details: 'true' }, signal);
  const ranked = rankedModels({ choice, query, detailed }, signal);
  const all = link(`/${query}&common=false`, 'Show each model over all its days');
  const unranked = h('p.notice', 'The models have no day in common. ', all, '.');
  let cost: Live<Costs> | null = null;
  const refresh = async (status: Status) => {
    // Ranked as on the overview; what the runs cost is over all their days.
    const [performance, all, answer] = await Promise.all([
      get('/performance', own, signal),
      get('/performance', { job_id: jobId }, signal),
      entriesIn(status.models).length > MAX_COMPARED ? null : askWhoLeads(query, signal),
    ]);
    if (all.models.length === 0) return replace(element, h('p.notice', noResults(status)));
    const costs = { performance: all, usage: status.usage };
    cost ??= costSection(costs);
    cost.update(costs);
    const isRanked = performance.models.length > 0;
    if (isRanked) ranked.update({ performance, answer });
    renew(element, isRanked ? ranked.element : unranked, cost.element);
  };
  return { element, refreshFor: recompute(refresh) };
}

function noResults({ status, completed_at, progress }: Status): string {
  if (status === 'discarded')
    return 'This job was discarded: its model-days no longer count. Nothing was erased.';
  if (completed_at === null) return 'Curves and figures appear as model-days complete.';
  if (progress.completed === progress.skipped)
    return 'This job has no results: it completed none of its model-days.';
  return 'No results of this job are in use: later jobs have replaced them.';
}

/** What a job used and cost. */
const USAGE = [
  ...['model_days', 'requests', 'prompt_tokens', 'cached_tokens', 'completion_tokens'],
  ...['reasoning_tokens', 'cost_usd', 'profit_per_cost_usd'],
];

/** The figures of all models of a job, and what the job used. */
interface Costs {
  performance: Performance;
  usage: Status['usage'];
}

/** What a job's models used and cost, and the cost of the whole job. */
function costSection({ performance: first }: Costs): Live<Costs> {
  const columns = USAGE.map((name) => figureColumn(figureNamed(first.conventions, name)));
  const total = h('p');
  const models = liveTable<ModelReport>({
    caption: 'Usage and cost of the models',
    rows: [],
    key: ({ model }) => model,
    sortedBy: 'Cost',
    columns: [
      nameColumn('Model', 'model', {
        cell: ({ model }) => link(modelPath(model), model),
      }),
      ...columns,
    ],
  });
  return {
    element: section('Cost', total, models.element),
    update({ performance, usage }) {
      models.update(inOrder(performance));
      renew(total, totalInWords(usage));
    },
  };
}

function inOrder({ models }: Performance): ModelReport[] {
  return models.toSorted((one, other) => byName(one.model, other.model));
}
