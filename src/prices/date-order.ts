import { type CalendarDate, addDays, isWeekday } from '../calendar.ts';

/** A date of the job on which something is missing. */
export interface DayNeed {
  date: CalendarDate;
  /** Whether the date cannot be simulated without it; else a close or a holding outside the universe is missing. */
  isRequired: boolean;
}

/**
 * The order in which to request days so that, whenever the provider's limit stops it, as many dates of the job as possible are
 * complete, and of these the earliest: a day that is filled in later makes those after it stale. Every date appears once.
 */
export function dateOrder(needs: readonly DayNeed[]): CalendarDate[] {
  const rank = ({ isRequired }: DayNeed) => (isRequired ? 0 : 1);
  const ordered = [...needs].sort((one, other) => rank(one) - rank(other) || (one.date < other.date ? -1 : 1));
  return [...new Set(ordered.map(({ date }) => date))];
}

/** What a provider refused and answered so far: its plan begins somewhere in between. */
export interface Horizon {
  /** The latest date that was refused because it is too old. */
  tooOld: CalendarDate | null;
  /** The earliest date that was refused because it is too new. */
  tooNew: CalendarDate | null;
  /** The earliest date that was answered. */
  answered: CalendarDate | null;
}

/** Refused later than this many days before today, a date is too new: plans end with today or yesterday. */
const TOO_NEW_DAYS = 4;

export function noteRefusal(horizon: Horizon, date: CalendarDate, today: CalendarDate): void {
  if (date > addDays(today, -TOO_NEW_DAYS)) {
    if (horizon.tooNew === null || date < horizon.tooNew) horizon.tooNew = date;
  } else if (horizon.tooOld === null || date > horizon.tooOld) horizon.tooOld = date;
}

export function noteAnswer(horizon: Horizon, date: CalendarDate): void {
  if (horizon.answered === null || date < horizon.answered) horizon.answered = date;
}

export function isBeyond({ tooOld, tooNew }: Horizon, date: CalendarDate): boolean {
  return (tooOld !== null && date <= tooOld) || (tooNew !== null && date >= tooNew);
}

/**
 * The next of the dates to request, which are in order. Once a date was too old, the middle one of those that may be too old as
 * well: a plan that begins within the job costs a few refused requests, not one for each date.
 */
export function nextDate(order: readonly CalendarDate[], horizon: Horizon): CalendarDate | undefined {
  const { tooOld, answered } = horizon;
  if (tooOld === null) return order[0];
  const doubtful = order.filter((date) => answered === null || date < answered).sort();
  return doubtful.length > 0 ? doubtful[Math.floor(doubtful.length / 2)] : order[0];
}

/** The weekday before a date. */
export function weekdayBefore(date: CalendarDate): CalendarDate {
  let day = addDays(date, -1);
  while (!isWeekday(day)) day = addDays(day, -1);
  return day;
}
