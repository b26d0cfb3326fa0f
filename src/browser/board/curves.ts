import { button, toggle } from '../parts/blocks.ts';
import { h } from '../parts/element.ts';
import { money } from '../parts/format.ts';
import { type Line, benchmarkLines, valuesOn } from '../plot/lines.ts';
import { cutoffNote } from '../plot/mark-lines.ts';
import { cutoffMarks } from '../plot/marks.ts';
import { type Plot, createPlot } from '../plot/plot.ts';
import { ZOOM_STEP } from '../plot/reading.ts';
import type { Performance } from '../service/responses.ts';

/** After this many models the colours repeat with another dash, so that no two lines look the same. */
const COLOURS = 10;
const DASHES: readonly (number[] | undefined)[] = [undefined, [7, 3], [2, 3]];
const HEIGHT = 340;

/** The class that colours the model at a place of the list, in the plot and beside its name. */
export function lookOf(index: number): string {
  return `series-${index % COLOURS}`;
}

export interface Curves {
  element: HTMLElement;
  /** Shows later values. Returns false if the models have changed, so that a new plot is needed. */
  update(performance: Performance): boolean;
}

/** The equity curves of all models and the benchmark in one plot, with its controls. */
export function equityCurves(performance: Performance, signal: AbortSignal): Curves {
  const { dates, lines } = linesOf(performance);
  const names = namesOf(lines);
  const label = `Portfolio value of ${performance.models.length} models by date`;
  const marks = cutoffMarks(performance.models);
  const plot = createPlot({ label, dates, lines, format: money, height: HEIGHT, marks }, signal);
  const bar = h('div.bar', h('h2', { id: 'curves-title' }, 'Portfolio value'), controls(plot));
  const cutoffs = cutoffNote(marks);
  const element = h('section.curves', { 'aria-labelledby': 'curves-title' }, bar, legend(plot, lines), plot.element, cutoffs);
  return {
    element,
    update(later) {
      const next = linesOf(later);
      if (namesOf(next.lines) !== names) return false;
      plot.update(next.dates, next.lines);
      return true;
    },
  };
}

function namesOf(lines: readonly Line[]): string {
  return JSON.stringify(lines.map(({ label }) => label));
}

function linesOf({ models, benchmark }: Performance): { dates: string[]; lines: Line[] } {
  const dates = [...new Set(models.flatMap(({ curve }) => curve.map(({ date }) => date)))].sort();
  const own = models.map(({ model, curve }, index): Line => {
    const dash = DASHES[Math.floor(index / COLOURS) % DASHES.length];
    return { label: model, values: valuesOn(dates, curve), look: lookOf(index), ...(dash && { dash }) };
  });
  return { dates, lines: [...own, ...benchmarkLines(benchmark, dates, models[0]?.start_value ?? 0)] };
}

function controls(plot: Plot): HTMLElement {
  return h(
    'div.tools',
    h('span.quiet.wide-only', 'Drag to zoom'),
    button('+', () => plot.zoom(ZOOM_STEP), { 'aria-label': 'Zoom in' }),
    button('−', () => plot.zoom(1 / ZOOM_STEP), { 'aria-label': 'Zoom out' }),
    button('All dates', () => plot.resetZoom()),
    toggle('Log scale', (isLog) => plot.setLog(isLog), { 'aria-pressed': String(plot.isLog()), 'data-action': 'log' }),
  );
}

/** The names of the lines; each hides and shows its own. */
function legend(plot: Plot, lines: readonly Line[]): HTMLElement {
  const items = lines.map(({ label, look, dash }, index) => {
    const swatch = h(`span.swatch.${look}${dash ? '.dashed' : ''}`);
    const attributes = { class: 'legend', 'aria-pressed': String(plot.isVisible(index)), title: 'Hide or show this line' };
    return h('li', toggle([swatch, label], (isShown) => plot.setVisible(index, isShown), attributes));
  });
  return h('ul.legends', { 'aria-label': 'Lines of the plot' }, ...items);
}
