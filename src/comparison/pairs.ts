import assert from 'node:assert/strict';
import type { Figure } from '../performance/figure.ts';
import { at, mean } from '../statistics/moments.ts';
import { LEAST_DEVIATION, type Series } from './participants.ts';
import {
  daysNeeded,
  holm,
  type Interval,
  intervalOf,
  measureUncertainty,
  overPeriod,
  smallestDifference,
  twoSidedP,
  type Uncertainty,
} from './difference.ts';
import type { Period } from './looks.ts';
import { sentenceOf } from './sentences.ts';

/**
 * Σ ab / √(Σ a² · Σ b²), a and b the deviations of both models' daily log returns from their means:
 * 1 when the days of both rise and fall together, 0 when one tells nothing about the other
 * (Pearson, Regression, Heredity, and Panmixia, Philosophical Transactions of the Royal Society A
 * 187, 1896).
 */
export function correlationOf(one: Series, other: Series): Figure {
  const [first, second] = [deviations(one), deviations(other)];
  if (isConstant(first)) return constantReturns(one);
  if (isConstant(second)) return constantReturns(other);
  let [products, ofFirst, ofSecond] = [0, 0, 0];
  for (let day = 0; day < first.length; day += 1) {
    const [a, b] = [first[day] ?? NaN, second[day] ?? NaN];
    products += a * b;
    ofFirst += a * a;
    ofSecond += b * b;
  }
  const correlation = products / Math.sqrt(ofFirst) / Math.sqrt(ofSecond);
  return Math.max(-1, Math.min(1, correlation)); // rounding can exceed 1
}

function deviations({ logReturns }: Series): Float64Array {
  const middle = mean(logReturns);
  return logReturns.map((logReturn) => logReturn - middle);
}

function isConstant(ownDeviations: Float64Array): boolean {
  return ownDeviations.every((deviation) => Math.abs(deviation) <= LEAST_DEVIATION);
}

function constantReturns({ record }: Series): Figure {
  return { reason: `The daily returns of the mean run of ${record.model} do not vary` };
}

/** Measures of two models over the same days. */
export interface MeasuredPair {
  /** The mean of the daily log returns, the first model's minus the second's. */
  mean: number;
  /** The uncertainty of that mean; null when the difference is the same on every day. */
  uncertainty: Uncertainty | null;
  /** Of both models' daily log returns. */
  correlation: Figure;
}

/** The measures of two compared models, in either order. */
export type MeasuredPairs = (model: string, against: string) => MeasuredPair;

/** Measures every pair of these series, one step each. */
export function measurePairs(series: readonly Series[]): MeasuredPairs {
  const measured = new Map<string, Map<string, MeasuredPair>>();
  for (const [index, one] of series.entries()) {
    const row = new Map<string, MeasuredPair>();
    measured.set(one.record.model, row);
    for (const other of series.slice(index + 1)) {
      row.set(other.record.model, measurePair(one, other));
    }
  }
  return (model, against) => {
    const pair = measured.get(model)?.get(against);
    if (pair !== undefined) return pair;
    const opposite = measured.get(against)?.get(model);
    if (opposite === undefined)
      throw new Error(`Cannot compare ${model} with ${against}: the pair has not been measured`);
    return { ...opposite, mean: 0 - opposite.mean };
  };
}

function measurePair(one: Series, other: Series): MeasuredPair {
  const differences = one.logReturns.map(
    (logReturn, day) => logReturn - (other.logReturns[day] ?? NaN),
  );
  return {
    mean: mean(differences),
    uncertainty: measureUncertainty(differences, [one.spread, other.spread]),
    correlation: correlationOf(one, other),
  };
}

/** Two models to compare, and the measures of both, or why there are none. */
export interface ChosenPair {
  model: string;
  against: string;
  /** Of both over the period, in this order. */
  returns: readonly [Figure, Figure];
  measured: MeasuredPair | { reason: string };
  /** The difference after each of the days, in order; null when the curves are not wanted. */
  curve: Figure[] | null;
  /** Those of the two that have a single run although their runs would differ by chance. */
  singleRuns: string[];
}

/**
 * One pair of the comparison; a missing figure has its reason. Returns and differences are over the
 * period.
 */
