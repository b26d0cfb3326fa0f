import type { ModelReport, Performance } from '../responses.ts';
import type { Figure } from './model-figures.ts';

/** What readers compare: entries, each with all its runs over the days that these share. */

type Family = Performance['families'][number];

/** An entry and the reports of its runs, as `/performance?by=entry` has them. */
export interface EntryReport extends Omit<Family, 'runs'> {
  runs: readonly ModelReport[];
}

export function entriesOf({ models, families }: Pick<Performance, 'models' | 'families'>) {
  const byFamily = Map.groupBy(models, ({ family }) => family);
  return families.map((own): EntryReport => ({ ...own, runs: byFamily.get(own.family) ?? [] }));
}

/** The mean of a figure of the runs; null where one of them has none. */
export function meanOf({ runs }: Pick<EntryReport, 'runs'>, read: Figure['read']): number | null {
  let sum = 0;
  for (const run of runs) {
    const value = read(run);
    if (value === null) return null;
    sum += value;
  }
  return runs.length === 0 ? null : sum / runs.length;
}
