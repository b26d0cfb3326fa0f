import { isCalendarDate } from '../calendar.ts';
import { HTTP_URL, isHttpUrl } from '../http-values.ts';
import { readSettings } from '../settings.ts';
import { WrongUsage } from './arguments.ts';
import { type Client, createClient } from './client.ts';

/** What the client commands share. */

/**
 * The service at `--url`, otherwise API_URL, otherwise the one on this machine. Throws a
 * `WrongUsage` for an invalid URL.
 */
export function connect(url: string | undefined): Client {
  const { apiUrl, apiPort, apiToken } = readSettings(process.env);
  const wanted = url ?? apiUrl ?? `http://127.0.0.1:${apiPort}`;
  if (!isHttpUrl(wanted)) throw new WrongUsage(`--url: expected ${HTTP_URL}`);
  const { username, password, search, hash } = new URL(wanted);
  if (username !== '' || password !== '')
    throw new WrongUsage(
      'the URL must not contain a password; an access token comes from API_TOKEN',
    );
  if (search !== '' || hash !== '') throw new WrongUsage('the URL must end with its path');
  return createClient(wanted, apiToken);
}

/** Throws a `WrongUsage` that names the first option that is not a date. */
export function checkDates(dates: Record<string, string | undefined>): void {
  for (const [name, date] of Object.entries(dates))
    if (date !== undefined && !isCalendarDate(date))
      throw new WrongUsage(`--${name}: expected a date YYYY-MM-DD, got ${date}`);
}
