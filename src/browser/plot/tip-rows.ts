/** Which rows a tooltip has room for. */

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
