import type { Figure } from '../performance/figure.ts';
import { centralMoment, mean, sampleVariance } from '../statistics/moments.ts';
import { normalCdf, normalQuantile } from '../statistics/normal.ts';
import { LEAST_DEVIATION, type Series } from './series.ts';

/**
 * The model whose mean run has the highest Sharpe ratio, and how much of that may be the luck of
 * being the best of many.
 */
export interface LeaderReport {
  /** Null when no model is compared. */
  model: string | null;
  sharpeRatioDaily: Figure;
  /** The probability that the true ratio is above 0. */
  probabilisticSharpeRatio: Figure;
  /**
   * The probability that the true ratio is above what the best of `trials` would reach by chance.
   */
  deflatedSharpeRatio: Figure;
  expectedBestSharpeRatioDaily: Figure;
  trials: number;
}

/** The Euler–Mascheroni constant. */
const GAMMA = 0.5772156649;
/** The variance of a Sharpe ratio, times the days, is about 1; values up to this are rounding. */
const LEAST_VARIANCE = 1e-12;

const FLAT = { reason: 'The daily returns of the mean run do not vary' };
const TWO_VALUES = {
  reason: 'The daily returns take only two values, so the error of the ratio cannot be estimated',
};

/**
 * The leader of the compared models; `tried` counts every model that was tried, including those
 * compared.
 */
export function reportLeader(series: readonly Series[], tried: number): LeaderReport {
  const trials = Math.max(tried, series.length);
  const ratios = series.map(({ logReturns }) => dailySharpeRatio(logReturns));
  const known = ratios.filter((ratio) => typeof ratio === 'number');
  const highest = Math.max(...known);
  const leader = series[ratios.indexOf(highest)];
  if (leader === undefined) {
    const none = series.length === 0 ? { reason: 'Nothing is left to compare' } : FLAT;
    const figures = {
      sharpeRatioDaily: none,
      probabilisticSharpeRatio: none,
      deflatedSharpeRatio: none,
    };
    return { model: null, ...figures, expectedBestSharpeRatioDaily: none, trials };
  }
  const expectedBest = expectedBestSharpeRatio(known, trials);
  return {
    model: leader.record.model,
    sharpeRatioDaily: highest,
    probabilisticSharpeRatio: probabilisticSharpeRatio(leader.logReturns, 0),
    deflatedSharpeRatio:
      typeof expectedBest === 'number'
        ? probabilisticSharpeRatio(leader.logReturns, expectedBest)
        : expectedBest,
    expectedBestSharpeRatioDaily: expectedBest,
    trials,
  };
}

/** Mean over sample deviation, per day, without a risk-free rate. */
export function dailySharpeRatio(logReturns: Float64Array): Figure {
  const deviation = Math.sqrt(sampleVariance(logReturns));
  return deviation <= LEAST_DEVIATION ? FLAT : mean(logReturns) / deviation;
}

/**
 * Φ((S − S₀)√(D−1) / √(1 − g₃S + (g₄−1)/4·S²)): the probability that the true Sharpe ratio is above
 * S₀, given skewness g₃ and kurtosis g₄ (Bailey & López de Prado, The Sharpe Ratio Efficient
 * Frontier, Journal of Risk 15, 2012).
 */
export function probabilisticSharpeRatio(logReturns: Float64Array, benchmark: number): Figure {
  const ratio = dailySharpeRatio(logReturns);
  if (typeof ratio !== 'number') return ratio;
  const spread = centralMoment(logReturns, 2);
  const skewness = centralMoment(logReturns, 3) / spread ** 1.5;
  const kurtosis = centralMoment(logReturns, 4) / spread ** 2;
  const variance = 1 - skewness * ratio + ((kurtosis - 1) / 4) * ratio ** 2;
  if (variance <= LEAST_VARIANCE) return TWO_VALUES;
  return normalCdf(((ratio - benchmark) * Math.sqrt(logReturns.length - 1)) / Math.sqrt(variance));
}

/**
 * sd·((1 − γ)Φ⁻¹(1 − 1/N) + γΦ⁻¹(1 − 1/(N·e))): the highest Sharpe ratio expected of N models
 * without skill, sd the sample deviation of those compared (Bailey & López de Prado, The Deflated
 * Sharpe Ratio, Journal of Portfolio Management 40, 2014).
 */
export function expectedBestSharpeRatio(ratios: readonly number[], trials: number): Figure {
  if (ratios.length < 2) return { reason: 'Needs the Sharpe ratios of two models; there is one' };
  const deviation = Math.sqrt(sampleVariance(ratios));
  const upper = (tail: number) => 0 - normalQuantile(tail);
  return deviation * ((1 - GAMMA) * upper(1 / trials) + GAMMA * upper(1 / (trials * Math.E)));
}
