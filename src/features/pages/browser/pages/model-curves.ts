import { modelDayPath } from '../../paths.ts';
import { h, svg } from '../element.ts';
import { labelInCurrency, wholeNumber, money, share, change, counted, tone } from '../format.ts';
import { lineLook } from '../look.ts';
import {
  cutoffMarks,
  cutoffNote,
  benchmarkLines,
  benchmarkNotes,
  datesFromStart,
  type Day,
  type Line,
  type PlotOptions,
  valuesFromStart,
} from '../plot/lines.ts';
import { DISC, drawMark } from '../plot/drawing.ts';
import { legend } from '../plot/legend.ts';
import { createPlot, type Plot } from '../plot/plot.ts';
import { type Scale, highest } from '../plot/scale.ts';
import type { Drawdown, ModelReport, Details } from '../../responses.ts';
import { goTo } from '../router.ts';
import { dateColumn, numberColumn, table, type Column, nameColumn } from '../table.ts';
import { section } from '../ui.ts';
import { growthTitle } from './equity-curves.ts';
import { meaningLine, type ModelData, type Trade } from './model-data.ts';

const VALUE_HEIGHT = 280;

type ModelPlotOptions = Omit<PlotOptions, 'dates' | 'onOpen'>;

/** A plot over all days of a model, which can be opened. */
function modelPlot(
  { model, curve }: ModelReport,
  own: ModelPlotOptions,
  signal: AbortSignal,
): Plot {
  const dates = datesWithStart(curve);
  const onOpen = (_label: string, date: string) => goTo(modelDayPath(model, date));
  return createPlot({ ...own, dates, onOpen }, signal);
}

/** The dates of a curve and of its start. */
function datesWithStart(curve: readonly { date: string }[]): string[] {
  return datesFromStart(curve.map(({ date }) => date));
}

/** A model's value with its trades and dividends, beside the benchmark. */
export function valueCurve(
  { report, performance, trades }: ModelData,
  signal: AbortSignal,
): HTMLElement {
  const { model, start_value: start } = report;
  const { title, days: curve } = daysBesideBenchmark(report.curve, start, report.currency);
  const dates = datesWithStart(curve);
  const value: Line = {
    ...lineLook(model),
    label: model,
    values: valuesFromStart(dates, curve, start),
  };
  const lines = [value, ...benchmarkLines(performance.benchmark, dates, start)];
  const hasDividends = trades.some(({ side }) => side === 'dividend');
  const marks = cutoffMarks(performance.models);
  const options = {
    label: `${title} by date, with trades${hasDividends ? ' and dividends' : ''}`,
    keptAs: 'curve',
    lines,
    format: money,
    height: VALUE_HEIGHT,
    marks,
    drawOver: (scale: Scale) => tradeMarks(scale, curve, trades),
  };
  const plot = modelPlot(report, options, signal);
  return section(
    title,
    legend(plot, lines).element,
    h(
      'p.quiet.key-line',
      h('span.mark.gain', '▲'),
      ' bought   ',
      h('span.mark.loss', '▼'),
      ' sold',
      ...(hasDividends ? ['   ', h('span.mark.dividend', '●'), ' dividend'] : []),
      h('span.on-screen', '   Click on the curve to open a day'),
    ),
    plot.element,
    cutoffNote(marks),
    h('p.quiet', benchmarkNotes(performance.benchmark)),
  );
}

/** Tolerance as a share of the value, because growth is rounded. */
const TOLERANCE = 1e-5;

/**
 * A model's days as they are drawn beside a benchmark, with a title: its values or, where days
 * between them do not count, what its value at the start would have grown to, because the benchmark
 * does not count them either.
 */
export function daysBesideBenchmark(
  curve: readonly Day[],
  start: number,
  currency = 'USD',
): { title: string; days: readonly Day[] } {
  const grown = curve.map((day) => ({ ...day, value: day.growth * start }));
  const isValue = curve.every(
    ({ value }, place) => Math.abs(value - (grown[place]?.value ?? 0)) <= TOLERANCE * start,
  );
  return isValue
    ? { title: labelInCurrency('Portfolio value', currency), days: curve }
    : { title: growthTitle(start, [currency]), days: grown };
}

