import { studiesOfJobs, studyOfJob } from '#database/job-queries.ts';
import { knownRuns } from '#database/records/model-records.ts';
import { nameInStudy } from '#domain/runs.ts';
import { invalidFilter, ServiceError } from '#domain/service-error.ts';
import { readConfiguration } from '#settings/configuration.ts';
import { list } from '#text/sentences.ts';
import type { Context } from './handler.ts';

/** The studies that requests name. */

type Named = {
  [Name in 'study' | 'job_id' | 'model' | 'models' | 'against']?: string | undefined;
};

/**
 * A query in which each name is that of a ledger: one without `@` is of the study of the query, or
 * else of its job; `gpt@` is `gpt` in the study without a name. Throws a `ServiceError` for a study
 * that neither the configuration nor a job names, and, unless models of several may be mixed, for a
 * name of another study than the query's.
 */
export function resolveStudy<Query extends Named>(
  context: StudyContext,
  query: Query,
  { areMixed = false } = {},
): Query {
  const { job_id: jobId, model, models, against } = query;
  const study = query.study ?? (jobId && studyOfJob(context.database, jobId));
  if (!study && ![model, models, against].join().includes('@')) return query;
  checkStudy(context, query.study);
  const runs = knownRuns(context.database);
  const known = new Map(
    runs.flatMap((run) => [run.model, run.family].map((name) => [name, run.study])),
  );
  const findName = (name: string) => {
    const own = study ? nameInStudy(name, study) : name;
    if (known.has(own) || !name.includes('@')) return own;
    return known.has(name) ? name : name.replace(/@(#\d+)?$/, '$1');
  };
  const resolve = (parameter: string, name: string) => {
    const own = findName(name);
    const its = known.get(own) ?? '';
    if (areMixed || query.study === undefined || !known.has(own) || its === query.study) return own;
    const where = its === '' ? 'has no study' : `is of the study ${its}`;
    throw invalidFilter(parameter, `${own} ${where}; send study=${its}, or no study`);
  };
  return {
    ...query,
    ...(model !== undefined && { model: resolve('model', model) }),
    ...(models !== undefined && {
      models: models
        .split(',')
        .map((name) => resolve('models', name))
        .join(),
    }),
    ...(against !== undefined && { against: resolve('against', against) }),
  };
}

export type StudyContext = Pick<Context, 'database' | 'settings' | 'viewedFile'>;

/** The studies that the configuration or a job names. */
export function knownStudies(context: StudyContext): string[] {
  const { configuration } = tryReadConfiguration(context);
  const own = Object.keys(configuration?.studies ?? {});
  return [...new Set([...own, ...studiesOfJobs(context.database)])];
}

function checkStudy(context: StudyContext, study: string | undefined): void {
  if (!study || studiesOfJobs(context.database).includes(study)) return;
  const known = knownStudies(context);
  if (known.includes(study)) return;
  const there = list(known) || 'none';
  throw invalidFilter('study', `there is no study '${study}'; known studies: ${there}`);
}

/**
 * A missing or broken configuration is reported, and hides nothing in the database. That on the
 * machine of the reader says nothing of a file that is shown.
 */
export function tryReadConfiguration({ settings, viewedFile }: StudyContext) {
  const { configurationPath, openaiApiBase } = settings;
  if (viewedFile !== null) return { configuration: null, error: null };
  try {
    return { configuration: readConfiguration(configurationPath, openaiApiBase), error: null };
  } catch (error) {
    if (error instanceof ServiceError) return { configuration: null, error: error.message };
    throw error;
  }
}
