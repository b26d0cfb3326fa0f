import * as v from 'valibot';
import { type Configuration, basemodelOf, readConfiguration } from '../configuration.ts';
import { type SeenModel, seenModels } from '../database/models.ts';
import { ServiceError } from '../domain.ts';
import { toDollars } from '../money.ts';
import { type Answer, type Context, deploymentFields } from './handler.ts';
import { countSchema, dateText, deploymentEntries, jobStatus, named, timestampText } from './schemas.ts';

export const modelsResponse = named('ModelsResponse', {
  models: v.array(
    named('Model', {
      signature: v.string(),
      name: v.nullable(v.string()),
      /** Null for a model that the configuration does not list. */
      basemodel: v.nullable(v.string()),
      enabled: v.boolean(),
      configured: v.boolean(),
      first_completed_date: v.nullable(dateText),
      last_completed_date: v.nullable(dateText),
      completed_model_days: countSchema,
      portfolio_value: v.nullable(v.number()),
      last_job: v.nullable(
        named('LastJob', { job_id: v.string(), status: jobStatus, created_at: timestampText }),
      ),
    }),
  ),
  count: countSchema,
  /** Why nothing is known of the configured models; null when all is well. */
  configuration_error: v.nullable(v.string()),
  ...deploymentEntries,
});

/** The models of the configuration in its order, then those that only jobs have named. */
export function models({ database, settings }: Context): Answer {
  const { configuration, error } = configurationNow(settings.configurationPath);
  const seen = new Map(seenModels(database).map((model) => [model.model, model]));
  const configured = configuration?.models ?? [];
  const listed = new Set(configured.map(({ signature }) => signature));
  const entries = [
    ...configured.map((entry) => ({
      signature: entry.signature,
      name: entry.name ?? null,
      basemodel: basemodelOf(entry),
      enabled: entry.enabled,
      configured: true,
      ...describe(seen.get(entry.signature)),
    })),
    ...[...seen.values()]
      .filter(({ model }) => !listed.has(model))
      .map((model) => ({
        signature: model.model,
        name: null,
        basemodel: null,
        enabled: false,
        configured: false,
        ...describe(model),
      })),
  ];
  return JSON.stringify({
    models: entries,
    count: entries.length,
    configuration_error: error,
    ...deploymentFields(settings),
  });
}

function describe(seen: SeenModel | undefined) {
  const { firstDate = null, lastDate = null, modelDays = 0, portfolioValue = null } = seen ?? {};
  return {
    first_completed_date: firstDate,
    last_completed_date: lastDate,
    completed_model_days: modelDays,
    portfolio_value: portfolioValue === null ? null : toDollars(portfolioValue),
    last_job: seen ? { job_id: seen.jobId, status: seen.jobStatus, created_at: seen.jobCreatedAt } : null,
  };
}

/** A missing or broken file takes nothing from what the database knows, and is told. */
function configurationNow(path: string): { configuration: Configuration | null; error: string | null } {
  try {
    return { configuration: readConfiguration(path), error: null };
  } catch (error) {
    if (error instanceof ServiceError) return { configuration: null, error: error.message };
    throw error;
  }
}
