import { h, replace } from '../element.ts';
import { MISSING, count, longDate } from '../format.ts';
import { swatch } from '../look.ts';
import type { Scale } from './scale.ts';
import type { Line, PlotOptions } from './lines.ts';

/** How readers read a plot: the values at the cursor, near the pointer and in words. */

interface Place {
  index: number;
  hidden: ReadonlySet<number>;
}

interface RowOfTip {
  /** Its place among the lines. */
  place: number;
  line: Line;
  value: number;
}

/** The values of the shown lines on one date, highest first. */
export function rowsAt({ lines }: PlotOptions, { index, hidden }: Place): RowOfTip[] {
  return lines
    .flatMap((line, place) => {
      const value = line.values[index] ?? null;
      return value === null || hidden.has(place) ? [] : [{ place, line, value }];
    })
    .sort((one, other) => other.value - one.value);
}

interface Pointed extends Place {
  scale: Scale;
  /** A height in pixels, or with the keyboard a line. */
  pointer: { top: number; chosen: number | null };
}

/** Shows the values of one date, highest first; of many, those nearest to the pointer. */
export function fillTip(
  tip: HTMLElement,
  options: PlotOptions,
  { scale, pointer, ...place }: Pointed,
): void {
  const all = rowsAt(options, place);
  const target = all.find((row) => row.place === pointer.chosen);
  const top = target === undefined ? pointer.top : scale.y(target.value);
  const rows = all.map((row) => ({ ...row, distance: Math.abs(scale.y(row.value) - top) }));
  const { shown, more } = nearest(rows, roomFor(options.height));
  const cells = shown.map((row) => {
    const name = h('th', { scope: 'row' }, swatch(row.line), row.line.label);
    return h(
      'tr',
      { class: row.place === pointer.chosen && 'chosen' },
      name,
      h('td', options.format(row.value)),
    );
  });
  const rest = more > 0 && h('tr', h('th', { colspan: 2 }, `and ${count(more)} more`));
  replace(tip, h('p', dateAt(options, place.index)), h('table', h('tbody', ...cells, rest)));
}

function dateAt({ dates, hasStart = false }: PlotOptions, index: number): string {
  return hasStart && index === 0 ? 'Start' : longDate(dates[index] ?? '');
}

/** The same in words, for screen readers; with a chosen line only its value. */
export function spokenValues(
  options: PlotOptions,
  place: Place,
  chosen: number | null = null,
): string {
  const rows = rowsAt(options, place);
  const target = rows.findIndex((row) => row.place === chosen);
  const wanted = rows[target] === undefined ? rows : [rows[target]];
  const values = wanted.map(({ line, value }) => `${line.label} ${options.format(value)}`);
  const rank = target === -1 ? '' : `, number ${target + 1} of ${rows.length}`;
  return `${dateAt(options, place.index)}: ${values.join(', ') || MISSING}${rank}`;
}

/** Moves the tip beside the cursor, to the side with room. */
export function placeTip(tip: HTMLElement, x: number, width: number): void {
  const gap = 14;
  const left =
    x + gap + tip.offsetWidth <= width ? x + gap : Math.max(0, x - gap - tip.offsetWidth);
  tip.style.setProperty('transform', `translate(${Math.round(left)}px, 8px)`);
}

/** Readers compare few values at once. */
const MOST = 10;
/**
 * In pixels: a row, and what the tooltip has besides its rows: its edges, the date, how many more
 * there are.
 */
const ROW = 18;
const FRAME = 64;

/**
 * How many values the tooltip of a plot of this height shows, so that it is never taller than the
 * plot.
 */
export function roomFor(height: number): number {
  return Math.max(1, Math.min(MOST, Math.floor((height - FRAME) / ROW)));
}

/** The rows nearest to the pointer, in their own order, and how many are left out. */
export function nearest<Row extends { distance: number }>(
  rows: readonly Row[],
  most: number,
): { shown: Row[]; more: number } {
  if (rows.length <= most) return { shown: [...rows], more: 0 };
  const near = new Set(rows.toSorted((one, other) => one.distance - other.distance).slice(0, most));
  return { shown: rows.filter((row) => near.has(row)), more: rows.length - most };
}