/** About a point: a triangle below it that points up, one above that points down, a dot on it. */
const MARKS = {
  buy: ['M0 5L3.5 11H-3.5Z', 'gain'],
  sell: ['M0-5L3.5-11H-3.5Z', 'loss'],
  dividend: [DISC, 'dividend'],
} as const;

/** A mark per day for its purchases, one for its sales, and one for its dividends. */
function tradeMarks({ x, y }: Scale, days: readonly Day[], trades: readonly Trade[]): SVGElement[] {
  const byDate = Map.groupBy(trades, ({ date }) => date);
  return days.flatMap(({ date, value }) => {
    const point = `${x(date).toFixed(1)} ${y(value).toFixed(1)}`;
    const sides = new Set(byDate.get(date)?.map(({ side }) => side));
    return Object.entries(MARKS).flatMap(([side, [outline, colour]]) =>
      sides.has(side) ? drawMark(outline, colour, point) : [],
    );
  });
}

const DRAWDOWN_HEIGHT = 190;
/** In pixels: from the dot of a fall to its number, and to the end of that. */
const GAP = 7;
const ROOM = 16;

/**
 * How far the value was below its last high, with the deepest falls numbered, and a table of them.
 */
export function drawdowns(
  { report, details, performance }: ModelData,
  signal: AbortSignal,
): HTMLElement {
  const { drawdowns: deepest } = details;
  const dates = datesWithStart(report.curve);
  const below = report.curve.map(({ date, drawdown }) => ({ date, value: 0 - drawdown }));
  const values = valuesFromStart(dates, below, 0);
  const high = values.map(() => 0);
  const options = {
    label: 'Drawdown by date',
    lines: [{ label: 'Drawdown', values, colour: 'loss', low: values, high }],
    format: share,
    height: DRAWDOWN_HEIGHT,
    drawOver: (scale: Scale) => fallMarks(scale, drawnFalls(deepest, dates)),
  };
  const { element } = modelPlot(report, options, signal);
  return h(
    'div.two.even',
    section('Drawdown', element, meaningLine(performance, 'drawdown')),
    section('Deepest drawdowns', drawdownTable(deepest), meaningLine(performance, 'drawdowns')),
  );
}

function drawdownTable(deepest: readonly Drawdown[]): HTMLElement {
  return table({
    caption: 'Deepest drawdowns, with their numbers in the plot',
    rows: deepest.map((drawdown, index) => ({ ...drawdown, place: index + 1 })),
    empty: 'The value never fell below its last high.',
    columns: [
      numberColumn('No.', 'place', wholeNumber),
      numberColumn('Depth', 'depth', share),
      dateColumn('High', 'peak_date', 'start'),
      dateColumn('Low', 'trough_date'),
      dateColumn('Recovered', 'recovery_date', 'not yet'),
      numberColumn('Days', 'length', wholeNumber, {
        meaning: 'From the high to the recovery, or to the last day',
      }),
    ],
  });
}

/** Shades each fall from its high to its recovery, with a dot and its number at its low. */
function fallMarks(
  { area, x: xOf, y: yOf }: Scale,
  falls: ReturnType<typeof drawnFalls>,
): SVGElement[] {
  return falls.flatMap(({ number, from, to, low, depth }) => {
    const [x, y] = [xOf(low), yOf(depth)];
    const [left, width] = [xOf(from), xOf(to) - xOf(from)];
    const isAtEdge = x + ROOM > area.left + area.width;
    const place = { x: isAtEdge ? x - GAP : x + GAP, 'text-anchor': isAtEdge ? 'end' : 'start' };
    return [
      svg('rect', { class: 'fall loss', x: left, width, y: area.top, height: area.height }),
      drawMark(DISC, 'loss', `${x.toFixed(1)} ${y.toFixed(1)}`),
      svg('text', { class: 'number', y: y + 4, ...place }, number),
    ];
  });
}

