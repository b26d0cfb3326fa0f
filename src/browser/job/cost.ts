import { modelPath } from '../../page-paths.ts';
import { h, replace } from '../element.ts';
import { byName, cost, count, ratio } from '../format.ts';
import type { ModelReport, Performance, Status } from '../responses.ts';
import { liveTable, numberColumn, textColumn } from '../table.ts';
import { link, section } from '../ui.ts';
import { totalInWords } from './job-words.ts';

/** A table of costs that follows a job. */
export interface CostTable {
  element: HTMLElement;
  /** Shows later figures of the same models. */
  update(performance: Performance, usage: Status['usage']): void;
}

/** What a job's models used and cost, and the cost of the whole job. */
export function costSection(performance: Performance, total: Status['usage']): CostTable {
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
