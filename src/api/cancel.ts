import assert from 'node:assert/strict';
import * as v from 'valibot';
import { count } from '../basics/sentences.ts';
import { discardJob } from '../jobs/cancel.ts';
import { checkJob } from './filters.ts';
import { type Context, deploymentFields, type Input, type ResponseBody } from './handler.ts';
import { deploymentEntries, named } from './schemas.ts';

export const cancelResponse = named('CancelResponse', {
  job_id: v.string(),
  status: v.literal('cancelled'),
  message: v.string(),
  ...deploymentEntries,
});

export const discardResponse = named('DiscardResponse', {
  ...cancelResponse.entries,
  status: v.literal('discarded'),
});

/** Stops an unfinished job; completed model-days are kept. */
export async function cancel(
  { jobs, settings }: Context,
  { params: { job_id = '' } }: Input,
): Promise<ResponseBody> {
  assert(jobs !== null, 'a view refuses whatever would change something');
  const notRun = await jobs.cancel(job_id);
  const message =
    notRun === null
      ? 'The job was already cancelled'
      : `Job cancelled; ${count(notRun, 'model-day')} will not be run`;
  return JSON.stringify({ job_id, status: 'cancelled', message, ...deploymentFields(settings) });
}

/** Withdraws the model-days of an ended job; nothing is erased. */
export async function discard(
  context: Context,
  { params: { job_id = '' } }: Input,
): Promise<ResponseBody> {
  checkJob(context.database, { jobId: job_id });
  const discarded = await discardJob(context, job_id);
  const { withdrawn = 0, restored = 0 } = discarded ?? {};
  const message =
    discarded === null
      ? 'The job was already discarded'
      : `Job discarded; ${count(withdrawn, 'model-day')} withdrawn, ${count(restored, 'earlier generation')} active again`;
  const fields = deploymentFields(context.settings);
  return JSON.stringify({ job_id, status: 'discarded', message, ...fields });
}
