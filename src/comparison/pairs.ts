import assert from 'node:assert/strict';
import type { Figure } from '../performance/figure.ts';
import { at } from '../statistics/at.ts';
import { type Interval, type Period, intervalOf, overPeriod, twoSidedP } from './difference.ts';
import { holm } from './holm.ts';
import type { MeasuredPair } from './measured-pairs.ts';
import { daysNeeded, smallestDifference } from './planning.ts';
import { sentenceOf } from './sentence.ts';
import type { Uncertainty } from './uncertainty.ts';

/** Two models to compare, and the measures of both, or why there are none. */
export interface ChosenPair {
  model: string;
  against: string;
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
    differences.push(differenceOf(measured));
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

function differenceOf(measured: ChosenPair['measured']): Difference | { reason: string } {
  if ('reason' in measured) return measured;
  const { mean, uncertainty } = measured;
  return uncertainty === null ? SAME : { mean, uncertainty, pValue: twoSidedP(mean, uncertainty) };
}

function reportPair(basis: PairBasis, period: Period): PairReport {
  const {
    model,
    against,
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
    difference: overPeriod(mean, period.days),
    interval: intervalOf(mean, uncertainty, period),
    isShown: pValueHolm < 1 - period.confidence,
    smallestDifference: smallestDifference(uncertainty, period.days),
    daysNeeded: daysNeeded(mean, uncertainty, period.days),
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
      days: period.days,
      pairs,
      isShownAsOnlyPair: pValue < 1 - period.confidence,
    }),
  };
}

function correlationIn(measured: ChosenPair['measured']): Figure {
  return 'reason' in measured ? measured : measured.correlation;
}

function withoutFigures(
  { model, against, measured, curve, singleRuns }: ChosenPair,
  reason: string,
): PairReport {
  const none = { reason };
  return {
    model,
    against,
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
