import type uPlot from 'uplot';
import { section } from '../parts/blocks.ts';
import { h } from '../parts/element.ts';
import { money, share } from '../parts/format.ts';
import { coloursOf } from '../parts/theme.ts';
import { type Line, benchmarkLines } from '../plot/lines.ts';
import { cutoffMarks } from '../plot/marks.ts';
import { createPlot } from '../plot/plot.ts';
import type { ModelReport, Performance } from '../service/responses.ts';
import { type Day, drawdowns, startValue } from './days.ts';

const CURVE_HEIGHT = 280;
const SIDE_HEIGHT = 150;
const MARK = 5;

interface Sources {
  report: ModelReport | undefined;
  performance: Performance;
  signal: AbortSignal;
}

/** A model's value with its trades, and below it drawdown, cash and holdings; all zoom together. */
export function plots(days: readonly Day[], { report, performance, signal }: Sources): HTMLElement {
  const dates = days.map(({ date }) => date);
  const marks = cutoffMarks(performance.models);
  const values = days.map(({ close }) => close.portfolio_value);
  const cash = days.map(({ close }) => close.cash);
  const [first] = days;
  const start = report?.start_value ?? (first === undefined ? 0 : startValue(first));
  const plot = (label: string, lines: Line[], options: Partial<Parameters<typeof createPlot>[0]>) =>
    createPlot({ label, dates, lines, format: money, height: SIDE_HEIGHT, group: 'model', marks, ...options }, signal).element;
  const value: Line = { label: 'Value', values, look: 'series-0', width: 2 };
  const benchmark = benchmarkLines(performance.benchmark, dates, start);
  const curveLabel = `Portfolio value by date, with trades${days.some(hasDividend) ? ' and dividends' : ''}`;
  const curve = plot(curveLabel, [value, ...benchmark], {
    height: CURVE_HEIGHT,
    drawOver: (plot) => drawRecords(plot, days),
  });
  const loss: Line = { label: 'Drawdown', values: drawdowns(values, start), look: 'loss', isFilled: true };
  const drawdown = plot('Drawdown by date', [loss], { format: share, fromZero: true });
  const invested = values.map((value, index) => value - (cash[index] ?? 0));
  const parts: Line[] = [
    { label: 'In holdings', values: invested, look: 'series-0', isFilled: true },
    { label: 'Cash', values: cash, look: 'series-2' },
  ];
  const split = plot('Cash and holdings by date', parts, { fromZero: true });
  const dividend = days.some(hasDividend) ? ['   ', h('span.mark.dividend', '●'), ' dividend'] : [];
  const key = [h('span.mark.gain', '▲'), ' bought   ', h('span.mark.loss', '▼'), ' sold', ...dividend];
  const element = section(
    'Portfolio value',
    h('p.quiet.key-line', ...key, '   Drag to zoom, double-click for all dates'),
    curve,
    h('div.two', h('div', h('h3', 'Drawdown'), drawdown), h('div', h('h3', 'Cash and holdings'), split)),
  );
  return Object.assign(element, { className: 'plots' });
}

function hasDividend({ records }: Day): boolean {
  return records.some(({ action_type }) => action_type === 'dividend');
}

/** One triangle per day for its purchases, under the curve, one for its sales, above, and a dot on it for its dividends. */
function drawRecords(plot: uPlot, days: readonly Day[]): void {
  const { ctx } = plot;
  const colours = coloursOf(['gain', 'loss', 'dividend']);
  const size = MARK * devicePixelRatio;
  const { left, width } = plot.bbox;
  ctx.save();
  for (const day of days) {
    const { date, close, records } = day;
    const x = plot.valToPos(Date.parse(date) / 1000, 'x', true);
    if (x < left || x > left + width) continue;
    const y = plot.valToPos(close.portfolio_value, 'y', true);
    if (records.some(({ action_type }) => action_type === 'buy'))
      triangle(ctx, { x, y: y + size * 1.6, size, colour: colours.gain });
    if (records.some(({ action_type }) => action_type === 'sell'))
      triangle(ctx, { x, y: y - size * 1.6, size: -size, colour: colours.loss });
    if (hasDividend(day)) dot(ctx, { x, y, size, colour: colours.dividend });
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
