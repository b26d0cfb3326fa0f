import * as v from 'valibot';
import type { Database } from '../database/database.ts';
import { lastChange } from '../database/chosen.ts';
import { MAX_MODELS, selectModels } from '../experiments/selection.ts';
import { type NarrowedChoice, narrowChoice } from '../performance/narrow.ts';
import { checkJob, dateRangeEntries, filtersOf } from './date-filters.ts';
import { daysFilter, flagInQuery, jobFilter, modelFilter, namesFilter } from './schemas.ts';

/** The model-days that the figures cover, in the query of GET /performance. */
export const choiceEntries = {
  job_id: jobFilter,
  model: modelFilter,
  models: namesFilter(
    `Up to ${MAX_MODELS} models, separated by commas: entries by signature, with all their runs, or single runs, with # ` +
      'percent-encoded. Not together with model.',
  ),
  ...dateRangeEntries,
  days: daysFilter('the chosen models'),
  common: v.optional(
    v.pipe(
      flagInQuery,
      v.description(
        'Whether only dates count on which every ranked model has a return from the same close.',
      ),
    ),
    'false',
  ),
};

const choiceQuery = v.object(choiceEntries);
type ChoiceQuery = v.InferOutput<typeof choiceQuery>;

/**
 * Throws a `ServiceError` for a job that does not exist, for dates out of order and for both
 * `model` and `models`.
 */
export function checkChoice(database: Database, query: ChoiceQuery): void {
  checkJob(database, filtersOf(query));
}

/** The choice, and all runs of the named models. */
interface ReadChoice extends NarrowedChoice {
  named: readonly string[] | undefined;
}

/**
 * The choice as of now. Throws a `ServiceError` (`invalid_filter`) for names in `models` that are
 * unknown, repeated or too many.
 */
export function readChoice(database: Database, query: ChoiceQuery): ReadChoice {
  const filters = filtersOf(query);
  const named =
    query.models === undefined ? undefined : runsOf(database, query.models.split(','), filters);
  const choice = { database, filters, at: lastChange(database), models: named };
  const restrictions = { isClean: query.days === 'clean', isCommon: query.common };
  return { ...narrowChoice(choice, restrictions), named };
}

/** All runs of the named models, by name. */
function runsOf(
  database: Database,
  names: readonly string[],
  filters: ReturnType<typeof filtersOf>,
): string[] {
  const { models } = selectModels(database, { models: names, against: undefined }, filters);
  return [...new Set(models.flatMap(({ runs }) => runs))].sort();
}
