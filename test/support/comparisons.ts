import { readFileSync } from 'node:fs';
import { compareModels, type Comparison } from '../../src/comparison/comparison.ts';
import type { ComparedModel, ComparisonInput, Day } from '../../src/comparison/participants.ts';

/** Comparisons for tests: models from lists of returns, work done in one go. */

/** Returns by run name; day 1, 2, … each, null where there is none. */
export type Returns = Record<string, readonly (number | null)[]>;

/** A model with these runs. */
export function model(
  name: string,
  runs: Returns,
  more: Partial<ComparedModel<number>> = {},
): ComparedModel<number> {
  return {
    model: name,
    runs: Object.entries(runs).map(([run, returns]) => ({ run, returns: byNumber(returns) })),
    isDeterministic: false,
    unusable: null,
    ...more,
  };
}

/** Each starts from the day before that has one. */
function byNumber(returns: readonly (number | null)[]): [number, number, number | null][] {
  let start: number | null = null;
  return returns.flatMap((value, index) => {
    if (value === null) return [];
    const own: [number, number, number | null] = [index + 1, value, start];
    start = index + 1;
    return [own];
  });
}

export type Options<OfDay extends Day> = Partial<Omit<ComparisonInput<OfDay>, 'models'>>;

/** All pairs, 95 %, as many trials as models, by default. */
export function inputOf<OfDay extends Day>(
  models: readonly ComparedModel<OfDay>[],
  options: Options<OfDay> = {},
): ComparisonInput<OfDay> {
  const window = { start: '2025-01-01', end: '2025-12-31' };
  return {
    models,
    against: null,
    window,
    confidence: 0.95,
    looks: 'once',
    curves: false,
    trials: models.length,
    ...options,
  };
}

export function compare<OfDay extends Day>(
  models: readonly ComparedModel<OfDay>[],
  options: Options<OfDay> = {},
): Comparison<OfDay> {
  return compareModels(inputOf(models, options));
}

/**
 * Four "models" made of ten stocks of the NASDAQ-100, each stock a run: daily returns from close to
 * close, 2025-06-03 to 2025-10-22, rounded to six decimals; three of them are taken out. By date.
 */
export function stockModels(): ComparedModel<string>[] {
  const file = new URL('../fixtures/comparison/returns.json', import.meta.url);
  return modelsOf(JSON.parse(readFileSync(file, 'utf8')));
}

/** Daily returns by run, and the days that a run misses. */
export interface StockFile {
  days: string[];
  missing: Record<string, string[]>;
  returns: Record<string, number[]>;
}

/** Models with their runs, `name` and `name#2`; each day starts from the one before that the run has. */
export function modelsOf({ days, missing, returns }: StockFile): ComparedModel<string>[] {
  const groups = Map.groupBy(Object.entries(returns), ([run]) => run.split('#')[0] as string);
  return [...groups].map(([name, runs]) => ({
    model: name,
    isDeterministic: false,
    unusable: null,
    runs: runs.map(([run, values]) => ({
      run,
      returns: days.flatMap((day, index) => {
        if (missing[run]?.includes(day)) return [];
        const start = days.slice(0, index).findLast((before) => !missing[run]?.includes(before));
        return [[day, values[index] as number, start ?? null] as const];
      }),
    })),
  }));
}
