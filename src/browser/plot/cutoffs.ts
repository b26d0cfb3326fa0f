import type uPlot from 'uplot';
import { h } from '../element.ts';
import { byName, shortList, unbrokenDate } from '../format.ts';

/** A knowledge cutoff and the entries that have it; a plot shows it as a vertical line. */
export interface Mark {
  date: string;
  names: string;
}

/** The place of a label in a plot: its ends in pixels of the canvas, and its row. */
export interface Box {
  left: number;
  right: number;
  row?: number;
}

/**
 * The first row in which a label covers none of those before it; the label takes its place there.
 */
export function freeRow(boxes: Box[], { left, right }: Box): number {
  const covered = new Set(
    boxes.filter((box) => box.left < right && left < box.right).map(({ row }) => row),
  );
  let row = 0;
  while (covered.has(row)) row += 1;
  boxes.push({ left, right, row });
  return row;
}

/** The middle of a label at a place in a drawing area, moved so far in that the area cuts nothing. */
export function middleOf(x: number, half: number, area: { left: number; width: number }): number {
  const right = area.left + area.width;
  if (x < area.left || x > right) return x;
  return Math.max(area.left + half, Math.min(x, right - half));
}

/** A run with the last date that its model may remember; null where none is known. */
interface Cutoff {
  family: string;
  knowledge_cutoff: string | null;
}

/**
 * A mark per knowledge cutoff of these runs, by date, with their entries. None for runs without
 * one.
 */
export function cutoffMarks(runs: readonly Cutoff[]): Mark[] {
  const byDate = Map.groupBy(runs, ({ knowledge_cutoff: date }) => date ?? '');
  byDate.delete('');
  return [...byDate]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([date, same]) => {
      const names = [...new Set(same.map(({ family }) => family))].sort(byName);
      return { date, names: shortList(names) };
    });
}

/** The marks in words; null when there are none. */
export function cutoffWords(marks: readonly Mark[]): string | null {
  if (marks.length === 0) return null;
  const dates = marks.map(({ date, names }) => `${unbrokenDate(date)} (${names})`).join(', ');
  return `Knowledge cutoff: ${dates}. A model may remember days on or before it.`;
}

/** In CSS pixels. */
const FONT = 11;
const LINE = 14;
const GAP = 5;

/**
 * Draws the marks of the dates in view. A label that would cover another moves down, one at the
 * right edge to the left.
 */
export function drawMarks(plot: uPlot, marks: readonly Mark[], colour: string): void {
  const { ctx, bbox } = plot;
  const { min = 0, max = 0 } = plot.scales['x'] ?? {};
  const pixel = devicePixelRatio;
  const boxes: Box[] = [];
  ctx.save();
  ctx.font = `${FONT * pixel}px system-ui, sans-serif`;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'alphabetic';
  ctx.fillStyle = ctx.strokeStyle = colour;
  ctx.lineWidth = pixel;
  ctx.setLineDash([2 * pixel, 3 * pixel]);
  for (const { date, names } of marks) {
    const second = Date.parse(date) / 1000;
    if (min === null || max === null || !(second >= min && second <= max)) continue;
    const x = plot.valToPos(second, 'x', true);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const label = `cutoff: ${names}`;
    const { width } = ctx.measureText(label);
    const fits = x + GAP * pixel + width <= bbox.left + bbox.width;
    const left = fits ? x + GAP * pixel : Math.max(bbox.left, x - GAP * pixel - width);
    const row = freeRow(boxes, { left, right: left + width });
    ctx.fillText(label, left, bbox.top + (FONT + row * LINE) * pixel);
  }
  ctx.restore();
}

/** The cutoffs in words, for a paragraph under a plot. */
export function cutoffNote(marks: readonly Mark[]): HTMLElement | null {
  const words = cutoffWords(marks);
  return words === null ? null : h('p.quiet', words);
}
