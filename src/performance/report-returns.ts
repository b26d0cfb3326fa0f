import { centralMoment } from '../statistics/moments.ts';
import { type Figure, reportFigures, rounded } from './figure.ts';
import {
  annualisedReturn,
  annualisedVolatility,
  calmarRatio,
  type DailyReturn,
  type Drawdown,
  expectedShortfall95,
  extremeDay,
  longestRun,
  maxDrawdown,
  type ReturnSeries,
  riskOf,
  sampleDeviation,
  sharpeRatio,
  sortinoRatio,
  totalReturn,
  UNVARIED,
  valueAtRisk95,
  winningDaysShare,
} from './risk-and-return.ts';

/** The shape of the distribution of daily returns, beside its centre and its width. */

/**
 * The sample skewness: g₁ = m₃ / m₂^(3/2), of moments over n, times √(n(n − 1)) / (n − 2). It is G₁
 * of Joanes & Gill, Comparing Measures of Sample Skewness and Kurtosis, The Statistician, 1998. 0
 * for a symmetric distribution; negative where the large moves are losses.
 */
function skewness(series: ReturnSeries): Figure {
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
function excessKurtosis(series: ReturnSeries): Figure {
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
  return riskOf(series, (returns) =>
    sampleDeviation(returns, series.leastReturn) === 0
      ? { reason: UNVARIED }
      : figure(returns, centralMoment(returns, 2)),
  );
}

/** The figures of a series of daily returns, a model's or a benchmark's. */
export function reportReturns(series: ReturnSeries, riskFree: number) {
  const drawdown = maxDrawdown(series);
  const annualised = annualisedReturn(series);
  const figures = reportFigures({
    total_return: totalReturn(series),
    annualised_return: annualised,
    annualised_volatility: annualisedVolatility(series),
    sharpe_ratio: sharpeRatio(series, riskFree),
    sortino_ratio: sortinoRatio(series, riskFree),
    calmar_ratio: calmarRatio(annualised, drawdown),
    value_at_risk_95: valueAtRisk95(series),
    expected_shortfall_95: expectedShortfall95(series),
    skewness: skewness(series),
    kurtosis: excessKurtosis(series),
    winning_days_share: winningDaysShare(series),
  });
  return {
    ...figures,
    max_drawdown: reportDrawdown(drawdown),
    longest_winning_run: longestRun(series, 1),
    longest_losing_run: longestRun(series, -1),
    best_day: reportDay(extremeDay(series, 1)),
    worst_day: reportDay(extremeDay(series, -1)),
  };
}

export function reportDrawdown(drawdown: Drawdown): Drawdown {
  return { ...drawdown, depth: rounded(drawdown.depth) };
}

function reportDay(day: DailyReturn | null) {
  return day === null ? null : { date: day.date, daily_return: rounded(day.dailyReturn) };
}
