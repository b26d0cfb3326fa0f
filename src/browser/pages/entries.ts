import { longDate } from '../format.ts';
import type { ModelReport, Performance } from '../responses.ts';
import type { Figure } from './model-figures.ts';
import { getComparison } from '../api.ts';

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

/** A run as if it were an entry of its own. */
export function entryOfRun(run: ModelReport): Compared {
  return { runs: [run], mean_total_return: run.total_return };
}

/** What an entry's key figures need of it. */
export type Compared = Pick<EntryReport, 'runs' | 'mean_total_return'>;

/** A figure of an entry: of several runs its mean. */
export function entryFigure({ name, read }: Figure, entry: Compared): number | null {
  if (name === 'total_return') return entry.mean_total_return;
  return name === 'excess_return' ? excessOf(entry) : meanOf(entry, read);
}

/**
 * The return minus that of the benchmark over the same days, which are those of every run; where
 * the benchmark lacks some of them, the mean of the runs' own.
 */
function excessOf(entry: Compared): number | null {
  const { runs, mean_total_return: own } = entry;
  const other = runs[0]?.relative.benchmark_return ?? null;
  const isWhole = runs.every(({ relative, model_days: days }) => relative.days === days);
  if (runs.length === 1 || !isWhole) return meanOf(entry, ({ relative }) => relative.excess_return);
  return own === null || other === null ? null : own - other;
}

/** What a start has grown to. */
export function valueOf(total: number | null, start: number): number | null {
  return total === null ? null : (1 + total) * start;
}

/** The mean of a figure of the runs; null where one of them has none. */
export function meanOf({ runs }: Pick<EntryReport, 'runs'>, read: Figure['read']): number | null {
  const values = runs.map(read).filter((value) => value !== null);
  if (values.length === 0 || values.length < runs.length) return null;
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** ` from Wed 1 Oct 2025 to Tue 7 Oct 2025`; nothing for days without dates. */
export function fromTo({ start_date: first, end_date: last }: Dates): string {
  return first && last ? ` from ${longDate(first)} to ${longDate(last)}` : '';
}

interface Dates {
  start_date: string | null;
  end_date: string | null;
}

/** Which model leads, and whether that could be chance: what a visitor comes for. */

/** The answer of a comparison; null where there is none, as of too many models. */
export async function askWhoLeads(query: string, signal: AbortSignal): Promise<string | null> {
  const comparison = await getComparison(query, signal).catch(() => null);
  return comparison && inLines(comparison.answer.sentence);
}

/** With the sign of each percentage on the line of its number. */
export function inLines(sentence: string): string {
  return sentence.replaceAll(' %', '\u00a0%');
}
