import { triggerResponse } from '../handlers/trigger.ts';
import { cleanText } from '../text.ts';
import { checkDates, connect } from './connect.ts';
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
 * The command `trigger`: creates a job on a running service and prints its id; with `--watch` follows it and prints its
 * result. 0 when it was created (with `--watch`: completed), 1 when it was refused.
 */
export async function trigger({ start, end, models, universe, replace, watch, url }: Arguments): Promise<number> {
  checkDates({ start, end });
  const client = connect(url);
  const signatures = models?.split(',').map((signature) => signature.trim()) ?? null;
  const request = {
    start_date: start ?? null,
    end_date: end,
    models: signatures,
    replace_existing: replace,
    ...(universe !== undefined && { universe }), // older services do not know it
  };
  const job = await client.post('/simulate/trigger', request, triggerResponse);
  const lines = [job.message, ...(job.warnings ?? [])];
  process.stderr.write(lines.map((line) => `${cleanText(line)}\n`).join(''));
  if (watch) return watchJob(client, job.job_id);
  process.stdout.write(`${job.job_id}\n`);
  return 0;
}
