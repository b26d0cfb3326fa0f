import { addDays, type CalendarDate, isWeekday } from '../basics/calendar.ts';

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
  const rank = ({ isRequired }: DayNeed) => (isRequired ? 0 : 1);
  const ordered = [...needs].sort(
    (one, other) => rank(one) - rank(other) || (one.date < other.date ? -1 : 1),
  );
  return [...new Set(ordered.map(({ date }) => date))];
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

/** The weekday before a date. */
export function weekdayBefore(date: CalendarDate): CalendarDate {
  let day = addDays(date, -1);
  while (!isWeekday(day)) day = addDays(day, -1);
  return day;
}

/** A date and the symbols without which it cannot be simulated. */
export interface DateNeed {
  date: CalendarDate;
  missing: readonly string[];
}

/**
 * With more different sets of missing symbols than this, the search for the best order would take
 * too long.
 */
const MAX_EXACT_SETS = 16;

/**
 * The order in which to download symbols so that as many dates as possible are complete whenever
 * the provider's limit is reached. If `downloadsLeft` is known, that many downloads complete the
 * most dates possible (exactly, if the dates have at most `MAX_EXACT_SETS` different sets of
 * missing symbols); otherwise, and after that, dates with the fewest missing symbols come first.
 * Every missing symbol appears once.
 */
export function downloadOrder(needs: readonly DateNeed[], downloadsLeft: number | null): string[] {
  const sets = distinctSets(needs);
  const greedy = greedyOrder(sets);
  if (downloadsLeft === null || downloadsLeft >= greedy.length) return greedy;
  const best = bestWithin(sets, downloadsLeft);
  const chosen = greedyOrder(best).filter((symbol) =>
    best.some(({ missing }) => missing.has(symbol)),
  );
  if (completedBy(sets, greedy.slice(0, downloadsLeft)) >= completedBy(sets, chosen)) return greedy;
  const taken = new Set(chosen);
  return [...chosen, ...greedyOrder(sets, taken).filter((symbol) => !taken.has(symbol))];
}

/** Dates that miss the same symbols are completed together. */
interface MissingSet {
  missing: Set<string>;
  dates: number;
}

function distinctSets(needs: readonly DateNeed[]): MissingSet[] {
  const sets = new Map<string, MissingSet>();
  for (const { missing } of needs) {
    if (missing.length === 0) continue;
    const key = [...missing].sort().join(' ');
    const set = sets.get(key);
    if (set === undefined) sets.set(key, { missing: new Set(missing), dates: 1 });
    else set.dates += 1;
  }
  return [...sets.values()];
}

/**
 * Repeatedly takes the set with the fewest missing symbols; of equals, the one that completes more
 * dates.
 */
function greedyOrder(
  sets: readonly MissingSet[],
  there: ReadonlySet<string> = new Set(),
): string[] {
  const order = new Set(there);
  const left = [...sets];
  while (left.length > 0) {
    const costs = left.map(({ missing }) => missing.difference(order).size);
    const least = Math.min(...costs);
    const next = left.reduce(
      (best, set, index) =>
        costs[index] === least && set.dates > (left[best]?.dates ?? 0) ? index : best,
      costs.indexOf(least),
    );
    const [set] = left.splice(next, 1);
    for (const symbol of set?.missing ?? []) order.add(symbol);
  }
  return [...order].filter((symbol) => !there.has(symbol));
}

/**
 * The sets that `downloads` downloads can complete at best, by exhaustive search; greedy when there
 * are too many.
 */
function bestWithin(sets: readonly MissingSet[], downloads: number): MissingSet[] {
  if (sets.length > MAX_EXACT_SETS) return [];
  let best: MissingSet[] = [];
  let bestDates = 0;
  const choose = (index: number, chosen: MissingSet[], symbols: ReadonlySet<string>) => {
    const dates = chosen.reduce((sum, set) => sum + set.dates, 0);
    if (dates > bestDates) [best, bestDates] = [chosen, dates];
    const possible = sets.slice(index).reduce((sum, set) => sum + set.dates, dates);
    const set = sets[index];
    if (set === undefined || possible <= bestDates) return;
    const union = symbols.union(set.missing);
    if (union.size <= downloads) choose(index + 1, [...chosen, set], union);
    choose(index + 1, chosen, symbols);
  };
  choose(0, [], new Set());
  return best;
}

function completedBy(sets: readonly MissingSet[], symbols: readonly string[]): number {
  const there = new Set(symbols);
  return sets.reduce((sum, { missing, dates }) => sum + (missing.isSubsetOf(there) ? dates : 0), 0);
}
