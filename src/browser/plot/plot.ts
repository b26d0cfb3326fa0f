import { h, on, replace } from '../parts/element.ts';
import { THEME_CHANGE } from '../parts/theme.ts';
import { type Cursor, drawCursor, readDate } from './cursor.ts';
import { type Colours, drawLines, emptied, plotColours } from './drawing.ts';
import { joinGroup } from './group.ts';
import type { Line, PlotOptions } from './lines.ts';
import { followPointer } from './pointer.ts';
import { fillTip, handleKey, placeTip, spokenValues } from './reading.ts';
import { type Range, type View, viewOf, xOf, zoomedRange } from './view.ts';

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

interface State {
  options: PlotOptions;
  hidden: ReadonlySet<number>;
  isLog: boolean;
  /** The dates that the reader has zoomed to; null for all. */
  zoomed: Range | null;
  cursor: Cursor;
  /** What was drawn last; null before there was room. */
  drawn: { view: View; colours: Colours } | null;
}

type Parts = ReturnType<typeof frame>;

const NO_CURSOR: Cursor = { index: null, top: null, selected: null };

/** A plot of values over session dates: drag to zoom, hover to read, or do both with the keyboard. */
export function createPlot(options: PlotOptions, signal: AbortSignal): Plot {
  const parts = frame(options);
  const state: State = { options, hidden: new Set(), isLog: false, zoomed: null, cursor: NO_CURSOR, drawn: null };
  const change = (changed: Partial<State>) => draw(parts, Object.assign(state, changed));
  const view = () => state.drawn?.view ?? null;
  const group = joinGroup(options.group, signal, {
    point: (cursor) => showCursor(parts, Object.assign(state, { cursor })),
    zoom: (zoomed) => change({ zoomed, cursor: { ...state.cursor, selected: null } }),
  });
  const zoom = (factor: number) => {
    const shown = view();
    if (shown !== null) group.zoom(zoomedRange(shown, factor, shown.dates[state.cursor.index ?? -1]));
  };
  const resetZoom = () => group.zoom(null);
  followPointer(parts.over, { view, group });
  on(parts.canvas, 'keydown', (event) => {
    const moveTo = (index: number) => group.point({ ...NO_CURSOR, index });
    const reader = { index: state.cursor.index, count: state.options.dates.length, moveTo, zoom, resetZoom };
    if (!handleKey(reader, event.key)) return;
    event.preventDefault();
    const { cursor, hidden } = state;
    if (cursor.index !== null) replace(parts.spoken, spokenValues(state.options, { index: cursor.index, hidden }));
  });
  on(parts.canvas, 'blur', () => (parts.tip.hidden = true));
  redrawWhenNeeded(parts.canvas, () => draw(parts, state), signal);
  return {
    element: parts.element,
    setVisible(line, isVisible) {
      const others = [...state.hidden].filter((each) => each !== line);
      change({ hidden: new Set(isVisible ? others : [...others, line]) });
    },
    setLog: (isLog) => change({ isLog }),
    zoom,
    resetZoom,
    update: (dates, lines) => change({ options: { ...state.options, dates, lines } }),
  };
}

function frame({ label, height }: PlotOptions) {
  const tip = h('div.tip', { hidden: true });
  const spoken = h('div.unseen', { role: 'status' });
  const [lines, marks] = [h('canvas'), h('canvas')];
  const over = h('div.over');
  const attributes = {
    tabindex: 0,
    role: 'application',
    'aria-roledescription': 'plot',
    'aria-label': `${label}. Arrow keys read the values, plus and minus zoom, Escape shows all dates.`,
  };
  const canvas = h('div.canvas', attributes, lines, marks, over);
  canvas.style.setProperty('height', `${height}px`);
  return { element: h('div.plot', canvas, tip, spoken), canvas, lines, over, marks, tip, spoken };
}

/** Draws the plot as soon as it has room. */
function draw(parts: Parts, state: State): void {
  const { offsetLeft: left, offsetTop: top, clientWidth: width, clientHeight: height } = parts.over;
  if (width === 0) return;
  const view = viewOf(state.options, { ...state, area: { left, top, width, height } });
  const colours = plotColours(state.options);
  state.drawn = { view, colours };
  drawLines(emptied(parts.lines), state.options, { ...state, view, colours });
  showCursor(parts, state);
}

/** Shows what the cursor reads, beside it. */
function showCursor({ marks, tip, canvas }: Parts, { options, hidden, cursor, drawn }: State): void {
  if (drawn === null) return;
  drawCursor(emptied(marks), options, { ...drawn, hidden, cursor });
  const seconds = readDate(drawn.view, cursor);
  tip.hidden = seconds === null;
  if (cursor.index === null || seconds === null) return;
  fillTip(tip, options, { index: cursor.index, hidden });
  placeTip(tip, xOf(drawn.view, seconds), canvas.clientWidth);
}

/** Draws at once when there is room, whenever the width changes, and whenever the colours do. */
function redrawWhenNeeded(canvas: HTMLElement, redraw: () => void, signal: AbortSignal): void {
  const observer = new ResizeObserver(redraw);
  observer.observe(canvas);
  document.addEventListener(THEME_CHANGE, redraw, { signal });
  signal.addEventListener('abort', () => observer.disconnect());
}
