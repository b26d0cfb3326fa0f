/**
 * The arithmetic of the bench: two programs do the same work in many short slices in turn, and what
 * counts is the median of the ratios of slices that lie side by side. Other work on the machine
 * slows both of a pair, so that it changes a ratio little and the median less.
 */

/** What a slice of each gave, in the same unit: requests per second, or milliseconds. */
export interface Pair {
  ours: number;
  peer: number;
}

/** Works for a slice and resolves to its figure. */
export type Slice = () => Promise<number>;

export interface Spread {
  min: number;
  median: number;
  max: number;
}

/**
 * The paired ratios. The true median lies between `low` and `high` in about 95 of 100 runs,
 * whatever the distribution; with fewer than six independent ratios nothing can be said so surely,
 * and these are the least and the greatest.
 */
export interface Ratios extends Spread {
  pairs: number;
  /**
   * How many of the ratios are independent of each other: the pairs, or how often the programs were
   * started.
   */
  independent: number;
  low: number;
  high: number;
}

/** The fewest independent ratios from which an interval of 95 % follows. */
export const MIN_FOR_INTERVAL = 6;

export interface Bounds {
  /** Pairs that begin within this time do not count: programs become faster while they are new. */
  warmUpMs: number;
  minPairs: number;
  maxPairs: number;
  /** No pair begins after this time. */
  maxMs: number;
  /** Enough is measured when the median is known to plus or minus this share of it. */
  precision: number;
}

export const BOUNDS: Bounds = {
  warmUpMs: 1_000,
  minPairs: 15,
  maxPairs: 2_000,
  maxMs: 30_000,
  precision: 0.01,
};

/** Half the width of a 95 % interval, in standard deviations of a normal distribution. */
const Z95 = 1.96;

/**
 * Works for two slices of each, in the order ours, peer, peer, ours, for the next pair in the order
 * peer, ours, ours, peer: a steady drift cancels within a pair, and what only the first or the last
 * slice suffers cancels between pairs.
 */
export async function twoSlicesOfEach<Of>(
  index: number,
  ours: () => Promise<Of>,
  peer: () => Promise<Of>,
): Promise<{ ours: Of[]; peer: Of[] }> {
  const [outer, inner] = index % 2 === 0 ? [ours, peer] : [peer, ours];
  const first = await outer();
  const middle = [await inner(), await inner()];
  const around = [first, await outer()];
  return index % 2 === 0 ? { ours: around, peer: middle } : { ours: middle, peer: around };
}

/** Makes pairs of two slices each. */
export function alternate(ours: Slice, peer: Slice): (index: number) => Promise<Pair> {
  return async (index) => {
    const slices = await twoSlicesOfEach(index, ours, peer);
    return { ours: mean(slices.ours), peer: mean(slices.peer) };
  };
}

/** Works for one slice of each: ours first, in the next pair the peer first. */
export async function oneSliceOfEach<Of>(
  index: number,
  ours: () => Promise<Of>,
  peer: () => Promise<Of>,
): Promise<{ ours: Of; peer: Of }> {
  if (index % 2 === 0) return { ours: await ours(), peer: await peer() };
  const first = await peer();
  return { ours: await ours(), peer: first };
}

/** Makes pairs of one slice each, for slices that take long. */
export function inTurn(ours: Slice, peer: Slice): (index: number) => Promise<Pair> {
  return (index) => oneSliceOfEach(index, ours, peer);
}

/** Takes pairs until the median of their ratios is precise enough or a bound is reached. */
export async function takePairs(
  take: (index: number) => Promise<Pair>,
  { warmUpMs, minPairs, maxPairs, maxMs, precision }: Bounds,
  now = () => performance.now(),
): Promise<Pair[]> {
  const warmAt = now() + warmUpMs;
  while (now() < warmAt) await take(0);
  const pairs: Pair[] = [];
  const endAt = now() + maxMs;
  while (pairs.length < maxPairs && (pairs.length === 0 || now() < endAt)) {
    pairs.push(await take(pairs.length));
    if (pairs.length < minPairs) continue;
    const { low, median: middle, high } = ratiosOf(pairs);
    if (high - low <= 2 * precision * middle) break;
  }
  return pairs;
}

/** The paired ratios, each of them independent of the others. */
export function ratiosOf(pairs: readonly Pair[]): Ratios {
  const ratios = pairs.map(({ ours, peer }) => ours / peer);
  return {
    ...spreadOf(ratios),
    pairs: ratios.length,
    independent: ratios.length,
    ...intervalOf(ratios),
  };
}

/**
 * Pairs of several starts of both programs. Pairs of one start share what those two processes have
 * in common for as long as they live, so each start counts once, with its median; the least and the
 * greatest ratio are those of all pairs.
 */
export function ratiosOfStarts(starts: readonly (readonly Pair[])[]): Ratios {
  const medians = starts.map((pairs) => ratiosOf(pairs).median);
  return {
    ...ratiosOf(starts.flat()),
    median: median(medians),
    independent: starts.length,
    ...intervalOf(medians),
  };
}

/**
 * The interval of the median between two order statistics: the median lies below the one of this
 * rank, from 0, if no more than so many values lie below the median, which is binomial. Half a
 * value is taken off because ranks are whole: without it, intervals of 8, 11 or 14 values would
 * hold for 93 % only.
 */
function intervalOf(values: readonly number[]): Pick<Ratios, 'low' | 'high'> {
  const sorted = values.toSorted((one, other) => one - other);
  const rank = Math.max(0, Math.floor((sorted.length - 1 - Z95 * Math.sqrt(sorted.length)) / 2));
  return { low: sorted[rank] ?? NaN, high: sorted[sorted.length - 1 - rank] ?? NaN };
}

export function spreadOf(values: readonly number[]): Spread {
  return { min: Math.min(...values), median: median(values), max: Math.max(...values) };
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The middle value, or the mean of the two in the middle. Not a number when there are none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? NaN) + (sorted[Math.floor(middle)] ?? NaN)) / 2;
}

/**
 * The smallest value that at least this share of the values does not exceed. Not a number when
 * there are none.
 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}

/**
 * Divides samples into windows of `size`, and makes each window a pair: the quantiles of both
 * sides. Leaves out an incomplete window.
 */
export function windowsOf(samples: readonly Pair[], size: number, share: number): Pair[] {
  const windows = Array.from({ length: Math.floor(samples.length / size) }, (_none, index) =>
    samples.slice(index * size, (index + 1) * size),
  );
  const at = (window: Pair[], side: keyof Pair) =>
    quantile(
      window.map((sample) => sample[side]),
      share,
    );
  return windows.map((window) => ({ ours: at(window, 'ours'), peer: at(window, 'peer') }));
}
