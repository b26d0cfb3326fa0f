import assert from 'node:assert/strict';
import * as v from 'valibot';
import { parseAgentConfiguration, universeOf } from '../basics/configuration.ts';
import { readWarnings } from '../database/jobs.ts';
import { countModelDays, entriesOf, jobStatus, modelDaysOf } from '../database/records/status.ts';
import { modelDayStatuses } from '../basics/domain.ts';
import { entrySchema } from '../basics/entry.ts';
import { checkJob } from './filters.ts';
import {
  type Context,
  deploymentFields,
  type Input,
  listMember,
  type ResponseBody,
} from './handler.ts';
import { rememberResponses, rememberTexts } from './response-cache.ts';
import {
  countSchema,
  dateText,
  deploymentEntries,
  jobCourseEntries,
  jobStatus as jobStatusSchema,
  named,
  progressSchema,
  timestampText,
  usageEntries,
} from './schemas.ts';

export const statusResponse = named('JobStatusResponse', {
  job_id: v.string(),
  status: jobStatusSchema,
  progress: progressSchema,
  date_range: v.array(dateText),
  ...jobCourseEntries,
  /** What each model asks. The runs of a family differ only in `run` and `seed`. */
  entries: v.array(
    named('JobEntry', { family: v.string(), runs: v.array(v.string()), entry: entrySchema }),
  ),
  /** On which terms all its models trade. */
  terms: named('JobTerms', {
    initial_cash: v.number(),
    commission_per_trade: v.number(),
    commission_bps: v.number(),
    slippage_bps: v.number(),
    /** Whether dividends of what is held are paid. */
    dividends: v.boolean(),
    /** Of one model-day. */
    max_steps: countSchema,
    /** What one model may cost in this job; an entry's own limit takes precedence. */
    max_cost_usd: v.nullable(v.number()),
    /** Those that may be bought. */
    symbols: v.array(v.string()),
  }),
  replace_existing: v.boolean(),
  /** Some are still missing right after a job of thousands was created. */
  details: v.array(
    named('ModelDay', {
      date: dateText,
      model: v.string(),
      status: v.pipe(v.picklist(modelDayStatuses), v.title('ModelDayStatus')),
      error: v.nullable(v.string()),
      started_at: v.nullable(timestampText),
      completed_at: v.nullable(timestampText),
      duration_seconds: v.nullable(v.number()),
      ...usageEntries,
      cost_usd: v.nullable(v.number()),
    }),
  ),
  warnings: v.nullable(v.array(v.string())),
  ...deploymentEntries,
});

/**
 * The progress of a job, with its model-days. While nothing in the database changes, the last
 * responses are reused.
 */
export function status({ database, settings }: Context, { params }: Input): ResponseBody {
  const { job_id: jobId = '' } = params;
  return remembered(database, jobId, function* () {
    checkJob(database, { jobId });
    const job = jobStatus(database, jobId);
    assert(job !== undefined, 'jobs are never removed');
    const others = {
      terms: termsOf(job.agentConfig),
      replace_existing: job.replaceExisting === 1,
      warnings: readWarnings(job.warnings),
      ...deploymentFields(settings),
    };
    yield `${job.json.slice(0, -1)},"entries":`;
    yield keptEntries(database, jobId, () => entriesOf(database, jobId));
    yield* listMember('details', modelDaysOf(database, jobId));
    yield `,${JSON.stringify(others).slice(1)}`;
  });
}

/** The sums of a job take some milliseconds for so many model-days. */
const LARGE_JOB = 20_000;

/** The jobs of which that is known, and how many are remembered. */
const knownJobs = new Map<string, boolean>();
const MOST_KNOWN = 100;

/** Whether the job has so many model-days that its status is a report. Their number never changes. */
export function isOfLargeJob({ database }: Context, { params }: Input): boolean {
  const { job_id: jobId = '' } = params;
  const key = `${database.path} ${jobId}`;
  const known = knownJobs.get(key);
  if (known !== undefined) return known;
  const modelDays = countModelDays(database, jobId);
  if (knownJobs.size === MOST_KNOWN) knownJobs.clear();
  if (modelDays > 0) knownJobs.set(key, modelDays > LARGE_JOB);
  return modelDays > LARGE_JOB;
}

/** Clients poll the same few jobs. */
const remembered = rememberResponses({ most: 8, maxLength: 1024 * 1024 });
/**
 * Those of a thousand models take longer to read than everything else, and a job that runs changes
 * with every commit.
 */
const keptEntries = rememberTexts({ most: 8, maxLength: 1024 * 1024 });

function termsOf(agentConfig: string): v.InferOutput<typeof statusResponse>['terms'] {
  const configuration = parseAgentConfiguration(agentConfig);
  const {
    initial_cash,
    commission_per_trade,
    commission_bps,
    slippage_bps,
    dividends,
    max_steps,
    max_cost_usd,
  } = configuration;
  const costs = { commission_per_trade, commission_bps, slippage_bps };
  return {
    initial_cash,
    ...costs,
    dividends,
    max_steps,
    max_cost_usd,
    symbols: [...universeOf(configuration)],
  };
}
