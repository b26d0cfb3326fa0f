import { modelDayPath } from '../../page-paths.ts';
import { h } from '../element.ts';
import { counted, money } from '../format.ts';
import { legend } from '../plot/legend.ts';
import { type Line, benchmarkWords } from '../plot/lines.ts';
import { cutoffNote } from '../plot/mark-lines.ts';
import { cutoffMarks } from '../plot/marks.ts';
import { type Plot, createPlot } from '../plot/plot.ts';
import { ZOOM_STEP } from '../plot/reading.ts';
import type { Performance } from '../responses.ts';
import { goTo } from '../router.ts';
import { button, toggle } from '../ui.ts';
import { curvesFromStart } from './curve-lines.ts';

const HEIGHT = 340;

/** The plot of the overview and of a job. */
export interface Curves {
  element: HTMLElement;
  /** Shows later values. Returns false if the models have changed, so that a new plot is needed. */
  update(performance: Performance): boolean;
}

/** The equity curves of all models and the benchmark in one plot, with its controls. */
export function equityCurves(performance: Performance, signal: AbortSignal): Curves {
  const { dates, lines, title } = curvesFromStart(performance);
  const names = namesOf(lines);
  const label = `${title} of ${counted(performance.models.length, 'model')} by date`;
  const marks = cutoffMarks(performance.models);
  const onOpen = (model: string, date: string) => goTo(modelDayPath(model, date));
  const options = {
    label,
    keptAs: 'curves',
    dates,
    lines,
    format: money,
    height: HEIGHT,
    marks,
    onOpen,
  };
  const plot = createPlot({ ...options, hasStart: true }, signal);
  const bar = h('div.bar', h('h2', { id: 'curves-title' }, title), controls(plot));
  const list = legend(plot, lines);
  const labelled = { 'aria-labelledby': 'curves-title' };
  const note = h('p.quiet', benchmarkWords(performance.benchmark));
  const element = h(
    'section.curves',
    labelled,
    bar,
    list.element,
    plot.element,
    cutoffNote(marks),
    note,
  );
  return {
    element,
    update(later) {
      const next = curvesFromStart(later);
      if (namesOf(next.lines) !== names || next.title !== title) return false;
      plot.update(next.dates, next.lines);
      list.update(next.lines);
      note.textContent = benchmarkWords(later.benchmark);
      return true;
    },
  };
}

function namesOf(lines: readonly Line[]): string {
  return JSON.stringify(lines.map(({ label }) => label));
}

function controls(plot: Plot): HTMLElement {
  return h(
    'div.tools',
    h('span.quiet.wide-only', 'Drag to zoom, click a curve to open its day'),
    button('+', () => plot.zoom(ZOOM_STEP), { 'aria-label': 'Zoom in' }),
    button('−', () => plot.zoom(1 / ZOOM_STEP), { 'aria-label': 'Zoom out' }),
    button('All dates', () => plot.resetZoom()),
    toggle('Log scale', (isLog) => plot.setLog(isLog), {
      'aria-pressed': String(plot.isLog()),
      'data-action': 'log',
    }),
  );
}
