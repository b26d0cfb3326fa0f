import { type Drawdown, calmarRatio, maxDrawdown } from './drawdown.ts';
import { reportFigures, rounded } from './figure.ts';
import {
  type DailyReturn,
  type ReturnSeries,
  annualisedReturn,
  extremeDay,
  longestRun,
  totalReturn,
  winningDaysShare,
} from './returns.ts';
import {
  annualisedVolatility,
  expectedShortfall95,
  sharpeRatio,
  sortinoRatio,
  valueAtRisk95,
} from './risk.ts';
import { excessKurtosis, skewness } from './shape.ts';

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

export function reportDrawdown({ depth, peakDate, troughDate, recoveryDate, length }: Drawdown) {
  return {
    depth: rounded(depth),
    peak_date: peakDate,
    trough_date: troughDate,
    recovery_date: recoveryDate,
    length,
  };
}

function reportDay(day: DailyReturn | null) {
  return day === null ? null : { date: day.date, daily_return: rounded(day.dailyReturn) };
}
