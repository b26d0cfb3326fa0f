/**
 * A sum to the last digit, as SQLite's `total` computes it: `lost` is what rounding has taken from
 * it so far.
 */
export interface LongSum {
  sum: number;
  lost: number;
}

export const longSum = (): LongSum => ({ sum: 0, lost: 0 });

/**
 * Adds a value with what rounding takes from it (Neumaier,
 * https://doi.org/10.1002/zamm.19740540106).
 */
export function addTo(long: LongSum, value: number): void {
  const sum = long.sum + value;
  long.lost +=
    Math.abs(long.sum) > Math.abs(value) ? long.sum - sum + value : value - sum + long.sum;
  long.sum = sum;
}

/** The sum with what it has lost, which is NaN for an infinite one. */
export function totalOf({ sum, lost }: LongSum): number {
  return Number.isFinite(lost) ? sum + lost : sum;
}
