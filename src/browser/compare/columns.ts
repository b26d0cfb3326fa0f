import type { ComparedModel } from '../responses.ts';

/** What stands side by side: two to four models, a column per run as far as there is room. */

/** How many models fit side by side, at least and at most. */
const MIN_SIDES = 2;
const MAX_SIDES = 4;

/** Whether there are as many models as fit side by side. */
export function fitsSideBySide(models: readonly unknown[]): boolean {
  return models.length >= MIN_SIDES && models.length <= MAX_SIDES;
}

/** What to choose, where there are too many models or too few. */
export function howToChoose(models: number): string {
  const now =
    models > MAX_SIDES
      ? `${models} are compared now`
      : `${models === 1 ? 'one is' : 'none is'} compared now`;
  return (
    `Choose ${MIN_SIDES} to ${MAX_SIDES} models in the filters to see their figures, the curve of their difference and their ` +
    `decisions on one day side by side; ${now}.`
  );
}

/** The runs with a column, and a sentence per model of which only the first run has one. */
export interface Columns {
  runs: string[];
  notes: string[];
}

/** All runs of these models if there is room for them, else the first run of each. */
export function columnsOf(models: readonly Pick<ComparedModel, 'model' | 'runs'>[]): Columns {
  const all = [...new Set(models.flatMap(({ runs }) => runs))];
  if (all.length <= MAX_SIDES) return { runs: all, notes: [] };
  const notes = models.flatMap(({ model, runs }) =>
    runs.length < 2
      ? []
      : [
          `Of the ${runs.length} runs of ${model} only ${runs[0]} has a column; choose single runs to see others.`,
        ],
  );
  return { runs: [...new Set(models.flatMap(({ runs }) => runs[0] ?? []))], notes };
}

/** The dates on which any of these models has a day, in order. */
export function datesOf(reports: readonly { curve: readonly { date: string }[] }[]): string[] {
  return [...new Set(reports.flatMap(({ curve }) => curve.map(({ date }) => date)))].sort();
}

/**
 * The chosen date with its neighbours: that of the address if there is a day on it, else the last;
 * null without any.
 */
export function placeOf(
  dates: readonly string[],
  wanted: string,
): { date: string; previous: string | null; next: string | null } | null {
  const index = dates.includes(wanted) ? dates.indexOf(wanted) : dates.length - 1;
  const date = dates[index];
  return date === undefined
    ? null
    : { date, previous: dates[index - 1] ?? null, next: dates[index + 1] ?? null };
}
