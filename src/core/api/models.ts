import * as v from 'valibot';
import { findBasemodel, type Configuration } from '#settings/configuration-schema.ts';
import { newestActiveJob } from '#database/job-queries.ts';
import { countActiveDays } from '#database/session-filters.ts';
import type { Database } from '#database/database.ts';
import {
  familyOrder,
  findModel,
  knownRuns,
  servedModels,
} from '#database/records/model-records.ts';
import { decodeEntry, entrySchema } from '#settings/entry.ts';
import { toDollars } from '#money/money.ts';
import { familyName, runNames } from '#domain/runs.ts';
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
  studyField,
  studyFilter,
} from './schemas.ts';
import { knownStudies, resolveStudy, tryReadConfiguration } from './studies.ts';
import { BUSY, route } from './route.ts';

export const modelsResponse = namedResponse('ModelsResponse', {
  models: v.array(
    named('Model', {
      signature: v.string(),
      name: nullableText,
      basemodel: nullableText,
      enabled: v.boolean(),
      configured: v.boolean(),
      first_completed_date: nullableDate,
      last_completed_date: nullableDate,
      completed_model_days: countSchema,
      portfolio_value: figure,
      knowledge_cutoff: nullableDate,
      model_days_before_cutoff: countSchema,
      family: v.string(),
      study: studyField,
      order: v.nullable(countSchema),
      entry: v.nullable(entrySchema),
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
  universes: v.array(v.string()),
  studies: v.array(v.string()),
  newest_study: studyField,
  configuration_error: nullableText,
});

type Entry = Configuration['models'][number];

function* items(
  database: Database,
  configured: readonly Entry[],
  study: string | null,
): Generator<string> {
  const entries = configured.flatMap((entry) => {
    const signature = familyName(entry.signature, study);
    return runNames({ ...entry, signature }).map((name) => [name, entry] as const);
  });
  const listed = new Map(entries);
  const ran = new Set(knownRuns(database, study ?? '').map(({ model }) => model));
  const order = familyOrder(database, ran);
  for (const signature of new Set([...listed.keys(), ...ran])) {
    // An entry may have the name of a ledger in a study that has left the configuration.
    const seen = ran.has(signature) ? findModel(database, signature) : undefined;
    const facts = { study, seen, listed: listed.get(signature) };
    const described = describeModel(database, signature, facts);
    yield JSON.stringify({ ...described, order: order.get(described.family) ?? null });
  }
}

/**
 * What the database knows of a run, and of its entry in the configuration only what no job has
 * stored.
 */
function describeModel(
  database: Database,
  signature: string,
  {
    study,
    seen,
    listed,
  }: { study: string | null; seen: ReturnType<typeof findModel>; listed: Entry | undefined },
) {
  const entry = seen === undefined ? null : decodeEntry(seen.entry);
  const value = seen?.portfolioValue ?? null;
  const cutoff = (entry ?? listed)?.knowledge_cutoff ?? null;
  return {
    signature,
    name: listed?.name ?? null,
    basemodel: listed ? findBasemodel(listed) : null,
    enabled: listed?.enabled ?? false,
    configured: listed !== undefined,
    first_completed_date: seen?.firstDate ?? null,
    last_completed_date: seen?.lastDate ?? null,
    completed_model_days: seen?.modelDays ?? 0,
    portfolio_value: value === null ? null : toDollars(value),
    knowledge_cutoff: cutoff,
    model_days_before_cutoff:
      cutoff === null || !seen ? 0 : countActiveDays(database, signature, { endDate: cutoff }),
    family: listed ? familyName(listed.signature, study) : (seen?.family ?? signature),
    study,
    entry,
    served: seen ? servedModels(database, signature) : [],
    last_job: seen
      ? { job_id: seen.jobId, status: seen.jobStatus, created_at: seen.jobCreatedAt }
      : null,
  };
}

export const modelsRoute = route({
  method: 'GET',
  path: '/models',
  tool: 'models',
  tag: 'data',
  summary: 'The models of the configuration and those named in jobs, with what each has completed.',
  query: v.object({ study: studyFilter }),
  response: modelsResponse,
  errors: BUSY,
  list: 'models',
  handle(context, { query }) {
    const { database, settings } = context;
    const study = resolveStudy(context, query).study || null;
    const { configuration, error } = tryReadConfiguration(context);
    const { models = [], universes = {}, studies } = configuration ?? {};
    const own = (study !== null && studies?.[study]?.models) || [];
    const chosen = models.map((entry) =>
      own.length === 0 ? entry : { ...entry, enabled: own.includes(entry.signature) },
    );
    return listBody(settings, 'models', items(database, chosen, study), () => ({
      universes: Object.keys(universes),
      studies: knownStudies(context),
      newest_study: newestActiveJob(database)?.study ?? null,
      configuration_error: error,
    }));
  },
});
