/** Coefficients of b₀ + a₁/(b₁ + a₂/(b₂ + …)), by index; a₀ is never read. */
export interface ContinuedFraction {
  numerator: (index: number) => number;
  denominator: (index: number) => number;
}

const MAX_TERMS = 100_000;
/** Replaces a 0 that would be a divisor. */
const TINY = 1e-300;

/**
 * The value of a continued fraction, evaluated forwards until a term changes nothing (Lentz,
 * Applied Optics 15, 1976, as modified by Thompson & Barnett, Journal of Computational Physics 64,
 * 1986). Throws when it does not converge.
 */
export function continuedFraction({ numerator, denominator }: ContinuedFraction): number {
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
