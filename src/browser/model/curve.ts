import type uPlot from 'uplot';
import { modelDayPath } from '../../page-paths.ts';
import { h } from '../element.ts';
import { money } from '../format.ts';
import { coloursOf, lookOf } from '../look.ts';
import { legend } from '../plot/legend.ts';
import { type Line, benchmarkLines, benchmarkWords } from '../plot/lines.ts';
import { cutoffMarks } from '../plot/marks.ts';
import { createPlot } from '../plot/plot.ts';
import { type Day, datesFromStart, daysBesideBenchmark, valuesFromStart } from '../plot/values.ts';
import type { ModelReport, Performance } from '../responses.ts';
import { goTo } from '../router.ts';
import type { Trade } from '../service/trades.ts';
import { section } from '../ui.ts';

const HEIGHT = 280;
const MARK = 5;

interface Sources {
  report: ModelReport;
  performance: Performance;
  trades: readonly Trade[];
  signal: AbortSignal;
}

/** A model's value with its trades and dividends, beside the benchmark. */
export function valueCurve({ report, performance, trades, signal }: Sources): HTMLElement {
  const { model, start_value: start } = report;
  const { title, days: curve } = daysBesideBenchmark(report.curve, start);
  const dates = datesFromStart(curve.map(({ date }) => date));
  const { colour: look, dash } = lookOf(model);
  const value: Line = {
    label: model,
    values: valuesFromStart(dates, curve, start),
    look,
    dash,
    width: 2,
  };
  const lines = [value, ...benchmarkLines(performance.benchmark, dates, start)];
  const days = daysWithTrades(curve, trades);
  const hasDividends = trades.some(isDividend);
  const label = `${title} by date, with trades${hasDividends ? ' and dividends' : ''}`;
  const marks = cutoffMarks(performance.models);
  const drawOver = (plot: uPlot) => drawTrades(plot, days);
  const onOpen = (_label: string, date: string) => goTo(modelDayPath(model, date));
  const options = {
    label,
    dates,
    lines,
    format: money,
    height: HEIGHT,
    group: 'model',
    marks,
    drawOver,
    onOpen,
  };
  const plot = createPlot({ ...options, keptAs: 'curve', hasStart: true }, signal);
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

function isDividend({ side }: Trade): boolean {
  return side === 'dividend';
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
