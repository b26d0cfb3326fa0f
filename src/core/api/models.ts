import * as v from 'valibot';
import { findBasemodel, type Configuration } from '#settings/configuration-schema.ts';
import { readConfiguration } from '#settings/configuration.ts';
import { countActiveDays } from '#database/session-filters.ts';
import type { Database } from '#database/database.ts';
import {
  familyOrder,
  namedModels,
  findModel,
  servedModels,
} from '#database/records/model-records.ts';
import { ServiceError } from '#domain/service-error.ts';
import { decodeEntry, entrySchema } from '#settings/entry.ts';
import { toDollars } from '#money/money.ts';
import { runNames } from '#domain/runs.ts';
import { listBody } from './handler.ts';
import {
  countSchema,
  dateText,
  figure,
  namedResponse,
  jobStatusSchema,
  named,
  timestampText,
  nullableDate,
  nullableText,
} from './schemas.ts';
import type { ServedSettings } from '#settings/settings.ts';
import { BUSY, route } from './route.ts';

export const modelsResponse = namedResponse('ModelsResponse', {
  models: v.array(
    named('Model', {
      signature: v.string(),
      name: nullableText,
      /** Null for a model that the configuration does not list. */
      basemodel: nullableText,
      enabled: v.boolean(),
      configured: v.boolean(),
      first_completed_date: nullableDate,
      last_completed_date: nullableDate,
      completed_model_days: countSchema,
      portfolio_value: figure,
      /** Model-days on or before it the model may remember; null when its entry names none. */
      knowledge_cutoff: nullableDate,
      model_days_before_cutoff: countSchema,
      /** The signature of the entry whose run it is. */
      family: v.string(),
      /** Of its family among those that jobs have named, by first job; null before its first. */
      order: v.nullable(countSchema),
      /** What its newest job asks; null before its first job. */
      entry: v.nullable(entrySchema),
      /** The models that answered, in their providers' names, on its completed days. */
      served: v.array(
        named('ServedModel', { model: v.string(), first_date: dateText, last_date: dateText }),
      ),
      last_job: v.nullable(
        named('LastJob', {
          job_id: v.string(),
          status: jobStatusSchema,
          created_at: timestampText,
        }),
      ),
    }),
  ),
  count: countSchema,
  /** The names of the universes that a trigger can pick besides the default one. */
  universes: v.array(v.string()),
  /** Why the configuration cannot be read; null when it can. */
  configuration_error: nullableText,
});

function* items(database: Database, configured: Configuration['models']): Generator<string> {
  const listed = new Set<string>();
  const order = familyOrder(database);
  const known = (signature: string, entry?: Configuration['models'][number]) => {
    const described = describeModel(database, signature, entry);
    return { ...described, order: order.get(described.family) ?? null };
  };
  for (const entry of configured)
    for (const signature of runNames(entry)) {
      listed.add(signature);
      yield JSON.stringify({
        signature,
        name: entry.name ?? null,
        basemodel: findBasemodel(entry),
        enabled: entry.enabled,
        configured: true,
        ...known(signature, entry),
      });
    }
  const unlisted = { name: null, basemodel: null, enabled: false, configured: false };
  for (const signature of namedModels(database))
    if (!listed.has(signature))
      yield JSON.stringify({ signature, ...unlisted, ...known(signature) });
}

/**
 * What the database knows of a run, and of its entry in the configuration only what no job has
 * stored.
 */
function describeModel(
  database: Database,
  signature: string,
  listed?: Configuration['models'][number],
) {
  const seen = findModel(database, signature);
  const { firstDate = null, lastDate = null, modelDays = 0, portfolioValue = null } = seen ?? {};
  const entry = seen === undefined ? null : decodeEntry(seen.entry);
  const cutoff = (entry ?? listed)?.knowledge_cutoff ?? null;
  return {
    first_completed_date: firstDate,
    last_completed_date: lastDate,
    completed_model_days: modelDays,
    portfolio_value: portfolioValue === null ? null : toDollars(portfolioValue),
    knowledge_cutoff: cutoff,
    model_days_before_cutoff:
      cutoff === null ? 0 : countActiveDays(database, signature, { endDate: cutoff }),
    family: listed?.signature ?? seen?.family ?? signature,
    entry,
    served: servedModels(database, signature),
    last_job: seen
      ? { job_id: seen.jobId, status: seen.jobStatus, created_at: seen.jobCreatedAt }
      : null,
  };
}

/** A missing or broken file is reported, and hides nothing in the database. */
function tryReadConfiguration({ configurationPath, openaiApiBase }: ServedSettings) {
  try {
    return { configuration: readConfiguration(configurationPath, openaiApiBase), error: null };
  } catch (error) {
    if (error instanceof ServiceError) return { configuration: null, error: error.message };
    throw error;
  }
}

export const modelsRoute = route({
  method: 'GET',
  path: '/models',
  tag: 'data',
  summary: 'The models of the configuration and those named in jobs, with what each has completed.',
  response: modelsResponse,
  errors: BUSY,
  handle({ database, settings, viewedFile }) {
    // The configuration on the machine of the reader says nothing about the file.
    const { configuration, error } =
      viewedFile === null ? tryReadConfiguration(settings) : { configuration: null, error: null };
    return listBody(settings, 'models', items(database, configuration?.models ?? []), () => ({
      universes: Object.keys(configuration?.universes ?? {}),
      configuration_error: error,
    }));
  },
});
