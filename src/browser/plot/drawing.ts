import { coloursOf } from '../parts/theme.ts';
import type { Line, PlotOptions } from './lines.ts';
import { axisSplits, dateLabels, dateSplits, withoutEmptyCents } from './scale.ts';
import { type View, xOf, yOf } from './view.ts';

const FONT = '11px system-ui, sans-serif';
const LABEL_GAP = 5;
const LABEL_LINE_HEIGHT = 16;
const LINE_WIDTH = 1.5;
const FILL_OPACITY = 0.16;
const POINT_RADIUS = 3.5;

export type Context = CanvasRenderingContext2D;

export interface Shown {
  view: View;
  hidden: ReadonlySet<number>;
  colours: Colours;
}

/** By class of the style sheet. */
export type Colours = Readonly<Record<string, string>>;

/** The colours of a plot; the style sheet has others after a change of theme. */
export function plotColours({ lines }: PlotOptions): Colours {
  return coloursOf(['axis', 'grid', 'cursor', 'selection', ...lines.map(({ look }) => look)]);
}

/** A canvas to draw on in CSS pixels, empty, as large as its element and as sharp as the screen. */
export function emptied(canvas: HTMLCanvasElement): Context {
  canvas.width = Math.round(canvas.clientWidth * devicePixelRatio);
  canvas.height = Math.round(canvas.clientHeight * devicePixelRatio);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('Cannot draw: the canvas has another kind of context');
  context.scale(devicePixelRatio, devicePixelRatio);
  return context;
}

/** Draws the axes, the lines that are not hidden, and what a plot draws over them. */
export function drawLines(context: Context, options: PlotOptions, { view, hidden, colours }: Shown): void {
  const { left, top, width, height } = view.area;
  drawAxes(context, options, { view, colours });
  const lines = options.lines.filter((_line, index) => !hidden.has(index));
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  for (const line of lines) drawLine(context, line, { view, colour: colours[line.look] ?? '' });
  context.restore();
  options.drawOver?.(context, view);
}

function drawAxes(context: Context, { format, height }: PlotOptions, { view, colours }: Omit<Shown, 'hidden'>): void {
  const { area, x, y } = view;
  const bottom = area.top + area.height;
  const values = axisSplits(y.min, y.max, height).filter((value) => value >= y.min && value <= y.max);
  const dates = dateSplits(x.min, x.max, area.width);
  context.strokeStyle = colours['grid'] ?? '';
  context.fillStyle = colours['axis'] ?? '';
  context.font = FONT;
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  for (const [index, label] of withoutEmptyCents(values.map(format)).entries()) {
    const at = Math.round(yOf(view, values[index] ?? 0)) + 0.5;
    context.fillText(label, area.left - LABEL_GAP, at);
    strokePath(context, [[area.left, at], [area.left + area.width, at]]);
  }
  context.textAlign = 'center';
  context.textBaseline = 'top';
  for (const [index, label] of dateLabels(dates).entries())
    for (const [row, text] of label.split('\n').entries())
      context.fillText(text, xOf(view, dates[index] ?? 0), bottom + LABEL_GAP + row * LABEL_LINE_HEIGHT);
}

/** Draws one line through the dates that have a value, and a point where there is one date alone. */
function drawLine(
  context: Context,
  { values, dash = [], width = LINE_WIDTH, isFilled }: Line,
  { view, colour }: { view: View; colour: string },
): void {
  const points = pointsOf(values, view);
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return;
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = width;
  context.lineJoin = 'round';
  context.setLineDash(dash);
  strokePath(context, points);
  if (isFilled) {
    const zero = yOf(view, 0);
    context.lineTo(last[0], zero);
    context.lineTo(first[0], zero);
    context.globalAlpha = FILL_OPACITY;
    context.fill();
    context.globalAlpha = 1;
  }
  if (values.length === 1) drawPoint(context, first);
}

type Point = readonly [x: number, y: number];

/** Where the values in view are, with one more on both sides, so that the line leaves the view. */
function pointsOf(values: Line['values'], view: View): Point[] {
  const { dates, area, isLog } = view;
  const points = dates.flatMap((seconds, index): Point[] => {
    const value = values[index] ?? null;
    return value === null || (isLog && value <= 0) ? [] : [[xOf(view, seconds), yOf(view, value)]];
  });
  const before = points.findLastIndex(([x]) => x < area.left);
  const after = points.findIndex(([x]) => x > area.left + area.width);
  return points.slice(Math.max(0, before), after === -1 ? undefined : after + 1);
}

export function strokePath(context: Context, points: readonly Point[]): void {
  context.beginPath();
  for (const [x, y] of points) context.lineTo(x, y);
  context.stroke();
}

export function drawPoint(context: Context, [x, y]: Point): void {
  context.beginPath();
  context.arc(x, y, POINT_RADIUS, 0, 2 * Math.PI);
  context.fill();
}
