import * as v from 'valibot';
import { ServiceError } from '../domain.ts';
import { didYouMean } from '../sentences.ts';
import { forTerminal } from '../text.ts';
import { type Client, Refused } from './client.ts';

/**
 * Names that a person has typed: an unknown one is an error, because nothing would be shown, and
 * not why.
 */

/** The most that a list of jobs has. */
const JOBS = 200;
const NOT_FOUND = 404;

/** The fields of the responses that are needed here. */
const models = v.object({ models: v.array(v.object({ signature: v.string() })) });
const jobs = v.object({ jobs: v.array(v.object({ job_id: v.string() })) });
const decisions = v.object({ decisions: v.array(v.unknown()) });

/**
 * Throws a `ServiceError` for a model that neither the configuration of the service nor one of its
 * jobs names.
 */
export async function checkModel(client: Client, model: string): Promise<void> {
  const known = (await client.get('/models', models)).models.map(({ signature }) => signature);
  if (!known.includes(model)) throw unknown('model', model, { known, list: '/models' });
}

/** Throws a `ServiceError` for a job that the service does not have. */
export async function checkJob(client: Client, jobId: string): Promise<void> {
  // The shortest response that tells.
  await orUnknownJob(client, jobId, () =>
    client.get(`/decisions?${new URLSearchParams({ job_id: jobId, limit: '1' })}`, decisions),
  );
}

/**
 * As the work, but where the service does not find the job, the error names the job that was
 * probably meant.
 */
export async function orUnknownJob<Result>(
  client: Client,
  jobId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== NOT_FOUND) throw error;
    const known = (await client.get(`/jobs?limit=${JOBS}`, jobs)).jobs.map(({ job_id: id }) => id);
    throw unknown('job', jobId, { known, list: '/jobs' });
  }
}

function unknown(
  kind: 'model' | 'job',
  name: string,
  { known, list }: { known: readonly string[]; list: string },
): ServiceError {
  const sentence = `There is no ${kind} "${name}"; ${didYouMean(name, known, `GET ${list} lists them`)}`;
  return new ServiceError(
    kind === 'job' ? 'job_not_found' : 'invalid_filter',
    forTerminal(sentence),
  );
}
