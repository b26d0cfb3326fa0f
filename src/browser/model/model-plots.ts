import type uPlot from 'uplot';
import { type Chart, createChart } from '../plot/chart.ts';
import { type Line, benchmarkName } from '../plot/lines.ts';
import { type Day, drawdowns } from './days.ts';
import { h } from '../parts/element.ts';
import { money, share } from '../parts/format.ts';
import type { ModelReport, Performance } from '../service/responses.ts';
import { coloursOf } from '../parts/theme.ts';

const CURVE_HEIGHT = 280;
const SIDE_HEIGHT = 150;
const MARK = 5;

export interface Sources {
  report: ModelReport | undefined;
  performance: Performance;
  signal: AbortSignal;
}

/** The course of a model: its value with the trades on it, below it drawdown, cash and holdings; all zoom together. */
export function plots(days: readonly Day[], sources: Sources): HTMLElement {
  const { signal, report } = sources;
  const dates = days.map(({ date }) => date);
  const values = days.map(({ close }) => close.portfolio_value);
  const cash = days.map(({ close }) => close.cash);
  const start = report?.start_value ?? startValue(days);
  const invested = values.map((value, index) => value - (cash[index] ?? 0));
  const shared = { dates, height: SIDE_HEIGHT, group: 'model', fromZero: true };
  const loss: Line = { label: 'Drawdown', values: drawdowns(values, start), look: 'loss', isFilled: true };
  const drawdown = createChart({ ...shared, label: 'Drawdown by date', lines: [loss], format: share }, signal);
  const holdings: Line[] = [
    { label: 'In holdings', values: invested, look: 'series-0', isFilled: true },
    { label: 'Cash', values: cash, look: 'series-2' },
  ];
  const split = createChart({ ...shared, label: 'Cash and holdings by date', lines: holdings, format: money }, signal);
  return h(
    'section',
    { class: 'plots' },
    h('h2', {}, 'Portfolio value'),
    h(
      'p',
      { class: 'quiet key-line' },
      h('span', { class: 'mark gain' }, '▲'),
      ' bought   ',
      h('span', { class: 'mark loss' }, '▼'),
      ' sold   Drag to zoom, double-click for all dates',
    ),
    valueCurve(days, { ...sources, start }).element,
    h(
      'div',
      { class: 'two' },
      h('div', {}, h('h3', {}, 'Drawdown'), drawdown.element),
      h('div', {}, h('h3', {}, 'Cash and holdings'), split.element),
    ),
  );
}

/** What the first day started with. */
function startValue(days: readonly Day[]): number {
  const first = days[0]?.close;
  return first === undefined ? 0 : first.portfolio_value - (first.daily_profit ?? 0);
}

function valueCurve(days: readonly Day[], { performance, signal, start }: Sources & { start: number }): Chart {
  const dates = days.map(({ date }) => date);
  const levels = new Map(performance.benchmark.curve.map(({ date, value }) => [date, value * start]));
  const benchmark: Line = {
    label: benchmarkName(performance.benchmark.name),
    values: dates.map((date) => levels.get(date) ?? null),
    look: 'benchmark',
    dash: [4, 4],
  };
  const value: Line = {
    label: 'Value',
    values: days.map(({ close }) => close.portfolio_value),
    look: 'series-0',
    width: 2,
  };
  return createChart(
    {
      label: 'Portfolio value by date, with trades',
      dates,
      lines: levels.size > 0 ? [value, benchmark] : [value],
      format: money,
      height: CURVE_HEIGHT,
      group: 'model',
      drawOver: (plot) => drawTrades(plot, days),
    },
    signal,
  );
}

/** A triangle for each day's purchases under the curve, one for its sales above. */
function drawTrades(plot: uPlot, days: readonly Day[]): void {
  const { ctx } = plot;
  const colours = coloursOf(['gain', 'loss']);
  const size = MARK * devicePixelRatio;
  const { left, width } = plot.bbox;
  ctx.save();
  for (const { date, close, records } of days) {
    const x = plot.valToPos(Date.parse(date) / 1000, 'x', true);
    if (x < left || x > left + width) continue;
    const y = plot.valToPos(close.portfolio_value, 'y', true);
    if (records.some(({ action_type }) => action_type === 'buy'))
      triangle(ctx, { x, y: y + size * 1.6, size, colour: colours.gain });
    if (records.some(({ action_type }) => action_type === 'sell'))
      triangle(ctx, { x, y: y - size * 1.6, size: -size, colour: colours.loss });
  }
  ctx.restore();
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
