import { type Child, svg } from '../element.ts';
import { cutoffLines, type Line, type PlotOptions } from './lines.ts';
import {
  valueTicks,
  dateLabels,
  dateTicks,
  paddedRange,
  type Scale,
  trimEmptyCents,
} from './scale.ts';

/** The drawing of a plot, in pixels: colours are classes of the style sheet. */

/** The room for the labels of the values on the left, and for the dates below. */
const AXIS_WIDTH = 74;
export const AXIS_HEIGHT = 32;
const TOP = 8;
const RIGHT = 12;
/** The width of a date. */
const LABEL = 40;

/** The scale of these lines in a drawing of this width. */
export function createScale(
  { dates, lines, height }: PlotOptions,
  { width, isLog }: { width: number; isLog: boolean },
): Scale {
  const area = {
    left: AXIS_WIDTH,
    top: TOP,
    width: Math.max(1, width - AXIS_WIDTH - RIGHT),
    height: height - AXIS_HEIGHT - TOP,
  };
  const known = lines
    .flatMap(({ values, low = [], high = [] }) => [...values, ...low, ...high])
    .filter((value) => value !== null);
  const [bottom, top] = paddedRange(known, isLog);
  const at = isLog ? Math.log : (value: number) => value;
  const [low, high] = [at(bottom), at(top)];
  const [first = 0, last = 0] = [dates[0], dates.at(-1)].map((date) => Date.parse(date ?? ''));
  const x = (date: string) =>
    area.left + (first === last ? 0.5 : (Date.parse(date) - first) / (last - first)) * area.width;
  return {
    area,
    xs: dates.map(x),
    x,
    y: (value) => area.top + (1 - (at(value) - low) / (high - low)) * area.height,
    ticks: valueTicks(bottom, top, area.height),
  };
}

/** The whole drawing, from the lines across to what the plot draws over its lines. */
export function drawPlot(options: PlotOptions, scale: Scale, width: number): SVGElement {
  const { lines, height, marks = [], drawOver } = options;
  return svg(
    'svg',
    { class: 'drawn', width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' },
    ...drawAxes(options, scale),
    ...lines.map((line) => drawBand(line, scale)),
    ...lines.map((line) => drawLine(line, scale)),
    ...cutoffLines(marks, scale),
    ...(drawOver?.(scale) ?? []),
  );
}

function drawAxes({ dates, format }: PlotOptions, scale: Scale): SVGElement[] {
  const { area, ticks: valueTicks, x, y } = scale;
  const right = area.left + area.width;
  const values = trimEmptyCents(valueTicks.map((value) => format(value)));
  const ticks = dateTicks(dates, area.width);
  const labels = dateLabels(ticks);
  return [
    ...valueTicks.flatMap((value, place) => [
      svg('line', { class: 'rule', x1: area.left, x2: right, y1: y(value), y2: y(value) }),
      drawLabel(area.left - 8, y(value) + 4, values[place], 'end'),
    ]),
    ...ticks.flatMap((date, place) =>
      (labels[place] ?? []).map((words, row) => {
        const isAtEdge = x(date) + LABEL / 2 > right + RIGHT;
        const left = isAtEdge ? right + RIGHT : x(date);
        const top = area.top + area.height + 16 + 14 * row;
        return drawLabel(left, top, words, isAtEdge ? 'end' : 'middle');
      }),
    ),
  ];
}

function drawLabel(x: number, y: number, words: Child, anchor: 'middle' | 'end'): SVGElement {
  return svg('text', { class: 'label', x: round(x), y: round(y), 'text-anchor': anchor }, words);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function linePoints(values: Line['values'], { xs, y }: Scale): string[] {
  return values.flatMap((value, place) =>
    value === null ? [] : `${round(xs[place] ?? 0)} ${round(y(value))}`,
  );
}

function drawBand({ low, high, colour }: Line, scale: Scale): SVGElement | null {
  if (low === undefined || high === undefined) return null;
  const edge = [...linePoints(high, scale), ...linePoints(low, scale).reverse()];
  return svg('path', { class: `band ${colour}`, d: `M${edge.join('L')}Z` });
}

/** A line over its missing values. */
function drawLine({ values, colour, dash }: Line, scale: Scale): SVGElement {
  const own = { d: `M${linePoints(values, scale).join('L')}`, 'stroke-dasharray': dash?.join(' ') };
  return svg('path', { class: `line ${colour}`, ...own });
}

/** The outline of a disc about its middle. */
export const DISC = 'M-3.5 0A3.5 3.5 0 1 0 3.5 0A3.5 3.5 0 1 0-3.5 0Z';

/** A filled outline about a point, given as its two coordinates. */
export function drawMark(d: string, colour: string, point: string): SVGElement {
  return svg('path', { class: `dot ${colour}`, d, transform: `translate(${point})` });
}
