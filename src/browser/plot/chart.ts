import uPlot from 'uplot';
import { fillTip, handleKey, isWhole, placeTip, showAll, spokenValues, zoom } from './chart-reading.ts';
import { h, on, replace } from '../parts/element.ts';
import type { ChartOptions, Line } from './lines.ts';
import { axisSplits, dateLabels, paddedRange, withoutEmptyCents } from './scale.ts';
import { THEME_CHANGE, coloursOf } from '../parts/theme.ts';

export interface Chart {
  element: HTMLElement;
  setVisible(line: number, isVisible: boolean): void;
  setLog(isLog: boolean): void;
  /** Below 1 nearer, above 1 farther. */
  zoom(factor: number): void;
  resetZoom(): void;
  /** Shows later values of the same lines; what is hidden or zoomed stays so. */
  update(dates: readonly string[], lines: readonly Line[]): void;
}

const AXIS_WIDTH = 74;
const AXIS_HEIGHT = 32;
const DAY_SECONDS = 86_400;

/** A plot of values over session dates; zoomed by dragging, read by hovering, or both by the keyboard. */
export function createChart(options: ChartOptions, signal: AbortSignal): Chart {
  let shown = options;
  const hidden = new Set<number>();
  let isLog = false;
  let plot: uPlot | null = null;
  const { element, canvas, tip, spoken } = frame(options);
  const draw = () => {
    if (canvas.clientWidth === 0) return;
    const range = plot === null || isWhole(plot) ? null : { ...plot.scales['x'] };
    plot?.destroy();
    const drawing = { isLog, hidden, width: canvas.clientWidth, showTip };
    plot = new uPlot(plotOptions(shown, drawing), dataOf(shown), canvas);
    if (range?.min != null && range.max != null) plot.setScale('x', { min: range.min, max: range.max });
  };
  const showTip = (at: uPlot) => {
    const index = at.cursor.idx;
    const left = at.cursor.left ?? -1;
    if (index === null || index === undefined || left < 0) return void (tip.hidden = true);
    fillTip(tip, shown, { index, hidden });
    placeTip(tip, left + AXIS_WIDTH, canvas.clientWidth);
  };
  on(canvas, 'keydown', (event) => {
    if (plot === null || !handleKey(plot, event.key)) return;
    event.preventDefault();
    const index = plot.cursor.idx;
    if (index !== null && index !== undefined) replace(spoken, spokenValues(shown, { index, hidden }));
  });
  on(canvas, 'blur', () => (tip.hidden = true));
  watch(canvas, { draw, signal, resize: () => plot?.setSize({ width: canvas.clientWidth, height: options.height }) });
  signal.addEventListener('abort', () => plot?.destroy());
  return {
    element,
    setVisible(line, isVisible) {
      if (isVisible) hidden.delete(line);
      else hidden.add(line);
      plot?.setSeries(line + 1, { show: isVisible });
    },
    setLog(wanted) {
      isLog = wanted;
      draw();
    },
    zoom: (factor) => plot !== null && zoom(plot, factor),
    resetZoom: () => plot !== null && showAll(plot),
    update(dates, lines) {
      shown = { ...shown, dates, lines };
      if (plot === null) return;
      if (isWhole(plot)) return plot.setData(dataOf(shown));
      plot.setData(dataOf(shown), false);
      plot.redraw();
    },
  };
}

function frame({ label, height }: ChartOptions): Record<'element' | 'canvas' | 'tip' | 'spoken', HTMLElement> {
  const tip = h('div', { class: 'tip', hidden: true });
  const spoken = h('div', { class: 'unseen', role: 'status' });
  const canvas = h('div', {
    class: 'canvas',
    tabindex: 0,
    role: 'application',
    'aria-roledescription': 'plot',
    'aria-label': `${label}. Arrow keys read values, plus and minus zoom, Escape shows all.`,
  });
  canvas.style.setProperty('height', `${height}px`);
  return { element: h('div', { class: 'chart' }, canvas, tip, spoken), canvas, tip, spoken };
}

function dataOf({ dates, lines }: ChartOptions): uPlot.AlignedData {
  return [dates.map((date) => Date.parse(date) / 1000), ...lines.map(({ values }) => [...values])];
}

/** Draws when there is room for the first time, again in other colours, and follows the width. */
function watch(
  canvas: HTMLElement,
  { draw, resize, signal }: { draw: () => void; resize: () => void; signal: AbortSignal },
): void {
  let drawnWidth = 0;
  const observer = new ResizeObserver(() => {
    if (canvas.clientWidth === drawnWidth || canvas.clientWidth === 0) return;
    if (drawnWidth === 0) draw();
    else resize();
    drawnWidth = canvas.clientWidth;
  });
  observer.observe(canvas);
  document.addEventListener(THEME_CHANGE, draw, { signal });
  signal.addEventListener('abort', () => observer.disconnect());
}

interface Drawing {
  isLog: boolean;
  hidden: ReadonlySet<number>;
  width: number;
  showTip: (plot: uPlot) => void;
}

function plotOptions(options: ChartOptions, { isLog, hidden, width, showTip }: Drawing): uPlot.Options {
  const { lines, format, height, group, drawOver, fromZero = false } = options;
  const looks = ['axis', 'grid', ...lines.map(({ look }) => look)];
  const colours = coloursOf(looks);
  const axis = { stroke: colours['axis'] ?? '', ticks: { show: false }, font: '11px system-ui, sans-serif' };
  const grid = { stroke: colours['grid'] ?? '', width: 1 };
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
      y: { distr: isLog ? 3 : 1, range: (_plot, min, max) => paddedRange(min, max, { isLog, fromZero }) },
    },
    axes: [
      {
        ...axis,
        size: AXIS_HEIGHT,
        grid: { show: false },
        incrs: dayIncrements,
        values: (_plot, splits) => dateLabels(splits),
      },
      {
        ...axis,
        size: AXIS_WIDTH,
        grid,
        splits: (_plot, _axis, min, max) => axisSplits(min, max, height),
        filter: (_plot, splits) => splits,
        values: (_plot, splits) => withoutEmptyCents(splits.map((value) => format(value))),
      },
    ],
    series: [
      {},
      ...lines.map((line, index): uPlot.Series => {
        const stroke = colours[line.look] ?? '';
        return {
          label: line.label,
          stroke,
          width: line.width ?? 1.5,
          show: !hidden.has(index),
          spanGaps: true,
          points: { show: line.values.length === 1 },
          ...(line.dash && { dash: line.dash }),
          ...(line.isFilled && { fill: stroke.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.16)'), fillTo: 0 }),
        };
      }),
    ],
    hooks: { setCursor: [showTip], ...(drawOver && { draw: [drawOver] }) },
  };
}

/** Session dates have no hours: the axis steps by days, weeks, months and years. */
const dayIncrements = [1, 2, 7, 14, 30, 61, 91, 182, 365, 730].map((days) => days * DAY_SECONDS);
