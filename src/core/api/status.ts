import assert from 'node:assert/strict';
import * as v from 'valibot';
import { parseAgentConfiguration } from '#settings/configuration.ts';
import {
  countModelDays,
  jobEntries,
  jobStatus,
  jobModelDays,
} from '#database/records/job-records.ts';
import { costKeys } from '#domain/market-rules.ts';
import { modelDayStatuses } from '#domain/vocabulary.ts';
import { entrySchema } from '#settings/entry.ts';
import { currentWarnings } from '#prices/warnings.ts';
import { checkJob } from './filters.ts';
import { deploymentFields } from '#settings/settings.ts';
import { type Context, type Input, listMember } from './handler.ts';
import {
  countSchema,
  dateText,
  figure,
  namedResponse,
  jobCourseEntries,
  jobStatusSchema,
  named,
  progressSchema,
  timestampText,
  usageEntries,
  warningEntries,
  warningFields,
  nullableText,
} from './schemas.ts';
import { NO_JOB, route } from './route.ts';

/** On which terms all models of a job trade. */
const termsSchema = named('JobTerms', {
  initial_cash: v.number(),
  ...v.entriesFromList(costKeys, v.number()),
  market: named('Market', {
    name: v.string(),
    currency: v.string(),
    sell_same_day: v.boolean(),
    opens: v.string(),
    time_zone: v.string(),
    benchmark: v.string(),
    boards: v.array(
      named('Board', {
        symbols: v.string(),
        minimum: countSchema,
        step: countSchema,
        price_limit: figure,
      }),
    ),
  }),
  dividends: v.boolean(),
  max_steps: countSchema,
  max_cost_usd: v.nullable(v.number()),
  open: v.picklist(['shown', 'hidden']),
  limits: v.nullable(
    named('Limits', {
      max_weight: v.nullish(v.number()),
      max_orders: v.nullish(countSchema),
      min_cash: v.nullish(v.number()),
    }),
  ),
  symbols: v.array(v.string()),
});

export const statusResponse = namedResponse('JobStatusResponse', {
  job_id: v.string(),
  status: jobStatusSchema,
  progress: progressSchema,
  date_range: v.array(dateText),
  ...jobCourseEntries,
  entries: v.array(
    named('JobEntry', { family: v.string(), runs: v.array(v.string()), entry: entrySchema }),
  ),
  terms: termsSchema,
  replace_existing: v.boolean(),
  details: v.array(
    named('ModelDay', {
      date: dateText,
      model: v.string(),
      status: v.pipe(v.picklist(modelDayStatuses), v.title('ModelDayStatus')),
      error: nullableText,
      started_at: v.nullable(timestampText),
      completed_at: v.nullable(timestampText),
      duration_seconds: figure,
      ...usageEntries,
      cost_usd: figure,
    }),
  ),
  ...warningEntries,
});

export type Status = v.InferOutput<typeof statusResponse>;

/** With more model-days the status would take too long in the serving thread. */
const MAX_SHORT_MODEL_DAYS = 2_000;

/** Whether the job has few model-days. */
function isJobSmall({ database }: Context, { params }: Input): boolean {
  return countModelDays(database, params['job_id'] ?? '') <= MAX_SHORT_MODEL_DAYS;
}

export const statusRoute = route({
  method: 'GET',
  path: '/simulate/status/{job_id}',
  tool: 'job_status',
  tag: 'jobs',
  summary: "A job's progress, model-day by model-day.",
  response: statusResponse,
  errors: NO_JOB,
  isShort: isJobSmall,
  list: 'details',
  *handle({ database, settings }, { params }) {
    const { job_id: jobId = '' } = params;
    checkJob(database, { jobId });
    const job = jobStatus(database, jobId);
    assert(job !== undefined, 'jobs are never removed');
    const configuration = parseAgentConfiguration(job.agentConfig);
    const others = {
      // The schema picks its fields, in its order.
      terms: v.parse(termsSchema, { ...configuration, symbols: configuration.stock_symbols }),
      replace_existing: job.replaceExisting === 1,
      ...warningFields(currentWarnings(database, job, jobId)),
      ...deploymentFields(settings),
    };
    yield `${job.json.slice(0, -1)},"entries":${jobEntries(database, jobId)}`;
    yield* listMember('details', jobModelDays(database, jobId));
    yield `,${JSON.stringify(others).slice(1)}`;
  },
});
