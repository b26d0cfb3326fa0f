import { modelDayPath } from '../../basics/paths.ts';
import { h } from '../element.ts';
import { byName, counted, money } from '../format.ts';
import { looksOf } from '../look.ts';
import { cutoffMarks, cutoffNote } from '../plot/cutoffs.ts';
import {
  type BenchmarkCurve,
  benchmarkLines,
  benchmarkWords,
  datesFromStart,
  datesOf,
  type Day,
  isGrown,
  type Line,
  titleOfCurves,
  valuesFromStart,
} from '../plot/lines.ts';
import { createPlot, legend, type Plot } from '../plot/plot.ts';
import { ZOOM_STEP } from '../plot/reading.ts';
import type { ModelReport, Performance } from '../responses.ts';
import { goTo } from '../router.ts';
import { button, toggle } from '../ui.ts';

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

/** What the curves use of a model's report. */
interface ModelCurve extends Pick<ModelReport, 'model' | 'initial_cash' | 'start_value'> {
  curve: readonly Day[];
}

interface EquityCurves {
  /** The first one is where the curves start, before the first day. */
  dates: string[];
  lines: Line[];
  title: string;
}

/**
 * The curves of all models and the benchmark, which start together at the initial cash. Where a
 * model had another value before its first day of these, or some of its days do not count, its
 * curve is what the initial cash would have grown to.
 */
export function curvesFromStart({
  models,
  benchmark,
}: {
  models: readonly ModelCurve[];
  benchmark: BenchmarkCurve;
}): EquityCurves {
  const start = usualStart(models);
  const dates = datesFromStart(datesOf(models));
  const looks = looksOf(models.map(({ model }) => model));
  const inOrder = models.toSorted((one, other) => byName(one.model, other.model));
  const own = inOrder.map(({ model, curve }): Line => {
    const values = curve.map(({ date, growth }) => ({ date, value: growth * start }));
    return { ...looks(model), label: model, values: valuesFromStart(dates, values, start) };
  });
  const isValue = models.every(({ curve }) => curve.every((day) => isGrown(day, start)));
  const title = titleOfCurves(start, { isValue });
  return { dates, lines: [...own, ...benchmarkLines(benchmark, dates, start)], title };
}

/**
 * What a model is worth at its last close; where it had another value before its first day of
 * these, or some of its days do not count, what the initial cash would have grown to, as in its
 * curve.
 */
export function valueAtEnd(
  { curve, end_value: value }: Pick<ModelReport, 'end_value'> & Pick<ModelCurve, 'curve'>,
  start: number,
): number {
  const last = curve.at(-1);
  return last === undefined || curve.every((day) => isGrown(day, start))
    ? value
    : last.growth * start;
}

/** The initial cash of most models; the highest of those equally common. */
export function usualStart(
  models: readonly Pick<ModelReport, 'initial_cash' | 'start_value'>[],
): number {
  const groups = [
    ...Map.groupBy(models, ({ initial_cash: cash, start_value: start }) => cash ?? start),
  ];
  const [usual] = groups.sort(([one, a], [other, b]) => b.length - a.length || other - one);
  return usual?.[0] ?? 0;
}
