import type { CalendarDate } from '../calendar.ts';

/** A date, or the number of a date in a chain's own market; one comparison has one kind of them. */
export type Day = CalendarDate | number;

/** One run of a model's entry. */
export interface Run<OfDay extends Day> {
  run: string;
  /** By day, as fractions, each day once and in any order: a Map, or anything that makes the pairs. Read once. */
  returns: Iterable<readonly [OfDay, number]>;
}

/** An entry with its runs, at least one. */
export interface ComparedModel<OfDay extends Day> {
  model: string;
  runs: readonly Run<OfDay>[];
  /** Whether every run would be the same, as with most baselines: then one run tells all there is. */
  isDeterministic: boolean;
  /** Why its figures cannot be told whatever its returns are: a stale chain, an entry asked in two ways. */
  unusable: string | null;
}

export interface ComparisonInput<OfDay extends Day> {
  /** With different names; `against` is one of them. */
  models: readonly ComparedModel<OfDay>[];
  /** The model to which the pairs are confined, as their second; null for all pairs. */
  against: string | null;
  /** The window that was asked for; only the seed of the random numbers depends on it. */
  window: { start: CalendarDate; end: CalendarDate };
  /** Above 0 and below 1. */
  confidence: number;
  /** How many entries have active model-days in the window, compared or not: how many were tried. */
  trials: number;
}

/** Work in steps of about a millisecond at most, so that requests can be answered between them; see `bySlices`. */
export type Steps<Result> = Generator<undefined, Result>;
