import { centralMoment } from '../statistics/moments.ts';
import {
  type Figure,
  MIN_DAYS_FOR_RISK,
  ratio,
  reportFigures,
  rounded,
} from '../statistics/figure.ts';
import {
  annualisedReturn,
  annualisedVolatility,
  type DrawdownReport,
  maxDrawdown,
  NO_RETURN,
  type ReturnSeries,
  dailyReturns,
  sampleDeviation,
  sharpeRatio,
  sortinoRatio,
  tooFewDays,
  totalReturn,
  UNVARIED,
} from './risk-and-return.ts';

/** The distribution of daily returns: its shape, its tail and its runs. */

/**
 * The sample skewness: g₁ = m₃ / m₂^(3/2), of moments over n, times √(n(n − 1)) / (n − 2). It is G₁
 * of Joanes & Gill, Comparing Measures of Sample Skewness and Kurtosis, The Statistician, 1998. 0
 * for a symmetric distribution; negative where the large moves are losses.
 */
function skewness(series: ReturnSeries): Figure {
  return shapeFigure(series, (returns, variance) => {
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
  return shapeFigure(series, (returns, variance) => {
    const { length: n } = returns;
    const excess = centralMoment(returns, 4) / variance ** 2 - 3;
    return (((n + 1) * excess + 6) * (n - 1)) / ((n - 2) * (n - 3));
  });
}

/** A figure of returns that vary, with their variance over n. */
function shapeFigure(
  series: ReturnSeries,
  figure: (returns: readonly number[], variance: number) => number,
): Figure {
  return riskFigure(series, (returns) =>
    sampleDeviation(returns, series.leastReturn) === 0
      ? { reason: UNVARIED }
      : figure(returns, centralMoment(returns, 2)),
  );
}

/** A figure of so many daily returns that it is one of risk. */
function riskFigure(
  series: ReturnSeries,
  figure: (returns: number[], days: number) => Figure,
): Figure {
  const { length: days } = series.days;
  return days < MIN_DAYS_FOR_RISK
    ? { reason: tooFewDays(days, MIN_DAYS_FOR_RISK) }
    : figure(dailyReturns(series), days);
}

/** The returns of the worst twentieth of the days, the worst first; the last may count in part. */
function worstTwentieth(returns: readonly number[]): number[] {
  return returns.toSorted((one, other) => one - other).slice(0, Math.ceil(returns.length / 20));
}

/**
 * The loss, as a fraction, that 95 of 100 days did not exceed: minus the return at rank ⌈n/20⌉ from
 * below, without interpolation (historical simulation, Jorion, Value at Risk, 2007; quantile of
 * type 1 in Hyndman & Fan 1996). Negative when even that day gained.
 */
function valueAtRisk95(series: ReturnSeries): Figure {
  return riskFigure(series, (returns) => 0 - Math.max(...worstTwentieth(returns)));
}

/**
 * The mean loss of the worst twentieth of the days, as a fraction: the mean of the value at risk
 * over all levels beyond 95 percent. A day at the edge that belongs to the twentieth only in part
 * counts for that part (Acerbi & Tasche, On the Coherence of Expected Shortfall, Journal of Banking
 * & Finance, 2002). Never below the value at risk.
 */
function expectedShortfall95(series: ReturnSeries): Figure {
  return riskFigure(series, (returns, days) => {
    const parts = worstTwentieth(returns).map(
      (dailyReturn, index) => dailyReturn * Math.min(1, days / 20 - index),
    );
    return 0 - parts.reduce((sum, part) => sum + part, 0) / (days / 20);
  });
}

/** Days with a return above 0, as a fraction of all. */
function winningDaysShare({ days }: ReturnSeries): Figure {
  const winning = days.filter(({ dailyReturn }) => dailyReturn > 0);
  return ratio(winning.length, days.length, NO_RETURN);
}

/**
 * The most days in a row with a return above 0 (`sign` 1) or below 0 (-1); a day with a return of 0
 * ends both.
 */
function longestRun({ days }: ReturnSeries, sign: 1 | -1): number {
  let [longest, length] = [0, 0];
  for (const { dailyReturn } of days) {
    length = sign * dailyReturn > 0 ? length + 1 : 0;
    longest = Math.max(longest, length);
  }
  return longest;
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
    // Over the whole curve (Young, Calmar Ratio, Futures, 1991).
    calmar_ratio: ratio(annualised, drawdown.depth, 'The value never fell'),
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
    best_day: extremeDay(series, 1),
    worst_day: extremeDay(series, -1),
  };
}

export function reportDrawdown(drawdown: DrawdownReport): DrawdownReport {
  return { ...drawdown, depth: rounded(drawdown.depth) };
}

/**
 * The day with the highest return (`sign` 1) or the lowest (-1), the earliest of several, or null.
 */
function extremeDay({ days }: ReturnSeries, sign: 1 | -1) {
  const [day] = days.toSorted((one, other) => sign * (other.dailyReturn - one.dailyReturn));
  return day === undefined ? null : { date: day.date, daily_return: rounded(day.dailyReturn) };
}
