import * as v from 'valibot';
import { feedEntries, parseFilters } from '#api/filters.ts';
import { daysFilter, flagFilter, namesFilter, wordFilter } from '#api/schemas.ts';
import type { Database } from '#database/database.ts';
import { normaliseSymbol, SYMBOL_TEXT } from '#domain/symbols.ts';
import { MAX_COMPARED } from '#domain/runs.ts';
import { countedDays } from '../experiments/counted-days.ts';
import { UNIVERSE } from './choose-benchmark.ts';

/** What models are compared with, in a query. */
export const benchmarkEntry = {
  benchmark: v.optional(
    v.pipe(
      v.string(),
      v.regex(SYMBOL_TEXT, `expected a ticker symbol or '${UNIVERSE}'`), // the word has the form of a symbol
      v.description(`A ticker symbol, in either case, or ${UNIVERSE}.`),
      v.transform((text) =>
        text.toLowerCase() === UNIVERSE ? UNIVERSE : (normaliseSymbol(text) ?? undefined),
      ),
    ),
  ),
};

/** The model-days that the figures cover, in the query of GET /performance. */
export const choiceEntries = {
  ...feedEntries,
  models: namesFilter(
    `Up to ${MAX_COMPARED} models, separated by commas: entries by signature, with all their runs, or single runs, with # ` +
      'percent-encoded. Not together with model.',
  ),
  days: daysFilter('the chosen models'),
  common: flagFilter(
    'Whether to count only the dates that GET /comparison would compare these models over.',
  ),
  by: wordFilter(
    ['run', 'entry'],
    'Whether each run is measured over its own days, or all runs of an entry over the days that they share; ' +
      'with common over the days that a comparison of the entries has.',
  ),
};

/**
 * The days that count. Throws a `ServiceError` (`invalid_filter`) for names in `models` that are
 * unknown, repeated or too many.
 */
export function readCountedDays(
  database: Database,
  query: v.InferOutput<v.ObjectSchema<typeof choiceEntries, undefined>>,
) {
  const { model, models, by, days, common } = query;
  const { model: _, ...filters } = parseFilters(query);
  const names = model === undefined ? models?.split(',') : [model];
  // Names and jobs are of a study already.
  const isAny = names !== undefined || filters.jobId !== undefined;
  const window = { ...filters, study: filters.study ?? (isAny ? undefined : '') };
  // By entry, the name of an entry means all its runs.
  const areRuns = model !== undefined && by === 'run';
  return { window, ...countedDays(database, { window, names, areRuns, by, days, common }) };
}
