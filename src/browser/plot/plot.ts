import uPlot from 'uplot';
import { h, on, replace } from '../parts/element.ts';
import { THEME_CHANGE } from '../parts/theme.ts';
import { AXIS_WIDTH, drawingOptions } from './drawing.ts';
import type { Line, PlotOptions } from './lines.ts';
import { fillTip, handleKey, isWhole, placeTip, showAll, spokenValues, zoom } from './reading.ts';

export interface Plot {
  element: HTMLElement;
  setVisible(line: number, isVisible: boolean): void;
  setLog(isLog: boolean): void;
  /** Zooms in with a factor below 1, out with one above. */
  zoom(factor: number): void;
  resetZoom(): void;
  /** Shows later values of the same lines; hidden lines stay hidden, and the zoom stays. */
  update(dates: readonly string[], lines: readonly Line[]): void;
}

/** A plot of values over session dates: drag to zoom, hover to read, or do both with the keyboard. */
export function createPlot(options: PlotOptions, signal: AbortSignal): Plot {
  let shown = options;
  const hidden = new Set<number>();
  let isLog = false;
  let plot: uPlot | null = null;
  const { element, canvas, tip, spoken } = frame(options);
  const showTip = ({ cursor: { idx: index, left = -1 } }: uPlot) => {
    tip.hidden = index == null || left < 0;
    if (index == null || left < 0) return;
    fillTip(tip, shown, { index, hidden });
    placeTip(tip, left + AXIS_WIDTH, canvas.clientWidth);
  };
  const draw = () => {
    if (canvas.clientWidth === 0) return;
    const range = plot === null || isWhole(plot) ? null : { ...plot.scales['x'] };
    plot?.destroy();
    const drawing = drawingOptions(shown, { isLog, hidden, width: canvas.clientWidth, showTip });
    plot = new uPlot(drawing, dataOf(shown), canvas);
    if (range?.min != null && range.max != null) plot.setScale('x', { min: range.min, max: range.max });
  };
  on(canvas, 'keydown', (event) => {
    if (plot === null || !handleKey(plot, event.key)) return;
    event.preventDefault();
    const index = plot.cursor.idx;
    if (index != null) replace(spoken, spokenValues(shown, { index, hidden }));
  });
  on(canvas, 'blur', () => (tip.hidden = true));
  watch(canvas, { draw, signal, resize: (width) => plot?.setSize({ width, height: options.height }) });
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
    zoom: (factor) => plot && zoom(plot, factor),
    resetZoom: () => plot && showAll(plot),
    update(dates, lines) {
      shown = { ...shown, dates, lines };
      const resetsZoom = plot !== null && isWhole(plot);
      plot?.setData(dataOf(shown), resetsZoom);
      if (!resetsZoom) plot?.redraw();
    },
  };
}

function frame({ label, height }: PlotOptions): Record<'element' | 'canvas' | 'tip' | 'spoken', HTMLElement> {
  const tip = h('div.tip', { hidden: true });
  const spoken = h('div.unseen', { role: 'status' });
  const canvas = h('div.canvas', {
    tabindex: 0,
    role: 'application',
    'aria-roledescription': 'plot',
    'aria-label': `${label}. Arrow keys read the values, plus and minus zoom, Escape shows all dates.`,
  });
  canvas.style.setProperty('height', `${height}px`);
  return { element: h('div.plot', canvas, tip, spoken), canvas, tip, spoken };
}

function dataOf({ dates, lines }: PlotOptions): uPlot.AlignedData {
  return [dates.map((date) => Date.parse(date) / 1000), ...lines.map(({ values }) => [...values])];
}

/** Draws as soon as there is room and whenever the colours change, and resizes with the canvas. */
function watch(
  canvas: HTMLElement,
  { draw, resize, signal }: { draw: () => void; resize: (width: number) => void; signal: AbortSignal },
): void {
  let drawnWidth = 0;
  const observer = new ResizeObserver(() => {
    const width = canvas.clientWidth;
    if (width === drawnWidth || width === 0) return;
    if (drawnWidth === 0) draw();
    else resize(width);
    drawnWidth = width;
  });
  observer.observe(canvas);
  document.addEventListener(THEME_CHANGE, draw, { signal });
  signal.addEventListener('abort', () => observer.disconnect());
}
