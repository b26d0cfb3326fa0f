import * as v from 'valibot';
import { ServiceError, skipReasons } from '../basics/domain.ts';
import { NOT_OUT_YET } from '../prices/warnings.ts';
import { triggerResponse } from '../api/trigger.ts';
import { NOTHING_TO_RESUME } from '../jobs/plan.ts';
import { cleanText } from '../basics/text.ts';
import { NO_DATES } from '../jobs/warnings.ts';
import {
  checkDates,
  type Client,
  connect,
  findLastSession,
  hadNoTrading,
  LAST_SESSION,
  type LastSession,
  orUnknownJob,
  Refused,
} from './client.ts';
import { describeEnd, followJob, type JobStatusResponse } from './job-view.ts';

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

interface Arguments {
  start: string | undefined;
  end: string;
  models: string | undefined;
  universe: string | undefined;
  replace: boolean;
  watch: boolean;
  url: string | undefined;
}

/**
 * The command `trigger`: creates a job on a running service and prints its id; with `--watch`
 * follows it and prints its result. 0 when it was created (with `--watch`: completed), 1 when it
 * was refused. Up to the last session, it is also 0 when nothing is left to do, and with `--watch`
 * when the prices are not out yet.
 */
export async function trigger({
  start,
  end,
  models,
  universe,
  replace,
  watch,
  url,
}: Arguments): Promise<number> {
  const isLive = end === LAST_SESSION;
  checkDates({ start, ...(!isLive && { end }) });
  const client = connect(url);
  const session = isLive ? await findLastSession(client) : null;
  if (session !== null) say(describeSession(session));
  const signatures = models?.split(',').map((signature) => signature.trim()) ?? null;
  const request = {
    start_date: start ?? null,
    end_date: session?.date ?? end,
    models: signatures,
    replace_existing: replace,
    ...(universe !== undefined && { universe }), // older services do not know it
  };
  const job = await createJob(client, request, { mayHaveNothingToDo: isLive });
  if (job === null) return 0;
  for (const line of [job.message, ...(job.warnings ?? [])]) say(line);
  if (watch) return watchJob(client, job.job_id, { waitsForPrices: isLive, isNew: true });
  process.stdout.write(`${job.job_id}\n`);
  return 0;
}

/** Null when there is nothing left to do, which is then said. */
async function createJob(
  client: Client,
  request: unknown,
  { mayHaveNothingToDo }: { mayHaveNothingToDo: boolean },
): Promise<v.InferOutput<typeof triggerResponse> | null> {
  try {
    return await client.post('/simulate/trigger', request, triggerResponse);
  } catch (error) {
    const isDone =
      error instanceof Refused &&
      error.status === 400 &&
      error.detail.startsWith(NOTHING_TO_RESUME);
    if (!mayHaveNothingToDo || !isDone) throw error;
    say(error.detail);
    return null;
  }
}

function describeSession({ date, withoutTrading }: LastSession): string {
  const closed = withoutTrading.length === 0 ? '' : `; no trading on ${withoutTrading.join(', ')}`;
  return `The last session is ${date}${closed}`;
}

function say(line: string): void {
  process.stderr.write(`${cleanText(line)}\n`);
}
