import { triggerResponse } from '../handlers/trigger.ts';
import { cleanText } from '../text.ts';
import { connect, isDateOrNothing, readArguments, refuseUsage } from './arguments.ts';
import { watchJob } from './watch.ts';

const USAGE = 'trigger [--start DATE] --end DATE [--models A,B,...] [--replace] [--watch] [--url URL]';
const options = {
  start: { type: 'string' },
  end: { type: 'string' },
  models: { type: 'string' },
  replace: { type: 'boolean' },
  watch: { type: 'boolean' },
} as const;

/**
 * The command `trigger`: creates a job on a running service and prints its id, or with `--watch` follows it and prints
 * what came of it. 0 when it was created (with `--watch`: completed), 1 when it was refused, 2 for wrong arguments.
 */
export async function trigger(args: readonly string[]): Promise<number> {
  const given = readArguments(args, { options });
  if (typeof given === 'string') return refuseUsage(given, USAGE);
  const { start, end, models, replace, watch, url } = given.values;
  if (end === undefined) return refuseUsage('--end is missing', USAGE);
  for (const [name, date] of Object.entries({ start, end }))
    if (!isDateOrNothing(date)) return refuseUsage(`--${name}: expected a date YYYY-MM-DD, got ${date}`, USAGE);
  const client = connect(url);
  if (typeof client === 'string') return refuseUsage(client, USAGE);
  const signatures = typeof models === 'string' ? models.split(',').map((signature) => signature.trim()) : null;
  const request = { start_date: start ?? null, end_date: end, models: signatures, replace_existing: replace === true };
  const job = await client.post('/simulate/trigger', request, triggerResponse);
  const lines = [job.message, ...(job.warnings ?? [])];
  process.stderr.write(lines.map((line) => `${cleanText(line)}\n`).join(''));
  if (watch === true) return watchJob(client, job.job_id);
  process.stdout.write(`${job.job_id}\n`);
  return 0;
}
