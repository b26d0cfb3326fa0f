import { highest, lowest } from '../parts/extremes.ts';
import { axisSplits, paddedRange } from '../plot/scale.ts';
import type { ComparedModel } from '../responses.ts';

/** Where values are in a forest plot, in percent of its width. */
export interface Scale {
  /** Returns at round values, for the axis. */
  ticks: number[];
  percent(value: number): number;
}

/** `axisSplits` makes a label per 36 pixels of height; this makes about six side by side. */
const AXIS_ROOM = 255;

/**
 * From the lowest to the highest of all intervals, runs and the benchmark, with zero and a margin.
 */
export function forestScale(models: readonly ComparedModel[], benchmark: number | null): Scale {
  const values = models.flatMap(({ interval, run_returns: runs }) => [
    interval?.low,
    interval?.high,
    ...runs,
  ]);
  const known = [0, benchmark, ...values].filter((value) => value !== null && value !== undefined);
  const [low, high] = paddedRange(lowest(known), highest(known), { isLog: false, fromZero: false });
  return {
    ticks: axisSplits(low, high, AXIS_ROOM),
    percent: (value) => Number((((value - low) / (high - low)) * 100).toFixed(3)),
  };
}
