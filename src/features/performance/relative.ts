import { at, mean } from '../statistics/moments.ts';
import { fitLine } from '../statistics/regression.ts';
import { studentTUpperTail } from '../statistics/distributions.ts';
import {
  allMissing,
  type Figure,
  MIN_DAYS_FOR_RISK,
  TRADING_DAYS_PER_YEAR,
} from '../statistics/figure.ts';
import {
  annualisedDeviation,
  annualisedRatio,
  covariance,
  type ReturnSeries,
  dailyReturns,
  sampleDeviation,
  tooFewDays,
  totalReturn,
  UNVARIED,
  notAnnualisedReason,
} from './risk-and-return.ts';

/** A model and the benchmark over the same days: those on which both have a return. */
export interface PairedReturns {
  own: ReturnSeries;
  benchmark: ReturnSeries;
}

/**
 * A model's performance against the benchmark, named as in the response. Excess return is the
 * difference of the totals. Beta is the slope of the model's returns over the benchmark's; alpha is
 * the return that beta does not explain, per year without compounding (Jensen, The Performance of
 * Mutual Funds, Journal of Finance, 1968), its p-value from Student's t with two degrees of freedom
 * fewer than days; correlation is Pearson's. Tracking error is the deviation of the daily
 * differences, and information ratio their mean over it (Grinold & Kahn, Active Portfolio
 * Management, 1999).
 */
export function relativeFigures(comparison: PairedReturns, riskFree: number) {
  const { own } = comparison;
  const totals = compareTotals(comparison);
  if (own.days.length < MIN_DAYS_FOR_RISK) {
    const names = [...SLOPE_FIGURES, 'tracking_error', 'information_ratio'] as const;
    return { ...totals, ...allMissing(names, tooFewDays(own.days.length, MIN_DAYS_FOR_RISK)) };
  }
  const figures = { ...totals, ...slope(comparison, riskFree), ...differences(comparison) };
  const reason = notAnnualisedReason(own, MIN_DAYS_FOR_RISK);
  return reason === null ? figures : { ...figures, ...allMissing(ANNUALISED_FIGURES, reason) };
}

/** Figures that a line through the days has; and figures per year. */
const SLOPE_FIGURES = [
  'alpha',
  'alpha_standard_error',
  'alpha_p_value',
  'beta',
  'beta_standard_error',
  'correlation',
] as const;
const ANNUALISED_FIGURES = [
  'alpha',
  'alpha_standard_error',
  'tracking_error',
  'information_ratio',
] as const;

function compareTotals({ own, benchmark }: PairedReturns) {
  const [total, other] = [totalReturn(own), totalReturn(benchmark)];
  if (typeof total === 'number' && typeof other === 'number')
    return { benchmark_return: other, excess_return: total - other };
  return allMissing(
    ['benchmark_return', 'excess_return'],
    'There is no day on which both have a return',
  );
}

function slope(
  { own, benchmark }: PairedReturns,
  riskFree: number,
): Record<(typeof SLOPE_FIGURES)[number], Figure> {
  const [ours, theirs] = [dailyReturns(own), dailyReturns(benchmark)];
  const [deviation, other] = [
    sampleDeviation(ours, own.leastReturn),
    sampleDeviation(theirs, own.leastReturn),
  ];
  if (other === 0) return allMissing(SLOPE_FIGURES, 'The benchmark does not move');
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
      deviation === 0 ? { reason: UNVARIED } : covariance(ours, theirs) / (deviation * other),
  };
}

function differences({ own, benchmark }: PairedReturns) {
  const theirs = dailyReturns(benchmark);
  const active = dailyReturns(own).map((ours, day) => ours - at(theirs, day));
  return {
    tracking_error: annualisedDeviation(active, own.leastReturn),
    information_ratio: annualisedRatio(
      mean(active),
      sampleDeviation(active, own.leastReturn),
      'The differences from the benchmark do not vary',
    ),
  };
}
