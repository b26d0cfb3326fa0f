import { mean } from '../statistics/moments.ts';
import { fitLine } from '../statistics/newey-west.ts';
import { studentTUpperTail } from '../statistics/student-t.ts';
import { type Figure, MIN_DAYS_FOR_RISK, TRADING_DAYS_PER_YEAR } from './figure.ts';
import {
  annualisedDeviation,
  annualisedRatio,
  covariance,
  pairs,
  type ReturnSeries,
  returnsOf,
  sampleDeviation,
  tooFew,
  totalReturn,
  whyNotAnnualised,
} from './risk-and-return.ts';

/** A model and the benchmark over the same days: those on which both have a return. */
export interface Comparison {
  own: ReturnSeries;
  benchmark: ReturnSeries;
}

/** Named as in the response. */
export interface RelativeFigures {
  benchmark_return: Figure;
  excess_return: Figure;
  alpha: Figure;
  alpha_standard_error: Figure;
  alpha_p_value: Figure;
  beta: Figure;
  beta_standard_error: Figure;
  correlation: Figure;
  tracking_error: Figure;
  information_ratio: Figure;
}

const FLAT_BENCHMARK = 'The benchmark does not move';

/**
 * A model's performance against the benchmark. Excess return is the difference of the totals. Beta
 * is the slope of the model's returns over the benchmark's; alpha is the return that beta does not
 * explain, per year without compounding (Jensen, The Performance of Mutual Funds, Journal of
 * Finance, 1968), its p-value from Student's t with two degrees of freedom fewer than days;
 * correlation is Pearson's. Tracking error is the deviation of the daily
 * differences, and information ratio their mean over it (Grinold & Kahn, Active Portfolio
 * Management, 1999).
 */
export function relativeFigures(comparison: Comparison, riskFree: number): RelativeFigures {
  const { own } = comparison;
  const totals = compareTotals(comparison);
  if (own.days.length < MIN_DAYS_FOR_RISK) {
    const few = { reason: tooFew(own.days.length, MIN_DAYS_FOR_RISK) };
    return {
      ...totals,
      alpha: few,
      alpha_standard_error: few,
      alpha_p_value: few,
      beta: few,
      beta_standard_error: few,
      correlation: few,
      tracking_error: few,
      information_ratio: few,
    };
  }
  const figures = { ...totals, ...slope(comparison, riskFree), ...differences(comparison) };
  const reason = whyNotAnnualised(own, MIN_DAYS_FOR_RISK);
  if (reason === null) return figures;
  return {
    ...figures,
    alpha: { reason },
    alpha_standard_error: { reason },
    tracking_error: { reason },
    information_ratio: { reason },
  };
}

function compareTotals({
  own,
  benchmark,
}: Comparison): Pick<RelativeFigures, 'benchmark_return' | 'excess_return'> {
  const [total, other] = [totalReturn(own), totalReturn(benchmark)];
  if (typeof total === 'number' && typeof other === 'number')
    return { benchmark_return: other, excess_return: total - other };
  const none = { reason: 'There is no day on which both have a return' };
  return { benchmark_return: none, excess_return: none };
}

function slope(
  { own, benchmark }: Comparison,
  riskFree: number,
): Omit<
  RelativeFigures,
  keyof ReturnType<typeof compareTotals> | keyof ReturnType<typeof differences>
> {
  const [ours, theirs] = [returnsOf(own), returnsOf(benchmark)];
  const [deviation, other] = [
    sampleDeviation(ours, own.leastReturn),
    sampleDeviation(theirs, own.leastReturn),
  ];
  if (other === 0) {
    const reason = { reason: FLAT_BENCHMARK };
    return {
      alpha: reason,
      alpha_standard_error: reason,
      alpha_p_value: reason,
      beta: reason,
      beta_standard_error: reason,
      correlation: reason,
    };
  }
  const line = fitLine(
    theirs.map((dailyReturn) => dailyReturn - riskFree),
    ours.map((dailyReturn) => dailyReturn - riskFree),
  );
  const isExact = line.interceptError * Math.sqrt(ours.length) <= own.leastReturn;
  return {
    alpha: line.intercept * TRADING_DAYS_PER_YEAR,
    alpha_standard_error: line.interceptError * TRADING_DAYS_PER_YEAR,
    alpha_p_value: isExact
      ? { reason: 'The benchmark explains every day exactly' }
      : 2 * studentTUpperTail(Math.abs(line.intercept) / line.interceptError, ours.length - 2),
    beta: line.slope,
    beta_standard_error: line.slopeError,
    correlation:
      deviation === 0
        ? { reason: 'The daily returns do not vary' }
        : covariance(ours, theirs) / (deviation * other),
  };
}

function differences({
  own,
  benchmark,
}: Comparison): Pick<RelativeFigures, 'tracking_error' | 'information_ratio'> {
  const active = pairs(returnsOf(own), returnsOf(benchmark)).map(([ours, theirs]) => ours - theirs);
  return {
    tracking_error: annualisedDeviation(active, own.leastReturn),
    information_ratio: annualisedRatio(
      mean(active),
      sampleDeviation(active, own.leastReturn),
      'The differences from the benchmark do not vary',
    ),
  };
}
