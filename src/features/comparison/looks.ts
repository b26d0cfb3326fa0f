import { bisect } from '../statistics/moments.ts';
import { normalQuantile, normalUpperTail } from '../statistics/distributions.ts';

/** How often a comparison is looked at: once, at the end, or on any day, as days arrive. */
export const lookKinds = ['once', 'daily'] as const;
export type Looks = (typeof lookKinds)[number];

/** Fewer days do not show how much days differ. */
export const MIN_DAYS = 20;

/** How many days are compared, at which confidence, and for how many looks it holds. */
export interface Period {
  days: number;
  confidence: number;
  looks: Looks;
}

/** Below this confidence a boundary over all days says nothing. */
export const MIN_CONFIDENCE_DAILY = 0.5;
/** The day on which the boundary is about as tight as it can be: half a year of trading days. */
const TIGHTEST_DAY = 120;
/** Exponent a at which ρ² is 0. */
const LEAST_EXPONENT = 0.2784645427610738;

/**
 * The normal mixture boundary c(D) = √((1 + 1/(Dρ²)) · ln((Dρ² + 1)/α²)), ρ² = (a + ln a + 1)/120,
 * a = −2 ln α: a mean of D days stays within c(D) standard errors on all days at once with
 * probability 1 − α (Robbins, Statistical Methods Related to the Law of the Iterated Logarithm,
 * Annals of Mathematical Statistics 41, 1970; Howard, Ramdas, McAuliffe & Sekhon, Time-uniform,
 * Nonparametric, Nonasymptotic Confidence Sequences, Annals of Statistics 49, 2021; for estimated
 * variances Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas, Time-uniform Central Limit Theory and
 * Asymptotic Confidence Sequences, Annals of Statistics 52, 2024).
 */
export function confidenceBoundary(days: number, alpha: number): number {
  return Math.sqrt(squaredBoundary(days, -2 * Math.log(alpha)));
}

function squaredBoundary(days: number, a: number): number {
  const spread = (days * (a + Math.log(a) + 1)) / TIGHTEST_DAY;
  return spread > 0 ? (1 + 1 / spread) * (Math.log1p(spread) + a) : Infinity;
}

/** The probability beyond each end of an interval: half of 1 − confidence for a single look. */
export function tailProbability({ days, confidence, looks }: Period): number {
  return looks === 'once'
    ? (1 - confidence) / 2
    : normalUpperTail(confidenceBoundary(days, 1 - confidence));
}

/**
 * The smallest level at which the interval excludes a value that lies beyond one tail of this
 * probability: twice the tail for a single look; 1 where no level excludes it.
 */
export function significanceLevel(
  tail: number,
  { days, looks }: Pick<Period, 'days' | 'looks'>,
): number {
  if (looks === 'once') return 2 * tail;
  const reached = normalQuantile(tail) ** 2;
  if (reached === Infinity) return 0;
  // The boundary is at least √a, and grows with a from its lowest on.
  const low = lowestExponent(days);
  const isBelow = (a: number) => squaredBoundary(days, a) < reached;
  return isBelow(low) ? Math.exp(-bisect(low, reached, isBelow) / 2) : 1;
}

const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** The a with the lowest boundary, by golden-section search (Kiefer 1953): it has one valley. */
function lowestExponent(days: number): number {
  let [low, high] = [LEAST_EXPONENT, 10];
  while (high - low > 1e-9) {
    const [one, other] = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
    if (squaredBoundary(days, one) < squaredBoundary(days, other)) high = other;
    else low = one;
  }
  return (low + high) / 2;
}
