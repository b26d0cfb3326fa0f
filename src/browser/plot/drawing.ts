import uPlot from 'uplot';
import { OUTLINES, coloursOf } from '../look.ts';
import { drawMarks } from './cutoffs.ts';
import { DAY_SECONDS, type Line, type PlotOptions } from './lines.ts';
import {
  axisSplits,
  dateLabels,
  highest,
  lowest,
  paddedRange,
  withoutEmptyCents,
} from './scale.ts';

/** In CSS pixels: the room for the labels of the values, left of the drawing area. */
export const AXIS_WIDTH = 74;
/** In CSS pixels: the room for the dates below it. */
export const AXIS_HEIGHT = 32;
const DAY_STEPS = [1, 2, 7, 14, 30, 61, 91, 182, 365, 730].map((days) => days * DAY_SECONDS);

interface Drawing {
  isLog: boolean;
  hidden: ReadonlySet<number>;
  width: number;
  showTip: (plot: uPlot) => void;
  /** With the values that are shown now; a plot outlives those that it was made with. */
  now: () => PlotOptions;
}

/** How the plot library draws a plot. */
export function drawingOptions(
  options: PlotOptions,
  { isLog, hidden, width, showTip, now }: Drawing,
): uPlot.Options {
  const {
    lines,
    height,
    group,
    drawOver,
    fromZero = false,
    isStacked = false,
    marks = [],
  } = options;
  const colours = coloursOf(['axis', 'gridline', 'surface', ...lines.map(({ colour }) => colour)]);
  return {
    width,
    height,
    legend: { show: false },
    cursor: {
      drag: { x: true, y: false, setScale: true },
      ...(group && { sync: { key: group, scales: ['x', null] } }),
    },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'UTC'),
    scales: {
      x: { time: true },
      y: {
        distr: isLog ? 3 : 1,
        range: (plot, min, max) =>
          isStacked
            ? [0, max]
            : paddedRange(...withBands(plot, now().lines, [min, max]), { isLog, fromZero }),
      },
    },
    axes: axesOf(options, colours),
    series: [
      {},
      ...lines.map((line, index) => {
        const colour = colours[line.colour] ?? '';
        const series = isStacked
          ? areaOf(line, colour, colours['surface'] ?? '')
          : seriesOf(line, colour);
        return { ...series, show: !hidden.has(index) };
      }),
    ],
    hooks: {
      setCursor: [showTip],
      drawAxes: [(plot) => drawBands(plot, now().lines, colours)],
      draw: [
        (plot) => drawMarkers(plot, lines, colours),
        (plot) => drawMarks(plot, marks, colours['axis'] ?? ''),
        ...(drawOver ? [drawOver] : []),
      ],
    },
  };
}

function axesOf({ format, height }: PlotOptions, colours: Record<string, string>): uPlot.Axis[] {
  const axis = {
    stroke: colours['axis'] ?? '',
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  };
  return [
    {
      ...axis,
      size: AXIS_HEIGHT,
      grid: { show: false },
      incrs: DAY_STEPS,
      values: (_plot, splits) => dateLabels(splits),
    },
    {
      ...axis,
      size: AXIS_WIDTH,
      grid: { stroke: colours['gridline'] ?? '', width: 1 },
      splits: (_plot, _axis, min, max) => axisSplits(min, max, height),
      filter: (_plot, splits) => splits,
      values: (_plot, splits) => withoutEmptyCents(splits.map((value) => format(value))),
    },
  ];
}

