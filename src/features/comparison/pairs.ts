import assert from 'node:assert/strict';
import type { CalendarDate } from '#time/calendar.ts';
import type { Figure } from '../statistics/figure.ts';
import { at, deviationsFrom, dot, mean } from '../statistics/moments.ts';
import { type DayKey, LEAST_DEVIATION, type Series } from './participants.ts';
import {
  holm,
  type Interval,
  confidenceInterval,
  measureUncertainty,
  type Missing,
  overPeriod,
  reportWithInterval,
  toDigits,
  twoSidedP,
  type Uncertainty,
} from './difference.ts';
import type { Period } from './looks.ts';
import { createPlanning } from './planning.ts';
import { type Lead, measureLead, pairSentence, type PairFacts, type PairTerms } from './answer.ts';

/**
 * Σ ab / √(Σ a² · Σ b²), a and b the deviations of both models' daily log returns from their means:
 * 1 when the days of both rise and fall together, 0 when one tells nothing about the other
 * (Pearson, Regression, Heredity, and Panmixia, Philosophical Transactions of the Royal Society A
 * 187, 1896).
 */
function measureCorrelation(one: Series, other: Series): Figure {
  const first = deviationsFrom(one.mean, one.logReturns);
  const second = deviationsFrom(other.mean, other.logReturns);
  const constant = isConstant(first) ? one : isConstant(second) ? other : null;
  if (constant !== null)
    return { reason: `The daily returns of the mean run of ${constant.record.model} do not vary` };
  const norm = (deviations: Float64Array) =>
    Math.sqrt(dot(deviations, deviations, deviations.length));
  const correlation = dot(first, second, first.length) / norm(first) / norm(second);
  return Math.max(-1, Math.min(1, correlation)); // rounding can exceed 1
}

function isConstant(deviations: Float64Array): boolean {
  return deviations.every((deviation) => Math.abs(deviation) <= LEAST_DEVIATION);
}

/** Measures of two models over the same days. */
type MeasuredPair = ReturnType<typeof measurePair>;

/** The measures of two compared models, in either order. */
export type MeasuredPairs = (model: string, against: string) => MeasuredPair;

/** Measures every pair of these series. */
export function measurePairs(series: readonly Series[]): MeasuredPairs {
  const measured = new Map<string, MeasuredPair>();
  const pairKey = (model: string, against: string) => JSON.stringify([model, against]);
  for (const [index, one] of series.entries())
    for (const other of series.slice(index + 1))
      measured.set(pairKey(one.record.model, other.record.model), measurePair(one, other));
  return (model, against) => {
    const pair = measured.get(pairKey(model, against));
    if (pair !== undefined) return pair;
    const opposite = measured.get(pairKey(against, model));
    assert(opposite !== undefined, `${model} and ${against} have been measured`);
    return { ...opposite, mean: 0 - opposite.mean };
  };
}

function measurePair(one: Series, other: Series) {
  const differences = one.logReturns.map(
    (logReturn, day) => logReturn - (other.logReturns[day] ?? NaN),
  );
  return {
    /** The mean of the daily log returns, the first model's minus the second's. */
    mean: mean(differences),
    /** The uncertainty of that mean; null when the difference is the same on every day. */
    uncertainty: measureUncertainty(differences, [one.spread, other.spread]),
    /** Of both models' daily log returns. */
    correlation: measureCorrelation(one, other),
  };
}

/** Two models to compare, and the measures of both, or why there are none. */
export interface ChosenPair extends Omit<PairFacts, 'interval' | 'isShown' | 'period'> {
  measured: MeasuredPair | Missing;
  /** Of two studies, what tells their models apart. */
  terms: PairTerms['sides'];
  /** The days and the difference after each, in order; null when the curves are not wanted. */
  curve: readonly CurvePoint[] | null;
}

/** A measured difference, and how likely one of its size is by chance. */
interface Difference {
  mean: number;
  uncertainty: Uncertainty;
  interval: Interval | Missing;
  pValue: number;
  pValueHolm: number;
}

const SAME = { reason: 'The difference does not vary from day to day' };

/**
 * The pairs as in the response and in the order given, with p-values adjusted over all of them that
 * have figures, and who leads in each.
 */
