import * as v from 'valibot';
import { readWarnings } from '../database/jobs.ts';
import { jobStatus } from '../database/status.ts';
import { ServiceError, jobStatuses, modelDayStatuses } from '../domain.ts';
import { type Answer, type Context, type Input, appendMembers, deploymentFields } from './handler.ts';
import { dateText, deploymentEntries, timestampText } from './schemas.ts';

const countSchema = v.pipe(v.number(), v.integer(), v.minValue(0));

export const statusResponse = v.object({
  job_id: v.string(),
  status: v.picklist(jobStatuses),
  progress: v.object({
    total_model_days: countSchema,
    completed: countSchema,
    failed: countSchema,
    pending: countSchema,
  }),
  date_range: v.array(dateText),
  models: v.array(v.string()),
  created_at: timestampText,
  started_at: v.nullable(timestampText),
  completed_at: v.nullable(timestampText),
  total_duration_seconds: v.nullable(v.number()),
  error: v.nullable(v.string()),
  details: v.array(
    v.object({
      date: dateText,
      model: v.string(),
      status: v.picklist(modelDayStatuses),
      error: v.nullable(v.string()),
      started_at: v.nullable(timestampText),
      completed_at: v.nullable(timestampText),
      duration_seconds: v.nullable(v.number()),
    }),
  ),
  warnings: v.nullable(v.array(v.string())),
  ...deploymentEntries,
});

export function status({ database, settings }: Context, { params }: Input): Answer {
  const job = jobStatus(database, params['job_id'] as string);
  if (job === undefined) throw new ServiceError('not_found', `Job ${params['job_id']} not found`);
  return appendMembers(job.json, { warnings: readWarnings(job.warnings), ...deploymentFields(settings) });
}
