import { mean, sampleVariance } from '../statistics/moments.ts';
import type { TrackRecord } from './track-record.ts';
import { type RunSpread, type Uncertainty, measureUncertainty } from './uncertainty.ts';

/** Deviations of daily log returns up to this are rounding. */
export const LEAST_DEVIATION = 1e-15;

/** A model over the days compared. */
export interface Series {
  record: TrackRecord;
  /** The mean of the runs' log returns, day by day. */
  logReturns: Float64Array;
  /** The mean daily log return of each run. */
  runMeans: Float64Array;
  spread: RunSpread;
  /** The mean of the mean run's daily log returns. */
  mean: number;
  /** The uncertainty of that mean. */
  uncertainty: Uncertainty;
}

/** Null when nothing varies. At least two days, by number; every run must have a return on each. */
export function seriesOf(record: TrackRecord, days: readonly number[]): Series | null {
  const sums = new Float64Array(days.length);
  const runMeans = new Float64Array(record.runs.length);
  for (const [run, own] of record.runs.entries()) {
    runMeans[run] = addUp(own.logReturns, days, sums) / days.length;
  }
  const logReturns = sums.map((sum) => sum / record.runs.length);
  const spread = { runs: record.runs.length, variance: sampleVariance(runMeans) };
  const uncertainty = measureUncertainty(logReturns, [spread]);
  return (
    uncertainty && { record, logReturns, runMeans, spread, mean: mean(logReturns), uncertainty }
  );
}

/** Adds a run's log returns on these days to the sums by day; returns the run's own sum. */
function addUp(logReturns: Float64Array, days: readonly number[], sums: Float64Array): number {
  let total = 0;
  for (const [index, day] of days.entries()) {
    const logReturn = logReturns[day] ?? NaN;
    sums[index] = (sums[index] ?? NaN) + logReturn;
    total += logReturn;
  }
  return total;
}
