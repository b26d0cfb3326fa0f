import uPlot from 'uplot';
import { h, on } from '../element.ts';
import type { Kept } from '../history.ts';
import { THEME_CHANGE } from '../look.ts';
import { AXIS_WIDTH, drawingOptions } from './drawing.ts';
import { plotExports } from './exports.ts';
import { keptHidden, keptRange, keptView } from './kept-view.ts';
import { KEYS, listenToKeys } from './keys.ts';
import type { Line, PlotOptions } from './lines.ts';
import { openOnClick } from './opening.ts';
import { fillTip, isWhole, placeTip, showAll, zoom } from './reading.ts';
import { stacked } from './stack.ts';

/** A plot on a page. */
export interface Plot {
  element: HTMLElement;
  setVisible(line: number, isVisible: boolean): void;
  /**
   * Which lines are hidden, and whether the scale is logarithmic, when the reader comes back to the
   * page.
   */
  isVisible(line: number): boolean;
  isLog(): boolean;
  setLog(isLog: boolean): void;
  /** Zooms in with a factor below 1, out with one above. */
  zoom(factor: number): void;
  resetZoom(): void;
  /** Shows later values of the same lines; hidden lines stay hidden, and the zoom stays. */
  update(dates: readonly string[], lines: readonly Line[]): void;
}

/**
 * A plot of values over session dates: drag to zoom, hover to read, or do both with the keyboard.
 */
export function createPlot(options: PlotOptions, signal: AbortSignal): Plot {
  let shown = options;
  const kept = keptView(options);
  const hidden = keptHidden(kept, options);
  let isLog = kept.isLog.read() === true;
  let plot: uPlot | null = null;
  const { element, canvas, tip, spoken } = frame(options);
  const exports = plotExports(canvas, () => shown);
  element.append(exports.element);
  const choice = { line: null };
  const showTip = (plot: uPlot) => {
    const { idx: index, left = -1, top = 0 } = plot.cursor;
    tip.hidden = index == null || left < 0;
    if (index == null || left < 0) return;
    fillTip(tip, shown, { plot, index, hidden, pointer: { top, chosen: choice.line } });
    placeTip(tip, left + AXIS_WIDTH, canvas.clientWidth);
  };
  const draw = () => {
    if (canvas.clientWidth === 0) return;
    const range =
      plot === null ? keptRange(kept, shown.dates) : isWhole(plot) ? null : { ...plot.scales['x'] };
    plot?.destroy();
    const drawing = drawingOptions(shown, { isLog, hidden, width: canvas.clientWidth, showTip });
    plot = new uPlot(drawing, dataOf(shown), canvas);
    if (range?.min != null && range.max != null)
      plot.setScale('x', { min: range.min, max: range.max });
    keepZoom(plot, kept.zoom);
  };
  const now = () => ({ plot, options: shown, hidden });
  listenToKeys(canvas, { now, choice, spoken, showTip });
  openOnClick(canvas, now);
  on(canvas, 'blur', () => (tip.hidden = true));
  watch(canvas, {
    draw,
    signal,
    resize: (width) => plot?.setSize({ width, height: options.height }),
  });
  signal.addEventListener('abort', () => plot?.destroy());
  return {
    element,
    setVisible(line, isVisible) {
      if (isVisible) hidden.delete(line);
      else hidden.add(line);
      kept.hidden.write([...hidden].map((place) => shown.lines[place]?.label));
      plot?.setSeries(line + 1, { show: isVisible });
    },
    isVisible: (line) => !hidden.has(line),
    isLog: () => isLog,
    setLog(wanted) {
      isLog = wanted;
      kept.isLog.write(isLog);
      draw();
    },
    zoom: (factor) => plot && zoom(plot, factor),
    resetZoom: () => plot && showAll(plot),
    update(dates, lines) {
      shown = { ...shown, dates, lines };
      exports.update();
      const resetsZoom = plot !== null && isWhole(plot);
      plot?.setData(dataOf(shown), resetsZoom);
      if (!resetsZoom) plot?.redraw();
    },
  };
}

/** Keeps the dates in view from now on. */
function keepZoom(plot: uPlot, zoom: Kept): void {
  const keepRange = (_plot: uPlot, scale: string) => {
    const { min, max } = plot.scales['x'] ?? {};
    const range = isWhole(plot) ? null : { min, max };
    const isKept = JSON.stringify(zoom.read() ?? null) === JSON.stringify(range);
    if (scale === 'x' && !isKept) zoom.write(range);
  };
  plot.hooks.setScale = [keepRange];
}

function frame({
  label,
  height,
  onOpen,
}: PlotOptions): Record<'element' | 'canvas' | 'tip' | 'spoken', HTMLElement> {
  const tip = h('div.tip', { hidden: true });
  const spoken = h('div.unseen', { role: 'status' });
  const canvas = h('div.canvas', {
    tabindex: 0,
    role: 'application',
    'aria-roledescription': 'plot',
    'aria-label': `${label}. ${KEYS}${onOpen === undefined ? '' : ', Enter opens a day'}.`,
  });
  canvas.style.setProperty('height', `${height}px`);
  return { element: h('div.plot', canvas, tip, spoken), canvas, tip, spoken };
}

function dataOf({ dates, lines, isStacked = false }: PlotOptions): uPlot.AlignedData {
  const values = lines.map((line) => line.values);
  const drawn = isStacked ? stacked(values) : values.map((own) => [...own]);
  return [dates.map((date) => Date.parse(date) / 1000), ...drawn];
}

/**
 * How far below the window a plot is drawn, in pixels, so that it is there before the reader
 * scrolls to it.
 */
const AHEAD = 400;

/**
 * Draws as soon as there is room in or near the window and whenever the colours change, and resizes
 * with the canvas.
 */
function watch(
  canvas: HTMLElement,
  {
    draw,
    resize,
    signal,
  }: { draw: () => void; resize: (width: number) => void; signal: AbortSignal },
): void {
  let drawnWidth = 0;
  let isNear = false;
  const fit = () => {
    const width = canvas.clientWidth;
    if (!isNear || width === drawnWidth || width === 0) return;
    if (drawnWidth === 0) draw();
    else resize(width);
    drawnWidth = width;
  };
  const sizes = new ResizeObserver(fit);
  const approach = () => {
    isNear = true;
    views.disconnect();
    fit();
  };
  const onView = (entries: IntersectionObserverEntry[]) =>
    entries.some(({ isIntersecting }) => isIntersecting) && approach();
  const views = new IntersectionObserver(onView, { rootMargin: `${AHEAD}px` });
  canvas.addEventListener('focus', approach, { once: true }); // the next key may read it
  sizes.observe(canvas);
  views.observe(canvas);
  document.addEventListener(THEME_CHANGE, draw, { signal });
  signal.addEventListener('abort', () => {
    sizes.disconnect();
    views.disconnect();
  });
}
