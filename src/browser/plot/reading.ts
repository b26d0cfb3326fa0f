import type uPlot from 'uplot';
import { h, replace } from '../parts/element.ts';
import { MISSING, longDate } from '../parts/format.ts';
import { DAY_SECONDS, type Line, type PlotOptions } from './lines.ts';

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

/** The arrows move the cursor, plus and minus zoom, Escape shows all dates. Returns whether the key has a function. */
export function handleKey(plot: uPlot, key: string): boolean {
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
  if (x !== undefined) plot.setCursor({ left: plot.valToPos(x, 'x'), top: plot.over.clientHeight / 2 });
}

/** The first and last moment of the data, and of the part in view; null while there is none. */
function extentOf({ data: [dates], scales }: uPlot) {
  const { min, max } = scales['x'] ?? {};
  const [first, last] = [dates[0], dates.at(-1)];
  if (min == null || max == null || first === undefined || last === undefined) return null;
  return { min, max, first, last };
}

/** Whether all dates are in view. */
export function isWhole(plot: uPlot): boolean {
  const extent = extentOf(plot);
  return extent === null || (extent.min <= extent.first && extent.max >= extent.last);
}

/** Zooms about the cursor, or the middle: in with a factor below 1, out with one above. */
export function zoom(plot: uPlot, factor: number): void {
  const extent = extentOf(plot);
  if (extent === null) return;
  const { min, max, first, last } = extent;
  const centre = plot.data[0][plot.cursor.idx ?? -1] ?? (min + max) / 2;
  const from = Math.max(first, centre - (centre - min) * factor);
  const to = Math.min(last, centre + (max - centre) * factor);
  if (to - from >= DAY_SECONDS) plot.setScale('x', { min: from, max: to });
}

/** Shows all dates. */
export function showAll(plot: uPlot): void {
  const extent = extentOf(plot);
  if (extent !== null) plot.setScale('x', { min: extent.first, max: extent.last });
}
