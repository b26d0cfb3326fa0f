import { setTimeout as sleep } from 'node:timers/promises';
import { statusResponse } from '../handlers/status.ts';
import { type Client, Unavailable } from './client.ts';
import { type JobStatusResponse, finishedDates, jobView } from './job-view.ts';
import { createLiveBlock, sizeOf } from './progress.ts';

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
