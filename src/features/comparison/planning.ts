import { count } from '#text/sentences.ts';
import type { Figure } from '../statistics/figure.ts';
import { normalCdf, studentTQuantile } from '../statistics/distributions.ts';
import { at } from '../statistics/moments.ts';
import { biasOfDays, degreesOfDays } from '../statistics/regression.ts';
import { overPeriod, type Uncertainty } from './difference.ts';
import { MIN_DAYS, type Period, tailProbability } from './looks.ts';

/**
 * What it takes to show a difference: that its interval, as it is shown, excludes zero four times of
 * five.
 */

export const MORE_RUNS = 'More days will not settle it; more repeats might';
export const NO_DIFFERENCE = 'There is no difference to show';

/** Where runs leave too few degrees of freedom. */
export function noLead(days: number): string {
  return `In ${count(days, 'day')} no lead can be detected; more repeats might help`;
}

/** Of a pair that is shown all the same. */
const NOT_COMPUTED = 'With fewer than 3 degrees of freedom it is not computed';

const POWER = 0.8;
/** Φ⁻¹(0.8). */
const ERRORS_OF_POWER = 0.8416;
/** With fewer an estimate of the error says too little of the true one. */
const LEAST_DEGREES = 3;

/** A part of a variance, of so many degrees of freedom, and which share of it its estimate has. */
interface Part {
  variance: number;
  degrees: number;
  bias: number;
}

/**
 * Of days, as many as wanted, and of each model with several runs. Of fewer days than any figure
 * needs the degrees of freedom are those of as many.
 */
function varianceParts(days: number, { ofDays, spreads }: Uncertainty, period: Period): Part[] {
  const least = Math.max(MIN_DAYS, days);
  const variance = (ofDays * period.days) / days;
  return [
    { variance, degrees: degreesOfDays(least), bias: biasOfDays(least) },
    ...spreads.map((own) => ({
      variance: own.variance / own.runs,
      degrees: own.runs - 1,
      bias: 1,
    })),
  ].filter((part) => part.variance > 0);
}

/** Gauss–Hermite nodes and weights of a standard normal variable. */
const NODES = [
  [-3.7504397177257425, 0.000548268855972217],
  [-2.366759410734541, 0.03075712396758652],
  [-1.1544053947399682, 0.24012317860501273],
  [0, 0.45714285714285713],
  [1.1544053947399682, 0.24012317860501273],
  [2.366759410734541, 0.03075712396758652],
  [3.7504397177257425, 0.000548268855972217],
] as const;

/** Of the quantiles at 1 over the degrees of freedom; those between are interpolated. */
const STEPS = 128;
const HALVINGS = 30;

/** Student's quantile at the level of a period's interval, by degrees of freedom of at least 1. */
function createQuantiles(period: Period): (degrees: number) => number {
  const tail = tailProbability(period);
  // Pairs of single runs need two or three of them.
  const logs: number[] = [];
  const logAt = (step: number) =>
    (logs[step] ??= Math.log(-studentTQuantile(tail, STEPS / Math.max(step, 1e-6))));
  return (degrees) => {
    const place = Math.min(STEPS, STEPS / degrees);
    const step = Math.min(STEPS - 1, Math.floor(place));
    const [low, high] = [logAt(step), logAt(step + 1)];
    return Math.exp(low + (place - step) * (high - low));
  };
}

/**
 * How many true standard errors a difference must be for its interval to exclude zero with 80 %
 * power: the k with E[Φ(k − q·√V̂/√V)] = 0.8, over the parts of V̂ as independent χ² variables of their
 * degrees of freedom, q Student's quantile at those of V̂ (Welch 1947). Each χ² is the cube of a
 * normal variable (Wilson & Hilferty, The Distribution of Chi-square, Proceedings of the National
 * Academy of Sciences 17, 1931), the expectation a sum over Gauss–Hermite nodes. Infinite with fewer
 * than three degrees of freedom.
 */
function requiredErrors(parts: readonly Part[], quantile: (degrees: number) => number): number {
  const total = parts.reduce((sum, { variance }) => sum + variance, 0);
  const terms = parts.reduce((sum, { variance, degrees }) => sum + variance ** 2 / degrees, 0);
  if (total ** 2 / terms < LEAST_DEGREES) return Infinity;
  let estimates = [{ weight: 1, variance: 0, terms: 0 }];
  for (const { variance, degrees, bias } of parts) {
    const spread = 2 / (9 * degrees);
    estimates = estimates.flatMap((own) =>
      NODES.map(([z, weight]) => {
        const part = variance * bias * Math.max(0, 1 - spread + z * Math.sqrt(spread)) ** 3;
        return {
          weight: own.weight * weight,
          variance: own.variance + part,
          terms: own.terms + part ** 2 / degrees,
        };
      }),
    );
  }
  const reaches = estimates.map((own) =>
    own.variance === 0
      ? 0
      : quantile(own.variance ** 2 / own.terms) * Math.sqrt(own.variance / total),
  );
  let [low, high] = [0, Math.max(...reaches) + 2 * ERRORS_OF_POWER];
  for (let halving = 0; halving < HALVINGS; halving += 1) {
    const middle = (low + high) / 2;
    const power = reaches.reduce(
      (sum, reach, index) => sum + at(estimates, index).weight * normalCdf(middle - reach),
      0,
    );
    if (power < POWER) low = middle;
    else high = middle;
  }
  return high;
}

/** How often the days are computed anew, at most, with the degrees of freedom that they bring. */
const ROUNDS = 20;

/** What the pairs of a period need. */
export function createPlanning(period: Period) {
  const quantile = createQuantiles(period);
  const errorsAfter = (days: number, uncertainty: Uncertainty) =>
    requiredErrors(varianceParts(days, uncertainty, period), quantile);
  return {
    /**
     * exp(D·k·√V) − 1: the smallest difference that these days and runs can show (Cohen, Statistical
     * Power Analysis, 1988), k being what `requiredErrors` says.
     */
    smallestDifference(uncertainty: Uncertainty, isShown = false): Figure {
      if (uncertainty.degreesOfFreedom < LEAST_DEGREES)
        return { reason: isShown ? NOT_COMPUTED : noLead(period.days) };
      const errors = errorsAfter(period.days, uncertainty);
      return overPeriod(errors * Math.sqrt(uncertainty.total), period.days);
    },
    /**
     * k²·D·V_days / (δ² − k²·V_runs), rounded up: the number of days with which these runs would show
     * this difference. More days reduce only V_days. k is that of so many days: with more of them a
     * single run has more degrees of freedom, and several runs may have fewer.
     */
    daysNeeded(mean: number, uncertainty: Uncertainty, isShown = false): Figure {
      if (mean === 0) return { reason: NO_DIFFERENCE };
      const { ofDays, ofRuns, degreesOfFreedom } = uncertainty;
      if (degreesOfFreedom < LEAST_DEGREES) return { reason: isShown ? NOT_COMPUTED : MORE_RUNS };
      let errors = quantile(Infinity) + ERRORS_OF_POWER; // no k is less
      let needed = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const left = mean ** 2 - errors ** 2 * ofRuns;
        const next = Math.ceil((errors ** 2 * period.days * ofDays) / left);
        if (!(left > 0 && Number.isFinite(next))) return { reason: MORE_RUNS };
        if (next === needed) break;
        needed = next;
        errors = errorsAfter(needed, uncertainty);
      }
      return needed;
    },
  };
}
