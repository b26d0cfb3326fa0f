import { symmetricQuantile } from './moments.ts';

const MAX_TERMS = 100_000;
/** Replaces a 0 that would be a divisor. */
const TINY = 1e-300;
/**
 * Below this a series needs few terms, and 1/2 minus it is exact enough; above it the continued
 * fraction is used.
 */
const SERIES_UP_TO = 2;

/**
 * The value of b₀ + a₁/(b₁ + a₂/(b₂ + …)), each by its index, evaluated forwards until a term
 * changes nothing (Lentz, Applied Optics 15, 1976, as modified by Thompson & Barnett, Journal of
 * Computational Physics 64, 1986). a₀ is never read. Throws when it does not converge.
 */
function continuedFraction(
  numerator: (index: number) => number,
  denominator: (index: number) => number,
): number {
  let value = denominator(0) || TINY;
  let [forwards, backwards] = [value, 0];
  for (let index = 1; index <= MAX_TERMS; index += 1) {
    const [a, b] = [numerator(index), denominator(index)];
    backwards = 1 / (b + a * backwards || TINY);
    forwards = b + a / forwards || TINY;
    const change = forwards * backwards;
    value *= change;
    if (Math.abs(change - 1) <= Number.EPSILON) return value;
  }
  throw new Error(
    `Cannot evaluate a continued fraction: it has not converged after ${MAX_TERMS} terms`,
  );
}

/** Student's t distribution with any degrees of freedom above 0, whole or not. */

const ROOT_OF_PI = Math.sqrt(Math.PI);

/**
 * P(T > t) = I_x(ν/2, 1/2) / 2 with x = ν/(ν + t²) (Abramowitz & Stegun 1964, 26.7.1), accurate
 * relative to the tail it is in.
 */
export function studentTUpperTail(t: number, degreesOfFreedom: number): number {
  if (Number.isNaN(t) || !(degreesOfFreedom > 0)) return NaN;
  if (t < 0) return 1 - studentTUpperTail(-t, degreesOfFreedom);
  return t < SERIES_UP_TO
    ? 0.5 - studentTMiddle(t, degreesOfFreedom)
    : studentTTail(t, degreesOfFreedom);
}

/** The t with P(T ≤ t) = probability; infinite at 0 and 1. */
export function studentTQuantile(probability: number, degreesOfFreedom: number): number {
  if (!(degreesOfFreedom > 0)) return NaN;
  const distribution = {
    upperTail: (t: number) => studentTUpperTail(t, degreesOfFreedom),
    density: (t: number) => studentTDensity(t, degreesOfFreedom),
  };
  return symmetricQuantile(distribution, probability);
}

/** Γ((ν+1)/2) / (√(νπ) Γ(ν/2)) · (1 + t²/ν)^(-(ν+1)/2). */
function studentTDensity(t: number, degreesOfFreedom: number): number {
  const kernel = Math.exp((-(degreesOfFreedom + 1) / 2) * Math.log1p((t * t) / degreesOfFreedom));
  return (gammaRatio(degreesOfFreedom / 2) / (Math.sqrt(degreesOfFreedom) * ROOT_OF_PI)) * kernel;
}

/**
 * P(0 < T ≤ t) = t f(t) · ₂F₁((ν+1)/2, 1; 3/2; y) with y = t²/(ν + t²): the power series of
 * I_y(1/2, ν/2) (Abramowitz & Stegun 1964, 26.5.4). All terms are positive, so nothing cancels.
 */
function studentTMiddle(t: number, degreesOfFreedom: number): number {
  const y = (t * t) / (degreesOfFreedom + t * t);
  let [term, sum] = [1, 1];
  for (let n = 0; term > sum * Number.EPSILON; n += 1) {
    term *= (((degreesOfFreedom + 1) / 2 + n) / (1.5 + n)) * y;
    sum += term;
  }
  return t * studentTDensity(t, degreesOfFreedom) * sum;
}

/**
 * The continued fraction of the incomplete beta function (Didonato & Morris, ACM Transactions on
 * Mathematical Software 18, 1992, equation 9), with their λ written as a·y − b·x, so that large
 * degrees of freedom lose no digits.
 */
function studentTTail(t: number, degreesOfFreedom: number): number {
  const [a, b] = [degreesOfFreedom / 2, 0.5];
  const x = 1 / (1 + (t * t) / degreesOfFreedom);
  const y = 1 / (1 + degreesOfFreedom / (t * t));
  const fraction = continuedFraction(
    (n) => ((a + n - 1) * (a + b + n - 1) * n * (b - n) * x * x) / (a + 2 * n - 1) ** 2,
    (n) =>
      n +
      (n === 0 ? 0 : (n * (b - n) * x) / (a + 2 * n - 1)) +
      ((a + n) * (a * y - b * x + 1 + n * (1 + y))) / (a + 2 * n + 1),
  );
  const power = Math.exp(-a * Math.log1p((t * t) / degreesOfFreedom)) * Math.sqrt(y);
  return (power * gammaRatio(a)) / (2 * ROOT_OF_PI * fraction);
}

/** From here on, six terms of the series below are exact to the last digit. */
const ASYMPTOTIC_FROM = 16;
/** (1 − 2^(−2k)) B₂ₖ / (k (2k − 1)) for k = 1, 2, …, B₂ₖ the Bernoulli numbers. */
const RATIO_SERIES = [1 / 8, -1 / 192, 1 / 640, -17 / 14_336, 31 / 18_432, -691 / 180_224];

/**
 * Γ(a + 1/2) / Γ(a): the difference of Stirling's series at both (NIST Digital Library of
 * Mathematical Functions, 5.11.1 and 5.11.8), √a · exp(−Σ cₖ a^(1−2k)), reached from a small a by
 * Γ(a + 1) = a Γ(a). The quotient of two gamma functions would lose as many digits as their
 * logarithms have before the point.
 */
function gammaRatio(a: number): number {
  let [factor, from] = [1, a];
  for (; from < ASYMPTOTIC_FROM; from += 1) factor *= from / (from + 0.5);
  const exponent = RATIO_SERIES.reduce(
    (sum, coefficient, index) => sum + coefficient * from ** (-1 - 2 * index),
    0,
  );
  return factor * Math.sqrt(from) * Math.exp(-exponent);
}

/** The standard normal distribution. */

const ROOT_OF_TWO_PI = Math.sqrt(2 * Math.PI);

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
  return z < SERIES_UP_TO ? 0.5 - normalMiddle(z) : normalTail(z);
}

/** The z with P(Z ≤ z) = probability; infinite at 0 and 1. */
export function normalQuantile(probability: number): number {
  return symmetricQuantile({ upperTail: normalUpperTail, density: normalDensity }, probability);
}

/** P(0 < Z ≤ z) = φ(z)(z + z³/3 + z⁵/(3·5) + …) (Abramowitz & Stegun 1964, 26.2.11). */
function normalMiddle(z: number): number {
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
function normalTail(z: number): number {
  const half = (z * z) / 2;
  if (half === Infinity) return 0;
  const fraction = continuedFraction(
    (n) => -n * (n - 0.5),
    (n) => half + 0.5 + 2 * n,
  );
  return (normalDensity(z) * z) / (2 * fraction);
}
