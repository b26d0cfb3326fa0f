import type uPlot from 'uplot';
import { on, replace } from '../element.ts';
import { type PlotOptions, isOpenable } from './lines.ts';
import { ZOOM_STEP, rowsAt, showAll, spokenValues, zoom } from './reading.ts';

/** How a reader chooses a line of a plot and opens its days, by mouse and by keyboard. */

/** A plot as it is now. */
interface Shown {
  plot: uPlot | null;
  options: PlotOptions;
  hidden: ReadonlySet<number>;
}

/** A click on a curve opens the day under the pointer; over a curve the pointer says so. */
export function openOnClick(canvas: HTMLElement, shown: () => Shown): void {
  const dayAt = (event: MouseEvent) => {
    const { plot, options, hidden } = shown();
    if (plot === null || options.onOpen === undefined) return null;
    if (!(event.target instanceof Node && plot.over.contains(event.target))) return null;
    const { left, top } = plot.over.getBoundingClientRect();
    const found = lineAt(drawnLines(plot, options, hidden), {
      x: event.clientX - left,
      y: event.clientY - top,
    });
    return found === null ? null : openerOf(options, found.line, found.index);
  };
  on(canvas, 'click', (event) => dayAt(event)?.());
  on(canvas, 'pointermove', (event) => {
    shown().plot?.over.classList.toggle('on-curve', dayAt(event) !== null);
  });
}

/** Opens the day of a line at a place of the dates; null where there is no day. */
function openerOf(options: PlotOptions, line: number, index: number): (() => void) | null {
  const { lines, dates, onOpen, hasStart = false } = options;
  const [chosen, date] = [lines[line], dates[index]];
  const isDay =
    chosen !== undefined &&
    isOpenable(chosen) &&
    chosen.values[index] != null &&
    !(hasStart && index === 0);
  if (!isDay || date === undefined || onOpen === undefined) return null;
  return () => onOpen(chosen.label, date);
}

/** The place of the line whose days can be opened, if there is only one; -1 otherwise. */
function soleLine({ lines }: PlotOptions): number {
  const openable = [...lines.keys()].filter(
    (place) => lines[place] !== undefined && isOpenable(lines[place]),
  );
  return openable.length === 1 ? (openable[0] ?? -1) : -1;
}

/** The lines that can be opened, in pixels of the drawing area. */
function drawnLines(
  plot: uPlot,
  { lines, dates }: PlotOptions,
  hidden: ReadonlySet<number>,
): DrawnLine[] {
  const xs = dates.map((_date, index) => plot.valToPos(plot.data[0][index] ?? 0, 'x'));
  return lines.flatMap((line, place): DrawnLine[] => {
    if (hidden.has(place) || !isOpenable(line)) return [];
    const points = line.values.flatMap((value, index) =>
      value === null ? [] : [{ index, x: xs[index] ?? 0, y: plot.valToPos(value, 'y') }],
    );
    return [{ line: place, points }];
  });
}

/**
 * A line as it is drawn, in pixels: its points from left to right, without those that have no
 * value.
 */
interface DrawnLine {
  line: number;
  points: readonly { index: number; x: number; y: number }[];
}

/** In pixels: how far from a line the pointer may be. */
const REACH = 9;

/** The nearest line within reach of the pointer, and its point nearest to it; null for none. */
export function lineAt(
  lines: readonly DrawnLine[],
  pointer: { x: number; y: number },
): { line: number; index: number } | null {
  const near = lines.flatMap(({ line, points }) => {
    const right = points.findIndex(({ x }) => x >= pointer.x);
    const at = right === -1 ? points.length : right;
    const ends = [points[at - 1], points[at]].filter((point) => point !== undefined);
    const [from, to = from] = ends;
    if (from === undefined || to === undefined) return [];
    const share =
      to.x === from.x ? 0 : Math.min(1, Math.max(0, (pointer.x - from.x) / (to.x - from.x)));
    const y = from.y + (to.y - from.y) * share;
    const beyond = ends.length === 1 ? Math.abs(pointer.x - from.x) : 0;
    return [
      { line, index: (share < 0.5 ? from : to).index, distance: Math.hypot(beyond, pointer.y - y) },
    ];
  });
  const [first] = near.toSorted((one, other) => one.distance - other.distance);
  return first === undefined || first.distance > REACH
    ? null
    : { line: first.line, index: first.index };
}

/**
 * The line that up or down choose, of those that have a value (highest first); any other key leaves
 * the choice.
 */
export function nextChoice(
  places: readonly number[],
  chosen: number | null,
  key: string,
): number | null {
  if (key === 'Escape') return null;
  if (key !== 'ArrowUp' && key !== 'ArrowDown') return chosen;
  const at = chosen === null ? -1 : places.indexOf(chosen);
  const next = key === 'ArrowDown' ? at + 1 : at === -1 ? places.length - 1 : at - 1;
  return places[Math.max(0, Math.min(places.length - 1, next))] ?? null;
}

/** What the keys do, for screen readers. */
export const KEYS =
  'Left and right read the values, up and down choose a line, plus and minus zoom, Escape shows all dates';

interface Parts {
  now: () => Shown;
  /** The line that the reader has chosen. */
  choice: { line: number | null };
  spoken: HTMLElement;
  showTip: (plot: uPlot) => void;
}

/**
 * Says the values at the cursor after each key; Enter opens the day of the chosen line, or of the
 * only one.
 */
export function listenToKeys(canvas: HTMLElement, { now, choice, spoken, showTip }: Parts): void {
  on(canvas, 'keydown', (event) => {
    const { plot, options, hidden } = now();
    if (plot === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = plot.cursor.idx ?? -1;
    const places = rowsAt(options, { index: at, hidden }).map(({ place }) => place);
    if (event.key === 'Enter') return openerOf(options, choice.line ?? soleLine(options), at)?.();
    const before = choice.line;
    choice.line = nextChoice(places, before, event.key);
    const hasChosen = choice.line !== before;
    if (!handleKey(plot, event.key) && !hasChosen) return;
    event.preventDefault();
    if (hasChosen) showTip(plot);
    const index = plot.cursor.idx;
    if (index != null) replace(spoken, spokenValues(options, { index, hidden }, choice.line));
  });
  on(canvas, 'pointermove', () => (choice.line = null));
}

/**
 * Left and right move the cursor, plus and minus zoom, Escape shows all dates. Returns whether the
 * key has a function.
 */
function handleKey(plot: uPlot, key: string): boolean {
  const at = plot.cursor.idx ?? -1;
  const last = plot.data[0].length - 1;
  const places: Record<string, number> = {
    ArrowLeft: Math.max(0, at - 1),
    ArrowRight: Math.min(last, at + 1),
    Home: 0,
    End: last,
  };
  const place = Object.hasOwn(places, key) ? places[key] : undefined;
  if (place !== undefined) moveTo(plot, place);
  else if (key === '+' || key === '=') zoom(plot, ZOOM_STEP);
  else if (key === '-') zoom(plot, 1 / ZOOM_STEP);
  else if (key === 'Escape' || key === '0') showAll(plot);
  else return false;
  return true;
}

function moveTo(plot: uPlot, index: number): void {
  const x = plot.data[0][index];
  if (x !== undefined)
    plot.setCursor({ left: plot.valToPos(x, 'x'), top: plot.over.clientHeight / 2 });
}
