import { h } from '../element.ts';
import { modelLink } from '../filters.ts';
import { MISSING, change, counted, pValue, ratio, tone } from '../format.ts';
import { lookAt, looksOf } from '../look.ts';
import { type Line, datesFromStart, datesOf, valuesFromStart } from '../plot/lines.ts';
import { createPlot, legend } from '../plot/plot.ts';
import type {
  ComparedModel,
  ComparedPair,
  Comparison,
  ModelReport,
  Performance,
} from '../responses.ts';
import { numberColumn, table, textColumn } from '../table.ts';
import { dash, section } from '../ui.ts';
import { type Figure, sideFigures } from './model-figures.ts';
import { sameDay } from './same-day.ts';

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
  const { models } = comparison;
  if (!fitsSideBySide(models)) return [section('Side by side', h('p', howToChoose(models.length)))];
  if (performance === null)
    return [section('Side by side', h('p.notice.bad', 'The figures could not be loaded.'))];
  const columns = columnsOf(models);
  const day = await sameDay(performance, columns.runs, signal);
  const onOpen = (date: string) => day?.open(date);
  return [
    figureTable(performance, columns),
    sideDifferences(comparison, { signal, onOpen }),
    day?.element ?? null,
  ];
}

/** The figures of two to four models next to each other, over the days that they have in common. */
function figureTable(performance: Performance, { runs, notes }: Columns): HTMLElement {
  const reports = new Map(performance.models.map((report) => [report.model, report]));
  const shown = runs.filter((run) => reports.has(run));
  const columns = shown.map((run) => figureColumn(run, reports.get(run)));
  const meanings = performance.conventions.definitions;
  const name = textColumn<Figure>('Figure', ({ label }) => label, {
    isName: true,
    cell: ({ label, name: field }) => h('span', { title: meanings[field] }, label),
  });
  const caption = 'Figures side by side';
  return section(
    'Side by side',
    h('p', daysInWords(performance)),
    ...[...notes, ...leftOutWords(performance)].map((words) => h('p.quiet', words)),
    modelKey(shown),
    table<Figure>({ caption, rows: sideFigures, isFixed: true, columns: [name, ...columns] }),
  );
}

function figureColumn(run: string, report: ModelReport | undefined) {
  const read = (row: Figure) => (report === undefined ? null : row.read(report));
  return {
    title: run,
    isNumber: true,
    raw: read,
    cell: (row: Figure) => {
      const text = row.format(read(row));
      if (text === MISSING || report === undefined) return dash(report && row.reason(report));
      return row.text?.(report) ?? text;
    },
    look: (row: Figure) => (row.isToned ? tone(read(row)) : ''),
  };
}

/** Each model with the look that it has everywhere. */
function modelKey(runs: readonly string[]): HTMLElement {
  const looks = looksOf(runs);
  const items = runs.map((run) => h('li', modelLink(run, looks(run))));
  return h('ul.key', { 'aria-label': 'Models side by side' }, ...items);
}

function daysInWords({ common, clean_after: cutoff }: Performance): string {
  if (common === null) return '';
  const span = common.start_date === null ? '' : ` from ${common.start_date} to ${common.end_date}`;
  const clean = cutoff === null ? '' : `, all after ${cutoff}, the latest knowledge cutoff`;
  const days = counted(common.days, 'day');
  return `These figures cover the ${days}${span} on which all of the models have a return from the same close${clean}.`;
}

function leftOutWords({
  common,
  without_clean_days: unclean,
  without_completed_days: failed,
}: Performance): string[] {
  return [...(common?.left_out ?? []), ...unclean, ...failed].map(
    ({ model, reason }) => `${model} has no figures here: ${reason}.`,
  );
}

/** The curve of each pair's difference, and its correlation. */
function sideDifferences({ pairs, align }: Comparison, access: PlotAccess): HTMLElement | null {
  if (pairs.length === 0) return null;
  const curves = differenceLines(pairs);
  return section(
    'Difference day by day',
    curves === null ? h('p.quiet', whyNotDrawn(align)) : differencePlot(curves, access),
    pairTable(pairs),
  );
}

function whyNotDrawn(align: Comparison['align']): string {
  if (align === 'number')
    return 'The curve is not drawn: days with the same number are not the same dates.';
  return 'The curve is not drawn: no pair has figures over these days.';
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
  const columns = [
    textColumn<ComparedPair>('Pair', pairName, { isName: true }),
    numberColumn<ComparedPair>('Difference', (row) => row.difference, change, { isToned: true }),
    numberColumn<ComparedPair>('Correlation', (row) => row.correlation, ratio, {
      meaning: 'Of the daily log returns',
      reason: ({ unavailable }) => unavailable['correlation'],
    }),
    numberColumn<ComparedPair>('p after Holm', (row) => row.p_value_holm, pValue),
    textColumn<ComparedPair>('Shown', ({ shown }) => (shown ? 'yes' : 'no')),
  ];
  return table<ComparedPair>({ caption: 'Pairs with their correlation', rows: pairs, columns });
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

/** The runs with a column, and a sentence per model of which only the first run has one. */
interface Columns {
  runs: string[];
  notes: string[];
}

/** All runs of these models if there is room for them, else the first run of each. */
export function columnsOf(models: readonly Pick<ComparedModel, 'model' | 'runs'>[]): Columns {
  const all = [...new Set(models.flatMap(({ runs }) => runs))];
  if (all.length <= MAX_SIDES) return { runs: all, notes: [] };
  const notes = models.flatMap(({ model, runs }) =>
    runs.length < 2
      ? []
      : [
          `Of the ${runs.length} runs of ${model} only ${runs[0]} has a column; choose single runs to see others.`,
        ],
  );
  return { runs: [...new Set(models.flatMap(({ runs }) => runs[0] ?? []))], notes };
}
