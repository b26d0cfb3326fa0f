import assert from 'node:assert/strict';
import { mean } from '../statistics/moments.ts';
import { MIN_DAYS_FOR_RISK, TRADING_DAYS_PER_YEAR } from './conventions.ts';
import { type Figure, mapFigure, ratio } from './figure.ts';
import { type ReturnSeries, returnsOf, tooFew, whyNotAnnualised } from './returns.ts';

const YEAR_ROOT = Math.sqrt(TRADING_DAYS_PER_YEAR);

/** The items of two lists of the same length, in pairs. */
export function pairs(
  ones: readonly number[],
  others: readonly number[],
): [one: number, other: number][] {
  return ones.map((one, index) => {
    const other = others[index];
    assert(other !== undefined);
    return [one, other];
  });
}

/** The sample covariance, over n - 1. Both lists have the same length, of at least 2. */
export function covariance(ones: readonly number[], others: readonly number[]): number {
  const [middle, otherMiddle] = [mean(ones), mean(others)];
  const sum = pairs(ones, others).reduce(
    (total, [one, other]) => total + (one - middle) * (other - otherMiddle),
    0,
  );
  return sum / (ones.length - 1);
}

/**
 * The sample standard deviation, over n - 1; exactly 0 up to `least`, where only rounding varies.
 */
export function sampleDeviation(numbers: readonly number[], least: number): number {
  const deviation = Math.sqrt(covariance(numbers, numbers));
  return deviation > least ? deviation : 0;
}

/** The mean over a deviation, both per day, scaled to a year by the square root of 252. */
export function annualisedRatio(average: number, deviation: number, reason: string): Figure {
  return mapFigure(ratio(average, deviation, reason), (daily) => daily * YEAR_ROOT);
}

export function annualisedDeviation(numbers: readonly number[], least: number): number {
  return sampleDeviation(numbers, least) * YEAR_ROOT;
}

/** The sample deviation of the daily returns times the square root of 252 (Bacon 2008). */
export function annualisedVolatility(series: ReturnSeries): Figure {
  const reason = whyNotAnnualised(series, MIN_DAYS_FOR_RISK);
  return reason === null ? annualisedDeviation(returnsOf(series), series.leastReturn) : { reason };
}

/**
 * The mean over the sample deviation of the returns in excess of the risk-free rate, times the
 * square root of 252 (Sharpe, The Sharpe Ratio, Journal of Portfolio Management, 1994).
 */
export function sharpeRatio(series: ReturnSeries, riskFree: number): Figure {
  const reason = whyNotAnnualised(series, MIN_DAYS_FOR_RISK);
  if (reason !== null) return { reason };
  const excess = returnsOf(series).map((dailyReturn) => dailyReturn - riskFree);
  return annualisedRatio(
    mean(excess),
    sampleDeviation(excess, series.leastReturn),
    'The daily returns do not vary',
  );
}

/**
 * The mean excess over a target, here the risk-free rate, over the downside deviation, times the
 * square root of 252 (Sortino & van der Meer, Downside Risk, Journal of Portfolio Management,
 * 1991).
 */
export function sortinoRatio(series: ReturnSeries, riskFree: number): Figure {
  const reason = whyNotAnnualised(series, MIN_DAYS_FOR_RISK);
  if (reason !== null) return { reason };
  const returns = returnsOf(series);
  return annualisedRatio(
    mean(returns) - riskFree,
    downsideDeviation(returns, { target: riskFree, least: series.leastReturn }),
    'No day fell measurably below the risk-free rate',
  );
}

/**
 * The root of the mean of min(0, r - target)² over all days, those above the target counting as 0
 * (Sortino & van der Meer 1991). It is not the deviation of the losing days only.
 */
function downsideDeviation(
  returns: readonly number[],
  { target, least }: { target: number; least: number },
): number {
  const deviation = Math.sqrt(
    mean(returns.map((dailyReturn) => Math.min(0, dailyReturn - target) ** 2)),
  );
  return deviation > least ? deviation : 0;
}

/**
 * The loss, as a fraction, that 95 of 100 days did not exceed: minus the return at rank ⌈n/20⌉ from
 * below, without interpolation (historical simulation, Jorion, Value at Risk, 2007; quantile of
 * type 1 in Hyndman & Fan 1996). Negative when even that day gained.
 */
export function valueAtRisk95(series: ReturnSeries): Figure {
  const count = series.days.length;
  if (count < MIN_DAYS_FOR_RISK) return { reason: tooFew(count, MIN_DAYS_FOR_RISK) };
  const sorted = returnsOf(series).sort((one, other) => one - other);
  const quantile = sorted[Math.ceil(count / 20) - 1];
  assert(quantile !== undefined);
  return 0 - quantile;
}

/**
 * The mean loss of the worst twentieth of the days, as a fraction: the mean of the value at risk
 * over all levels beyond 95 percent. A day at the edge that belongs to the twentieth only in part
 * counts for that part (Acerbi & Tasche, On the Coherence of Expected Shortfall, Journal of Banking
 * & Finance, 2002). Never below the value at risk.
 */
export function expectedShortfall95(series: ReturnSeries): Figure {
  const count = series.days.length;
  if (count < MIN_DAYS_FOR_RISK) return { reason: tooFew(count, MIN_DAYS_FOR_RISK) };
  const sorted = returnsOf(series).sort((one, other) => one - other);
  const twentieth = count / 20;
  const worst = sorted.slice(0, Math.ceil(twentieth));
  return (
    0 -
    worst.reduce(
      (sum, dailyReturn, index) => sum + dailyReturn * Math.min(1, twentieth - index),
      0,
    ) /
      twentieth
  );
}
