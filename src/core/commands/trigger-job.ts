import { ServiceError } from '#domain/service-error.ts';
import { skipReasons } from '#domain/vocabulary.ts';
import { modelsResponse } from '#api/models.ts';
import { type TriggerResponse, triggerResponse } from '#api/trigger.ts';
import { cleanText } from '#text/text.ts';
import { checkDates } from './arguments.ts';
import {
  type Client,
  connect,
  findLastSession,
  hadNoTrading,
  LAST_SESSION,
  type LastSession,
  fetchNewestJobs,
  withJobSuggestion,
  Refused,
  Unavailable,
} from './client.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Status, statusResponse } from '#api/status.ts';
import { parseRun, splitStudy } from '#domain/runs.ts';
import { count, durationText, hint, compact, progressText } from '#text/sentences.ts';
import { createProgressLine } from './terminal.ts';

/** Creates a job on a running service, and follows one to its end. */

/** Failed model-days that are named at the end; a job may have thousands. */
const MAX_NAMED_FAILURES = 50;

/** The dates whose model-days have all ended, each as a line. */
export function finishedDates({ date_range, details }: Status): string[] {
  const byDate = Map.groupBy(details, ({ date }) => date);
  return date_range.flatMap((date) => {
    const ended = byDate.get(date) ?? [];
    if (ended.some(({ completed_at }) => completed_at === null)) return [];
    const counts = [...Map.groupBy(ended, ({ status }) => status)].map(
      ([status, { length }]) => `${length} ${status}`,
    );
    return [
      `${date} ${ended.every(({ status }) => status === 'completed') ? 'completed' : counts.join(', ')}`,
    ];
  });
}

/**
 * The result of a job in lines without control characters: its status, why it or its model-days
 * failed, its warnings.
 */
export function describeJobEnd(job: Status): string {
  const { status, total_duration_seconds, error, warnings, details } = job;
  const failures = details
    .filter((detail) => detail.status === 'failed')
    .map((detail) => `${detail.date} ${detail.model} failed: ${detail.error}`);
  const unnamed = failures.splice(MAX_NAMED_FAILURES).length;
  const outcome = status === 'partial' ? 'partly completed' : status;
  const time = durationText(total_duration_seconds ?? 0);
  const lines = compact([
    `Job ${outcome} after ${time}. Model-days: ${progressText(job)}.`,
    !!error && error,
    ...failures,
    unnamed > 0 && `and ${unnamed} more failed`,
    ...(warnings ?? []),
  ]);
  return lines.map(cleanText).join('\n');
}

const POLL_INTERVAL_MS = 200;
/** How long the service may be unreachable: one that restarts continues its job. */
const MAX_SILENCE_MS = 60_000;

/**
 * Follows a job to its end: a line per finished date, and on a terminal a bar below. Throws a
 * `ServiceError` for an unknown job, and when the service cannot be reached at first or for too
 * long. After `signal` it throws at the first failure. With `isNew`, the service has just created
 * the job, and may be unreachable at first too: it restarts.
 */
export async function followJob(
  client: Client,
  jobId: string,
  { signal, isNew = false }: { signal?: AbortSignal; isNew?: boolean },
): Promise<Status> {
  const bar = createProgressLine(process.stderr);
  const say = (line: string) => {
    bar.clear();
    process.stderr.write(`${line}\n`);
  };
  const path = `/simulate/status/${encodeURIComponent(jobId)}`;
  const printed = new Set<string>();
  let status = isNew
    ? await requestWithRetry(client, path, say)
    : await client.get(path, statusResponse);
  try {
    for (;;) {
      for (const line of finishedDates(status)) {
        if (!printed.has(line)) say(line);
        printed.add(line);
      }
      const { total_model_days: total, pending } = status.progress;
      bar.draw(total - pending, total, `${progressText(status)}, job ${status.status}`);
      if (status.completed_at !== null) return status;
      await sleep(POLL_INTERVAL_MS);
      status = await requestWithRetry(client, path, (problem) => {
        signal?.throwIfAborted();
        say(problem);
      });
    }
  } finally {
    bar.end();
  }
}

async function requestWithRetry(
  client: Client,
  path: string,
  onSilence: (problem: string) => void,
): Promise<Status> {
  const silentSince = performance.now();
  for (let tries = 1; ; tries += 1) {
    try {
      return await client.get(path, statusResponse);
    } catch (error) {
      if (!(error instanceof Unavailable) || performance.now() - silentSince > MAX_SILENCE_MS)
        throw error;
      if (tries === 1) onSilence(`${error.message}; trying again`);
      await sleep(POLL_INTERVAL_MS);
    }
  }
}

const NOT_COMPLETED = 1;
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
  return withJobSuggestion(client, watched, () => watchJob(client, watched));
}

/**
 * Follows a job to its end and prints its result; resolves to the exit code. A job that `isNew`
 * counts as failed, too, where prices are missing for another reason than that they are not out
 * yet; with `isLive`, it does not count as failed where that is its only trouble: a holiday looks
 * like that until the next session.
 */
