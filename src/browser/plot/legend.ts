import { h } from '../element.ts';
import { swatch } from '../look.ts';
import { toggle } from '../ui.ts';
import { type Line, lookOfLine } from './lines.ts';
import type { Plot } from './plot.ts';
import { rankOrder } from './values.ts';

interface Legend {
  element: HTMLElement;
  /** Puts the names into the order of later values of the same lines. */
  update(lines: readonly Line[]): void;
}

/** The names of the lines, highest last value first; each hides and shows its own. */
export function legend(plot: Plot, lines: readonly Line[]): Legend {
  const items = lines.map((line, place) => {
    const attributes = {
      class: 'legend',
      'aria-pressed': String(plot.isVisible(place)),
      title: `Hide or show ${line.label}`,
    };
    const words = [swatch(lookOfLine(line)), h('span', line.label)];
    return h(
      'li',
      toggle(words, (isShown) => plot.setVisible(place, isShown), attributes),
    );
  });
  const element = h('ul.legends', { 'aria-label': 'Lines of the plot' });
  let order: number[] = [];
  const update = (later: readonly Line[]) => {
    const next = rankOrder(later);
    if (next.join() === order.join()) return;
    order = next;
    const focused = document.activeElement;
    element.append(...order.flatMap((place) => items[place] ?? []));
    if (focused instanceof HTMLElement && element.contains(focused))
      focused.focus({ preventScroll: true });
  };
  update(lines);
  return { element, update };
}