export function reportPairs(chosen: readonly ChosenPair[], period: Period) {
  const differences = chosen.map(({ measured }) => measureDifference(measured, period));
  const known = differences.flatMap((one) => ('reason' in one ? [] : [one]));
  for (const [index, pValueHolm] of holm(known.map(({ pValue }) => pValue)).entries())
    at(known, index).pValueHolm = pValueHolm;
  const leads: Lead[] = [];
  const planning = createPlanning(period);
  const pairs = chosen.map((pair, index) => {
    const difference = at(differences, index);
    const isMissing = 'reason' in difference;
    const interval = isMissing ? difference : difference.interval;
    const isShown = !isMissing && difference.pValueHolm < 1 - period.confidence;
    const lead = measureLead({ ...pair, interval, isShown, period });
    leads.push(lead);
    return reportPair(pair, { difference, lead, planning, pairs: known.length }, period);
  });
  return { pairs, leads };
}

function measureDifference(measured: ChosenPair['measured'], period: Period): Difference | Missing {
  if ('reason' in measured) return measured;
  const { mean, uncertainty } = measured;
  if (uncertainty === null) return SAME;
  const interval = confidenceInterval(mean, uncertainty, period);
  const pValue = twoSidedP(mean, uncertainty, period);
  return { mean, uncertainty, interval, pValue, pValueHolm: NaN };
}

/** One pair of the comparison, named as in the response. */
export type PairReport = ReturnType<typeof reportPair>;

/** Returns and differences are over the period. */
function reportPair(
  { model, against, measured, curve, singleRuns, terms }: ChosenPair,
  {
    difference,
    lead,
    planning,
    pairs,
  }: {
    difference: Difference | Missing;
    lead: Lead;
    planning: ReturnType<typeof createPlanning>;
    pairs: number;
  },
  period: Period,
) {
  const figure = (compute: (known: Difference) => Figure) =>
    'reason' in difference ? difference : compute(difference);
  const smallest = figure(({ uncertainty }) =>
    planning.smallestDifference(uncertainty, lead.isShown),
  );
  const needed = figure(({ mean, uncertainty }) =>
    planning.daysNeeded(mean, uncertainty, lead.isShown),
  );
  const { unavailable, ...figures } = reportWithInterval(
    {
      difference: figure(({ mean }) => overPeriod(mean, period.days)),
      mean_daily_difference: figure(({ mean }) => mean),
      standard_error_daily: figure(({ uncertainty }) => Math.sqrt(uncertainty.total)),
      degrees_of_freedom: figure(({ uncertainty }) => uncertainty.degreesOfFreedom),
      p_value: figure(({ pValue }) => pValue),
      p_value_holm: figure(({ pValueHolm }) => pValueHolm),
      smallest_difference: smallest,
      days_needed: needed,
      variance_share_of_runs: figure(({ uncertainty: { ofRuns, total } }) => ofRuns / total),
      correlation: 'reason' in measured ? measured : measured.correlation,
    },
    'reason' in difference ? difference : difference.interval,
  );
  const missing = curve?.map((point) => point.difference).find((own) => typeof own !== 'number');
  const sentence =
    'reason' in difference
      ? `${model} and ${against}: no figures. ${difference.reason}.`
      : pairSentence(lead, {
          smallestDifference: smallest,
          daysNeeded: needed,
          isShownAsOnlyPair: difference.pValue < 1 - period.confidence,
          pairs,
          terms,
        });
  return {
    model,
    against,
    ...figures,
    interval_is_lower_bound: singleRuns.length > 0,
    shown: lead.isShown,
    sentence,
    ...(curve !== null && {
      curve: curve.map(({ day, difference: own }) => ({
        ...reportDay(day),
        difference: typeof own === 'number' ? toDigits(own) : null,
      })),
    }),
    unavailable: { ...unavailable, ...(missing && { curve: missing.reason }) } as Record<
      string,
      string
    >,
  };
}

/** A day compared, and by how much more the first model has grown than the second up to it. */
interface CurvePoint {
  day: DayKey;
  difference: Figure;
}

/**
 * exp(Σ d) − 1 after each of the days, d the daily differences of log returns up to that day. The
 * last one is the difference over the whole period. None where one of them has no figures.
 */
export function differenceCurve(
  one: Series | Missing,
  other: Series | Missing,
  days: readonly DayKey[],
): CurvePoint[] {
  if ('reason' in one || 'reason' in other) return [];
  let sum = 0;
  return days.map((day, index) => {
    sum += (one.logReturns[index] ?? NaN) - (other.logReturns[index] ?? NaN);
    return { day, difference: overPeriod(sum, 1) };
  });
}

/** A day compared, named as in the response. */
export function reportDay(day: DayKey): { date: CalendarDate } | { number: number } {
  return typeof day === 'number' ? { number: day } : { date: day };
}
