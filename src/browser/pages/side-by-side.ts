import { isPublished } from '../address.ts';
import { h } from '../element.ts';
import { MISSING, change, counted, tone } from '../format.ts';
import { lookOf } from '../look.ts';
import { type Line, datesFromStart, datesOf, valuesFromStart } from '../plot/lines.ts';
import { createPlot } from '../plot/plot.ts';
import { legend } from '../plot/legend.ts';
import type { ComparedModel, ComparedPair, Comparison, Performance } from '../responses.ts';
import { type Column, nameColumn, table } from '../table.ts';
import { dash, section } from '../ui.ts';
import { type Compared, entryFigure, fromTo } from './entries.ts';
import { type Figure, sideFigures } from './model-figures.ts';
import { type NamedRuns, sameDay } from './same-day.ts';

const HEIGHT = 260;

interface PlotAccess {
  signal: AbortSignal;
  /** Shows the decisions of a day. */
  onOpen: (date: string) => void;
}

/**
 * Figures, curves and decisions of two to four models; of other numbers, what to choose to see
 * them.
 */
export async function sideBySide(
  comparison: Comparison,
  performance: Performance | null,
  signal: AbortSignal,
): Promise<(HTMLElement | null)[]> {
  const { models, align, days } = comparison;
  if (!fitsSideBySide(models))
    return isPublished() ? [] : [section('Side by side', h('p', HOW_TO_CHOOSE))];
  if (performance === null)
    return [section('Side by side', h('p.notice.bad', 'The figures could not be loaded.'))];
  const columns = columnsOf(models);
  const day = await sameDay(performance, columns, signal);
  const onOpen = (date: string) => day?.open(date);
  return [
    figureTable(performance, models, align === 'date' && performance.common?.days === days),
    sideDifferences(comparison, { signal, onOpen }),
    day?.element ?? null,
  ];
}

/**
 * The figures of two to four models next to each other, of several runs their means, over the days
 * that they have in common; where these are not the days of the page, it says so.
 */
function figureTable(
  performance: Performance,
  models: readonly ComparedModel[],
  isSame: boolean,
): HTMLElement {
  const columns = models.flatMap(({ model, runs }) => {
    const own = performance.models.filter((report) => runs.includes(report.model));
    const entry = performance.families.find(({ family }) => family === own[0]?.family);
    const mean = entry?.mean_total_return ?? null;
    return own.length === 0 ? [] : figureColumn(model, { runs: own, mean_total_return: mean });
  });
  const name = nameColumn<Figure>('Figure', 'label', {
    cell: ({ label, meaning }) => h('span', { title: meaning }, label),
  });
  const caption = 'Figures side by side';
  const isMean = models.some(({ runs }) => runs.length > 1);
  return section(
    'Side by side',
    isSame ? null : h('p.notice', otherDays(performance)),
    isMean && h('p.quiet', 'Figures of models with several runs are means.'),
    table<Figure>({
      caption,
      rows: sideFigures(performance.conventions),
      isFixed: true,
      columns: [name, ...columns],
    }),
  );
}

function figureColumn(title: string, entry: Compared): Column<Figure> {
  const by = (row: Figure) => entryFigure(row, entry);
  const cell = (row: Figure) => {
    const text = row.format(by(row));
    return text === MISSING ? dash(entry.runs[0] && row.reason(entry.runs[0])) : text;
  };
  return { title, by, cell, isNumber: true, look: (row) => (row.isToned ? tone(by(row)) : '') };
}

function otherDays({ common }: Performance): string {
  const span = common === null ? '' : fromTo(common);
  return `These figures cover other days than the returns above: ${counted(common?.days ?? 0, 'day')} by date${span}.`;
}

/** The curve of each pair's difference. */
function sideDifferences({ pairs, align }: Comparison, access: PlotAccess): HTMLElement | null {
  if (pairs.every(({ difference }) => difference === null)) return null;
  const curves = differenceLines(pairs);
  const byNumber = 'No curve is drawn, because days with the same number fall on different dates.';
  return section(
    'Difference day by day',
    curves !== null && differencePlot(curves, access),
    align === 'number' && h('p.quiet', byNumber),
  );
}

function differencePlot(
  { dates, lines }: DifferenceLines,
  { signal, onOpen }: PlotAccess,
): HTMLElement {
  const label = 'Growth of the first model of each pair over that of the second, by date';
  const open = (_pair: string, date: string) => onOpen(date);
  const plot = createPlot(
    { label, dates, lines, format: change, height: HEIGHT, onOpen: open },
    signal,
  );
  const words =
    'The growth of the first model of a pair divided by that of the second, minus 1. Click a curve to see the decisions of that day.';
  return h('div', h('p.quiet', words), legend(plot, lines).element, plot.element);
}

interface DifferenceLines {
  /** The first one is where the curves start, before the first day. */
  dates: string[];
  lines: Line[];
}

/**
 * A line per pair with the curve of its difference, all from zero; null where the days have no
 * dates, or no pair has a curve.
 */
export function differenceLines(pairs: readonly ComparedPair[]): DifferenceLines | null {
  const drawn = pairs
    .map((pair) => ({ name: pairName(pair), curve: pointsOf(pair) }))
    .filter(({ curve }) => curve.length > 0);
  if (drawn.length === 0) return null;
  const dates = datesFromStart(datesOf(drawn));
  const lines = drawn.map(({ name, curve }): Line => {
    return { ...lookOf(name), label: name, values: valuesFromStart(dates, curve, 0) };
  });
  return { dates, lines };
}

/** A pair as it is named in plots and tables. */
export function pairName({ model, against }: Pick<ComparedPair, 'model' | 'against'>): string {
  return `${model} over ${against}`;
}

function pointsOf({ curve = [] }: ComparedPair): { date: string; value: number }[] {
  return curve.flatMap(({ date, difference }) =>
    date === undefined || difference === null ? [] : [{ date, value: difference }],
  );
}

/** How many models fit side by side, at least and at most. */
const MIN_SIDES = 2;
const MAX_SIDES = 4;

/** Whether there are as many models as fit side by side. */
export function fitsSideBySide(models: readonly unknown[]): boolean {
  return models.length >= MIN_SIDES && models.length <= MAX_SIDES;
}

const HOW_TO_CHOOSE =
  `Choose ${MIN_SIDES} to ${MAX_SIDES} models in the filters to see their figures, the curve of their difference and their ` +
  'decisions on one day side by side.';

/** All runs of these models if there is room for them, else the first run of each. */
export function columnsOf(models: readonly Pick<ComparedModel, 'model' | 'runs'>[]): NamedRuns {
  const all = [...new Set(models.flatMap(({ runs }) => runs))];
  const repeated = models.filter(({ runs }) => runs.length > 1).map(({ model }) => model);
  const nameOf = (run: string) => (repeated.includes(run) ? `${run}#1` : run);
  if (all.length <= MAX_SIDES) return { runs: all, nameOf, note: null };
  const runs = [...new Set(models.flatMap((model) => model.runs[0] ?? []))];
  const note = 'Only the first run of each model is shown; choose single runs to see others.';
  return { runs, nameOf, note };
}
