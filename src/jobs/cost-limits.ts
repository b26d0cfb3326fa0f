import type { Database } from '../database/database.ts';
import { addWarnings } from '../database/jobs.ts';
import { costOnDate, hasUnknownCost } from '../database/usage.ts';
import type { ModelDay } from '../database/sessions.ts';
import type { Entry } from '../basics/entry.ts';
import type { ActiveJob } from './active-job.ts';

/**
 * The cost limits of one job's models: whether a family has reached its limit, and why a limit
 * cannot be enforced.
 */

/** A sum of costs is exact to a billionth of a dollar: what rounding adds to it is far less. */
const PER_DOLLAR = 1e9;

/**
 * Whether a family has spent its limit on a date or before it. `spentBefore` is summed up once a date:
 * to sum up the whole job for each of its model-days would take longer the larger it is.
 */
export function isOverCostLimit(
  database: Database,
  { signature: family, max_cost_usd: limit }: Pick<Entry, 'signature' | 'max_cost_usd'>,
  {
    modelDay: { jobId, date },
    spentBefore,
  }: { modelDay: ModelDay; spentBefore: Map<string, number> },
): boolean {
  if (limit === null) return false;
  const cost = (spentBefore.get(family) ?? 0) + costOnDate(database, { jobId, date, family });
  return Math.round(cost * PER_DOLLAR) / PER_DOLLAR >= limit;
}

/** A sentence for each limit that cannot be enforced because its model's tokens have no price. */
export function costWarnings({ entries }: { entries: ReadonlyMap<string, Entry> }): string[] {
  const unpriced = [...entries.values()].filter(
    (entry) => entry.max_cost_usd !== null && entry.price_per_million_tokens === null,
  );
  const families = new Set(unpriced.map(({ signature }) => signature));
  return [...families].map(
    (family) =>
      `The cost limit of '${family}' cannot be enforced: its entry has no price_per_million_tokens`,
  );
}

/** Warns of an unenforceable limit as soon as the first model-day shows it. */
export async function warnOfUnknownCost(
  { database }: { database: Database },
  { job, entries, signal }: ActiveJob,
  modelDay: ModelDay,
): Promise<void> {
  const entry = entries.get(modelDay.model);
  if (!entry?.price_per_million_tokens || entry.max_cost_usd === null) return;
  if (!hasUnknownCost(database, modelDay)) return;
  const warning = `The cost limit of '${entry.signature}' cannot be enforced: its provider does not report how many tokens it uses`;
  await database.write(() => addWarnings(database, job.jobId, [warning]), { signal });
}
