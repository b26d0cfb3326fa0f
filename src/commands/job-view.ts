import { setTimeout as sleep } from 'node:timers/promises';
import type * as v from 'valibot';
import { statusResponse } from '../api/status.ts';
import { duration, ranInWords } from '../basics/sentences.ts';
import { cleanText } from '../basics/text.ts';
import { createProgressLine } from './terminal.ts';
import { type Client, Unavailable } from './client.ts';

/** A job as text, while it runs and at its end; without control characters. */

export type JobStatusResponse = v.InferOutput<typeof statusResponse>;

/** Failed model-days that are named at the end; a job may have thousands. */
const MAX_NAMED_FAILURES = 50;

/** The dates whose model-days have all ended, each as a line. */
export function finishedDates({ date_range, details }: JobStatusResponse): string[] {
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

/** The result of a job, in lines: its status, why it or its model-days failed, its warnings. */
export function describeEnd(job: JobStatusResponse): string {
  const { status, total_duration_seconds, error, warnings, details } = job;
  const failures = details
    .filter((detail) => detail.status === 'failed')
    .map((detail) => `${detail.date} ${detail.model} failed: ${detail.error}`);
  const unnamed = failures.length - MAX_NAMED_FAILURES;
  return [
    `The job is ${status} after ${duration(total_duration_seconds ?? 0)}: ${ranInWords(job)}.`,
    ...(error ? [error] : []),
    ...failures.slice(0, MAX_NAMED_FAILURES),
    ...(unnamed > 0 ? [`and ${unnamed} more failed`] : []),
    ...(warnings ?? []),
  ]
    .map(cleanText)
    .join('\n');
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
  {
    stream,
    signal,
    isNew = false,
  }: { stream: NodeJS.WriteStream; signal?: AbortSignal; isNew?: boolean },
): Promise<JobStatusResponse> {
  const bar = createProgressLine(stream);
  const say = (line: string) => {
    bar.clear();
    stream.write(`${line}\n`);
  };
  const path = `/simulate/status/${encodeURIComponent(jobId)}`;
  const printed = new Set<string>();
  let status = isNew
    ? await askPatiently(client, path, say)
    : await client.get(path, statusResponse);
  try {
    for (;;) {
      for (const line of finishedDates(status)) {
        if (!printed.has(line)) say(line);
        printed.add(line);
      }
      const { total_model_days: total, pending } = status.progress;
      bar.draw(total - pending, total, `${ranInWords(status)}, job ${status.status}`);
      if (status.completed_at !== null) return status;
      await sleep(POLL_INTERVAL_MS);
      status = await askPatiently(client, path, (problem) => {
        signal?.throwIfAborted();
        say(problem);
      });
    }
  } finally {
    bar.end();
  }
}

async function askPatiently(
  client: Client,
  path: string,
  onSilence: (problem: string) => void,
): Promise<JobStatusResponse> {
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
