import * as v from 'valibot';
import { type Database, contentVersion } from '../database/database.ts';
import { readWarnings } from '../database/jobs.ts';
import { jobStatus } from '../database/records/status.ts';
import { ServiceError, modelDayStatuses } from '../domain.ts';
import { type ResponseBody, type Context, type Input, appendMembers, deploymentFields } from './handler.ts';
import { countSchema, dateText, deploymentEntries, jobStatus as jobStatusSchema, named, progressSchema, timestampText } from './schemas.ts';

export const statusResponse = named('JobStatusResponse', {
  job_id: v.string(),
  status: jobStatusSchema,
  progress: progressSchema,
  date_range: v.array(dateText),
  models: v.array(v.string()),
  created_at: timestampText,
  started_at: v.nullable(timestampText),
  completed_at: v.nullable(timestampText),
  total_duration_seconds: v.nullable(v.number()),
  error: v.nullable(v.string()),
  details: v.array(
    named('ModelDay', {
      date: dateText,
      model: v.string(),
      status: v.pipe(v.picklist(modelDayStatuses), v.title('ModelDayStatus')),
      error: v.nullable(v.string()),
      started_at: v.nullable(timestampText),
      completed_at: v.nullable(timestampText),
      duration_seconds: v.nullable(v.number()),
      steps: countSchema,
      requests: countSchema,
      prompt_tokens: v.nullable(countSchema),
      completion_tokens: v.nullable(countSchema),
      cached_tokens: v.nullable(countSchema),
      reasoning_tokens: v.nullable(countSchema),
      cost_usd: v.nullable(v.number()),
    }),
  ),
  warnings: v.nullable(v.array(v.string())),
  ...deploymentEntries,
});

/** How a job stands. While nothing in the database changes, the last answers are given again. */
export function status({ database, settings }: Context, { params }: Input): ResponseBody {
  const jobId = params['job_id'] as string;
  const version = contentVersion(database);
  const known = remembered.get(jobId);
  if (known?.version === version && known.database === database) return known.answer;
  const job = jobStatus(database, jobId);
  if (job === undefined) throw new ServiceError('job_not_found', `Job ${jobId} not found`);
  const answer = appendMembers(job.json, { warnings: readWarnings(job.warnings), ...deploymentFields(settings) });
  remember(jobId, { database, version, answer });
  return answer;
}

/** Pollers ask for the same few jobs again and again. */
const MAX_REMEMBERED_ANSWERS = 8;
const MAX_REMEMBERED_LENGTH = 512 * 1024;
const remembered = new Map<string, { database: Database; version: string; answer: string }>();

function remember(jobId: string, entry: { database: Database; version: string; answer: string }): void {
  remembered.delete(jobId);
  if (entry.answer.length > MAX_REMEMBERED_LENGTH) return;
  remembered.set(jobId, entry);
  const [oldest] = remembered.keys();
  if (remembered.size > MAX_REMEMBERED_ANSWERS && oldest !== undefined) remembered.delete(oldest);
}
