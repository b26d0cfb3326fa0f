import type { Figure } from '../performance/figure.ts';
import { mean } from '../statistics/moments.ts';
import type { Series } from './series.ts';

/** Deviations of daily log returns up to this are rounding. */
const LEAST_DEVIATION = 1e-15;

/**
 * Σ ab / √(Σ a² · Σ b²), a and b the deviations of both models' daily log returns from their means: 1 when the days of both
 * rise and fall together, 0 when one tells nothing about the other (Pearson, Regression, Heredity, and Panmixia,
 * Philosophical Transactions of the Royal Society A 187, 1896).
 */
export function correlationOf(one: Series, other: Series): Figure {
  const [first, second] = [deviations(one), deviations(other)];
  const still = [one, other].find((_, index) => isStill(index === 0 ? first : second));
  if (still !== undefined) return { reason: `The daily returns of the mean run of ${still.record.model} do not vary` };
  let [products, ofFirst, ofSecond] = [0, 0, 0];
  for (let day = 0; day < first.length; day += 1) {
    const [a, b] = [first[day] ?? NaN, second[day] ?? NaN];
    products += a * b;
    ofFirst += a * a;
    ofSecond += b * b;
  }
  const correlation = products / Math.sqrt(ofFirst) / Math.sqrt(ofSecond);
  return Math.max(-1, Math.min(1, correlation)); // rounding can exceed 1
}

function deviations({ logReturns }: Series): Float64Array {
  const middle = mean(logReturns);
  return logReturns.map((logReturn) => logReturn - middle);
}

function isStill(numbers: Float64Array): boolean {
  return numbers.every((number) => Math.abs(number) <= LEAST_DEVIATION);
}
