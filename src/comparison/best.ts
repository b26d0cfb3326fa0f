import { at } from '../statistics/at.ts';
import { cholesky, dot } from '../statistics/cholesky.ts';
import { createNormals } from '../statistics/random.ts';
import type { MeasuredPairs } from './measured-pairs.ts';
import type { Series } from './series.ts';

const DRAWS = 10_000;
/**
 * Means that differ by less than this fraction of the largest standard error differ only by
 * rounding: they tie.
 */
const TIE = 1e-9;

/** Seeds the random numbers: the same seed gives the same result. */
export interface DrawOptions {
  seed: string;
  draws?: number;
}

/**
 * How often each series has the highest mean in draws from N(x̄, Σ); in a tie, each of the best
 * gets an equal part. Σ is the joint covariance of the means, which accounts for the days that
 * models share (the posterior of the means under a flat prior, Gelman et al., Bayesian Data
 * Analysis, 2013, chapter 3).
 */
export function probabilitiesOfBest(
  series: readonly Series[],
  pairs: MeasuredPairs,
  { seed, draws = DRAWS }: DrawOptions,
): number[] {
  const covariance = jointCovariance(series, pairs);
  const lower = cholesky(covariance);
  const tie = TIE * Math.sqrt(Math.max(...covariance.map((row, index) => at(row, index))));
  const normal = createNormals(seed);
  const wins = new Float64Array(series.length);
  const [noise, values] = [new Float64Array(series.length), new Float64Array(series.length)];
  for (let draw = 0; draw < draws; draw += 1) {
    for (let index = 0; index < noise.length; index += 1) noise[index] = normal();
    for (const [index, { mean }] of series.entries())
      values[index] = mean + dot(at(lower, index), noise, index + 1);
    shareDraw(values, wins, tie);
  }
  return [...wins].map((won) => won / draws);
}

/**
 * Σ with cov(i, j) = (V_i + V_j − V_ij) / 2, V_ij the variance of the difference of both: Newey and
 * West's weights applied to the products of both series, with the same correction, plus s²/R on the
 * diagonal. So the variance of every difference is exactly that of its pair.
 */
export function jointCovariance(series: readonly Series[], pairs: MeasuredPairs): Float64Array[] {
  return series.map((one) =>
    Float64Array.from(series, (other) => {
      if (one === other) return one.uncertainty.total;
      const sum = one.uncertainty.total + other.uncertainty.total;
      return (sum - (pairs(one.record.model, other.record.model).uncertainty?.total ?? 0)) / 2;
    }),
  );
}

function shareDraw(values: Float64Array, wins: Float64Array, tie: number): void {
  let best = -Infinity;
  for (const value of values) best = Math.max(best, value);
  let winners = 0;
  for (const value of values) if (value >= best - tie) winners += 1;
  for (const [index, value] of values.entries())
    if (value >= best - tie) wins[index] = at(wins, index) + 1 / winners;
}