export interface PairReport {
  model: string;
  against: string;
  /** Of both, in this order. */
  returns: readonly [Figure, Figure];
  /** exp(D·δ) − 1: by how much more the first model grew than the second. */
  difference: Figure;
  interval: Interval | { reason: string };
  meanDailyDifference: Figure;
  standardErrorDaily: Figure;
  degreesOfFreedom: Figure;
  pValue: Figure;
  pValueHolm: Figure;
  /** p_Holm below 1 − confidence; false where there are no figures. */
  isShown: boolean;
  smallestDifference: Figure;
  daysNeeded: Figure;
  varianceShareOfRuns: Figure;
  /**
   * Of both models' daily log returns, from −1 to 1; known also where the difference does not vary.
   */
  correlation: Figure;
  /**
   * The difference after each of the days, in order; empty where there are no figures, null when
   * the curves are not wanted.
   */
  curve: Figure[] | null;
  /**
   * Those of the two for which the interval is a lower bound, because one run does not show how
   * much a model itself varies.
   */
  singleRuns: string[];
  sentence: string;
}

/** A measured difference, and how likely one of its size is by chance. */
interface Difference {
  mean: number;
  uncertainty: Uncertainty;
  pValue: number;
}

/** What a pair's figures are computed from. */
interface PairBasis extends ChosenPair, Difference {
  pValueHolm: number;
  /** How many pairs the p-value is adjusted for. */
  pairs: number;
}

const SAME = { reason: 'The difference does not vary from day to day' };

/** The pairs in the order given, with p-values adjusted over all of them that have figures. */
export function reportPairs(chosen: readonly ChosenPair[], period: Period): PairReport[] {
  const differences: (Difference | { reason: string })[] = [];
  for (const { measured } of chosen) {
    differences.push(differenceOf(measured, period));
  }
  const pValues = differences.flatMap((difference) =>
    'pValue' in difference ? [difference.pValue] : [],
  );
  const adjusted = holm(pValues).values();
  const reports: PairReport[] = [];
  for (const [index, pair] of chosen.entries()) {
    const difference = at(differences, index);
    if ('reason' in difference) reports.push(withoutFigures(pair, difference.reason));
    else {
      const { value: pValueHolm } = adjusted.next();
      assert(pValueHolm !== undefined, 'each p-value has been adjusted');
      reports.push(
        reportPair({ ...pair, ...difference, pValueHolm, pairs: pValues.length }, period),
      );
    }
  }
  return reports;
}

function differenceOf(
  measured: ChosenPair['measured'],
  period: Period,
): Difference | { reason: string } {
  if ('reason' in measured) return measured;
  const { mean, uncertainty } = measured;
  if (uncertainty === null) return SAME;
  return { mean, uncertainty, pValue: twoSidedP(mean, uncertainty, period) };
}

function reportPair(basis: PairBasis, period: Period): PairReport {
  const {
    model,
    against,
    returns,
    measured,
    curve,
    mean,
    uncertainty,
    pValue,
    pValueHolm,
    pairs,
    singleRuns,
  } = basis;
  const shared = {
    model,
    against,
    returns,
    difference: overPeriod(mean, period.days),
    interval: intervalOf(mean, uncertainty, period),
    isShown: pValueHolm < 1 - period.confidence,
    smallestDifference: smallestDifference(uncertainty, period),
    daysNeeded: daysNeeded(mean, uncertainty, period),
    singleRuns,
  };
  return {
    ...shared,
    meanDailyDifference: mean,
    standardErrorDaily: Math.sqrt(uncertainty.total),
    degreesOfFreedom: uncertainty.degreesOfFreedom,
    pValue,
    pValueHolm,
    varianceShareOfRuns: uncertainty.ofRuns / uncertainty.total,
    correlation: correlationIn(measured),
    curve,
    sentence: sentenceOf({
      ...shared,
      ...period,
      pairs,
      isShownAsOnlyPair: pValue < 1 - period.confidence,
    }),
  };
}

function correlationIn(measured: ChosenPair['measured']): Figure {
  return 'reason' in measured ? measured : measured.correlation;
}

function withoutFigures(
  { model, against, returns, measured, curve, singleRuns }: ChosenPair,
  reason: string,
): PairReport {
  const none = { reason };
  return {
    model,
    against,
    returns,
    difference: none,
    interval: none,
    meanDailyDifference: none,
    standardErrorDaily: none,
    degreesOfFreedom: none,
    pValue: none,
    pValueHolm: none,
    isShown: false,
    smallestDifference: none,
    daysNeeded: none,
    varianceShareOfRuns: none,
    correlation: correlationIn(measured),
    curve,
    singleRuns,
    sentence: `${model} and ${against}: no figures. ${reason}.`,
  };
}
