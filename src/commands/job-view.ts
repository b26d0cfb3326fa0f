import { setTimeout as sleep } from 'node:timers/promises';
import type * as v from 'valibot';
import type { ModelDayStatus } from '../basics/domain.ts';
import { statusResponse } from '../api/status.ts';
import { duration, ranInWords } from '../basics/sentences.ts';
import { cleanText, cutText } from '../basics/text.ts';
import { createLiveBlock, progressBar, sizeOf } from './terminal.ts';
import { type Client, Unavailable } from './client.ts';

/** A job as text, while it runs and at its end; without control characters. */

export type JobStatusResponse = v.InferOutput<typeof statusResponse>;

const MAX_NAME_LENGTH = 24;
/** Failed model-days that are named at the end; a job may have thousands. */
const MAX_NAMED_FAILURES = 50;
const MARKS: Record<ModelDayStatus, string> = {
  completed: '#',
  failed: 'x',
  skipped: '-',
  running: '>',
  pending: '.',
};

/**
 * A progress bar and a grid of models and dates with a mark for each model-day, within the given
 * columns and rows.
 */
export function jobView(
  job: JobStatusResponse,
  { columns, rows }: { columns: number; rows: number },
): string[] {
  const { job_id, status, progress, date_range: dates, models, details } = job;
  const { total_model_days: total, pending } = progress;
  const bar = progressBar(total - pending, total, `${ranInWords(job)}, job ${status}`);
  const statusOf = new Map(
    details.map((detail) => [`${detail.date} ${detail.model}`, detail.status]),
  );
  const named = models.map((model) => ({
    model,
    name: cutText(cleanText(model), MAX_NAME_LENGTH),
  }));
  const nameWidth = Math.max(...named.map(({ name }) => name.length));
  const shown = datesInView(dates, { details, width: Math.max(1, columns - nameWidth - 1) });
  const grid = named.map(({ model, name }) => {
    const marks = shown.map((date) => MARKS[statusOf.get(`${date} ${model}`) ?? 'pending']);
    return `${name.padEnd(nameWidth)} ${marks.join('')}`;
  });
  const legend = legendOf(shown, columns);
  const room = Math.max(0, rows - 2 - legend.length);
  const hidden = grid.length - room;
  const list =
    hidden > 0 ? [...grid.slice(0, Math.max(0, room - 1)), `and ${hidden + 1} more models`] : grid;
  return [`job ${job_id}`, bar, ...list, ...legend].slice(0, rows);
}

const MEANINGS = '# completed, x failed, - skipped, > running, . pending';

/** The dates in view and what the marks mean, on two lines where one is too narrow. */
function legendOf(dates: readonly string[], columns: number): string[] {
  const span = `${dates[0]} to ${dates.at(-1)}:`;
  const line = `${span} ${MEANINGS}`;
  return line.length > columns && MEANINGS.length <= columns ? [span, MEANINGS] : [line];
}

/** If there are too many dates to fit, those around the first unfinished one. */
function datesInView(
  dates: readonly string[],
  { details, width }: { details: JobStatusResponse['details']; width: number },
): readonly string[] {
  if (dates.length <= width) return dates;
  const firstOpen = details.find(({ completed_at }) => completed_at === null);
  const start =
    (firstOpen ? dates.indexOf(firstOpen.date) : dates.length - 1) - Math.floor(width / 2);
  const first = Math.max(0, Math.min(start, dates.length - width));
  return dates.slice(first, first + width);
}

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
 * Follows a job to its end: a live view on a terminal, a line per finished date elsewhere. Throws a
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
  const block = createLiveBlock(stream);
  const path = `/simulate/status/${encodeURIComponent(jobId)}`;
  const printed = new Set<string>();
  let status = isNew
    ? await askPatiently(client, path, (problem) => stream.write(`${problem}\n`))
    : await client.get(path, statusResponse);
  try {
    for (;;) {
      const view = jobView(status, sizeOf(stream));
      block.draw(view);
      const finished = finishedDates(status).filter((line) => !printed.has(line));
      if (!stream.isTTY) for (const line of finished) stream.write(`${line}\n`);
      for (const line of finished) printed.add(line);
      if (status.completed_at !== null) return status;
      await sleep(POLL_INTERVAL_MS);
      status = await askPatiently(client, path, (problem) => {
        signal?.throwIfAborted();
        if (stream.isTTY) block.draw([...view.slice(0, -1), problem]);
        else stream.write(`${problem}\n`);
      });
    }
  } finally {
    block.end();
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