/**
 * The drawdowns in the order of the table, as a plot shows them: each from its high (or the first
 * date) to its recovery (or the last date), with its number from 1, its low, and its depth below
 * zero.
 */
export function drawnFalls(drawdowns: readonly Drawdown[], dates: readonly string[]) {
  const [first, last] = [dates[0] ?? '', dates.at(-1) ?? ''];
  return drawdowns.flatMap(
    ({ depth, peak_date: from, trough_date: low, recovery_date: to }, index) =>
      low === null
        ? []
        : { number: index + 1, from: from ?? first, to: to ?? last, low, depth: -depth },
  );
}

/**
 * The return of each month, in a stronger colour the greater it is: a row per year, with its total.
 */
export function monthlyReturns({ details, performance }: ModelData): HTMLElement {
  const greatest = greatestReturn(details.months.map((month) => month.return));
  const column = (
    title: string,
    spanOf: (year: Year) => Span | undefined,
    look: (value: number | null) => string,
  ): Column<Year> => {
    const by = (year: Year) => spanOf(year)?.return ?? null;
    const cell = (year: Year) => percentText(spanOf(year));
    return { title, sortKey: by, cell, look: (year) => look(by(year)), isNumber: true };
  };
  const years = groupYears(details);
  const monthColumn = (title: string, place: number) => ({
    ...column(
      title,
      ({ months }) => months[place],
      (value) => heatClass(value, greatest),
    ),
    isSpare: years.every(({ months }) => months[place] === undefined),
  });
  const columns = [
    nameColumn<Year>('Year', 'year'),
    ...MONTHS.map(monthColumn),
    column(
      'Total',
      (year) => year,
      (value) => `total ${tone(change(value))}`,
    ),
  ];
  const caption = 'Returns by month, in percent';
  const heatmap = table({ caption, rows: years, columns, isFixed: true });
  const element = section(caption, heatmap, meaningLine(performance, 'months'));
  return Object.assign(element, { className: 'months' });
}

/** `+1.13`; nothing for a month without model-days. */
function percentText(span: Span | undefined): HTMLElement | null {
  return span === undefined
    ? null
    : h('span', { title: counted(span.days, 'model-day') }, change(span.return).replace(' %', ''));
}

/** The columns of a year. */
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A month or a year. */
interface Span {
  return: number;
  days: number;
}

/** A year with its months. */
interface Year extends Span {
  year: string;
  /** From January to December; undefined for a month without model-days. */
  months: (Span | undefined)[];
}

/** The years, each with its twelve months. */
export function groupYears({ months, years }: Pick<Details, 'months' | 'years'>): Year[] {
  const monthsByName = new Map(months.map((one) => [one.month, one]));
  const yearMonths = (year: string) =>
    MONTHS.map((_name, place) => monthsByName.get(`${year}-${String(place + 1).padStart(2, '0')}`));
  return years.map((one) => ({ ...one, months: yearMonths(one.year) }));
}

/** How many strengths of colour a gain has, and a loss. */
const LEVELS = 5;

/**
 * The return that has the strongest colour when none is greater: in calm times a small return looks
 * small.
 */
const LEAST_GREATEST = 0.01;

/** The return with the strongest colour: the greatest of them, whether gain or loss. */
export function greatestReturn(returns: readonly (number | null)[]): number {
  return highest(
    returns.map((value) => Math.abs(value ?? 0)),
    LEAST_GREATEST,
  );
}

/**
 * The class that colours a return: `gain-1` to `gain-5`, `loss-1` to `loss-5`; none for zero or no
 * return.
 */
export function heatClass(value: number | null, greatest: number): string {
  const look = tone(change(value));
  if (value === null || look === 'flat') return '';
  const level = Math.min(LEVELS, Math.ceil((Math.abs(value) / greatest) * LEVELS));
  return `heat ${look}-${level}`;
}
