import type { CalendarDate } from '../calendar.ts';
import { type Figure, type ReportedFigures, reportFigures } from '../performance/figure.ts';
import { at } from '../statistics/at.ts';
import type { LeftOut } from './common-days.ts';
import type { Interval } from './difference.ts';
import type { Day } from './input.ts';
import type { LeaderReport } from './leader.ts';
import type { ModelReport } from './models.ts';
import type { PairReport } from './pairs.ts';

/** The parts of a comparison, named as in the response. */

/** Significant digits: more than the exactness of any figure here. */
const DIGITS = 12;

function toDigits(number: number): number {
  return Number(number.toPrecision(DIGITS)) + 0; // no -0
}

function figuresOf<Name extends string>(figures: Record<Name, Figure>): ReportedFigures<Name> {
  return reportFigures(figures, toDigits);
}

/** An interval, null when it has a reason; and the reason by its name in the response. */
function reportInterval(
  value: Interval | { reason: string },
): [interval: Interval | null, reasons: Record<string, string>] {
  if ('reason' in value) return [null, { interval: value.reason }];
  return [{ low: toDigits(value.low), high: toDigits(value.high) }, {}];
}

/**
 * What a model may remember: its knowledge cutoff, and how many of the days compared are on or
 * before it.
 */
export interface Cutoff {
  knowledgeCutoff: CalendarDate | null;
  daysBefore: number;
}

export function modelOf(report: ModelReport, { knowledgeCutoff, daysBefore }: Cutoff) {
  const { unavailable: reasons, ...figures } = figuresOf({
    total_return: report.totalReturn,
    standard_error_daily: report.standardErrorDaily,
    degrees_of_freedom: report.degreesOfFreedom,
    variance_share_of_runs: report.varianceShareOfRuns,
    probability_best: report.probabilityBest,
  });
  const [range, rangeReasons] = reportInterval(report.interval);
  const missing = report.runReturns.find((own) => typeof own !== 'number');
  const runReasons = missing === undefined ? {} : { run_returns: missing.reason };
  return {
    model: report.model,
    runs: report.runs,
    run_returns: report.runReturns.map((own) => (typeof own === 'number' ? toDigits(own) : null)),
    ...figures,
    interval: range,
    interval_is_lower_bound: report.isSingleRun,
    knowledge_cutoff: knowledgeCutoff,
    days_before_cutoff: daysBefore,
    unavailable: { ...runReasons, ...reasons, ...rangeReasons },
  };
}

/** The pair; `days` are those of its curve, which it has only where the curves are wanted. */
export function pairOf(report: PairReport, days: readonly Day[]) {
  const { unavailable: reasons, ...figures } = figuresOf({
    difference: report.difference,
    mean_daily_difference: report.meanDailyDifference,
    standard_error_daily: report.standardErrorDaily,
    degrees_of_freedom: report.degreesOfFreedom,
    p_value: report.pValue,
    p_value_holm: report.pValueHolm,
    smallest_difference: report.smallestDifference,
    days_needed: report.daysNeeded,
    variance_share_of_runs: report.varianceShareOfRuns,
    correlation: report.correlation,
  });
  const [range, rangeReasons] = reportInterval(report.interval);
  const missing = report.curve?.find((difference) => typeof difference !== 'number');
  return {
    model: report.model,
    against: report.against,
    ...figures,
    interval: range,
    interval_is_lower_bound: report.singleRuns.length > 0,
    shown: report.isShown,
    sentence: report.sentence,
    ...(report.curve !== null && {
      curve: report.curve.map((difference, index) => pointOf(difference, at(days, index))),
    }),
    unavailable: {
      ...reasons,
      ...rangeReasons,
      ...(missing !== undefined && { curve: missing.reason }),
    },
  };
}

function pointOf(difference: Figure, day: Day) {
  return {
    ...dayOf(day),
    difference: typeof difference === 'number' ? toDigits(difference) : null,
  };
}

export function leaderOf(report: LeaderReport) {
  const figures = figuresOf({
    sharpe_ratio_daily: report.sharpeRatioDaily,
    probabilistic_sharpe_ratio: report.probabilisticSharpeRatio,
    deflated_sharpe_ratio: report.deflatedSharpeRatio,
    expected_best_sharpe_ratio_daily: report.expectedBestSharpeRatioDaily,
  });
  return { model: report.model, ...figures, trials: report.trials };
}

export function leftOutOf({ day, runs }: LeftOut<Day>) {
  return { ...dayOf(day), runs };
}

function dayOf(day: Day): { date: CalendarDate } | { number: number } {
  return typeof day === 'number' ? { number: day } : { date: day };
}
