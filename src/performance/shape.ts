import { centralMoment } from '../statistics/moments.ts';
import { MIN_DAYS_FOR_RISK } from './conventions.ts';
import type { Figure } from './figure.ts';
import { type ReturnSeries, returnsOf, tooFew } from './returns.ts';
import { sampleDeviation } from './risk.ts';

/** The shape of the distribution of daily returns, beside its centre and its width. */

/**
 * The sample skewness: g₁ = m₃ / m₂^(3/2), of moments over n, times √(n(n − 1)) / (n − 2). It is G₁
 * of Joanes & Gill, Comparing Measures of Sample Skewness and Kurtosis, The Statistician, 1998. 0
 * for a symmetric distribution; negative where the large moves are losses.
 */
export function skewness(series: ReturnSeries): Figure {
  return shapeOf(series, (returns, variance) => {
    const { length: n } = returns;
    return ((centralMoment(returns, 3) / variance ** 1.5) * Math.sqrt(n * (n - 1))) / (n - 2);
  });
}

/**
 * The sample excess kurtosis: with g₂ = m₄ / m₂² − 3, of moments over n, ((n + 1) g₂ + 6) (n − 1) /
 * ((n − 2)(n − 3)). It is G₂ of Joanes & Gill 1998. 0 for a normal distribution; above 0 where
 * large moves are more frequent.
 */
export function excessKurtosis(series: ReturnSeries): Figure {
  return shapeOf(series, (returns, variance) => {
    const { length: n } = returns;
    const excess = centralMoment(returns, 4) / variance ** 2 - 3;
    return (((n + 1) * excess + 6) * (n - 1)) / ((n - 2) * (n - 3));
  });
}

/** A figure of returns that vary, with their variance over n. */
function shapeOf(
  series: ReturnSeries,
  figure: (returns: readonly number[], variance: number) => number,
): Figure {
  const returns = returnsOf(series);
  if (returns.length < MIN_DAYS_FOR_RISK)
    return { reason: tooFew(returns.length, MIN_DAYS_FOR_RISK) };
  if (sampleDeviation(returns, series.leastReturn) === 0)
    return { reason: 'The daily returns do not vary' };
  return figure(returns, centralMoment(returns, 2));
}
