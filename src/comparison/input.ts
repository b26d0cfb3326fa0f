import type { CalendarDate } from '../calendar.ts';

/**
 * A date, or the number of a date in a chain's own market; one comparison uses only one of the two.
 */
export type Day = CalendarDate | number;

/** Fewer days do not show how much days differ. */
export const MIN_DAYS = 20;

/** One run of a configured model. */
export interface Run<OfDay extends Day> {
  run: string;
  /**
   * Daily returns as fractions, each day once and in any order: a Map, or any iterable of pairs.
   * Read once.
   */
  returns: Iterable<readonly [OfDay, number]>;
}

/** A configured model with its runs, at least one. */
export interface ComparedModel<OfDay extends Day> {
  model: string;
  runs: readonly Run<OfDay>[];
  /** Whether all its runs would be identical, as with most baselines, so that one run is enough. */
  isDeterministic: boolean;
  /**
   * Why it has no figures regardless of its returns: a stale chain, or requests that differ between
   * its runs.
   */
  unusable: string | null;
}

export interface ComparisonInput<OfDay extends Day> {
  /** With distinct names; `against` is one of them. */
  models: readonly ComparedModel<OfDay>[];
  /** The second model of every pair; null for all pairs. */
  against: string | null;
  /** The requested window; only the seed of the random numbers depends on it. */
  window: { start: CalendarDate; end: CalendarDate };
  /** Above 0 and below 1. */
  confidence: number;
  /** Whether each pair has the curve of its difference. */
  curves: boolean;
  /**
   * How many models have active model-days in the window, compared or not: the number of trials.
   */
  trials: number;
}
