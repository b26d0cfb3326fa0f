import type { Figure } from '../performance/figure.ts';
import { mean } from '../statistics/moments.ts';
import { correlationOf } from './correlation.ts';
import type { Series } from './series.ts';
import { type Uncertainty, measureUncertainty } from './uncertainty.ts';

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
