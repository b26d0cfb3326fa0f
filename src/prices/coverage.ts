import type { CalendarDate } from '../calendar.ts';
import type { Coverage } from '../database/prices.ts';

/** What is stored, as facts for the functions below. */
export interface StoredPrices {
  bars: readonly { symbol: string; date: CalendarDate }[];
  coverage: readonly Coverage[];
}

/**
 * Whether a date can be simulated. `available`: it has prices. `no_trading`: its prices are known, and there are none
 * (a holiday). `missing`: nobody has asked, or nobody could answer.
 */
export type Availability = 'available' | 'no_trading' | 'missing';

export interface DatePrices {
  date: CalendarDate;
  availability: Availability;
  /** Universe symbols without a bar and without coverage on this date. */
  missing: string[];
}

/**
 * Looks at each date: available when every symbol of the universe has a bar or is covered, and at least one has a bar.
 * With `oneBarIsEnough` (nothing can be downloaded) a single bar makes a date available, and a single covered symbol
 * makes a day without bars a day without trading.
 */
export function examineDates(
  dates: readonly CalendarDate[],
  { universe, stored, oneBarIsEnough }: { universe: readonly string[]; stored: StoredPrices; oneBarIsEnough: boolean },
): DatePrices[] {
  const barsOf = groupBy(
    stored.bars,
    ({ symbol }) => symbol,
    ({ date }) => date,
  );
  const spansOf = groupBy(
    stored.coverage,
    ({ symbol }) => symbol,
    (span) => span,
  );
  return dates.map((date) => {
    const withBar = universe.filter((symbol) => barsOf.get(symbol)?.has(date));
    const covered = universe.filter((symbol) =>
      [...(spansOf.get(symbol) ?? [])].some(({ startDate, endDate }) => startDate <= date && date <= endDate),
    );
    const known = new Set([...withBar, ...covered]);
    const missing = universe.filter((symbol) => !known.has(symbol));
    return {
      date,
      missing,
      availability: judge({ bars: withBar.length, known: known.size, missing: missing.length, oneBarIsEnough }),
    };
  });
}

function judge({
  bars,
  known,
  missing,
  oneBarIsEnough,
}: {
  bars: number;
  known: number;
  missing: number;
  oneBarIsEnough: boolean;
}): Availability {
  const isKnown = oneBarIsEnough ? known > 0 : missing === 0;
  if (!isKnown) return 'missing';
  return bars > 0 ? 'available' : 'no_trading';
}

function groupBy<Item, Value>(
  items: readonly Item[],
  key: (item: Item) => string,
  value: (item: Item) => Value,
): Map<string, Set<Value>> {
  const groups = new Map<string, Set<Value>>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), new Set([value(item)]));
    else group.add(value(item));
  }
  return groups;
}
