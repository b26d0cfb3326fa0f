/**
 * The arithmetic of the bench: two programs do the same work in slices in turn, and what counts is
 * the median of the ratios of slices that lie side by side. Other work on the machine slows both of
 * a pair, so that it changes a ratio little and the median less.
 */

/**
 * What each side gave, in the unit of a figure. The peer's is not a number where there is no peer.
 */
export interface Pair {
  ours: number;
  peer: number;
}

/** Works for a slice, and resolves to a number for each figure that is measured with it. */
export type Slice = () => Promise<number[]>;

/** Makes a pair for each figure. */
export type Take = (index: number) => Promise<Pair[]>;

/**
 * The paired ratios. The true median lies between `low` and `high` in about 95 of 100 runs,
 * whatever the distribution; with fewer than six pairs nothing can be said so surely.
 */
export interface Ratios {
  min: number;
  median: number;
  max: number;
  pairs: number;
  low: number;
  high: number;
}

/** The fewest pairs from which an interval of 95 % follows. */
export const MIN_FOR_INTERVAL = 6;

export interface Bounds {
  minPairs: number;
  maxPairs: number;
  /** No pair begins after this time. */
  maxMs: number;
  /** Enough is measured when every median is known to plus or minus this share of it. */
  precision: number;
}

export const BOUNDS: Bounds = { minPairs: 15, maxPairs: 2_000, maxMs: 30_000, precision: 0.01 };

/** Half the width of a 95 % interval, in standard deviations of a normal distribution. */
const Z95 = 1.96;

/** A slice of each: ours first, in the next pair the peer first, so that a steady drift cancels. */
export function inTurn(ours: Slice, peer: Slice): Take {
  return async (index) => {
    const first = index % 2 === 0 ? undefined : await peer();
    const own = await ours();
    const other = first ?? (await peer());
    return own.map((value, figure) => ({ ours: value, peer: other[figure] ?? NaN }));
  };
}

/**
 * Takes pairs until all medians are precise or a bound is reached; resolves to those of each
 * figure.
 */
export async function takePairs(
  take: Take,
  { minPairs, maxPairs, maxMs, precision }: Bounds,
  now = () => performance.now(),
): Promise<Pair[][]> {
  const isPrecise = (pairs: readonly Pair[]) => {
    const { low, median: middle, high } = ratiosOf(pairs);
    return Number.isNaN(middle) || high - low <= 2 * precision * middle;
  };
  const figures: Pair[][] = [];
  const endAt = now() + maxMs;
  for (let count = 0; count < maxPairs && (count === 0 || now() < endAt); ) {
    for (const [figure, pair] of (await take(count)).entries()) (figures[figure] ??= []).push(pair);
    count += 1;
    if (count >= minPairs && figures.every(isPrecise)) break;
  }
  return figures;
}

/**
 * The interval lies between two order statistics: the median lies below the one of this rank, from
 * 0, if no more than so many values lie below the median, which is binomial. Half a value is taken
 * off because ranks are whole: without it, intervals of 8, 11 or 14 values would hold for 93 %
 * only.
 */
export function ratiosOf(pairs: readonly Pair[]): Ratios {
  const ratios = pairs.map(({ ours, peer }) => ours / peer).sort((one, other) => one - other);
  const count = ratios.length;
  const rank = Math.max(0, Math.floor((count - 1 - Z95 * Math.sqrt(count)) / 2));
  const at = (index: number) => ratios[index] ?? NaN;
  const ends = { min: at(0), max: at(count - 1), low: at(rank), high: at(count - 1 - rank) };
  return { ...ends, median: median(ratios), pairs: count };
}

/** The middle value, or the mean of the two in the middle. Not a number when there are none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? NaN) + (sorted[Math.floor(middle)] ?? NaN)) / 2;
}

/** The smallest value that at least this share of the values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}
