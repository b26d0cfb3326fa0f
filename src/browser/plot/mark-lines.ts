import type uPlot from 'uplot';
import { h } from '../element.ts';
import { type Box, type Mark, cutoffWords, freeRow } from './marks.ts';

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
