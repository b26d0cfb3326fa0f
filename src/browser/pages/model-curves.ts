import type uPlot from 'uplot';
import { modelDayPath } from '../../basics/paths.ts';
import { h } from '../element.ts';
import { count, counted, money, ratio, share } from '../format.ts';
import { coloursOf, lookOf } from '../look.ts';
import { type Box, cutoffMarks, freeRow, middleOf } from '../plot/cutoffs.ts';
import { clipTo } from '../plot/drawing.ts';
import {
  benchmarkLines,
  benchmarkWords,
  datesFromStart,
  type Day,
  daysBesideBenchmark,
  type Line,
  type PlotOptions,
  valuesFromStart,
} from '../plot/lines.ts';
import { createPlot, legend, type Plot } from '../plot/plot.ts';
import type { Drawdown, ModelReport } from '../responses.ts';
import { goTo } from '../router.ts';
import { dateColumn, numberColumn, table } from '../table.ts';
import { section } from '../ui.ts';
import { meaningOf, type ModelData, type Trade } from './model-data.ts';

const VALUE_HEIGHT = 280;
const MARK = 5;

type Own = Omit<PlotOptions, 'dates' | 'group' | 'hasStart' | 'onOpen'>;

/** A plot over all days of a model, which can be opened; all such plots show the same dates. */
function modelPlot({ model, curve }: ModelReport, own: Own, signal: AbortSignal): Plot {
  const dates = datesOf(curve);
  const onOpen = (_label: string, date: string) => goTo(modelDayPath(model, date));
  return createPlot({ ...own, dates, group: 'model', hasStart: true, onOpen }, signal);
}

/** The dates of a curve and of its start. */
function datesOf(curve: readonly { date: string }[]): string[] {
  return datesFromStart(curve.map(({ date }) => date));
}

/** A model's value with its trades and dividends, beside the benchmark. */
export function valueCurve(
  { report, performance, trades }: ModelData,
  signal: AbortSignal,
): HTMLElement {
  const { model, start_value: start } = report;
  const { title, days: curve } = daysBesideBenchmark(report.curve, start);
  const dates = datesOf(curve);
  const values = valuesFromStart(dates, curve, start);
  const value: Line = { ...lookOf(model), label: model, values, width: 2 };
  const lines = [value, ...benchmarkLines(performance.benchmark, dates, start)];
  const days = daysWithTrades(curve, trades);
  const hasDividends = trades.some(({ side }) => side === 'dividend');
  const label = `${title} by date, with trades${hasDividends ? ' and dividends' : ''}`;
  const marks = cutoffMarks(performance.models);
  const drawOver = (plot: uPlot) => drawTrades(plot, days);
  const options = { label, keptAs: 'curve', lines, format: money, height: VALUE_HEIGHT };
  const plot = modelPlot(report, { ...options, marks, drawOver }, signal);
  const dividend = hasDividends ? ['   ', h('span.mark.dividend', '●'), ' dividend'] : [];
  const key = [
    h('span.mark.gain', '▲'),
    ' bought   ',
    h('span.mark.loss', '▼'),
    ' sold',
    ...dividend,
  ];
  const names = legend(plot, lines).element;
  const note = h('p.quiet', benchmarkWords(performance.benchmark));
  const help = '   Drag to zoom, double-click for all dates, click on the curve to open a day';
  return section(
    title,
    names,
    h('p.quiet.key-line', ...key, h('span.on-screen', help)),
    plot.element,
    note,
  );
}

interface DayWithTrades {
  date: string;
  value: number;
  trades: readonly Trade[];
}

function daysWithTrades(curve: readonly Day[], trades: readonly Trade[]): DayWithTrades[] {
  const byDate = Map.groupBy(trades, ({ date }) => date);
  return curve.flatMap(({ date, value }) => {
    const own = byDate.get(date);
    return own === undefined ? [] : { date, value, trades: own };
  });
}

/**
 * One triangle per day for its purchases, under the curve, one for its sales, above, and a dot on
 * it for its dividends.
 */
