import { h } from '../element.ts';
import { counted, share } from '../format.ts';
import { createPlot } from '../plot/plot.ts';
import { datesFromStart } from '../plot/values.ts';
import type { HeldDay, HeldSymbol } from '../responses.ts';
import { section } from '../ui.ts';
import { weightLayers } from './weight-layers.ts';

const HEIGHT = 260;

/** What part of the portfolio was in what, at each close. */
export function weightsOverTime(
  { days, symbols }: { days: readonly HeldDay[]; symbols: readonly HeldSymbol[] },
  signal: AbortSignal,
): HTMLElement {
  const layers = weightLayers(days, symbols).toReversed();
  // The start has no weights; it is there so that all plots have the same dates.
  const lines = layers.map(({ name, look, weights }) => ({
    label: name,
    look,
    values: [null, ...weights],
  }));
  const label = `Weights at the close over ${counted(days.length, 'day')}`;
  const dates = datesFromStart(days.map(({ date }) => date));
  const options = {
    label,
    dates,
    lines,
    format: share,
    height: HEIGHT,
    group: 'model',
    isStacked: true,
  };
  const { element } = createPlot(options, signal);
  const key = layers.map(({ name, look }) => h('li', h(`span.block.${look}`), name));
  const list = h('ul.key', { 'aria-label': 'Layers of the plot, from the top' }, ...key);
  return section('Weights over time', list, element, gapsOf(days));
}

/** Why the layers do not fill the plot, where they do not. */
function gapsOf(days: readonly HeldDay[]): HTMLElement | null {
  const gaps = days.filter(({ holdings }) => holdings.some(({ weight }) => weight === null)).length;
  if (gaps === 0) return null;
  return h(
    'p.quiet',
    `On ${counted(gaps, 'day')} the weight of some holdings is unknown, because no price was stored for them.`,
  );
}
