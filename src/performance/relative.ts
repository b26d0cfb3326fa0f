import { MIN_DAYS_FOR_RISK, TRADING_DAYS_PER_YEAR } from './conventions.ts';
import type { Figure } from './figure.ts';
import { type ReturnSeries, returnsOf, tooFew, totalReturn, whyNotAnnualised } from './returns.ts';
import { annualisedDeviation, annualisedRatio, covariance, mean, sampleDeviation } from './risk.ts';

/** A model and the benchmark over the same days: those on which both have a return. */
export interface Comparison {
  own: ReturnSeries;
  benchmark: ReturnSeries;
}

export interface RelativeFigures {
  benchmarkReturn: Figure;
  excessReturn: Figure;
  alpha: Figure;
  beta: Figure;
  correlation: Figure;
  trackingError: Figure;
  informationRatio: Figure;
}

const FLAT_BENCHMARK = 'The benchmark does not move';

/**
 * How a model did against the benchmark. Excess return is the difference of the totals; beta, the slope of the model's
 * returns over the benchmark's, and alpha, what beta does not explain, per year without compounding (Jensen, The
 * Performance of Mutual Funds, Journal of Finance, 1968); correlation is Pearson's; tracking error and information ratio
 * are the deviation of the daily differences and their mean over it (Grinold & Kahn, Active Portfolio Management, 1999).
 */
export function relativeFigures(comparison: Comparison, riskFree: number): RelativeFigures {
  const { own } = comparison;
  const totals = compareTotals(comparison);
  if (own.days.length < MIN_DAYS_FOR_RISK) {
    const few = { reason: tooFew(own.days.length, MIN_DAYS_FOR_RISK) };
    return { ...totals, alpha: few, beta: few, correlation: few, trackingError: few, informationRatio: few };
  }
  const figures = { ...totals, ...slope(comparison, riskFree), ...differences(comparison) };
  const reason = whyNotAnnualised(own, MIN_DAYS_FOR_RISK);
  if (reason === null) return figures;
  return { ...figures, alpha: { reason }, trackingError: { reason }, informationRatio: { reason } };
}

function compareTotals({ own, benchmark }: Comparison): Pick<RelativeFigures, 'benchmarkReturn' | 'excessReturn'> {
  const [total, benchmarkReturn] = [totalReturn(own), totalReturn(benchmark)];
  if (typeof total === 'number' && typeof benchmarkReturn === 'number')
    return { benchmarkReturn, excessReturn: total - benchmarkReturn };
  const none = { reason: 'There is no day on which both have a return' };
  return { benchmarkReturn: none, excessReturn: none };
}

function slope(
  { own, benchmark }: Comparison,
  riskFree: number,
): Pick<RelativeFigures, 'alpha' | 'beta' | 'correlation'> {
  const [ours, theirs] = [returnsOf(own), returnsOf(benchmark)];
  const [deviation, other] = [sampleDeviation(ours, own.leastReturn), sampleDeviation(theirs, own.leastReturn)];
  if (other === 0) {
    const reason = { reason: FLAT_BENCHMARK };
    return { alpha: reason, beta: reason, correlation: reason };
  }
  const beta = covariance(ours, theirs) / other ** 2;
  const daily = mean(ours) - riskFree - beta * (mean(theirs) - riskFree);
  return {
    alpha: daily * TRADING_DAYS_PER_YEAR,
    beta,
    correlation:
      deviation === 0 ? { reason: 'The daily returns do not vary' } : covariance(ours, theirs) / (deviation * other),
  };
}

function differences({ own, benchmark }: Comparison): Pick<RelativeFigures, 'trackingError' | 'informationRatio'> {
  const theirs = returnsOf(benchmark);
  const active = returnsOf(own).map((dailyReturn, index) => dailyReturn - (theirs[index] as number));
  return {
    trackingError: annualisedDeviation(active, own.leastReturn),
    informationRatio: annualisedRatio(
      mean(active),
      sampleDeviation(active, own.leastReturn),
      'The differences to the benchmark do not vary',
    ),
  };
}
