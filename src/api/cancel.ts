import assert from 'node:assert/strict';
import * as v from 'valibot';
import { count } from '../basics/sentences.ts';
import { type Context, deploymentFields, type Input, type ResponseBody } from './handler.ts';
import { deploymentEntries, named } from './schemas.ts';

export const cancelResponse = named('CancelResponse', {
  job_id: v.string(),
  status: v.literal('cancelled'),
  message: v.string(),
  ...deploymentEntries,
});

/** Stops an unfinished job; completed model-days are kept. */
export async function cancel(
  { jobs, settings }: Context,
  { params }: Input,
): Promise<ResponseBody> {
  const { job_id: jobId = '' } = params;
  assert(jobs !== null, 'a view refuses whatever would change something');
  const notRun = await jobs.cancel(jobId);
  const message =
    notRun === null
      ? 'The job was already cancelled'
      : `Job cancelled; ${count(notRun, 'model-day')} will not be run`;
  return JSON.stringify({
    job_id: jobId,
    status: 'cancelled',
    message,
    ...deploymentFields(settings),
  });
}
