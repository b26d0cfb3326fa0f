import { type CalendarDate, addDays, isWeekday } from './calendar.ts';

/** The trading day of the US exchanges. Holidays are not known here: prices show them. */

const NEW_YORK = 'America/New_York';
/** When the exchanges close, in New York; on a few days of the year it is earlier. */
const CLOSING_TIME = '16:00';

/**
 * Created at its first use: the first Intl format of a process takes 15 ms, which would delay the
 * service's start.
 */
let format: Intl.DateTimeFormat | undefined;

/**
 * The last date whose trading is over in New York, which may be a weekend: today once the exchanges
 * have closed, otherwise yesterday.
 */
export function closedThrough(now: Date): CalendarDate {
  format ??= new Intl.DateTimeFormat('en-US', {
    timeZone: NEW_YORK,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
  });
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, value]));
  const date = `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`;
  return `${parts.get('hour')}:${parts.get('minute')}` >= CLOSING_TIME ? date : addDays(date, -1);
}

/** The last weekday that is over in New York. */
export function lastWeekdayClosed(now: Date): CalendarDate {
  let date = closedThrough(now);
  while (!isWeekday(date)) date = addDays(date, -1);
  return date;
}
