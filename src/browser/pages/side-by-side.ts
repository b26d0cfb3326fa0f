import { isPublished } from '../address.ts';
import { h } from '../element.ts';
import { modelLink, runLink } from '../filters.ts';
import { MISSING, change, counted, longDate, ratio, tone } from '../format.ts';
import { lookAt, lookOf } from '../look.ts';
import { type Line, datesFromStart, datesOf, valuesFromStart } from '../plot/lines.ts';
import { createPlot, legend } from '../plot/plot.ts';
import type {
  ComparedModel,
  ComparedPair,
  Comparison,
  ModelReport,
  Performance,
} from '../responses.ts';
import { nameColumn, numberColumn, table } from '../table.ts';
import { dash, section } from '../ui.ts';
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
    return isPublished() ? [] : [section('Side by side', h('p', howToChoose(models.length)))];
  if (performance === null)
    return [section('Side by side', h('p.notice.bad', 'The figures could not be loaded.'))];
  const columns = columnsOf(models);
  const day = await sameDay(performance, columns, signal);
  const onOpen = (date: string) => day?.open(date);
  return [
    figureTable(performance, columns, align === 'date' && performance.common?.days === days),
    sideDifferences(comparison, { signal, onOpen }),
    day?.element ?? null,
  ];
}

/**
 * The figures of two to four models next to each other, over the days that they have in common;
 * where these are not the days of the page, it says so.
 */
function figureTable(
  performance: Performance,
  { runs, nameOf, note }: Columns,
  isSame: boolean,
): HTMLElement {
  const reports = runs.flatMap(
    (run) => performance.models.find(({ model }) => model === run) ?? [],
  );
  const columns = reports.map((report) => figureColumn(nameOf(report.model), report));
  const meanings = performance.conventions.definitions;
  const name = nameColumn<Figure>('Figure', 'label', {
    cell: ({ label, name: field }) => h('span', { title: meanings[field] }, label),
  });
  const caption = 'Figures side by side';
  return section(
    'Side by side',
    isSame ? null : h('p.notice', otherDays(performance)),
    note === null ? null : h('p.quiet', note),
    modelKey(reports, nameOf),
    table<Figure>({ caption, rows: sideFigures, isFixed: true, columns: [name, ...columns] }),
  );
}

function figureColumn(title: string, report: ModelReport) {
  const read = (row: Figure) => row.read(report);
  return {
    title,
    isNumber: true,
    raw: read,
    cell: (row: Figure) => {
      const text = row.format(read(row));
      return text === MISSING ? dash(row.reason(report)) : (row.text?.(report) ?? text);
    },
    look: (row: Figure) => (row.isToned ? tone(read(row)) : ''),
  };
}

/** Each model with the look that it has everywhere. */
function modelKey(runs: readonly ModelReport[], nameOf: Columns['nameOf']): HTMLElement {
  const items = runs.map((run) => {
    const words = nameOf(run.model);
    const look = lookOf(run.model);
    // An entry with one run has a page without the number of it.
    return h('li', words === run.family ? modelLink(words, look) : runLink(run, { look, words }));
  });
  return h('ul.key', { 'aria-label': 'Models side by side' }, ...items);
}

function otherDays({ common }: Performance): string {
  const { days, start_date: from, end_date: to } = common ?? { days: 0 };
  const span = !from || !to ? '' : ` from ${longDate(from)} to ${longDate(to)}`;
  return `These figures are over other days than the returns above: ${counted(days, 'day')} by date${span}.`;
}

/** The curve of each pair's difference, and its correlation. */
function sideDifferences({ pairs, align }: Comparison, access: PlotAccess): HTMLElement | null {
  if (pairs.every(({ difference }) => difference === null)) return null;
  const curves = differenceLines(pairs);
  const byNumber = 'The curve is not drawn: days with the same number are not the same dates.';
  return section(
    'Difference day by day',
    curves !== null && differencePlot(curves, access),
    align === 'number' && h('p.quiet', byNumber),
    pairTable(pairs),
  );
}

function differencePlot(
  { dates, lines }: DifferenceLines,
  { signal, onOpen }: PlotAccess,
): HTMLElement {
  const label = 'How much more the first model of each pair has grown than the second, by date';
  const open = (_pair: string, date: string) => onOpen(date);
  const plot = createPlot(
    { label, dates, lines, format: change, height: HEIGHT, hasStart: true, onOpen: open },
    signal,
  );
  const words =
    'How much more the first model of a pair has grown than the second. Click a curve to see the decisions of that day.';
  return h('div', h('p.quiet', words), legend(plot, lines).element, plot.element);
}

function pairTable(pairs: readonly ComparedPair[]): HTMLElement {
  return table<ComparedPair>({
    caption: 'Pairs with their correlation',
    rows: pairs,
    columns: [
      nameColumn('Pair', pairName),
      numberColumn('Difference', 'difference', change, { isToned: true }),
      numberColumn('Correlation', 'correlation', ratio, {
        meaning: 'Of the daily log returns',
        reason: ({ unavailable }) => unavailable['correlation'],
      }),
    ],
  });
}

interface DifferenceLines {
  /** The first one is where the curves start, before the first day. */
  dates: string[];
  lines: Line[];
}

/** A pair as it is named in plots and tables. */
function pairName({ model, against }: Pick<ComparedPair, 'model' | 'against'>): string {
  return `${model} over ${against}`;
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
  const lines = drawn.map(({ name, curve }, order): Line => {
    return { ...lookAt({ order, run: 1 }), label: name, values: valuesFromStart(dates, curve, 0) };
  });
  return { dates, lines };
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

/** What to choose, where there are too many models or too few. */
export function howToChoose(models: number): string {
  const now =
    models > MAX_SIDES
      ? `${models} are compared now`
      : `${models === 1 ? 'one is' : 'none is'} compared now`;
  return (
    `Choose ${MIN_SIDES} to ${MAX_SIDES} models in the filters to see their figures, the curve of their difference and their ` +
    `decisions on one day side by side; ${now}.`
  );
}

/** The runs with a column, and which models have one for their first run only. */
interface Columns extends NamedRuns {
  note: string | null;
}

/** All runs of these models if there is room for them, else the first run of each. */
export function columnsOf(models: readonly Pick<ComparedModel, 'model' | 'runs'>[]): Columns {
  const all = [...new Set(models.flatMap(({ runs }) => runs))];
  const repeated = models.filter(({ runs }) => runs.length > 1).map(({ model }) => model);
  const nameOf = (run: string) => (repeated.includes(run) ? `${run}#1` : run);
  if (all.length <= MAX_SIDES) return { runs: all, nameOf, note: null };
  const runs = [...new Set(models.flatMap((model) => model.runs[0] ?? []))];
  const note = 'Of several runs only the first has a column; choose single runs to see others.';
  return { runs, nameOf, note };
}
