import { continuedFraction } from './student-t.ts';
import { type SymmetricDistribution, symmetricQuantile } from './moments.ts';

/** The standard normal distribution. */

const ROOT_OF_TWO_PI = Math.sqrt(2 * Math.PI);
/**
 * Below this the series needs few terms, and 1/2 minus it is exact enough; above it the continued
 * fraction is used.
 */
const SERIES_UP_TO = 2;

function normalDensity(z: number): number {
  return Math.exp(-(z * z) / 2) / ROOT_OF_TWO_PI;
}

/** P(Z ≤ z), accurate relative to the tail it is in. */
export function normalCdf(z: number): number {
  return normalUpperTail(-z);
}

/** P(Z > z), accurate relative to the tail it is in. */
export function normalUpperTail(z: number): number {
  if (Number.isNaN(z)) return NaN;
  if (z < 0) return 1 - normalUpperTail(-z);
  return z < SERIES_UP_TO ? 0.5 - middle(z) : tail(z);
}

/** The z with P(Z ≤ z) = probability; infinite at 0 and 1. */
export function normalQuantile(probability: number): number {
  return symmetricQuantile(standardNormal, probability);
}

const standardNormal: SymmetricDistribution = {
  upperTail: normalUpperTail,
  density: normalDensity,
};

/** P(0 < Z ≤ z) = φ(z)(z + z³/3 + z⁵/(3·5) + …) (Abramowitz & Stegun 1964, 26.2.11). */
function middle(z: number): number {
  let [term, sum] = [z, z];
  for (let odd = 3; term > sum * Number.EPSILON; odd += 2) {
    term *= (z * z) / odd;
    sum += term;
  }
  return normalDensity(z) * sum;
}

/**
 * P(Z > z) = Γ(1/2, z²/2) / (2√π), with the continued fraction of the incomplete gamma function
 * (NIST Digital Library of Mathematical Functions, 7.2.2, 8.9.2 in its even part). It is the limit
 * of the fraction for Student's t.
 */
function tail(z: number): number {
  const half = (z * z) / 2;
  if (half === Infinity) return 0;
  const fraction = continuedFraction({
    numerator: (n) => -n * (n - 0.5),
    denominator: (n) => half + 0.5 + 2 * n,
  });
  return (normalDensity(z) * z) / (2 * fraction);
}
