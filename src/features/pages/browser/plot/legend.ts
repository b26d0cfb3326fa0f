import { h, morph } from '../element.ts';
import { swatch } from '../look.ts';
import { toggle } from '../ui.ts';
import { AXIS_HEIGHT } from './drawing.ts';
import { type Line, rankOrder } from './lines.ts';
import type { Plot } from './plot.ts';
import type { Scale } from './scale.ts';

/** The names of a plot's lines, which hide and show them. */

/** Height of a name at the end of a line, in pixels. */
const LEGEND_ROW = 24;

/**
 * The names of the lines, highest last value first, with words such as their return; each hides and
 * shows its own. In a wide window the style sheet puts them where `place` says, at the right ends
 * of the lines, if a plot of this height has room for all.
 */
export function legend(
  plot: Plot,
  lines: readonly Line[],
  { wordsOf, height = 0 }: { wordsOf?: (line: Line) => string; height?: number } = {},
) {
  const words = lines.map(() => h('b'));
  const items = lines.map((line, place) => {
    const attributes = {
      class: 'legend',
      'aria-pressed': String(plot.isVisible(place)),
      title: `Hide or show ${line.label}`,
    };
    const parts = [swatch(line), h('span', line.label), wordsOf !== undefined && words[place]];
    return h(
      'li',
      toggle(parts, (isShown) => plot.setVisible(place, isShown), attributes),
    );
  });
  const element = h('ul.legends', { 'aria-label': 'Lines of the plot' });
  // From the start, so that nothing moves when the plot is drawn.
  element.classList.toggle('ends', items.length * LEGEND_ROW <= height - AXIS_HEIGHT - LEGEND_ROW);
  let order: number[] = [];
  let shown = lines;
  /** Later values of the same lines put the names into another order. */
  const update = (later: readonly Line[]) => {
    shown = later;
    later.forEach((line, place) => words[place]?.replaceChildren(wordsOf?.(line) ?? ''));
    order = rankOrder(later);
    morph(element, ...order.map((place) => items[place]));
  };
  update(lines);
  /** Moves the names to the ends of their lines, in a plot as it is drawn now. */
  const place = ({ y, area }: Scale) => {
    element.classList.add('placed');
    const wanted = order.map((line) => y(lastValue(shown[line])) || 0);
    spreadLabels(wanted, { gap: LEGEND_ROW, height: area.top + area.height }).forEach((top, rank) =>
      items[order[rank] ?? 0]?.style.setProperty('--y', `${Math.round(top)}px`),
    );
  };
  return { element, update, place };
}

function lastValue(line: Line | undefined): number {
  return line?.values.findLast((value) => value !== null) ?? 0;
}

/**
 * Heights from the top, in order, at least a gap apart and within the height, each as near to where
 * it is wanted as those before it leave.
 */
export function spreadLabels(
  wanted: readonly number[],
  { gap, height }: { gap: number; height: number },
): number[] {
  let free = 0;
  const down = wanted.map((y) => {
    const own = Math.max(free, y);
    free = own + gap;
    return own;
  });
  let floor = height;
  return down
    .toReversed()
    .map((y) => {
      const own = Math.min(floor, y);
      floor = own - gap;
      return own;
    })
    .reverse();
}
