import type { CalendarDate } from '../basics/calendar.ts';
import type { Database } from '../database/database.ts';
import { addWarnings } from '../database/jobs.ts';
import { costOnDate, costsBetween, hasUnknownCost } from '../database/usage.ts';
import type { ModelDay } from '../database/sessions.ts';
import type { Entry } from '../basics/entry.ts';

/**
 * The cost limits of one job's models: whether a family has reached its limit, and why a limit
 * cannot be enforced.
 */

export const COST_LIMIT_REACHED = 'Cost limit reached';

/** Whether a family has spent its limit before or on a date. */
export function isOverCostLimit(
  { spending }: { spending: Spending },
  { signature, max_cost_usd: limit }: Pick<Entry, 'signature' | 'max_cost_usd'>,
  date: CalendarDate,
): boolean {
  return limit !== null && spending.of(signature, date) >= limit;
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

interface LimitedJob {
  job: { jobId: string };
  entries: ReadonlyMap<string, Entry>;
  signal: AbortSignal;
}

/** Warns of an unenforceable limit as soon as the first model-day shows it. */
export async function warnOfUnknownCost(
  { database }: { database: Database },
  { job, entries, signal }: LimitedJob,
  modelDay: ModelDay,
): Promise<void> {
  const entry = entries.get(modelDay.model);
  const isLimited =
    entry !== undefined && entry.price_per_million_tokens !== null && entry.max_cost_usd !== null;
  if (!isLimited || !hasUnknownCost(database, modelDay)) return;
  const warning = `The cost limit of '${entry.signature}' cannot be enforced: its provider does not report how many tokens it uses`;
  await database.write(() => addWarnings(database, job.jobId, [warning]), { signal });
}

/** What the families of a job have cost so far. */
export interface Spending {
  /**
   * Counts all dates before this one, whose model-days must have ended. Called for each date that
   * is run, in order.
   */
  reach(date: CalendarDate): void;
  /**
   * What all runs of a family have cost up to and on a date, in dollars; 0 when nothing is known.
   */
  of(family: string, date: CalendarDate): number;
}

/** A sum of costs is exact to a billionth of a dollar: what rounding adds to it is far less. */
const PER_DOLLAR = 1e9;

/**
 * Counts each date once, when it is over: summing up the whole job before each of its model-days
 * would take longer the larger the job is. What the current date has cost is read from the database
 * each time.
 */
export function createSpending(database: Database, jobId: string): Spending {
  const before = new Map<string, number>();
  let reached: CalendarDate = '';
  return {
    reach(date) {
      for (const { family, costUsd } of costsBetween(database, jobId, { from: reached, to: date }))
        before.set(family, (before.get(family) ?? 0) + costUsd);
      reached = date;
    },
    of(family, date) {
      const cost = (before.get(family) ?? 0) + costOnDate(database, { jobId, date, family });
      return Math.round(cost * PER_DOLLAR) / PER_DOLLAR;
    },
  };
}
