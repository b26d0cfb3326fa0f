import { lookOf } from './curves.ts';
import { h } from '../parts/element.ts';
import { change, cost, count, money, ratio, share, tone } from '../parts/format.ts';
import { modelPath } from '../../page-paths.ts';
import type { ModelReport, Performance } from '../service/responses.ts';
import { liveTable } from '../parts/table.ts';

export interface Leaderboard {
  element: HTMLElement;
  /** Shows later figures of the same models. */
  update(performance: Performance): void;
}

/** Every model with the figures that tell it from the others. */
export function leaderboard({ models, conventions: { definitions } }: Performance): Leaderboard {
  const place = new Map(models.map(({ model }, index) => [model, index]));
  const board = liveTable<ModelReport>({
    caption: 'Leaderboard of the models',
    rows: models,
    sortedBy: 'Return',
    columns: [
      {
        title: 'Model',
        isName: true,
        by: ({ model }) => model.toLowerCase(),
        cell: (row) => h('span', {}, nameOf(row, place.get(row.model) ?? 0), caveat(row)),
      },
      figure('Value', ({ end_value }) => end_value, money, 'Value of the portfolio at the last close'),
      {
        ...figure('Return', ({ total_return }) => total_return, change, definitions['total_return']),
        tone: (row) => tone(row.total_return),
      },
      {
        ...figure('Benchmark', excess, change, definitions['excess_return']),
        tone: (row) => tone(excess(row)),
        title: 'vs. benchmark',
      },
      figure('Sharpe', ({ sharpe_ratio }) => sharpe_ratio, ratio, definitions['sharpe_ratio']),
      figure('Drawdown', ({ max_drawdown }) => max_drawdown.depth, share, definitions['max_drawdown']),
      figure('Trades', ({ trading }) => trading.trades, count, definitions['trades']),
      figure('Days', ({ model_days }) => model_days, count, 'Completed model-days'),
      figure('Cost', ({ usage }) => usage.cost_usd, cost, definitions['cost_usd']),
    ],
  });
  const title = h('h2', { id: 'leaderboard-title' }, 'Leaderboard');
  return {
    element: h('section', { 'aria-labelledby': 'leaderboard-title' }, title, board.element),
    update: (later) => board.update(later.models),
  };
}

function nameOf({ model }: ModelReport, place: number): HTMLElement {
  return h('a', { href: modelPath(model) }, h('span', { class: `swatch ${lookOf(place)}` }), model);
}

const CAVEATS: Record<ModelReport['incomparable'][number]['kind'], string> = {
  period: 'other period',
  missing_days: 'days missing',
  stale: 'stale days',
  costs: 'other costs',
  universe: 'other universe',
  initial_cash: 'other initial cash',
};

/** Why a model's place among the others says little, in a few words; whoever points at them reads the sentences. */
function caveat({ incomparable }: ModelReport): HTMLElement | false {
  if (incomparable.length === 0) return false;
  const words = incomparable.map(({ kind }) => CAVEATS[kind]).join(', ');
  const sentences = incomparable.map(({ reason }) => reason).join('. ');
  return h('small', { class: 'caveat', title: sentences }, ` ${words}`);
}

function excess({ relative }: ModelReport): number | null {
  const value = relative['excess_return'];
  return typeof value === 'number' ? value : null;
}

function figure(
  title: string,
  by: (row: ModelReport) => number | null,
  format: (value: number | null) => string,
  meaning: string | undefined,
) {
  return { title, by, meaning, isFigure: true, cell: (row: ModelReport) => format(by(row)) };
}
