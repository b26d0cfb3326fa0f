import { highest } from '../parts/extremes.ts';
import { axisSplits } from '../plot/scale.ts';

/**
 * Where the parts of a histogram are: across in percent of its width, upwards as a share of its
 * height.
 */
export interface HistogramScale {
  bars: { from: number; to: number; count: number; left: number; width: number; height: number }[];
  /** Values on the axis. */
  ticks: number[];
  /** Numbers of days with a line across. */
  levels: { count: number; height: number }[];
  /** Null for a value outside. */
  percent(value: number): number | null;
}

/**
 * `axisSplits` makes a label for every 36 pixels; this makes six or so across, and up to four
 * upwards.
 */
const ACROSS = 216;
const UPWARDS = 150;

/** The scale of a histogram; `edges` are one more than `counts`, in rising order. */
export function histogramScale({
  edges,
  counts,
}: {
  edges: readonly number[];
  counts: readonly number[];
}): HistogramScale {
  const [low = 0, high = 1] = [edges[0], edges.at(-1)];
  const most = highest(counts, 1);
  const at = (value: number) => Number((((value - low) / (high - low || 1)) * 100).toFixed(3));
  const bars = counts.map((count, place) => {
    const [from = low, to = high] = [edges[place], edges[place + 1]];
    return {
      from,
      to,
      count,
      left: at(from),
      width: Number((at(to) - at(from)).toFixed(3)),
      height: count / most,
    };
  });
  const levels = axisSplits(0, most, UPWARDS).filter(
    (count) => count > 0 && Number.isInteger(count),
  );
  return {
    bars,
    ticks: axisSplits(low, high, ACROSS),
    levels: levels.map((count) => ({ count, height: count / most })),
    percent: (value) => (value < low || value > high ? null : at(value)),
  };
}
