import { h, replace } from '../parts/element.ts';
import { MISSING, longDate } from '../parts/format.ts';
import type { Line, PlotOptions } from './lines.ts';

/** How readers read a plot: the values at the cursor, by mouse and by keyboard, and the dates in view. */

export const ZOOM_STEP = 0.7;
const MAX_TIP_ROWS = 24;

interface Place {
  index: number;
  hidden: ReadonlySet<number>;
}

function rowsAt({ lines }: PlotOptions, { index, hidden }: Place): { line: Line; value: number | null }[] {
  return lines
    .map((line) => ({ line, value: line.values[index] ?? null }))
    .filter((_row, position) => !hidden.has(position))
    .sort((one, other) => (other.value ?? -Infinity) - (one.value ?? -Infinity));
}

/** Shows the values of one date, highest first. */
export function fillTip(tip: HTMLElement, options: PlotOptions, place: Place): void {
  const rows = rowsAt(options, place).filter(({ value }) => value !== null);
  const shown = rows
    .slice(0, MAX_TIP_ROWS)
    .map(({ line: { look, label }, value }) =>
      h('tr', h('th', { scope: 'row' }, h(`span.swatch.${look}`), label), h('td', options.format(value))),
    );
  replace(tip, h('p', longDate(options.dates[place.index] ?? '')), h('table', h('tbody', ...shown)));
}

/** The same in words, for screen readers. */
export function spokenValues(options: PlotOptions, place: Place): string {
  const values = rowsAt(options, place).map(
    ({ line, value }) => `${line.label} ${value === null ? MISSING : options.format(value)}`,
  );
  return `${longDate(options.dates[place.index] ?? '')}: ${values.join(', ')}`;
}

/** Moves the tip beside the cursor, to the side with room. */
export function placeTip(tip: HTMLElement, x: number, width: number): void {
  const gap = 14;
  const left = x + gap + tip.offsetWidth <= width ? x + gap : Math.max(0, x - gap - tip.offsetWidth);
  tip.style.setProperty('transform', `translate(${Math.round(left)}px, 8px)`);
}

/** What the keyboard does with a plot. */
export interface Reader {
  /** The place of the date under the cursor; null while there is none. */
  index: number | null;
  /** How many dates the plot has. */
  count: number;
  moveTo(index: number): void;
  zoom(factor: number): void;
  resetZoom(): void;
}

/** The arrows move the cursor, plus and minus zoom, Escape shows all dates. Returns whether the key has a function. */
export function handleKey(reader: Reader, key: string): boolean {
  const at = reader.index ?? -1;
  const last = reader.count - 1;
  const places: Record<string, number> = {
    ArrowLeft: Math.max(0, at - 1),
    ArrowRight: Math.min(last, at + 1),
    Home: 0,
    End: last,
  };
  const place = Object.hasOwn(places, key) ? places[key] : undefined;
  if (place !== undefined) reader.moveTo(place);
  else if (key === '+' || key === '=') reader.zoom(ZOOM_STEP);
  else if (key === '-') reader.zoom(1 / ZOOM_STEP);
  else if (key === 'Escape' || key === '0') reader.resetZoom();
  else return false;
  return true;
}