function drawTrades(plot: uPlot, days: readonly DayWithTrades[]): void {
  const { ctx } = plot;
  const colours = coloursOf(['gain', 'loss', 'dividend']);
  const size = MARK * devicePixelRatio;
  const { left, width } = plot.bbox;
  ctx.save();
  for (const { date, value, trades } of days) {
    const x = plot.valToPos(Date.parse(date) / 1000, 'x', true);
    if (x < left || x > left + width) continue;
    const y = plot.valToPos(value, 'y', true);
    const sides = new Set(trades.map(({ side }) => side));
    if (sides.has('buy')) triangle(ctx, { x, y: y + size * 1.6, size, colour: colours.gain });
    if (sides.has('sell'))
      triangle(ctx, { x, y: y - size * 1.6, size: -size, colour: colours.loss });
    if (sides.has('dividend')) dot(ctx, { x, y, size, colour: colours.dividend });
  }
  ctx.restore();
}

function dot(
  ctx: CanvasRenderingContext2D,
  { x, y, size, colour }: { x: number; y: number; size: number; colour: string },
): void {
  ctx.fillStyle = colour;
  ctx.beginPath();
  ctx.arc(x, y, size * 0.7, 0, 2 * Math.PI);
  ctx.fill();
}

/** Points up for a positive size, down for a negative one. */
function triangle(
  ctx: CanvasRenderingContext2D,
  { x, y, size, colour }: { x: number; y: number; size: number; colour: string },
): void {
  ctx.fillStyle = colour;
  ctx.beginPath();
  ctx.moveTo(x, y - size * 0.6);
  ctx.lineTo(x + size * 0.7, y + size * 0.6);
  ctx.lineTo(x - size * 0.7, y + size * 0.6);
  ctx.fill();
}

const DRAWDOWN_HEIGHT = 190;
/** In CSS pixels. */
const FONT = 11;
const LINE = 14;
const GAP = 3;
const LOW_DOT = 3;
/** How strongly a fall is shaded, from 0 to 1. */
const SHADE = 0.1;
const EDGE_SHADE = 0.4;

/**
 * How far the value was below its last high, with the deepest falls numbered, and a table of them.
 */
export function drawdowns(
  { report, details, performance }: ModelData,
  signal: AbortSignal,
): HTMLElement {
  const { drawdowns: deepest } = details;
  const dates = datesOf(report.curve);
  const below = report.curve.map(({ date, drawdown }) => ({ date, value: 0 - drawdown }));
  const values = valuesFromStart(dates, below, 0);
  const line: Line = { label: 'Drawdown', values, colour: 'loss', isFilled: true };
  const drawOver = (plot: uPlot) => drawFalls(plot, fallsOf(deepest, dates));
  const options = {
    label: 'Drawdown by date',
    lines: [line],
    format: share,
    height: DRAWDOWN_HEIGHT,
    fromZero: true,
    drawOver,
  };
  const { element } = modelPlot(report, options, signal);
  return h(
    'div.two.even',
    section('Drawdown', element, meaningOf(performance, 'drawdown')),
    section('Deepest drawdowns', tableOf(deepest), meaningOf(performance, 'drawdowns')),
  );
}

interface Row extends Drawdown {
  place: number;
}

function tableOf(deepest: readonly Drawdown[]): HTMLElement {
  return table<Row>({
    caption: 'Deepest drawdowns, with their numbers in the plot',
    rows: deepest.map((drawdown, index) => ({ ...drawdown, place: index + 1 })),
    none: 'The value never fell below its last high.',
    columns: [
      numberColumn('No.', 'place', count),
      numberColumn('Depth', 'depth', share),
      dateColumn('High', 'peak_date', 'start'),
      dateColumn('Low', 'trough_date'),
      dateColumn('Recovered', 'recovery_date', 'not yet'),
      numberColumn('Days', 'length', count, {
        meaning: 'From the high to the recovery, or to the last day',
      }),
    ],
  });
}

