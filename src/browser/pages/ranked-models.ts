import { h, type Live, replace } from '../element.ts';
import type { Performance } from '../responses.ts';
import { link } from '../ui.ts';
import { type Curves, equityCurves } from './equity-curves.ts';
import { type Leaderboard, leaderboard } from './leaderboard.ts';

/** What the overview and a job show of the same figures: curves, leaderboard, and where to compare. */
export interface RankedModels extends Live<Performance> {
  /** Shows what only the details of the models have. */
  complete(detailed: Performance): void;
}

/**
 * Empty until there are figures. Later ones are shown in place, those of other models in a new plot
 * and a new table. `choice` is beside the leaderboard; `query` is that of the comparison.
 */
export function rankedModels(
  { choice, query }: { choice: HTMLElement; query: string },
  signal: AbortSignal,
): RankedModels {
  const element = h('div.stack');
  const compare = link(`/compare${query}`, 'Compare the models with intervals');
  const isThere = compare.hasAttribute('href');
  const further = h('p', { hidden: !isThere }, 'Could the difference be chance? ', compare, '.');
  let drawing = new AbortController();
  let shown: { curves: Curves; board: Leaderboard } | null = null;
  return {
    element,
    update(performance) {
      if (shown?.curves.update(performance)) return shown.board.update(performance);
      drawing.abort();
      drawing = new AbortController();
      const curves = equityCurves(performance, AbortSignal.any([signal, drawing.signal]));
      const board = leaderboard(performance, choice);
      shown = { curves, board };
      replace(element, curves.element, board.element, further);
    },
    complete: (detailed) => shown?.board.complete(detailed),
  };
}