async function watchJob(
  client: Client,
  jobId: string,
  { isNew = false, isLive = false } = {},
): Promise<number> {
  const status = await followJob(client, jobId, { isNew });
  const { late, isLacking } = isNew ? await findUnpricedDates(client, status) : { late: [] };
  const isIdle = status.status === 'failed' && status.progress.failed === 0;
  if (isLive && isIdle && late.length > 0 && !isLacking) {
    const warnings = status.warnings?.map(cleanText) ?? [];
    const nothing =
      `No prices yet for ${late.join(', ')}: a market holiday, or the price provider is late. ` +
      'The next scheduled run tries again.';
    process.stdout.write(`${[nothing, ...warnings].join('\n')}\n`);
    return 0;
  }
  process.stdout.write(`${describeJobEnd(status)}\n`);
  return status.status === 'completed' && !isLacking ? 0 : NOT_COMPLETED;
}

/**
 * The dates of a job that have no prices yet, and whether prices of any other date are missing,
 * apart from days without trading.
 */
async function findUnpricedDates(
  client: Client,
  { details, warnings, warning_codes: codes, terms }: Status,
): Promise<{ late: string[]; isLacking?: boolean }> {
  const notOut = warnings?.[codes?.indexOf('not_out_yet') ?? -1] ?? '';
  const skipped = details.filter((day) => day.error === skipReasons.noPriceData);
  const dates = [...new Set(skipped.map(({ date }) => date))];
  const late = dates.filter((date) => notOut.includes(date));
  for (const date of dates)
    if (!late.includes(date) && !(await hadNoTrading(client, date, terms.symbols)))
      return { late, isLacking: true };
  return { late };
}

async function newestJobId(client: Client): Promise<string> {
  const [newest] = await fetchNewestJobs(client, 1);
  if (newest === undefined) throw new ServiceError('job_not_found', 'There is no job to watch yet');
  return newest;
}

interface TriggerArguments
  extends Record<
      'start' | 'models' | 'universe' | 'study' | 'terms-of' | 'url',
      string | undefined
    >,
    Record<'replace' | 'change-terms' | 'watch', boolean> {
  end: string;
}

/**
 * The command `trigger`: creates a job on a running service and prints its id; with `--watch`
 * follows it and prints its result. 0 when it was created (with `--watch`: completed, and no prices
 * are missing), 1 when it was refused. Up to the last session, it is also 0 when nothing is left to do, and with `--watch`
 * when the prices are not out yet.
 */
export async function triggerJob({
  start,
  end,
  models,
  universe,
  study,
  'terms-of': termsOf,
  replace,
  'change-terms': changeTerms,
  watch,
  url,
}: TriggerArguments): Promise<number> {
  const isLive = end === LAST_SESSION;
  checkDates({ start, ...(!isLive && { end }) });
  const client = connect(url);
  const session = isLive ? await findLastSession(client) : null;
  if (session !== null) say(describeSession(session));
  const signatures = models?.split(',').map((signature) => signature.trim()) ?? null;
  if (signatures !== null) await refuseUnlisted(client, signatures);
  const request = {
    start_date: start ?? null,
    end_date: session?.date ?? end,
    models: signatures,
    replace_existing: replace,
    change_terms: changeTerms,
    ...(universe !== undefined && { universe }),
    ...(study !== undefined && { study }),
    ...(termsOf !== undefined && { terms_of: termsOf }),
  };
  const job = await createJob(client, request, isLive);
  if (job === null) return 0;
  const created = `Job created: ${count(job.total_model_days, 'model-day')}`;
  for (const line of [created, ...(job.warnings ?? [])]) say(line);
  if (watch) {
    say(`Job ${job.job_id}`);
    return watchJob(client, job.job_id, { isNew: true, isLive });
  }
  process.stdout.write(`${job.job_id}\n`);
  return 0;
}

/** Throws a `ServiceError` for a model that the service does not know, and would not simulate. */
async function refuseUnlisted(client: Client, names: readonly string[]): Promise<void> {
  const known = await client.get('/models', modelsResponse);
  if (known.is_dev_mode || known.configuration_error !== null) return;
  const listed = known.models.flatMap((own) => (own.configured ? own.signature : []));
  // What is wrong with the name of a run, or with none, the service says.
  const isUnlisted = (name: string) => {
    const { family } = parseRun(name);
    const { signature = family, study = '' } = splitStudy(family) ?? {};
    const names = [name, family, ...(['', ...known.studies].includes(study) ? [signature] : [])];
    return name !== '' && !names.some((one) => listed.includes(one));
  };
  const unlisted = names.find(isUnlisted);
  if (unlisted === undefined) return;
  const words = `Model '${unlisted}' is not in the configuration of the service${hint(unlisted, listed)}`;
  throw new ServiceError('cannot_start', words);
}

/** Null when there is nothing left to do, which is then said. */
async function createJob(
  client: Client,
  request: unknown,
  mayHaveNothingToDo: boolean,
): Promise<TriggerResponse | null> {
  try {
    return await client.post('/simulate/trigger', request, triggerResponse);
  } catch (error) {
    const isDone = error instanceof Refused && error.body['code'] === 'nothing_to_resume';
    if (!mayHaveNothingToDo || !isDone) throw error;
    say(String(error.body['detail']));
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
