import type { CalendarDate } from '#time/calendar.ts';

/** A date of the job on which something is missing. */
export interface DayNeed {
  date: CalendarDate;
  /**
   * Whether the date cannot be simulated without it; else a close or a holding outside the universe
   * is missing.
   */
  isRequired: boolean;
}

/**
 * The order in which to request days so that, whenever the provider's limit stops it, as many dates
 * of the job as possible are complete, and of these the earliest: a day that is filled in later
 * makes those after it stale. Every date appears once.
 */
export function dateOrder(needs: readonly DayNeed[]): CalendarDate[] {
  const dates = needs.map(({ date }) => date).sort();
  const required = new Set(needs.flatMap(({ date, isRequired }) => (isRequired ? date : [])));
  return [...new Set([...dates.filter((date) => required.has(date)), ...dates])];
}

/**
 * Which dates a provider refused, because the plan does not include them, and which it supplied:
 * the plan is a span of dates.
 */
export interface Horizon {
  refused: readonly CalendarDate[];
  supplied: readonly CalendarDate[];
}

export function noteRefusal(horizon: Horizon, date: CalendarDate): void {
  horizon.refused = [...horizon.refused, date].sort();
}

export function noteSupply(horizon: Horizon, date: CalendarDate): void {
  horizon.supplied = [...horizon.supplied, date].sort();
}

/**
 * Whether a date need not be requested: it was refused, or is as old as one that is too old, or as
 * new as one that is too new. Before any date was supplied, it is open which of the two a refusal
 * means; two refusals are taken to mean that dates are too old.
 */
export function isBeyond({ refused, supplied }: Horizon, date: CalendarDate): boolean {
  const [first, last] = [supplied[0], supplied.at(-1)];
  if (refused.includes(date)) return true;
  if (first === undefined || last === undefined)
    return refused.some((other) => date < other) && refused.length > 1;
  return refused.some((other) => (other < first && date < other) || (other > last && date > other));
}

/**
 * The next of the dates to request, which are in order. Once a date was too old, the middle one of
 * those that may be too old as well: a plan that begins within the job costs a few refused
 * requests, not one for each date.
 */
export function nextDate(
  order: readonly CalendarDate[],
  { refused, supplied }: Horizon,
): CalendarDate | undefined {
  const [first] = supplied;
  if (!refused.some((date) => first === undefined || date < first)) return order[0];
  const doubtful = order.filter((date) => first === undefined || date < first).sort();
  return doubtful.length > 0 ? doubtful[Math.floor(doubtful.length / 2)] : order[0];
}

/**
 * The order in which to download symbols: those of the date that misses the fewest come first, and
 * of equals those of the earliest, so that many dates are complete wherever the provider's limit is
 * reached. Every missing symbol appears once.
 */
export function downloadOrder(needs: readonly { missing: readonly string[] }[]): string[] {
  const order = new Set<string>();
  let left = needs.map(({ missing }) => new Set(missing));
  for (;;) {
    left = left.map((missing) => missing.difference(order)).filter(({ size }) => size > 0);
    const [first] = left;
    if (first === undefined) return [...order];
    const fewest = left.reduce((least, missing) => (missing.size < least.size ? missing : least));
    for (const symbol of fewest) order.add(symbol);
  }
}
