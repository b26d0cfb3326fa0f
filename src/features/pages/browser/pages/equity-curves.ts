import { amountWords } from '#text/sentences.ts';
import { modelDayPath } from '../../paths.ts';
import { h } from '../element.ts';
import { byName, change, counted, money } from '../format.ts';
import { lineLook } from '../look.ts';
import {
  cutoffMarks,
  cutoffNote,
  type BenchmarkCurve,
  benchmarkLines,
  benchmarkNotes,
  datesFromStart,
  curveDates,
  type Day,
  type Line,
  valuesFromStart,
} from '../plot/lines.ts';
import { legend } from '../plot/legend.ts';
import { createPlot } from '../plot/plot.ts';
import { highest } from '../plot/scale.ts';
import type { ModelReport, Performance } from '../../responses.ts';
import { goTo } from '../router.ts';
import { toggle } from '../ui.ts';

const HEIGHT = 250;

/** The plot of the overview and of a job. */
export type Curves = ReturnType<typeof equityCurves>;

/** The equity curves of all entries and the benchmark in one plot, with its controls. */
export function equityCurves(performance: Performance, signal: AbortSignal) {
  const { dates, lines, title, start } = curvesFromStart(performance);
  const label = `${title} of ${counted(performance.families.length, 'model')} by date`;
  const marks = cutoffMarks(performance.models);
  const onOpen = (entry: string, date: string) => {
    const own = performance.families.find(({ family }) => family === entry);
    goTo(modelDayPath(own?.runs[0]?.model ?? entry, date)); // of several runs the first
  };
  const plot = createPlot(
    {
      label,
      historyKey: 'curves',
      dates,
      lines,
      format: money,
      height: HEIGHT,
      marks,
      onOpen,
      onDrawn: (scale) => list.place(scale),
    },
    signal,
  );
  const lineReturn = ({ values }: Line) =>
    change((values.findLast((value) => value !== null) ?? NaN) / start - 1);
  const list = legend(plot, lines, { wordsOf: lineReturn, height: HEIGHT });
  plot.element.prepend(list.element);
  const tools = h(
    'div.tools',
    h('span.quiet.wide-only', 'Click a curve to open its day'),
    toggle('Log scale', (isLog) => plot.setLog(isLog), {
      'aria-pressed': String(plot.isLog()),
      'data-action': 'log',
    }),
  );
  const note = h('p.quiet', curvesNote(performance));
  return {
    element: h(
      'section.curves',
      { 'aria-labelledby': 'curves-title' },
      h('div.bar', h('h2', { id: 'curves-title' }, title), note, tools),
      plot.element,
      cutoffNote(marks),
    ),
    /**
     * Shows later values. Returns false if the models have changed, so that a new plot is needed.
     */
    update(later: Performance): boolean {
      const next = curvesFromStart(later);
      if (joinLabels(next.lines) !== joinLabels(lines) || next.title !== title) return false;
      plot.update(next.dates, next.lines);
      list.update(next.lines);
      note.textContent = curvesNote(later);
      return true;
    },
  };
}

/** What a reader should know of the lines. */
function curvesNote({ benchmark, families }: Performance): string {
  const most = highest(families.map(({ runs }) => runs.length));
  const band =
    'Each line is the mean of a model’s runs; the band spans the lowest to the highest of them.';
  return [most > 1 ? band : '', benchmarkNotes(benchmark)].filter(Boolean).join(' ');
}

function joinLabels(lines: readonly Line[]): string {
  return JSON.stringify(lines.map(({ label }) => label));
}

/** What the curves use of a response. */
export interface CurvesInput {
  models: readonly ModelCurve[];
  families: readonly Pick<Performance['families'][number], 'family' | 'runs' | 'curve'>[];
  benchmark: BenchmarkCurve;
}

/** What the curves use of a run's report. */
interface ModelCurve
  extends Pick<ModelReport, 'model' | 'initial_cash' | 'start_value' | 'currency'> {
  curve: readonly Day[];
}

/**
 * The curves of all entries and the benchmark: what the initial cash would have grown to over these
 * days, from what they start with on the first of the dates, before the first day.
 */
export function curvesFromStart({ models, families, benchmark }: CurvesInput) {
  const start = usualStart(models);
  const dates = datesFromStart(curveDates(models));
  const curves = new Map(models.map(({ model, curve }) => [model, curve]));
  const entryLines = families
    .toSorted((one, other) => byName(one.family, other.family))
    .map(({ family, runs, curve: mean }): Line => {
      const scaledValues = <Name extends string>(
        curve: readonly (Record<Name, number> & { date: string })[],
        name: Name,
      ) => {
        const values = curve.map((day) => ({ date: day.date, value: day[name] * start }));
        return valuesFromStart(dates, values, start);
      };
      const curve = mean ?? curves.get(runs[0]?.model ?? '') ?? [];
      const values = scaledValues(curve, 'growth');
      const line = { ...lineLook(family), label: family, values };
      if (mean === undefined) return line;
      const [low, high] = [scaledValues(mean, 'low'), scaledValues(mean, 'high')];
      return { ...line, low, high };
    });
  const lines = [...entryLines, ...benchmarkLines(benchmark, dates, start)];
  const currencies = models.map(({ currency }) => currency);
  return { dates, lines, title: growthTitle(start, currencies), start };
}

/** What stands over curves of what a start would have grown to. */
export function growthTitle(start: number, currencies: readonly string[]): string {
  const [currency = 'USD', ...others] = new Set(currencies);
  const amount = money(start).replace(/\.00$/, '');
  return `Growth of ${others.length > 0 ? amount : amountWords(currency, amount)}`;
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
