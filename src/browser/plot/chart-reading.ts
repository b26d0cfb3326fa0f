import type uPlot from 'uplot';
import type { ChartOptions, Line } from './lines.ts';
import { h, replace } from '../parts/element.ts';
import { MISSING, longDate } from '../parts/format.ts';

/** How a plot is read: the values under the cursor, by mouse and by keyboard, and the part of it that is in sight. */

export const ZOOM_STEP = 0.7;
const MAX_TIP_ROWS = 24;
const DAY_SECONDS = 86_400;

interface Place {
  index: number;
  hidden: ReadonlySet<number>;
}

function rowsAt({ lines }: ChartOptions, { index, hidden }: Place): { line: Line; value: number | null }[] {
  return lines
    .map((line, position) => ({ line, position, value: line.values[index] ?? null }))
    .filter(({ position }) => !hidden.has(position))
    .sort((one, other) => (other.value ?? -Infinity) - (one.value ?? -Infinity));
}

/** The values of one date, highest first. */
export function fillTip(tip: HTMLElement, options: ChartOptions, place: Place): void {
  const rows = rowsAt(options, place).filter(({ value }) => value !== null);
  const shown = rows
    .slice(0, MAX_TIP_ROWS)
    .map(({ line, value }) =>
      h(
        'tr',
        {},
        h('th', { scope: 'row' }, h('span', { class: `swatch ${line.look}` }), line.label),
        h('td', {}, options.format(value)),
      ),
    );
  replace(tip, h('p', {}, longDate(options.dates[place.index] ?? '')), h('table', {}, h('tbody', {}, ...shown)));
  tip.hidden = false;
}

/** The same for those who hear them. */
export function spokenValues(options: ChartOptions, place: Place): string {
  const values = rowsAt(options, place).map(
    ({ line, value }) => `${line.label} ${value === null ? MISSING : options.format(value)}`,
  );
  return `${longDate(options.dates[place.index] ?? '')}: ${values.join(', ')}`;
}

/** Beside the cursor, on the side where there is room. */
export function placeTip(tip: HTMLElement, x: number, width: number): void {
  const gap = 14;
  const left = x + gap + tip.offsetWidth <= width ? x + gap : Math.max(0, x - gap - tip.offsetWidth);
  tip.style.setProperty('transform', `translate(${Math.round(left)}px, 8px)`);
}

/** The arrows move the cursor, plus and minus zoom, Escape shows all. Returns whether the key means anything here. */
export function handleKey(plot: uPlot, key: string): boolean {
  const at = plot.cursor.idx ?? -1;
  const last = plot.data[0].length - 1;
  const places: Record<string, number> = {
    ArrowLeft: Math.max(0, at - 1),
    ArrowRight: Math.min(last, at + 1),
    Home: 0,
    End: last,
  };
  if (Object.hasOwn(places, key)) moveTo(plot, places[key] as number);
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

/** Whether all dates are in sight. */
export function isWhole(plot: uPlot): boolean {
  const { min, max } = plot.scales['x'] ?? {};
  const data = plot.data[0];
  return min == null || max == null || (min <= (data[0] ?? min) && max >= (data.at(-1) ?? max));
}

/** About the cursor, or the middle; below 1 nearer, above 1 farther. */
export function zoom(plot: uPlot, factor: number): void {
  const { min, max } = plot.scales['x'] ?? {};
  const data = plot.data[0];
  const [first, last] = [data[0], data.at(-1)];
  if (min == null || max == null || first === undefined || last === undefined) return;
  const centre = data[plot.cursor.idx ?? -1] ?? (min + max) / 2;
  const from = Math.max(first, centre - (centre - min) * factor);
  const to = Math.min(last, centre + (max - centre) * factor);
  if (to - from >= DAY_SECONDS) plot.setScale('x', { min: from, max: to });
}

/** Shows every date. */
export function showAll(plot: uPlot): void {
  const data = plot.data[0];
  const [first, last] = [data[0], data.at(-1)];
  if (first !== undefined && last !== undefined) plot.setScale('x', { min: first, max: last });
}
