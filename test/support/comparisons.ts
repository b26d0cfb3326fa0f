import { readFileSync } from 'node:fs';
import { compareModels, type ComparisonInput } from '../../src/features/comparison/comparison.ts';
import type { ModelReturns } from '../../src/features/comparison/participants.ts';
import type { Figure } from '../../src/features/statistics/figure.ts';

/** Comparisons for tests: models from lists of returns, work done in one go. */

/** Returns by run name; day 1, 2, … each, null where there is none. */
export type Returns = Record<string, readonly (number | null)[]>;

/** A model with these runs. */
export function model(name: string, runs: Returns, more: Partial<ModelReturns> = {}): ModelReturns {
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

export type Options = Partial<Omit<ComparisonInput, 'models'>>;

/** All pairs, 95 %, as many trials as models, by default. */
export function inputOf(models: readonly ModelReturns[], options: Options = {}): ComparisonInput {
  return {
    models,
    against: null,
    window: { start: '2025-01-01', end: '2025-12-31' },
    confidence: 0.95,
    looks: 'once',
    curves: false,
    trials: models.length,
    trialsElsewhere: 0,
    pairTerms: () => null,
    barred: null,
    suspected: new Map(),
    incomparable: new Map(),
    leftOut: new Map(),
    benchmarkOver: () => ({ reason: 'There is no benchmark' }),
    cutoffOf: () => ({ knowledgeCutoff: null, daysBefore: 0, isAgent: false }),
    ...options,
  };
}

type Camel<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;
type Value<Own> = Own extends number | null
  ? Figure
  : Own extends (number | null)[]
    ? Figure[]
    : Own extends { low: number } | null
      ? NonNullable<Own> | { reason: string }
      : Own;

/** A part of the response as the oracles name it, with its reason in place of each null. */
export type Read<Report> = { [Name in keyof Report as Camel<Name>]: Value<Report[Name]> };

export function read<Report extends { unavailable: object }>(report: Report): Read<Report> {
  const reasons = report.unavailable as Record<string, string | undefined>;
  const entries = Object.entries(report).map(([name, value]) => {
    const reason = reasons[name];
    const valueOf = (own: unknown) => (own === null && reason !== undefined ? { reason } : own);
    const camel = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    return [camel, Array.isArray(value) ? value.map(valueOf) : valueOf(value)];
  });
  return Object.fromEntries(entries);
}

export function compare(models: readonly ModelReturns[], options: Options = {}) {
  const comparison = compareModels(inputOf(models, options));
  return {
    ...comparison,
    models: comparison.models.map(read),
    pairs: comparison.pairs.map(read),
    leader: read(comparison.leader),
  };
}

/**
 * Four "models" made of ten stocks of the NASDAQ-100, each stock a run: daily returns from close to
 * close, 2025-06-03 to 2025-10-22, rounded to six decimals; three of them are taken out. By date.
 */
export function stockModels(): ModelReturns[] {
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
export function modelsOf({ days, missing, returns }: StockFile): ModelReturns[] {
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