function seriesOf(
  { label, width = 1.5, values, dash, isFilled }: Line,
  stroke: string,
): uPlot.Series {
  return {
    label,
    stroke,
    width,
    spanGaps: true,
    points: { show: values.length === 1 },
    ...(dash && { dash: dash.map((length) => length * devicePixelRatio) }), // the library scales widths, not dashes
    ...(isFilled && { fill: stroke.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.16)'), fillTo: 0 }),
  };
}

/** An area down to zero: those drawn later cover its lower part. */
function areaOf(line: Line, fill: string, edge: string): uPlot.Series {
  return { ...seriesOf({ ...line, width: 1 }, edge), fill, fillTo: 0 };
}

type Range = [low: number | null, high: number | null];

/** The range of the lines, widened to the bands of those that are shown. */
function withBands(plot: uPlot, lines: readonly Line[], [low, high]: Range): Range {
  const edges = lines.flatMap(({ low: below = [], high: above = [] }, index) =>
    plot.series[index + 1]?.show === false ? [] : [...below, ...above],
  );
  const known = edges.filter((value) => value !== null);
  if (low === null || high === null) return [low, high];
  return [lowest(known, low), highest(known, high)];
}

/** Lets drawings reach no further than the plot's area, until the canvas is restored. */
export function clipTo({ ctx, bbox }: uPlot): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
}

/** Fills the bands of the lines that are shown, below the lines. */
function drawBands(plot: uPlot, lines: readonly Line[], colours: Record<string, string>): void {
  const { ctx } = plot;
  const places = [...plot.data[0].keys()];
  clipTo(plot);
  ctx.globalAlpha = 0.13;
  lines.forEach(({ low, high, colour }, index) => {
    if (low === undefined || high === undefined || plot.series[index + 1]?.show === false) return;
    const edge = (values: readonly (number | null)[], own: readonly number[]) =>
      own.flatMap((place) => {
        const value = values[place] ?? null;
        const x = plot.valToPos(plot.data[0][place] ?? 0, 'x', true);
        return value === null ? [] : [[x, plot.valToPos(value, 'y', true)] as const];
      });
    ctx.beginPath();
    for (const [x, y] of [...edge(high, places), ...edge(low, places.toReversed())])
      ctx.lineTo(x, y);
    ctx.fillStyle = colours[colour] ?? '';
    ctx.fill();
  });
  ctx.restore();
}

/** In CSS pixels, along the dates: closer markers would hide the line. */
const DISTANCE = 46;

/** Draws the markers of the lines that are shown, spread over the dates in view. */
function drawMarkers(plot: uPlot, lines: readonly Line[], colours: Record<string, string>): void {
  const { ctx } = plot;
  const pixel = devicePixelRatio;
  clipTo(plot);
  lines.forEach(({ marker, colour }, index) => {
    const values = plot.data[index + 1] ?? [];
    if (marker === undefined || plot.series[index + 1]?.show === false) return;
    const outline = new Path2D(OUTLINES[marker]);
    ctx.fillStyle = colours[colour] ?? '';
    for (const place of spread(plot, values)) {
      const value = values[place];
      const second = plot.data[0][place];
      if (value == null || second === undefined) continue;
      const [x, y] = [plot.valToPos(second, 'x', true), plot.valToPos(value, 'y', true)];
      ctx.setTransform(pixel, 0, 0, pixel, x, y);
      ctx.fill(outline);
    }
  });
  ctx.restore();
}

/** The places of values that are far enough from each other to have a marker. */
function spread(plot: uPlot, values: ArrayLike<number | null | undefined>): number[] {
  let last = -Infinity;
  return [...plot.data[0].keys()].filter((place) => {
    const left = plot.valToPos(plot.data[0][place] ?? 0, 'x');
    if (values[place] == null || left - last < DISTANCE) return false;
    last = left;
    return true;
  });
}

type Values = readonly (number | null)[];

/**
 * The upper edges of lines that are stacked: each on all those after it, so that the last one is at
 * the bottom. A missing value has no height; where all are missing there is no edge.
 */
export function stacked(lines: readonly Values[]): (number | null)[][] {
  const edges: (number | null)[][] = [];
  let below: Values = (lines[0] ?? []).map((_value, place) =>
    lines.every((values) => values[place] == null) ? null : 0,
  );
  for (const values of lines.toReversed()) {
    const edge = below.map((base, place) => (base === null ? null : base + (values[place] ?? 0)));
    edges.unshift(edge);
    below = edge;
  }
  return edges;
}
