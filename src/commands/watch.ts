import * as v from 'valibot';
import { ServiceError, skipReasons } from '../domain.ts';
import { NOT_OUT_YET } from '../prices/warnings.ts';
import { cleanText } from '../text.ts';
import { NO_DATES } from '../jobs/plan.ts';
import type { Client } from './client.ts';
import { connect } from './connect.ts';
import { followJob } from './follow-job.ts';
import { type JobStatusResponse, describeEnd } from './job-view.ts';
import { orUnknownJob } from './known-names.ts';
import { hadNoTrading } from './last-session.ts';

const NOT_COMPLETED = 1;
/** The fields of the list of jobs that are needed here. */
const newestJob = v.object({ jobs: v.array(v.object({ job_id: v.string() })) });

/**
 * The command `watch`: follows a job of a running service, by default the newest (only that one can
 * be unfinished). 0 when it completed, 1 when it was cancelled or failed in part or whole.
 */
export async function watch(
  jobId: string | undefined,
  { url }: { url: string | undefined },
): Promise<number> {
  const client = connect(url);
  const watched = jobId ?? (await newestJobId(client));
  return orUnknownJob(client, watched, () => watchJob(client, watched));
}

/**
 * Follows a job to its end and prints its result; resolves to the exit code. With `waitsForPrices`,
 * a job whose only trouble is that the prices of its dates are not out yet does not count as
 * failed: a holiday looks like that until the next session.
 */
export async function watchJob(
  client: Client,
  jobId: string,
  { waitsForPrices = false, isNew = false }: { waitsForPrices?: boolean; isNew?: boolean } = {},
): Promise<number> {
  const status = await followJob(client, jobId, { stream: process.stderr, isNew });
  const missing = waitsForPrices ? await datesNotOutYet(client, status) : null;
  if (missing !== null) {
    const warnings = status.warnings?.map((warning) => `${cleanText(warning)}\n`) ?? [];
    const lines = [
      `Nothing to do yet: ${missing.join(', ')} had no trading, or the prices are late. A later run tries again.\n`,
    ];
    process.stdout.write([...lines, ...warnings].join(''));
    return 0;
  }
  process.stdout.write(`${describeEnd(status)}\n`);
  return status.status === 'completed' ? 0 : NOT_COMPLETED;
}

/**
 * The dates of a job that failed only because the provider has no prices of them yet, apart from
 * days without trading; null for any other job.
 */
async function datesNotOutYet(
  client: Client,
  { error, details, warnings }: JobStatusResponse,
): Promise<string[] | null> {
  const notOut = warnings?.find((warning) => warning.startsWith(NOT_OUT_YET));
  if (error !== NO_DATES || notOut === undefined) return null;
  const unpriced = [
    ...new Set(
      details.filter((day) => day.error === skipReasons.noPriceData).map(({ date }) => date),
    ),
  ];
  for (const date of unpriced)
    if (!notOut.includes(date) && !(await hadNoTrading(client, date))) return null;
  return unpriced.filter((date) => notOut.includes(date));
}

async function newestJobId(client: Client): Promise<string> {
  const { jobs } = await client.get('/jobs?limit=1', newestJob);
  const [newest] = jobs;
  if (newest === undefined) throw new ServiceError('job_not_found', 'There is no job to watch yet');
  return newest.job_id;
}
