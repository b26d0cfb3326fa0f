import { h, type Live, replace } from '../element.ts';
import type { Performance } from '../responses.ts';
import { link } from '../ui.ts';
import { type Curves, equityCurves } from './equity-curves.ts';
import { type Leaderboard, leaderboard } from './leaderboard.ts';

/** What the overview and a job show alike: who leads, curves, leaderboard, and where to compare. */
interface RankedModels {
  /** Beside the leaderboard. */
  choice: HTMLElement;
  /** Of the comparison. */
  query: string;
  /** Asks for the same figures with details: these take seconds, so they come after the rest. */
  detailed: () => Promise<Performance>;
}

interface Ranked {
  performance: Performance;
  /** Who leads; null where it is not known. */
  answer: string | null;
}

/**
 * Empty until there are figures. Later ones are shown in place, those of other models in a new plot
 * and a new table.
 */
export function rankedModels(
  { choice, query, detailed }: RankedModels,
  signal: AbortSignal,
): Live<Ranked> {
  const element = h('div.stack');
  const sentence = h('p.answer', { 'aria-live': 'polite' });
  const compare = link(`/compare${query}`, 'Compare the models with intervals');
  const isThere = compare.hasAttribute('href');
  const further = h('p', { hidden: !isThere }, 'Could the difference be chance? ', compare, '.');
  let drawing = new AbortController();
  let shown: { curves: Curves; board: Leaderboard } | null = null;
  let isCompleting = false;
  const complete = () => {
    if (isCompleting) return;
    isCompleting = true;
    detailed()
      .then((performance) => shown?.board.complete(performance))
      .catch(() => undefined) // the column stays empty
      .finally(() => (isCompleting = false));
  };
  return {
    element,
    update({ performance, answer }) {
      complete();
      replace(sentence, answer);
      if (shown?.curves.update(performance)) return shown.board.update(performance);
      drawing.abort();
      drawing = new AbortController();
      const curves = equityCurves(performance, AbortSignal.any([signal, drawing.signal]));
      const board = leaderboard(performance, choice);
      shown = { curves, board };
      replace(element, sentence, curves.element, board.element, further);
    },
  };
}
