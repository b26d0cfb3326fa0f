import * as v from 'valibot';
import { ServiceError } from '../domain.ts';
import type { Client } from './client.ts';
import { connect } from './connect.ts';
import { followJob } from './follow-job.ts';
import { describeEnd } from './job-view.ts';

const NOT_COMPLETED = 1;
/** The fields of the list of jobs that are needed here. */
const newestJob = v.object({ jobs: v.array(v.object({ job_id: v.string() })) });

/**
 * The command `watch`: follows a job of a running service, by default the newest (only that one can be unfinished). 0 when it
 * completed, 1 when it was cancelled or failed in part or whole.
 */
export async function watch(jobId: string | undefined, { url }: { url: string | undefined }): Promise<number> {
  const client = connect(url);
  return watchJob(client, jobId ?? (await newestJobId(client)));
}

/** Follows a job to its end and prints its result; resolves to the exit code. */
export async function watchJob(client: Client, jobId: string): Promise<number> {
  const status = await followJob(client, jobId, { stream: process.stderr });
  process.stdout.write(`${describeEnd(status)}\n`);
  return status.status === 'completed' ? 0 : NOT_COMPLETED;
}

async function newestJobId(client: Client): Promise<string> {
  const { jobs } = await client.get('/jobs?limit=1', newestJob);
  const [newest] = jobs;
  if (newest === undefined) throw new ServiceError('job_not_found', 'There is no job to watch yet');
  return newest.job_id;
}
