import * as v from 'valibot';
import type { Database } from '../database/database.ts';
import type { DecisionFilters } from '../database/records/decision-days.ts';
import { namedModels } from '../database/records/models.ts';
import { newestRun } from '../database/records/runs.ts';
import { unknownModel } from '../experiments/selection.ts';
import { checkJob, dateRangeEntries, filtersOf } from './date-filters.ts';
import { jobFilter, modelFilter, namesFilter } from './schemas.ts';

/**
 * The filters of model-days that the feed of decisions and the search have in common, in a query.
 */
export const feedEntries = {
  job_id: jobFilter,
  model: modelFilter,
  models: namesFilter(
    'Models, separated by commas: entries by signature, with all their runs, or single runs, with # percent-encoded. ' +
      'Not together with model.',
  ),
  ...dateRangeEntries,
};

const feedQuery = v.object(feedEntries);

/**
 * The model-days that a query selects. Throws a `ServiceError` for both `model` and `models`, for a
 * name in `models` that no job has used, for a job that does not exist, and for dates out of order.
 */
export function feedFilters(
  database: Database,
  query: v.InferOutput<typeof feedQuery>,
): Omit<DecisionFilters, 'symbol' | 'kind'> {
  const { jobId, model, startDate, endDate } = filtersOf(query);
  checkJob(database, { jobId });
  const named = query.models === undefined ? undefined : runsOf(database, query.models.split(','));
  return { jobId, startDate, endDate, models: model === undefined ? named : [model] };
}

/** The named runs, and all runs of the named entries. */
function runsOf(database: Database, names: readonly string[]): string[] {
  const runs = [...namedModels(database)].map((run) => ({
    run,
    family: newestRun(database, run)?.family ?? run,
  }));
  const unknown = names.find(
    (name) => !runs.some(({ run, family }) => run === name || family === name),
  );
  if (unknown !== undefined) throw unknownModel('models', unknown);
  return runs
    .filter(({ run, family }) => names.includes(run) || names.includes(family))
    .map(({ run }) => run);
}
