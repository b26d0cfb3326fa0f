import * as v from 'valibot';
import { type CalendarDate, weekdaysBefore } from '../calendar.ts';
import { lastWeekdayClosed } from '../new-york.ts';
import type { Client } from './client.ts';

/** The date that means the last trading session, in place of YYYY-MM-DD. */
export const LAST_SESSION = 'last-session';

/** The exchanges have never been closed for so many weekdays in a row since 1914. */
const MAX_CLOSED_WEEKDAYS = 10;

/** The fields of the responses that are needed here. */
const health = v.object({ timestamp: v.pipe(v.string(), v.isoTimestamp()) });
const coverage = v.object({
  symbols: v.array(
    v.object({
      last_bar: v.nullable(v.string()),
      spans: v.array(v.object({ start_date: v.string(), end_date: v.string() })),
    }),
  ),
});

export interface LastSession {
  date: CalendarDate;
  /** Later weekdays, in order, of which the stored prices show that there was no trading. */
  withoutTrading: CalendarDate[];
}

/**
 * The last weekday that is over in New York by the service's clock; before it, while the service
 * knows that there was no trading. The command line works this out from `/health` and
 * `/prices/coverage`: a trigger takes only dates.
 */
export async function findLastSession(client: Client): Promise<LastSession> {
  const { timestamp } = await client.get('/health', health);
  const newest = lastWeekdayClosed(new Date(timestamp));
  const withoutTrading: CalendarDate[] = [];
  for (const date of [newest, ...weekdaysBefore(newest, MAX_CLOSED_WEEKDAYS).reverse()]) {
    if (!(await hadNoTrading(client, date))) return { date, withoutTrading };
    withoutTrading.unshift(date);
  }
  return { date: newest, withoutTrading: [] };
}

/**
 * Whether a date is covered and has no bar. The symbols that count are those with the newest bar of
 * all: the coverage of others may have ended long ago, or be that of another exchange.
 */
export async function hadNoTrading(client: Client, date: CalendarDate): Promise<boolean> {
  if ((await client.get(`/prices/coverage?date=${date}`, coverage)).symbols.length > 0)
    return false;
  const { symbols } = await client.get('/prices/coverage', coverage);
  const newestBar = symbols
    .flatMap(({ last_bar }) => last_bar ?? [])
    .sort()
    .at(-1);
  if (newestBar === undefined) return false;
  const isCovered = ({ spans }: (typeof symbols)[number]) =>
    spans.some(({ start_date, end_date }) => start_date <= date && date <= end_date);
  return symbols.filter(({ last_bar }) => last_bar === newestBar).every(isCovered);
}
