import { parseArgs } from 'node:util';
import { isCalendarDate } from '../calendar.ts';
import { messageOf } from '../domain.ts';
import { cleanText } from '../text.ts';
import { readSettings } from '../settings.ts';
import { type Client, createClient } from './client.ts';

/** What the commands share that are clients of a running service. */

export const WRONG_USAGE = 2;

type Options = Record<string, { type: 'string' | 'boolean' }>;

/** The values of a command's options by name, and its other arguments; or what is wrong with them, as a sentence. */
export function readArguments(
  args: readonly string[],
  { options, most = 0 }: { options: Options; most?: number },
): { values: Record<string, string | boolean | undefined>; rest: string[] } | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { ...options, url: { type: 'string' } },
      allowPositionals: true,
    });
    if (positionals.length > most) return `there is no argument ${JSON.stringify(positionals[most])}`;
    return { values: values as Record<string, string | boolean | undefined>, rest: positionals };
  } catch (error) {
    return messageOf(error);
  }
}

/** The service that `--url` names, else API_URL, else the one on this machine; or what is wrong with `--url`. */
export function connect(url: string | boolean | undefined): Client | string {
  const { apiUrl, apiPort, apiToken } = readSettings(process.env);
  const wanted = typeof url === 'string' ? url : (apiUrl ?? `http://127.0.0.1:${apiPort}`);
  const parsed = /^https?:\/\//i.test(wanted) && URL.canParse(wanted) ? new URL(wanted) : null;
  if (parsed === null) return '--url: expected a URL that starts with http:// or https://';
  if (parsed.username !== '' || parsed.password !== '')
    return 'the URL must hold no password; an access token comes from API_TOKEN';
  if (parsed.search !== '' || parsed.hash !== '') return 'the URL must end with its path';
  return createClient(wanted, apiToken);
}

export function isDateOrNothing(value: unknown): boolean {
  return value === undefined || isCalendarDate(value);
}

/** Tells what is wrong and how it is right; returns the exit code. */
export function refuseUsage(problem: string, usage: string): number {
  process.stderr.write(`${cleanText(problem)}\nUsage: node server.js ${usage}\n`);
  return WRONG_USAGE;
}
