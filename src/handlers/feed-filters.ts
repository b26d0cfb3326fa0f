import * as v from 'valibot';
import type { Database } from '../database/database.ts';
import type { DecisionFilters } from '../database/records/decision-days.ts';
import { namedModels } from '../database/records/models.ts';
import { newestRun } from '../database/records/runs.ts';
import { ServiceError } from '../domain.ts';
import { dateRangeEntries, filtersOf } from './date-filters.ts';
import { jobFilter, modelFilter } from './schemas.ts';

/** What the feed of decisions and the search have in common: which model-days, and how many items of them. */

const LIMIT = /^\d{1,9}$/;

/** The filters of model-days, in a query. */
export const feedEntries = {
  job_id: jobFilter,
  model: modelFilter,
  models: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[^,]+(,[^,]+)*$/, 'expected names separated by commas'),
      v.description(
        'Models, separated by commas: entries by signature, with all their runs, or single runs, with # percent-encoded. ' +
          'Not together with model.',
      ),
    ),
  ),
  ...dateRangeEntries,
};

/** How many items a page has at most, in a query. */
export function limitEntry(most: number, usual: number) {
  const message = `expected a whole number from 1 to ${most}`;
  return v.optional(
    v.pipe(
      v.string(),
      v.regex(LIMIT, message),
      v.transform(Number),
      v.number(),
      v.integer(message),
      v.minValue(1, message),
      v.maxValue(most, message),
      v.description('The maximum number of items.'),
    ),
    String(usual),
  );
}

const feedQuery = v.object(feedEntries);

/**
 * The model-days that a query selects. Throws a `ServiceError` for both `model` and `models`, for a name in `models` that no
 * job has used, and for dates out of order.
 */
export function feedFilters(database: Database, query: v.InferOutput<typeof feedQuery>): Omit<DecisionFilters, 'symbol' | 'kind'> {
  const { jobId, model, startDate, endDate } = filtersOf(query);
  if (model !== undefined && query.models !== undefined)
    throw new ServiceError('invalid_filter', 'models: cannot be combined with model; name all models in models');
  const named = query.models === undefined ? undefined : runsOf(database, query.models.split(','));
  return { jobId, startDate, endDate, models: model === undefined ? named : [model] };
}

/** The named runs, and all runs of the named entries. */
function runsOf(database: Database, names: readonly string[]): string[] {
  const runs = [...namedModels(database)].map((run) => ({ run, family: newestRun(database, run)?.family ?? run }));
  const unknown = names.find((name) => !runs.some(({ run, family }) => run === name || family === name));
  if (unknown !== undefined)
    throw new ServiceError('invalid_filter', `models: no job has run ${unknown}; GET /models lists the models`);
  return runs.filter(({ run, family }) => names.includes(run) || names.includes(family)).map(({ run }) => run);
}
