import { at } from '../statistics/at.ts';

/**
 * p-values adjusted for multiple comparisons, in the same order: the k-th smallest of m times m − k
 * + 1, never below a smaller one's, at most 1 (Holm, A Simple Sequentially Rejective Multiple Test
 * Procedure, Scandinavian Journal of Statistics 6, 1979).
 */
export function holm(pValues: readonly number[]): number[] {
  const order = pValues
    .map((_, index) => index)
    .sort((one, other) => at(pValues, one) - at(pValues, other));
  const adjusted = new Array<number>(pValues.length);
  let largest = 0;
  for (const [rank, index] of order.entries()) {
    largest = Math.max(largest, Math.min(1, (pValues.length - rank) * at(pValues, index)));
    adjusted[index] = largest;
  }
  return adjusted;
}
