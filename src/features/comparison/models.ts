import { listOutsideKinds } from '#domain/vocabulary.ts';
import type { CalendarDate } from '#time/calendar.ts';
import type { Incomparability } from '../performance/comparability.ts';
import type { Figure } from '../statistics/figure.ts';
import {
  confidenceInterval,
  type Missing,
  overPeriod,
  reportWithInterval,
  toDigits,
} from './difference.ts';
import type { Period } from './looks.ts';
import type { Series, TrackRecord } from './participants.ts';

/** How many models may have curves, one per pair; readers confuse more lines. */
export const MIN_CURVE_MODELS = 2;
export const MAX_CURVE_MODELS = 4;

/**
 * What a model may remember: its knowledge cutoff, and how many of the days compared are on or
 * before it.
 */
export interface Cutoff {
  knowledgeCutoff: CalendarDate | null;
  daysBefore: number;
  /** Whether it is an agent, which may look up the future. */
  isAgent: boolean;
}

/** Whether the model's runs would differ by chance, but there is only one. */
export function isSingleRun({ runs, isDeterministic }: TrackRecord): boolean {
  return runs.length === 1 && !isDeterministic;
}

/** exp(D·x̄) − 1, from the mean run's log returns. */
export function seriesReturn(series: Series | Missing, { days }: Period): Figure {
  return 'reason' in series ? series : overPeriod(series.mean, days);
}

const FLAT = { reason: 'Its daily returns do not vary' };

/** One model of the comparison, named as in the response. */
export type ComparedModelReport = ReturnType<typeof reportComparedModel>;

/** All returns cover only the days compared. */
export function reportComparedModel(
  record: TrackRecord,
  { series, probabilityBest, cutoff, incomparable }: ModelFacts,
  period: Period,
) {
  const isMissing = 'reason' in series;
  const measured = isMissing ? series : (series.uncertainty ?? FLAT);
  const isFlat = 'reason' in measured;
  const { unavailable, ...figures } = reportWithInterval(
    {
      total_return: seriesReturn(series, period),
      standard_error_daily: isFlat ? measured : Math.sqrt(measured.total),
      degrees_of_freedom: isFlat ? measured : measured.degreesOfFreedom,
      variance_share_of_runs: isFlat ? measured : measured.ofRuns / measured.total,
      probability_best: isMissing ? series : probabilityBest,
    },
    isFlat ? measured : isMissing ? series : confidenceInterval(series.mean, measured, period),
  );
  const returns = record.runs.map((_, run) =>
    isMissing ? series : overPeriod(series.runMeans[run] ?? NaN, period.days),
  );
  const missing = returns.find((own) => typeof own !== 'number');
  return {
    model: record.model,
    runs: record.runs.map(({ run }) => run),
    /** In the order of `runs`. */
    run_returns: returns.map((own) => (typeof own === 'number' ? toDigits(own) : null)),
    ...figures,
    /** One run does not show how much the model itself varies. */
    interval_is_lower_bound: isSingleRun(record),
    knowledge_cutoff: cutoff.knowledgeCutoff,
    days_before_cutoff: cutoff.daysBefore,
    outside: listOutsideKinds(cutoff.isAgent),
    incomparable,
    unavailable: { ...(missing && { run_returns: missing.reason }), ...unavailable },
  };
}

/** What a model's figures are computed from. */
interface ModelFacts {
  /** Over the days compared; or why it is not compared. */
  series: Series | Missing;
  probabilityBest: Figure;
  cutoff: Cutoff;
  /** In which respects it traded on other terms than most. */
  incomparable: Incomparability[];
}
