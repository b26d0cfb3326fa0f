import type { CalendarDate } from '../calendar.ts';
import type { Database } from '../database/database.ts';
import { datesOfJob } from '../database/model-days.ts';
import type { StoredJob } from '../database/jobs.ts';
import {
  addTo,
  costsOfRuns,
  costsOnDate,
  type LongSum,
  longSum,
  totalOf,
} from '../database/usage.ts';
import { bySlices, type Steps } from '../turns.ts';

/** What the families of a job have cost so far. */
export interface Spending {
  /**
   * Counts all dates before this one, whose model-days must have ended. Called for each date of the
   * plan, in order.
   */
  reach(date: CalendarDate): Promise<void>;
  /**
   * What all runs of a family have cost up to and on a date, in dollars; 0 when nothing is known.
   */
  of(family: string, date: CalendarDate): number;
}

/**
 * Counts each date once, when it is over: summing up the whole job before each of its model-days
 * would take longer the larger the job is. What the current date has cost is read from the database
 * each time.
 */
export function createSpending(
  database: Database,
  { jobId, runs }: Pick<StoredJob, 'jobId' | 'runs'>,
): Spending {
  const runsOf = Map.groupBy(runs, ({ family }) => family);
  const modelsOf = new Map(
    [...runsOf].map(([family, ofFamily]) => [family, ofFamily.map(({ model }) => model)]),
  );
  const before = new Map<string, LongSum>(
    [...modelsOf.keys()].map((family) => [family, longSum()]),
  );
  const open = datesOfJob(database, jobId);
  function* count(date: CalendarDate): Steps<void> {
    for (; open[0] !== undefined && open[0] < date; open.shift()) {
      for (const { family, costUsd } of costsOnDate(database, jobId, open[0]))
        addTo(before.get(family) ?? longSum(), costUsd);
      yield null;
    }
  }
  return {
    reach: (date) => bySlices(count(date)),
    of(family, date) {
      const all = { ...(before.get(family) ?? longSum()) };
      for (const costUsd of costsOfRuns(database, { jobId, date }, modelsOf.get(family) ?? []))
        addTo(all, costUsd);
      return totalOf(all);
    },
  };
}
