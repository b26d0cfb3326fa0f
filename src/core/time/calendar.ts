/**
 * Dates without a time of day, as `YYYY-MM-DD` text; they sort as text. All arithmetic is in UTC.
 */
export type CalendarDate = string;

/** From one date to another, both included. */
export interface DateSpan {
  from: CalendarDate;
  to: CalendarDate;
}

/** The source of "now"; tests set it. */
export type Clock = () => Date;

/**
 * Another clock that is never before `earliest`, and that continues at the speed of the machine
 * when the first is set back: a duration taken from it is at least what passed.
 */
export function steadyClock(clock: Clock, earliest = ''): Clock {
  let ahead = (Date.parse(earliest) || 0) - performance.now();
  return () => {
    const passed = performance.now();
    ahead = Math.max(ahead, clock().getTime() - passed);
    return new Date(ahead + passed);
  };
}

/**
 * No request, file or provider may use an earlier date. No price of interest is older, and clients
 * in other languages cannot read the year 0000.
 */
export const EARLIEST_DATE: CalendarDate = '1900-01-01';

const DAY_MS = 86_400_000;
const SATURDAY = 6;
const SUNDAY = 0;

/**
 * Whether the text is a zero-padded `YYYY-MM-DD` that exists in the calendar, not before
 * `EARLIEST_DATE`.
 */
export function isCalendarDate(text: unknown): text is CalendarDate {
  return isRealDate(text) && text >= EARLIEST_DATE;
}

/** Whether the text is a valid date except that it is before `EARLIEST_DATE`. */
export function isTooEarly(text: unknown): boolean {
  return isRealDate(text) && text < EARLIEST_DATE;
}

const DATE = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;

function isRealDate(text: unknown): text is CalendarDate {
  if (typeof text !== 'string' || !DATE.test(text)) return false;
  return Number(text.slice(8)) <= 28 || utcDate(new Date(`${text}T00:00Z`)) === text;
}

/** Puts what has a date in order; of one date as it was. */
export function byDate(one: { date: CalendarDate }, other: { date: CalendarDate }): number {
  return one.date < other.date ? -1 : Number(one.date > other.date);
}

/** The UTC date of an instant. */
export function utcDate(instant: Date): CalendarDate {
  return instant.toISOString().slice(0, 10);
}

export function addDays(date: CalendarDate, days: number): CalendarDate {
  return utcDate(new Date(Date.parse(date) + days * DAY_MS));
}

/** Calendar days from start to end, both included; 0 or less when start is after end. */
export function countDays(start: CalendarDate, end: CalendarDate): number {
  return Math.round((Date.parse(end) - Date.parse(start)) / DAY_MS) + 1;
}

export function isWeekday(date: CalendarDate): boolean {
  const day = new Date(date).getUTCDay();
  return day !== SATURDAY && day !== SUNDAY;
}

/** Every Monday to Friday from start to end, both included, in order. */
export function weekdays(start: CalendarDate, end: CalendarDate): CalendarDate[] {
  const dates: CalendarDate[] = [];
  for (let date = start; date <= end; date = addDays(date, 1))
    if (isWeekday(date)) dates.push(date);
  return dates;
}

/**
 * How many Mondays to Fridays there are from start to end, both included; 0 when start is after
 * end.
 */
export function countWeekdays(start: CalendarDate, end: CalendarDate): number {
  return Math.max(
    0,
    weekdaysUntil(Date.parse(end) / DAY_MS + 1) - weekdaysUntil(Date.parse(start) / DAY_MS),
  );
}

/**
 * Weekdays before a day, which is numbered from 1970-01-01, a Thursday; counted from the Monday
 * before that.
 */
function weekdaysUntil(day: number): number {
  const weeks = Math.floor((day + 3) / 7);
  return weeks * 5 + Math.min(5, day + 3 - weeks * 7);
}

/** The weekday before a date. */
export function weekdayBefore(date: CalendarDate): CalendarDate {
  let day = addDays(date, -1);
  while (!isWeekday(day)) day = addDays(day, -1);
  return day;
}

/** The last `count` weekdays before a date, in order. */
export function weekdaysBefore(date: CalendarDate, count: number): CalendarDate[] {
  const dates: CalendarDate[] = [];
  for (let day = weekdayBefore(date); dates.length < count; day = weekdayBefore(day))
    dates.unshift(day);
  return dates;
}

/** UTC, ISO 8601, milliseconds, trailing Z: the only form of timestamp that the service writes. */
export function timestamp(instant: Date): string {
  return instant.toISOString();
}

/** The trading day of the US exchanges. Holidays are not known here: prices show them. */

const NEW_YORK = 'America/New_York';
/** When the exchanges close, in New York; on a few days of the year it is earlier. */
const CLOSING_TIME = '16:00';

/**
 * By time zone. Created at their first use: the first Intl format of a process takes 15 ms, which
 * would delay the service's start.
 */
const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * The last date whose trading is over in New York, which may be a weekend: today once the exchanges
 * have closed, otherwise yesterday.
 */
export function closedThrough(now: Date): CalendarDate {
  const { date, time } = newYorkTime(now);
  return time >= CLOSING_TIME ? date : addDays(date, -1);
}

/** An instant by the clocks of New York: its date, and its time as `16:00`. */
export function newYorkTime(instant: Date): { date: CalendarDate; time: string } {
  return localTime(NEW_YORK, instant);
}

function localTime(timeZone: string, instant: Date): { date: CalendarDate; time: string } {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  formats.set(timeZone, format);
  const [date = '', time = ''] = format.format(instant).split(' '); // Swedes write 2025-11-10 16:00
  return { date, time };
}

export function isTimeZone(name: string): boolean {
  try {
    localTime(name, new Date(0));
    return true;
  } catch {
    return false;
  }
}

/** As below, for New York. */
export function newYorkInstant(date: CalendarDate, time: string): Date {
  return zonedInstant(NEW_YORK, date, time);
}

/**
 * When the clocks of a place show a time (`09:30` or `09:30:00`) of a date: the later instant where
 * they show it twice or never.
 */
export function zonedInstant(timeZone: string, date: CalendarDate, time: string): Date {
  const asUtc = Date.parse(`${date}T${time}Z`);
  const minute = asUtc - (asUtc % 60_000);
  // The clocks of a day before and after, between which they may be changed.
  const offsets = [-DAY_MS, DAY_MS].map((away) => {
    const { date: own, time: shown } = localTime(timeZone, new Date(minute + away));
    return Date.parse(`${own}T${shown}Z`) - (minute + away);
  });
  const [early = NaN, late = NaN] = offsets.map((offset) => asUtc - offset).sort((a, b) => a - b);
  const isShown = (instant: number) =>
    localTime(timeZone, new Date(instant)).time === time.slice(0, 5);
  return new Date(isShown(early) && !isShown(late) ? early : late);
}

/** The last weekday that is over in New York. */
export function lastWeekdayClosed(now: Date): CalendarDate {
  return weekdayBefore(addDays(closedThrough(now), 1));
}
