import uPlot from 'uplot';
import { asArray, asObject } from '../../basics/json.ts';
import { h, type Live, on, replace } from '../element.ts';
import { keep, type Kept } from '../history.ts';
import { swatch, THEME_CHANGE } from '../look.ts';
import { pngButton } from '../save.ts';
import { dateColumn, numberColumn, table } from '../table.ts';
import { toggle } from '../ui.ts';
import { KEYS, listenToKeys, openOnClick } from './choosing.ts';
import { AXIS_HEIGHT, AXIS_WIDTH, drawingOptions, stacked } from './drawing.ts';
import { DAY_SECONDS, type Line, type PlotOptions, rankOrder } from './lines.ts';
import { fillTip, isWhole, placeTip, showAll, zoom } from './reading.ts';

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
  const exports = drawingExports(canvas, options.label, () => valueTable(shown));
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
    const width = canvas.clientWidth;
    const drawing = drawingOptions(shown, { isLog, hidden, width, showTip, now: () => shown });
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

/** The part of the dates in view, in seconds. */
interface Range {
  min: number;
  max: number;
}

/**
 * What a plot keeps over Back: the dates in view, which plots of a group share, hidden lines by
 * name, and the scale.
 */
interface KeptView {
  zoom: Kept;
  hidden: Kept;
  isLog: Kept;
}

/** What is kept of a plot, under its name or that of its group. */
function keptView({ label, keptAs = label, group = keptAs }: PlotOptions): KeptView {
  return {
    zoom: keep(`zoom ${group}`),
    hidden: keep(`hidden ${keptAs}`),
    isLog: keep(`log ${keptAs}`),
  };
}

/** The kept zoom; null when all dates were in view, or when it shows less than a day of these. */
function keptRange({ zoom }: KeptView, dates: readonly string[]): Range | null {
  const { min, max } = asObject(zoom.read()) ?? {};
  if (typeof min !== 'number' || typeof max !== 'number') return null;
  const [first = NaN, last = NaN] = [dates[0], dates.at(-1)].map(
    (date) => Date.parse(date ?? '') / 1000,
  );
  return Math.min(max, last) - Math.max(min, first) >= DAY_SECONDS ? { min, max } : null;
}

/** The places of the lines that were hidden. */
function keptHidden({ hidden }: KeptView, { lines }: PlotOptions): Set<number> {
  const names = asArray(hidden.read()) ?? [];
  return new Set(lines.flatMap(({ label }, place) => (names.includes(label) ? [place] : [])));
}

/** Later values of the same lines put the names into another order. */
interface Legend extends Live<readonly Line[]> {
  /** Moves the names to the ends of their lines, in a plot as it is drawn now. */
  place(plot: uPlot): void;
}

/** In pixels, between the names at the ends of the lines. */
const LEGEND_ROW = 24;

/**
 * The names of the lines, highest last value first, with words such as their return; each hides and
 * shows its own. In a wide window the style sheet puts them where `place` says, at the right ends of
 * the lines, if a plot of this height has room for all.
 */
export function legend(
  plot: Plot,
  lines: readonly Line[],
  { wordsOf, height = 0 }: { wordsOf?: (line: Line) => string; height?: number } = {},
): Legend {
  const words = lines.map(() => h('b'));
  const items = lines.map((line, place) => {
    const attributes = {
      class: 'legend',
      'aria-pressed': String(plot.isVisible(place)),
      title: `Hide or show ${line.label}`,
    };
    const parts = [swatch(line), h('span', line.label), wordsOf !== undefined && words[place]];
    return h(
      'li',
      toggle(parts, (isShown) => plot.setVisible(place, isShown), attributes),
    );
  });
  const element = h('ul.legends', { 'aria-label': 'Lines of the plot' });
  // From the start, so that nothing moves when the plot is drawn.
  element.classList.toggle('ends', items.length * LEGEND_ROW <= height - AXIS_HEIGHT - LEGEND_ROW);
  let order: number[] = [];
  const update = (later: readonly Line[]) => {
    later.forEach((line, place) => words[place]?.replaceChildren(wordsOf?.(line) ?? ''));
    const next = rankOrder(later);
    if (next.join() === order.join()) return;
    order = next;
    const focused = document.activeElement;
    element.append(...order.flatMap((place) => items[place] ?? []));
    if (focused instanceof HTMLElement && element.contains(focused))
      focused.focus({ preventScroll: true });
  };
  update(lines);
  const place = (drawn: uPlot) => {
    const top = drawn.bbox.top / devicePixelRatio;
    const height = drawn.bbox.height / devicePixelRatio;
    element.classList.add('placed');
    const wanted = order.map((line) => drawn.valToPos(lastOf(drawn.data[line + 1]), 'y') || 0);
    spreadOut(wanted, { gap: LEGEND_ROW, height }).forEach((y, rank) =>
      items[order[rank] ?? 0]?.style.setProperty('--y', `${Math.round(top + y)}px`),
    );
  };
  return { element, update, place };
}

function lastOf(values: ArrayLike<number | null | undefined> = []): number {
  return Array.from(values).findLast((value) => value != null) ?? 0;
}

/**
 * Heights from the top, in order, at least a gap apart and within the height, each as near to where
 * it is wanted as those before it leave.
 */
export function spreadOut(
  wanted: readonly number[],
  { gap, height }: { gap: number; height: number },
): number[] {
  let free = 0;
  const down = wanted.map((y) => {
    const own = Math.max(free, y);
    free = own + gap;
    return own;
  });
  let floor = height;
  return down
    .toReversed()
    .map((y) => {
      const own = Math.min(floor, y);
      floor = own - gap;
      return own;
    })
    .reverse();
}

/**
 * The values of a drawing as a table, for readers who cannot see it, and for a file; and the drawing
 * as a picture. The table is made when it is unfolded.
 */
export function drawingExports(
  drawing: Element,
  label: string,
  values: () => HTMLElement,
): Live<void> {
  const place = h('div');
  const update = () => replace(place, fold.open && values());
  const fold: HTMLDetailsElement = on(
    h('details.fold', h('summary', 'Values as a table'), place),
    'toggle',
    update,
  );
  return {
    element: h(
      'div.exports',
      fold,
      pngButton(label, () => drawing),
    ),
    update,
  };
}

function valueTable({ label, dates, lines, format }: PlotOptions): HTMLElement {
  return table({
    caption: label,
    rows: [...dates.keys()].reverse(),
    most: 20,
    columns: [
      { ...dateColumn('Date', (index: number) => dates[index] ?? null), isName: true },
      ...lines.map(({ label: title, values }) =>
        numberColumn(title, (index: number) => values[index] ?? null, format),
      ),
    ],
  });
}
