import type uPlot from 'uplot';
import { outlineOf } from '../look.ts';
import type { Line } from './lines.ts';

/** In CSS pixels, along the dates: closer markers would hide the line. */
const DISTANCE = 46;

/** Draws the markers of the lines that are shown, spread over the dates in view. */
export function drawMarkers(
  plot: uPlot,
  lines: readonly Line[],
  colours: Record<string, string>,
): void {
  const { ctx, bbox } = plot;
  const pixel = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  lines.forEach(({ marker, look }, index) => {
    const values = plot.data[index + 1] ?? [];
    if (marker === undefined || plot.series[index + 1]?.show === false) return;
    const outline = new Path2D(outlineOf(marker));
    ctx.fillStyle = colours[look] ?? '';
    for (const place of spread(plot, values)) {
      const value = values[place];
      const second = plot.data[0][place];
      if (value == null || second === undefined) continue;
      ctx.setTransform(
        pixel,
        0,
        0,
        pixel,
        plot.valToPos(second, 'x', true),
        plot.valToPos(value, 'y', true),
      );
      ctx.fill(outline);
    }
  });
  ctx.restore();
}

/** The places of values that are far enough from each other to have a marker. */
function spread(plot: uPlot, values: ArrayLike<number | null | undefined>): number[] {
  let last = -Infinity;
  return [...plot.data[0].keys()].filter((place) => {
    const left = plot.valToPos(plot.data[0][place] ?? 0, 'x');
    if (values[place] == null || left - last < DISTANCE) return false;
    last = left;
    return true;
  });
}
