import type { CalendarDate } from '../calendar.ts';
import { addWarnings } from '../database/jobs.ts';
import type { ModelDay } from '../database/sessions.ts';
import { hasUnknownCost } from '../database/usage.ts';
import type { Entry } from '../entry.ts';
import type { ActiveJob } from './active-job.ts';
import type { WorkerContext } from './context.ts';

/**
 * The cost limits of one job's models: whether a family has reached its limit, and why a limit
 * cannot be enforced.
 */

export const COST_LIMIT_REACHED = 'Cost limit reached';

/** Whether a family has spent its limit before or on a date. */
export function isOverCostLimit(
  { spending }: Pick<ActiveJob, 'spending'>,
  { signature, max_cost_usd: limit }: Pick<Entry, 'signature' | 'max_cost_usd'>,
  date: CalendarDate,
): boolean {
  return limit !== null && spending.of(signature, date) >= limit;
}

/** A sentence for each limit that cannot be enforced because its model's tokens have no price. */
export function costWarnings({ entries }: ActiveJob): string[] {
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
  { database }: WorkerContext,
  activeJob: ActiveJob,
  modelDay: ModelDay,
): Promise<void> {
  const entry = activeJob.entries.get(modelDay.model);
  const isLimited =
    entry !== undefined && entry.price_per_million_tokens !== null && entry.max_cost_usd !== null;
  if (!isLimited || !hasUnknownCost(database, modelDay)) return;
  const warning = `The cost limit of '${entry.signature}' cannot be enforced: its provider does not report how many tokens it uses`;
  await database.write(() => addWarnings(database, activeJob.job.jobId, [warning]), activeJob);
}
