import { modelPath } from '../../page-paths.ts';
import { queryForModel } from '../filters/carry.ts';
import { link, section } from '../parts/blocks.ts';
import { h, replace } from '../parts/element.ts';
import { change, cost, count, money, ratio, share } from '../parts/format.ts';
import { type Look, looksOf } from '../parts/look.ts';
import { swatch } from '../parts/swatch.ts';
import { liveTable, numberColumn, table, textColumn } from '../parts/table.ts';
import type { ModelReport, Performance } from '../service/responses.ts';

export interface Leaderboard {
  element: HTMLElement;
  /** Shows later figures of the same models. */
  update(performance: Performance): void;
}

/** Every model with the figures that distinguish it from the others. */
export function leaderboard(performance: Performance): Leaderboard {
  const {
    models,
    conventions: { definitions: meanings },
  } = performance;
  const looks = looksOf(models.map(({ model }) => model));
  const excess = meanings['excess_return'];
  const board = liveTable<ModelReport>({
    caption: 'Leaderboard of the models',
    rows: models,
    sortedBy: 'Return',
    columns: [
      {
        title: 'Model',
        isName: true,
        by: ({ model }) => model,
        cell: (row) => h('span', nameOf(row, looks.get(row.model)), caveat(row)),
      },
      numberColumn('Value', (row) => row.end_value, money, { meaning: 'Portfolio value at the last close' }),
      numberColumn('Return', (row) => row.total_return, change, { meaning: meanings['total_return'], isToned: true }),
      numberColumn('vs. benchmark', (row) => row.relative.excess_return, change, { meaning: excess, isToned: true }),
      numberColumn('Sharpe', (row) => row.sharpe_ratio, ratio, { meaning: meanings['sharpe_ratio'] }),
      numberColumn('Drawdown', (row) => row.max_drawdown.depth, share, { meaning: meanings['max_drawdown'] }),
      numberColumn('Trades', (row) => row.trading.trades, count, { meaning: meanings['trades'] }),
      numberColumn('Days', (row) => row.model_days, count, { meaning: 'Completed model-days' }),
      numberColumn('Cost', (row) => row.usage.cost_usd, cost, { meaning: meanings['cost_usd'] }),
    ],
  });
  const families = h('div');
  const show = (later: Performance) => replace(families, later.families.length > 0 && familyTable(later));
  show(performance);
  return {
    element: section('Leaderboard', board.element, families),
    update(later) {
      board.update(later.models);
      show(later);
    },
  };
}

type Family = Performance['families'][number];

/** The runs of each entry that has several, side by side, with the mean and the spread of their returns. */
function familyTable({ families, conventions: { definitions: meanings } }: Performance): HTMLElement {
  const runsOf = ({ runs }: Family) => runs.map(({ model, total_return }) => `${model} ${change(total_return)}`).join(', ');
  const figure = (title: string, name: 'mean_total_return' | 'total_return_deviation', format: typeof change) =>
    numberColumn<Family>(title, (row) => row[name], format, { meaning: meanings[name] });
  const columns = [
    textColumn<Family>('Runs of', ({ family }) => family, { isName: true }),
    figure('Mean return', 'mean_total_return', change),
    figure('Deviation', 'total_return_deviation', share),
    { title: 'Return of each run', cell: runsOf },
  ];
  return table({ caption: 'Runs of the same entry', rows: families, columns });
}

function nameOf({ model }: ModelReport, look: Look | undefined): HTMLElement {
  return link(modelPath(model) + queryForModel(location.search), look !== undefined && swatch(look), model);
}

const CAVEATS: Record<ModelReport['incomparable'][number]['kind'], string> = {
  period: 'different period',
  missing_days: 'missing days',
  stale: 'stale days',
  costs: 'different costs',
  universe: 'different universe',
  initial_cash: 'different initial cash',
  dividends: 'dividends treated differently',
};

/** Why a model should not be compared with the others: in a few words, and in sentences on hover. */
function caveat({ incomparable, days_before_cutoff: days, knowledge_cutoff: cutoff }: ModelReport): HTMLElement | false {
  const memory = { words: 'may remember', reason: `${days} of its days are not after its knowledge cutoff, ${cutoff}` };
  const all = [...incomparable.map(({ kind, reason }) => ({ words: CAVEATS[kind], reason })), ...(days > 0 ? [memory] : [])];
  if (all.length === 0) return false;
  const title = all.map(({ reason }) => reason).join('. ');
  return h('small.caveat', { title }, ` ${all.map(({ words }) => words).join(', ')}`);
}
