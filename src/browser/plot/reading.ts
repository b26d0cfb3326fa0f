import { h, on, replace } from '../element.ts';
import { MISSING, count, longDate } from '../format.ts';
import { swatch } from '../look.ts';
import { type Line, type PlotOptions, isOpenable } from './lines.ts';
import type { Scale } from './scale.ts';

/**
 * How a reader reads a plot and opens its days, by mouse and by keyboard: the values at the cursor,
 * beside it and in words.
 */

/** A plot as it is drawn now. */
export interface Shown {
  options: PlotOptions;
  hidden: ReadonlySet<number>;
  scale: Scale;
}

/** Where the reader is: a place of the dates, and one of the lines. */
export interface Cursor {
  index: number | null;
  chosen: number | null;
}

interface Row {
  /** Its place among the lines. */
  place: number;
  line: Line;
  value: number;
}

/** The values of the shown lines on one date, highest first. */
function rowsAt({ options, hidden }: Shown, index: number): Row[] {
  return options.lines
    .flatMap((line, place) => {
      const value = line.values[index] ?? null;
      return value === null || hidden.has(place) ? [] : [{ place, line, value }];
    })
    .sort((one, other) => other.value - one.value);
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
  const follow = (event: MouseEvent) => {
    const shown = now();
    if (shown === null) return null;
    const { left, top } = drawing.getBoundingClientRect();
    const index = nearestDate(shown.scale.xs, event.clientX - left);
    const chosen = index === null ? null : lineNear(shown, index, event.clientY - top);
    const open = openerOf(shown, { index, chosen });
    if (index !== cursor.index || chosen !== cursor.chosen) {
      Object.assign(cursor, { index, chosen });
      drawing.classList.toggle('on-curve', open !== null);
      show();
    }
    return open;
  };
  on(drawing, 'pointermove', follow);
  on(drawing, 'click', (event) => follow(event)?.());
  leaveOn(drawing, 'pointerleave', { cursor, show });
}

function leaveOn(
  drawing: HTMLElement,
  event: 'pointerleave' | 'blur',
  { cursor, show }: Pick<Parts, 'cursor' | 'show'>,
): void {
  on(drawing, event, () => {
    cursor.index = null;
    show();
  });
}

/** The place of the date nearest to a point; null without dates. */
export function nearestDate(xs: readonly number[], x: number): number | null {
  if (xs.length === 0) return null;
  const right = xs.findIndex((own) => own >= x);
  if (right <= 0) return right === 0 ? 0 : xs.length - 1;
  return x - (xs[right - 1] ?? 0) < (xs[right] ?? 0) - x ? right - 1 : right;
}

/** In pixels: how far from a value the pointer may be. */
const REACH = 24;

/** The line whose value on a date is nearest to a height, if one is within reach. */
export function lineNear(shown: Shown, index: number, top: number): number | null {
  const [nearest] = rowsAt(shown, index)
    .map(({ place, value }) => ({ place, distance: Math.abs(shown.scale.y(value) - top) }))
    .sort((one, other) => one.distance - other.distance);
  return nearest === undefined || nearest.distance > REACH ? null : nearest.place;
}

/** Opens the day at the cursor; null where there is none, as at the start. */
function openerOf({ options }: Shown, { index, chosen }: Cursor): (() => void) | null {
  const { lines, dates, onOpen } = options;
  const [line, date] = [lines[chosen ?? -1], dates[index || -1]];
  const isDay = line !== undefined && isOpenable(line) && line.values[index ?? -1] != null;
  if (!isDay || date === undefined || onOpen === undefined) return null;
  return () => onOpen(line.label, date);
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
 * highest one that has days.
 */
export function listenToKeys(drawing: HTMLElement, { now, cursor, spoken, show }: Parts): void {
  on(drawing, 'keydown', (event) => {
    const shown = now();
    if (shown === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = cursor.index ?? -1;
    const rows = rowsAt(shown, at);
    if (event.key === 'Enter') {
      const first = rows.find(({ line }) => isOpenable(line))?.place ?? null;
      return openerOf(shown, { index: at, chosen: cursor.chosen ?? first })?.();
    }
    const last = shown.options.dates.length - 1;
    const places = new Map([
      ['ArrowLeft', Math.max(0, at - 1)],
      ['ArrowRight', Math.min(last, at + 1)],
      ['Home', 0],
      ['End', last],
    ]);
    const place = places.get(event.key);
    const lines = rows.map((row) => row.place);
    const chosen = nextChoice(lines, cursor.chosen, event.key);
    if (place === undefined && chosen === cursor.chosen) return;
    event.preventDefault();
    const index = place ?? cursor.index;
    Object.assign(cursor, { index, chosen });
    show();
    if (index !== null) replace(spoken, spokenValues(shown, index, chosen));
  });
  leaveOn(drawing, 'blur', { cursor, show });
}

/** Readers compare few values at once, and the tip is to be no taller than its plot. */
const MOST = 10;

/** Where the rows of the tip begin: of many it shows those around the chosen one. */
export function firstShown(rows: number, rank: number): number {
  return Math.max(0, Math.min(rank - MOST / 2, rows - MOST));
}

/** Shows the values of one date, highest first. */
export function fillTip(
  tip: HTMLElement,
  shown: Shown,
  { index, chosen }: Cursor & { index: number },
): void {
  const rows = rowsAt(shown, index);
  const rank = rows.findIndex(({ place }) => place === chosen);
  const from = firstShown(rows.length, rank);
  const cells = rows.slice(from, from + MOST).map(({ place, line, value }) => {
    const name = h('th', { scope: 'row' }, swatch(line), line.label);
    const look = { class: place === chosen && 'chosen' };
    return h('tr', look, name, h('td', shown.options.format(value)));
  });
  const more = rows.length - cells.length;
  const rest = more > 0 && h('tr', h('th', { colspan: 2 }, `and ${count(more)} more`));
  replace(tip, h('p', dateAt(shown, index)), h('table', h('tbody', ...cells, rest)));
}

function dateAt({ options }: Shown, index: number): string {
  return index === 0 ? 'Start' : longDate(options.dates[index] ?? '');
}

/** The same in words, for screen readers; with a chosen line only its value. */
function spokenValues(shown: Shown, index: number, chosen: number | null): string {
  const rows = rowsAt(shown, index);
  const rank = rows.findIndex(({ place }) => place === chosen);
  const values = (rank === -1 ? rows : rows.slice(rank, rank + 1)).map(
    ({ line, value }) => `${line.label} ${shown.options.format(value)}`,
  );
  const which = rank === -1 ? '' : `, number ${rank + 1} of ${rows.length}`;
  return `${dateAt(shown, index)}: ${values.join(', ') || MISSING}${which}`;
}

/** Moves the tip beside the cursor, to the side with room. */
export function placeTip(tip: HTMLElement, x: number, width: number): void {
  const gap = 14;
  const left =
    x + gap + tip.offsetWidth <= width ? x + gap : Math.max(0, x - gap - tip.offsetWidth);
  tip.style.setProperty('transform', `translate(${Math.round(left)}px, 8px)`);
}
