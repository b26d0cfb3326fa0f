/** A distribution symmetric about 0, for arguments of at least 0. */
export interface SymmetricDistribution {
  /** P(X > x). */
  upperTail: (x: number) => number;
  density: (x: number) => number;
}

const MAX_STEPS = 200;
const MAX_GROWTH = 4;
const PRECISION = 4 * Number.EPSILON;

/**
 * The x with P(X ≤ x) = probability, accurate relative to the smaller tail. Newton's method on ln
 * P(X > x) over ln x, which is nearly straight in the tails of all distributions used here; a step
 * that leaves the bracket is replaced by the bracket's middle. Infinite at 0 and 1, NaN outside of
 * them.
 */
export function symmetricQuantile(
  distribution: SymmetricDistribution,
  probability: number,
): number {
  if (!(probability >= 0 && probability <= 1)) return NaN;
  if (probability === 0.5) return 0;
  return probability < 0.5
    ? -upperQuantile(distribution, probability)
    : upperQuantile(distribution, 1 - probability);
}

/** The x above 0 with P(X > x) = tail, which is below 1/2. */
function upperQuantile({ upperTail, density }: SymmetricDistribution, tail: number): number {
  if (tail === 0) return Infinity;
  let [low, high, x] = [0, Infinity, 1];
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const above = upperTail(x);
    if (above > tail) low = x;
    else high = x;
    const next =
      x * Math.min(MAX_GROWTH, Math.exp((Math.log(above / tail) * above) / (x * density(x))));
    if (Math.abs(next - x) <= PRECISION * x) return next;
    x = next > low && next < high ? next : (low + Math.min(high, MAX_GROWTH * x)) / 2;
    if (high - low <= PRECISION * low) return x;
  }
  return x;
}
