import { h, svg } from '../element.ts';
import { change, count, counted } from '../format.ts';
import { drawingExports } from '../plot/exports.ts';
import { withoutEmptyCents } from '../plot/scale.ts';
import type { Details, ModelReport } from '../responses.ts';
import { numberColumn, table } from '../table.ts';
import { section } from '../ui.ts';
import { type HistogramScale, histogramScale } from './histogram-scale.ts';
import { type Definitions, meaningOf } from './meaning.ts';

/** In pixels. */
const HEIGHT = 206;
const FONT = 9;
const FLOOR = 176;
const CEILING = 46;
const LABELS_AT = 192;
/** A label closer to an edge than this, in percent of the width, would not fit. */
const EDGE = 7;
/** Between a line and its name. */
const GAP = 4;

/**
 * How often the model had which daily return, with the value at risk and the expected shortfall as
 * lines.
 */
export function returnDistribution(
  report: ModelReport,
  { histogram }: Details,
  definitions: Definitions,
): HTMLElement {
  const days = histogram.counts.reduce((sum, one) => sum + one, 0);
  if (days === 0)
    return section('Distribution of daily returns', h('p.quiet', 'No day has a return.'));
  const scale = histogramScale(histogram);
  // The expected shortfall is the greater loss: its name, to the right of its line, must pass above
  // the other line.
  const losses = [
    { name: 'expected shortfall', loss: report.expected_shortfall_95, y: 12 },
    { name: 'value at risk, 95 %', loss: report.value_at_risk_95, y: 27 },
  ];
  const label = `Distribution of the daily returns of ${counted(days, 'day')}`;
  const drawing = svg(
    'svg',
    {
      class: 'histogram',
      role: 'img',
      'aria-label': `${label}; a table below has its values`,
      width: '100%',
      height: HEIGHT,
    },
    ...levelsOf(scale),
    ...scale.bars.map(barOf),
    svg('line', { class: 'zero', x1: 0, x2: '100%', y1: FLOOR, y2: FLOOR }),
    ...ticksOf(scale),
    ...losses.flatMap(({ name, loss, y }) => lossLine(scale, { name, loss, y })),
  );
  const exports = drawingExports(drawing, label, () => binTable(label, scale.bars)).element;
  return section(
    'Distribution of daily returns',
    drawing,
    exports,
    meaningOf(definitions, 'histogram'),
  );
}

type Bar = HistogramScale['bars'][number];

function binTable(caption: string, rows: readonly Bar[]): HTMLElement {
  const columns = [
    numberColumn<Bar>('From', ({ from }) => from, change),
    numberColumn<Bar>('Up to, not including', ({ to }) => to, change),
    numberColumn<Bar>('Days', (bar) => bar.count, count),
  ];
  return table({ caption, rows, columns });
}

function yOf(height: number): number {
  return FLOOR - height * (FLOOR - CEILING);
}

function barOf({ from, to, count: days, left, width, height }: Bar): SVGElement {
  const look = to <= 0 ? 'loss' : from >= 0 ? 'gain' : 'flat';
  const place = { x: `${left}%`, width: `${width}%`, y: yOf(height), height: FLOOR - yOf(height) };
  return svg(
    'rect',
    { class: `bar ${look}`, ...place },
    svg('title', {}, `${rangeOf(from, to)}: ${counted(days, 'day')}`),
  );
}

function rangeOf(from: number, to: number): string {
  return `${change(from)} to ${change(to)}`;
}

/** A line across at round numbers of days, with the number above it. */
function levelsOf({ levels }: HistogramScale): SVGElement[] {
  return levels.flatMap(({ count: days, height }, place) => {
    const y = yOf(height);
    const words = place === levels.length - 1 ? counted(days, 'day') : count(days);
    return [
      svg('line', { class: 'rule', x1: 0, x2: '100%', y1: y, y2: y }),
      svg('text', { class: 'label', x: 0, y: y - 3 }, words),
    ];
  });
}

function ticksOf({ ticks, percent }: HistogramScale): SVGElement[] {
  const words = withoutEmptyCents(ticks.map((tick) => change(tick)));
  return ticks.flatMap((tick, place) => {
    const at = percent(tick) ?? 0;
    if (at < EDGE || at > 100 - EDGE) return [];
    return svg(
      'text',
      { class: 'label', x: `${at}%`, y: LABELS_AT, 'text-anchor': 'middle' },
      words[place],
    );
  });
}

/** A vertical line at a loss, with its name at a height of its own. */
function lossLine(
  { percent }: HistogramScale,
  { name, loss, y }: { name: string; loss: number | null; y: number },
): SVGElement[] {
  const at = loss === null ? null : percent(-loss);
  if (at === null || loss === null) return [];
  const side = at < 50 ? { 'text-anchor': 'start', dx: GAP } : { 'text-anchor': 'end', dx: -GAP };
  return [
    svg('line', { class: 'against', x1: `${at}%`, x2: `${at}%`, y1: y - FONT, y2: FLOOR }),
    svg('text', { class: 'label', x: `${at}%`, y, ...side }, `${name} ${change(-loss)}`),
  ];
}
