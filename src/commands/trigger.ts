import type * as v from 'valibot';
import { triggerResponse } from '../handlers/trigger.ts';
import { NOTHING_TO_RESUME } from '../jobs/create.ts';
import { cleanText } from '../text.ts';
import { type Client, Refused } from './client.ts';
import { checkDates, connect } from './connect.ts';
import { LAST_SESSION, type LastSession, findLastSession } from './last-session.ts';
import { watchJob } from './watch.ts';

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
