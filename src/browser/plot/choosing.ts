import { on, replace } from '../element.ts';
import type { Scale } from './scale.ts';
import { type PlotOptions, isOpenable } from './lines.ts';
import { rowsAt, spokenValues } from './reading.ts';

/** How a reader moves along a plot, chooses a line and opens its days, by mouse and by keyboard. */

/** A plot as it is drawn now. */
export interface Shown {
  options: PlotOptions;
  hidden: ReadonlySet<number>;
  scale: Scale;
}

/** Where the reader is: a place of the dates and a height, and with the keyboard a line. */
export interface Cursor {
  index: number | null;
  top: number;
  chosen: number | null;
}

interface Parts {
  /** Null before the plot is drawn. */
  now: () => Shown | null;
  cursor: Cursor;
  spoken: HTMLElement;
  /** Shows the values at the cursor, or nothing where it is nowhere. */
  show: () => void;
}

/** The pointer reads the values of the nearest date; a click on a curve opens the day there. */
export function listenToPointer(drawing: HTMLElement, { now, cursor, show }: Parts): void {
  const lines = cachedLines();
  const dayAt = (event: MouseEvent) => {
    const shown = now();
    if (shown?.options.onOpen === undefined) return null;
    const found = lineAt(lines(shown), placeOf(drawing, event));
    return found === null ? null : openerOf(shown.options, found.line, found.index);
  };
  const move = (event: MouseEvent) => {
    const shown = now();
    if (shown === null) return;
    const { x, y } = placeOf(drawing, event);
    Object.assign(cursor, { index: nearestDate(shown.scale.xs, x), top: y, chosen: null });
    drawing.classList.toggle('on-curve', dayAt(event) !== null);
    show();
  };
  on(drawing, 'pointermove', move);
  on(drawing, 'pointerleave', () => {
    cursor.index = null;
    show();
  });
  on(drawing, 'click', (event) => dayAt(event)?.());
}

function placeOf(drawing: HTMLElement, event: MouseEvent): { x: number; y: number } {
  const { left, top } = drawing.getBoundingClientRect();
  return { x: event.clientX - left, y: event.clientY - top };
}

/** The place of the date nearest to a point; null without dates. */
export function nearestDate(xs: readonly number[], x: number): number | null {
  if (xs.length === 0) return null;
  const right = xs.findIndex((own) => own >= x);
  if (right <= 0) return right === 0 ? 0 : xs.length - 1;
  return x - (xs[right - 1] ?? 0) < (xs[right] ?? 0) - x ? right - 1 : right;
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

/** The lines that can be opened, computed once for each drawing: the pointer asks for them often. */
function cachedLines(): (shown: Shown) => DrawnLine[] {
  let of: Scale | null = null;
  let lines: DrawnLine[] = [];
  return ({ options, hidden, scale }) => {
    if (scale === of) return lines;
    of = scale;
    lines = options.lines.flatMap((line, place): DrawnLine[] => {
      if (hidden.has(place) || !isOpenable(line)) return [];
      const points = line.values.flatMap((value, index) =>
        value === null ? [] : [{ index, x: scale.xs[index] ?? 0, y: scale.y(value) }],
      );
      return [{ line: place, points }];
    });
    return lines;
  };
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
export const KEYS = 'Left and right read the values, up and down choose a line';

/**
 * Says the values at the cursor after each key; Enter opens the day of the chosen line, or of the
 * only one.
 */
export function listenToKeys(drawing: HTMLElement, { now, cursor, spoken, show }: Parts): void {
  on(drawing, 'keydown', (event) => {
    const shown = now();
    if (shown === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const { options, hidden, scale } = shown;
    const at = cursor.index ?? -1;
    if (event.key === 'Enter') return openerOf(options, cursor.chosen ?? soleLine(options), at)?.();
    const last = options.dates.length - 1;
    const places: Record<string, number> = {
      ArrowLeft: Math.max(0, at - 1),
      ArrowRight: Math.min(last, at + 1),
      Home: 0,
      End: last,
    };
    const place = Object.hasOwn(places, event.key) ? places[event.key] : undefined;
    const rows = rowsAt(options, { index: at, hidden }).map((row) => row.place);
    const chosen = nextChoice(rows, cursor.chosen, event.key);
    if (place === undefined && chosen === cursor.chosen) return;
    event.preventDefault();
    const index = place ?? cursor.index;
    Object.assign(cursor, { index, chosen, top: scale.area.top + scale.area.height / 2 });
    show();
    if (index !== null) replace(spoken, spokenValues(options, { index, hidden }, chosen));
  });
  on(drawing, 'blur', () => {
    cursor.index = null;
    show();
  });
}
