import type { Figure } from '../performance/figure.ts';
import { overPeriod } from './difference.ts';
import type { Uncertainty } from './uncertainty.ts';

/**
 * What it takes to show a difference: at 5 %, two-sided, and with 80 % power, whatever the
 * requested confidence.
 */

/** Φ⁻¹(0.975) + Φ⁻¹(0.8). */
export const DETECTION = 2.8016;

export const MORE_RUNS = 'More days cannot show it, more runs can';
export const NO_DIFFERENCE = 'There is no difference to show';

/**
 * exp(D·z·√V) − 1: the smallest difference that these days and runs can show (Cohen, Statistical
 * Power Analysis, 1988).
 */
export function smallestDifference({ total }: Uncertainty, days: number): Figure {
  return overPeriod(DETECTION * Math.sqrt(total), days);
}

/**
 * z²·D·V_days / (δ² − z²·V_runs), rounded up: the number of days with which these runs would show
 * this difference. More days reduce only V_days.
 */
export function daysNeeded(mean: number, { ofDays, ofRuns }: Uncertainty, days: number): Figure {
  if (mean === 0) return { reason: NO_DIFFERENCE };
  const left = mean ** 2 - DETECTION ** 2 * ofRuns;
  if (left <= 0) return { reason: MORE_RUNS };
  const needed = Math.ceil((DETECTION ** 2 * days * ofDays) / left);
  return Number.isFinite(needed) ? needed : { reason: MORE_RUNS };
}