/**
 * Shades each fall from its high to its recovery, with a dot at its low and its number on the side
 * where the line is not.
 */
function drawFalls(plot: uPlot, falls: readonly Fall[]): void {
  const { ctx, bbox } = plot;
  const pixel = devicePixelRatio;
  const colours = coloursOf(['ink', 'loss']);
  const xOf = (date: string) => plot.valToPos(Date.parse(date) / 1000, 'x', true);
  const labels = { top: [] as Box[], bottom: [] as Box[] };
  clipTo(plot);
  ctx.font = `600 ${FONT * pixel}px system-ui, sans-serif`;
  ctx.textAlign = 'center';
  for (const { number, from, to, low, depth } of falls) {
    const x = xOf(low);
    const y = plot.valToPos(depth, 'y', true);
    const side = y - bbox.top < bbox.height / 2 ? 'bottom' : 'top';
    const half = FONT * pixel;
    const middle = middleOf(x, half, bbox);
    const row = freeRow(labels[side], { left: middle - half, right: middle + half });
    const inside = (GAP + row * LINE) * pixel;
    ctx.globalAlpha = SHADE;
    ctx.fillStyle = colours.loss;
    ctx.fillRect(xOf(from), bbox.top, xOf(to) - xOf(from), bbox.height);
    ctx.globalAlpha = EDGE_SHADE;
    for (const edge of [from, to]) ctx.fillRect(xOf(edge), bbox.top, pixel, bbox.height);
    ctx.globalAlpha = 1;
    ctx.beginPath();
    ctx.arc(x, y, LOW_DOT * pixel, 0, 2 * Math.PI);
    ctx.fill();
    ctx.fillStyle = colours.ink;
    ctx.textBaseline = side;
    ctx.fillText(
      String(number),
      middle,
      side === 'top' ? bbox.top + inside : bbox.top + bbox.height - inside,
    );
  }
  ctx.restore();
}

/**
 * A drawdown in a plot: from its high (or the first date) to its recovery (or the last date), with
 * its number and its low.
 */
interface Fall {
  number: number;
  from: string;
  to: string;
  low: string;
  /** Below zero. */
  depth: number;
}

/** The drawdowns in the order of the table, numbered from 1. */
export function fallsOf(drawdowns: readonly Drawdown[], dates: readonly string[]): Fall[] {
  const [first, last] = [dates[0] ?? '', dates.at(-1) ?? ''];
  return drawdowns.flatMap(
    ({ depth, peak_date: from, trough_date: low, recovery_date: to }, index) =>
      low === null
        ? []
        : { number: index + 1, from: from ?? first, to: to ?? last, low, depth: -depth },
  );
}

const ROLLING_HEIGHT = 150;

/** The Sharpe ratio and the volatility over a window that moves along the days. */
export function rollingRisk(
  { report, details, performance }: ModelData,
  signal: AbortSignal,
): HTMLElement {
  const { window, points, unavailable } = details.rolling;
  const dates = datesOf(report.curve);
  const { colour } = lookOf(report.model);
  const byDate = new Map(points.map((point) => [point.date, point]));
  const plot = (
    title: string,
    name: 'sharpe_ratio' | 'annualised_volatility',
    format: typeof ratio,
  ) => {
    const heading = `${title} over ${counted(window, 'day')}`;
    const values = dates.map((date) => byDate.get(date)?.[name] ?? null);
    if (values.every((value) => value === null)) {
      const reason = unavailable['points'] ?? points[0]?.unavailable[name] ?? '';
      return section(heading, h('p.quiet', `${reason}.`));
    }
    const lines = [{ label: title, values, colour }];
    const options = { label: heading, lines, format, height: ROLLING_HEIGHT };
    const { element } = modelPlot(report, options, signal);
    return section(heading, element, meaningOf(performance, name));
  };
  return h(
    'div.two.even',
    plot('Sharpe ratio', 'sharpe_ratio', ratio),
    plot('Volatility', 'annualised_volatility', share),
  );
}
