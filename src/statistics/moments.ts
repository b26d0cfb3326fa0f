/**
 * Moments of numbers in memory; no list may be empty. Loops over numbers read a missing one as NaN,
 * which shows in the result: in the innermost ones `at` takes several times as long.
 */

export type Numbers = Float64Array | readonly number[];

export function mean(numbers: Numbers): number {
  let sum = 0;
  for (let index = 0; index < numbers.length; index += 1) sum += numbers[index] ?? NaN;
  return sum / numbers.length;
}

/** The sample variance, over n − 1; 0 for a single number. */
export function sampleVariance(numbers: Numbers): number {
  return numbers.length === 1
    ? 0
    : (centralMoment(numbers, 2) * numbers.length) / (numbers.length - 1);
}

/** The mean of (x − mean)^order, over n. */
export function centralMoment(numbers: Numbers, order: number): number {
  const middle = mean(numbers);
  let sum = 0;
  for (let index = 0; index < numbers.length; index += 1)
    sum += ((numbers[index] ?? NaN) - middle) ** order;
  return sum / numbers.length;
}
