import { svg } from '../element.ts';
import { HEIGHT, outlineOf, stepsOf } from './strip-outline.ts';

/**
 * A symbol's weight over the days, as tall as it was heavy. The columns beside it say when and how
 * much.
 */
export function weightStrip(weights: readonly number[], tallest: number): SVGElement {
  const steps = stepsOf(weights);
  const box = {
    viewBox: `0 0 ${steps.length} ${HEIGHT}`,
    preserveAspectRatio: 'none',
    width: '100%',
    height: HEIGHT,
  };
  const path = svg('path', { d: outlineOf(steps, tallest || 1) });
  return svg('svg', { class: 'strip', 'aria-hidden': 'true', ...box }, path);
}
