import * as v from 'valibot';
import { type Configuration, basemodelOf, readConfiguration } from '../configuration.ts';
import { type SeenModel, namedModels, seenModel } from '../database/records/models.ts';
import { ServiceError } from '../domain.ts';
import { toDollars } from '../money.ts';
import { type Context, deploymentFields } from './handler.ts';
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

/** The models of the configuration in its order, then those that only jobs have named; one by one. */
export function* models({ database, settings }: Context): Generator<string> {
  const { configuration, error } = configurationNow(settings.configurationPath);
  const configured = configuration?.models ?? [];
  const listed = new Set(configured.map(({ signature }) => signature));
  let count = 0;
  const piece = (entry: object) => (count++ === 0 ? '' : ',') + JSON.stringify(entry);
  yield '{"models":[';
  for (const entry of configured)
    yield piece({
      signature: entry.signature,
      name: entry.name ?? null,
      basemodel: basemodelOf(entry),
      enabled: entry.enabled,
      configured: true,
      ...describe(seenModel(database, entry.signature)),
    });
  const unlisted = { name: null, basemodel: null, enabled: false, configured: false };
  for (const signature of namedModels(database))
    if (!listed.has(signature)) yield piece({ signature, ...unlisted, ...describe(seenModel(database, signature)) });
  yield `],${JSON.stringify({ count, configuration_error: error, ...deploymentFields(settings) }).slice(1)}`;
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
