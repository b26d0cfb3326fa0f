import { type CalendarDate, dateOf, isCalendarDate } from '../calendar.ts';

/**
 * Nothing on the web is older than the web: an earlier time stamp, like 1970-01-01, comes from a
 * clock that was never set.
 */
const EARLIEST_DATE = '1990-01-01';
const MAX_STAMP_LENGTH = 64;
const MINUTE_MS = 60_000;

const WEEKDAY = '(?:(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?\\.?,? )?';
const MONTH = '(?<month>[a-z]{3,9})\\.?';
const YEAR = '(?<year>\\d{4})';
const CLOCK = '(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d)(?::(?:[0-5]\\d|60)(?:[.,]\\d{1,9})?)?';
const OFFSET = '[+-](?:0\\d|1[0-4])(?::?[0-5]\\d)?';
const ZONE = `(?<zone>z|ut|utc|gmt|[ecmp][sd]t|${OFFSET})`;
const TIME = `${CLOCK}(?: ?${ZONE})?`;

/** ISO 8601; RFC 2822 and `5 January 2025`; `Jan 5, 2025`. */
const FORMS = [
  `${YEAR}-(?<month>\\d{2})-(?<day>\\d{2})(?:[t ]${TIME})?`,
  `${WEEKDAY}(?<day>\\d{1,2}) ${MONTH} ${YEAR}(?: ${TIME})?`,
  `${WEEKDAY}${MONTH} (?<day>\\d{1,2}),? ${YEAR}`,
].map((form) => new RegExp(`^${form}$`, 'i'));

const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];
/** Hours from UTC by the first letter of a North American zone's standard time. */
const STANDARD_TIMES: Record<string, number> = { e: -5, c: -6, m: -7, p: -8 };

/**
 * The date on which something says it was published, or null when that is uncertain. A time with a
 * zone counts as its date in UTC; a date without a time, and a time without a zone, are taken as
 * they are. Relative dates ("3 days ago") refer to the real clock and do not count, nor do
 * ambiguous ("1/5/2025") or impossible ones.
 */
export function publicationDate(stamp: unknown): CalendarDate | null {
  if (typeof stamp !== 'string' || stamp.length > MAX_STAMP_LENGTH) return null;
  const text = stamp.trim().replace(/\s+/g, ' ');
  const parts = FORMS.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  if (parts === undefined) return null;
  const { year, month = '', day = '', hour, minute, zone } = parts;
  const date = `${year}-${monthNumber(month)}-${day.padStart(2, '0')}`;
  if (!isCalendarDate(date)) return null;
  const published =
    zone === undefined
      ? date
      : dateOf(
          new Date(Date.parse(`${date}T${hour}:${minute}Z`) - offsetMinutes(zone) * MINUTE_MS),
        );
  return published < EARLIEST_DATE ? null : published;
}

/**
 * Two digits, from digits or from an English month name or its abbreviation; `00` for anything
 * else.
 */
function monthNumber(text: string): string {
  if (/^\d/.test(text)) return text;
  const index = MONTHS.findIndex((name) => name.startsWith(text.toLowerCase()));
  return String(index + 1).padStart(2, '0');
}

function offsetMinutes(zone: string): number {
  const [, sign, hours, minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? [];
  if (sign !== undefined) return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  const [first = '', season] = zone.toLowerCase();
  const standard = STANDARD_TIMES[first];
  return standard === undefined ? 0 : (standard + (season === 'd' ? 1 : 0)) * 60;
}
