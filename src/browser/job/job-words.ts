import { MISSING, cost, counted } from '../format.ts';
import type { JobEntry, Status } from '../responses.ts';

/** What a job cost: `$1.83`; `at least $1.83` while the cost of some model-days is not known. */
export function jobCost({
  cost_usd: known,
  model_days_without_cost: without,
}: Status['usage']): string {
  if (known === null || (known === 0 && without > 0)) return without > 0 ? 'cost unknown' : MISSING;
  return without > 0 ? `at least ${cost(known)}` : cost(known);
}

/** The cost of a job in words, and for how many of its model-days it is not known. */
export function totalInWords({
  cost_usd: known,
  model_days_without_cost: without,
}: Status['usage']): string {
  const table = 'The table covers the completed model-days in use.';
  const unknown = `${counted(without, 'model-day')} ${without === 1 ? 'has' : 'have'} no known cost`;
  if (known === null)
    return without === 0
      ? `No request has been sent to a model. ${table}`
      : `${unknown}, so there is no total. ${table}`;
  const sum =
    without === 0 ? `${cost(known)} in all` : `At least ${cost(known)}, because ${unknown}`;
  return `${sum}; failed model-days are included. ${table}`;
}

/**
 * An entry by the name of its run, or of its family with the number of its runs: `gpt-5, 3 runs`.
 */
export function entryName({ family, runs }: Pick<JobEntry, 'family' | 'runs'>): string {
  return runs.length > 1 ? `${family}, ${counted(runs.length, 'run')}` : (runs[0] ?? family);
}

/** How many reasons a panel has room for: each failure may have a text of its own. */
const MAX_REASONS = 5;

/**
 * Why model-days failed, a sentence per reason, the most frequent first; the less frequent reasons
 * are only counted.
 */
export function failuresInWords({ details }: Pick<Status, 'details'>): string[] {
  const failed = details.filter(({ status }) => status === 'failed');
  const groups = [...Map.groupBy(failed, ({ error }) => error ?? '')].sort(
    ([, one], [, other]) => other.length - one.length,
  );
  const words = groups
    .slice(0, MAX_REASONS)
    .map(([reason, own]) => `${counted(own.length, 'model-day')} failed: ${reason}`);
  const others = groups.slice(MAX_REASONS).reduce((sum, [, own]) => sum + own.length, 0);
  return others === 0
    ? words
    : [
        ...words,
        `${counted(others, 'model-day')} failed for other reasons, which the job’s page lists.`,
      ];
}
