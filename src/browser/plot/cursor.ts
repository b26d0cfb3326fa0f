import { type Context, type Shown, drawPoint, strokePath } from './drawing.ts';
import type { PlotOptions } from './lines.ts';
import { type Range, type View, isInView, xOf, yOf } from './view.ts';

export interface Cursor {
  /** The place of the date that it reads; null where it reads none. */
  index: number | null;
  /** In CSS pixels from the top of the canvas; null where only the date is shared. */
  top: number | null;
  /** The dates that the reader is dragging over. */
  selected: Range | null;
}

/** The date that the cursor reads; null where it reads none in view. */
export function readDate(view: View, { index }: Cursor): number | null {
  const seconds = index === null ? undefined : view.dates[index];
  return seconds !== undefined && isInView(view, seconds) ? seconds : null;
}

/** Draws the date that the cursor reads, the points of the lines there, and the dates that are dragged over. */
export function drawCursor(context: Context, { lines }: PlotOptions, shown: Shown & { cursor: Cursor }): void {
  const { view, hidden, colours, cursor } = shown;
  const { left, top, width, height } = view.area;
  if (cursor.selected !== null) {
    const [from, to] = [xOf(view, cursor.selected.min), xOf(view, cursor.selected.max)];
    context.fillStyle = colours['selection'] ?? '';
    context.fillRect(from, top, to - from, height);
  }
  const seconds = readDate(view, cursor);
  if (cursor.index === null || seconds === null) return;
  const x = xOf(view, seconds);
  context.strokeStyle = colours['cursor'] ?? '';
  context.setLineDash([3, 2]);
  strokePath(context, [[x, top], [x, top + height]]);
  if (cursor.top !== null) strokePath(context, [[left, cursor.top], [left + width, cursor.top]]);
  for (const [place, { values, look }] of lines.entries()) {
    const value = values[cursor.index] ?? null;
    context.fillStyle = colours[look] ?? '';
    if (value !== null && !hidden.has(place)) drawPoint(context, [x, yOf(view, value)]);
  }
}
