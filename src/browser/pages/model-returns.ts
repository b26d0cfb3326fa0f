import { h, svg } from '../element.ts';
import { change, count, counted, tone } from '../format.ts';
import { drawingExports } from '../plot/plot.ts';
import { axisSplits, highest, withoutEmptyCents } from '../plot/scale.ts';
import type { Details } from '../responses.ts';
import { type Column, nameColumn, numberColumn, table } from '../table.ts';
import { section } from '../ui.ts';
import { type ModelData, meaningOf } from './model-data.ts';

/**
 * The return of each month, in a stronger colour the greater it is: a row per year, with its total.
 */
export function monthlyReturns({ details, performance }: ModelData): HTMLElement {
  const greatest = strongest(details.months.map((month) => month.return));
  const column = (
    title: string,
    spanOf: (year: Year) => Span | undefined,
    look: (value: number | null) => string,
  ): Column<Year> => {
    const by = (year: Year) => spanOf(year)?.return ?? null;
    const cell = (year: Year) => percents(spanOf(year));
    return { title, by, cell, look: (year) => look(by(year)), isNumber: true };
  };
  const years = yearsOf(details);
  const ofMonth = (title: string, place: number) => ({
    ...column(
      title,
      ({ months }) => months[place],
      (value) => heatOf(value, greatest),
    ),
    isSpare: years.every(({ months }) => months[place] === undefined),
  });
  const columns = [
    nameColumn<Year>('Year', 'year'),
    ...MONTHS.map(ofMonth),
    column(
      'Total',
      (year) => year,
      (value) => `total ${tone(value)}`,
    ),
  ];
  const caption = 'Returns by month, in percent';
  const heatmap = table({ caption, rows: years, columns, isFixed: true, isPlot: true });
  const element = section(caption, heatmap, meaningOf(performance, 'months'));
  return Object.assign(element, { className: 'months' });
}

/** `+1.13`; nothing for a month without model-days. */
function percents(span: Span | undefined): HTMLElement | null {
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
export function yearsOf({ months, years }: Pick<Details, 'months' | 'years'>): Year[] {
  const byName = new Map(months.map((one) => [one.month, one]));
  const monthsIn = (year: string) =>
    MONTHS.map((_name, place) => byName.get(`${year}-${String(place + 1).padStart(2, '0')}`));
  return years.map((one) => ({ ...one, months: monthsIn(one.year) }));
}

/** How many strengths of colour a gain has, and a loss. */
const LEVELS = 5;

/**
 * The return that has the strongest colour when none is greater: in calm times a small return looks
 * small.
 */
const LEAST_GREATEST = 0.01;

/** The return with the strongest colour: the greatest of them, whether gain or loss. */
export function strongest(returns: readonly (number | null)[]): number {
  return highest(
    returns.map((value) => Math.abs(value ?? 0)),
    LEAST_GREATEST,
  );
}

/**
 * The class that colours a return: `gain-1` to `gain-5`, `loss-1` to `loss-5`; none for zero or no
 * return.
 */
export function heatOf(value: number | null, greatest: number): string {
  if (value === null || value === 0) return '';
  const level = Math.min(LEVELS, Math.ceil((Math.abs(value) / greatest) * LEVELS));
  return `heat ${value > 0 ? 'gain' : 'loss'}-${level}`;
}

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
export function returnDistribution({ report, details, performance }: ModelData): HTMLElement {
  const { histogram } = details;
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
    meaningOf(performance, 'histogram'),
  );
}

type Bar = HistogramScale['bars'][number];

function binTable(caption: string, rows: readonly Bar[]): HTMLElement {
  return table<Bar>({
    caption,
    rows,
    columns: [
      numberColumn('From', 'from', change),
      numberColumn('Up to, not including', 'to', change),
      numberColumn('Days', 'count', count),
    ],
  });
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

/**
 * Where the parts of a histogram are: across in percent of its width, upwards as a share of its
 * height.
 */
interface HistogramScale {
  bars: { from: number; to: number; count: number; left: number; width: number; height: number }[];
  /** Values on the axis. */
  ticks: number[];
  /** Numbers of days with a line across. */
  levels: { count: number; height: number }[];
  /** Null for a value outside. */
  percent(value: number): number | null;
}

/**
 * `axisSplits` makes a label for every 36 pixels; this makes six or so across, and up to four
 * upwards.
 */
const ACROSS = 216;
const UPWARDS = 150;

/** The scale of a histogram; `edges` are one more than `counts`, in rising order. */
export function histogramScale({
  edges,
  counts,
}: {
  edges: readonly number[];
  counts: readonly number[];
}): HistogramScale {
  const [low = 0, high = 1] = [edges[0], edges.at(-1)];
  const most = highest(counts, 1);
  const at = (value: number) => Number((((value - low) / (high - low || 1)) * 100).toFixed(3));
  const bars = counts.map((count, place) => {
    const [from = low, to = high] = [edges[place], edges[place + 1]];
    return {
      from,
      to,
      count,
      left: at(from),
      width: Number((at(to) - at(from)).toFixed(3)),
      height: count / most,
    };
  });
  const levels = axisSplits(0, most, UPWARDS).filter(
    (count) => count > 0 && Number.isInteger(count),
  );
  return {
    bars,
    ticks: axisSplits(low, high, ACROSS),
    levels: levels.map((count) => ({ count, height: count / most })),
    percent: (value) => (value < low || value > high ? null : at(value)),
  };
}
