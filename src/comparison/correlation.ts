import type { Figure } from '../performance/figure.ts';
import { mean } from '../statistics/moments.ts';
import { LEAST_DEVIATION, type Series } from './series.ts';

/**
 * Σ ab / √(Σ a² · Σ b²), a and b the deviations of both models' daily log returns from their means:
 * 1 when the days of both rise and fall together, 0 when one tells nothing about the other
 * (Pearson, Regression, Heredity, and Panmixia, Philosophical Transactions of the Royal Society A
 * 187, 1896).
 */
export function correlationOf(one: Series, other: Series): Figure {
  const [first, second] = [deviations(one), deviations(other)];
  if (isConstant(first)) return constantReturns(one);
  if (isConstant(second)) return constantReturns(other);
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

function isConstant(ownDeviations: Float64Array): boolean {
  return ownDeviations.every((deviation) => Math.abs(deviation) <= LEAST_DEVIATION);
}

function constantReturns({ record }: Series): Figure {
  return { reason: `The daily returns of the mean run of ${record.model} do not vary` };
}
