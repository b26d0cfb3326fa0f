import type { CalendarDate } from '../calendar.ts';
import { rounded } from './figure.ts';
import type { reportClosing } from './weights.ts';

/** One symbol over some days; a weight that is unknown makes the sum and the highest unknown. */
interface HeldSymbol {
  days: number;
  first: CalendarDate;
  last: CalendarDate;
  sum: number | null;
  highest: number | null;
}

interface HeldSymbols {
  /** Adds a day; days come in order. */
  add(closing: ReturnType<typeof reportClosing>): void;
  /** Each symbol, the one with the highest mean weight first, named as in the response. */
  report(): ReturnType<typeof reportSymbol>[];
}

/**
 * What each symbol was in a portfolio over some days. The mean weight is over all days on which the
 * portfolio was worth something: on those without the symbol its weight is 0. It is null where one
 * of its weights is unknown.
 */
export function collectHeldSymbols(): HeldSymbols {
  const bySymbol = new Map<string, HeldSymbol>();
  let daysWithValue = 0;
  return {
    add({ date, value, holdings }) {
      if (value !== 0) daysWithValue += 1;
      for (const { symbol, weight } of holdings) {
        const held = bySymbol.get(symbol) ?? {
          days: 0,
          first: date,
          last: date,
          sum: 0,
          highest: 0,
        };
        bySymbol.set(symbol, held);
        held.days += 1;
        held.last = date;
        if (value === 0) continue;
        held.sum = held.sum === null || weight === null ? null : held.sum + weight;
        held.highest =
          held.highest === null || weight === null ? null : Math.max(held.highest, weight);
      }
    },
    report: () =>
      [...bySymbol]
        .map(([symbol, held]) => reportSymbol(symbol, held, daysWithValue))
        .sort(byMeanWeight),
  };
}

function reportSymbol(
  symbol: string,
  { days, first, last, sum, highest }: HeldSymbol,
  daysWithValue: number,
) {
  const isKnown = sum !== null && daysWithValue > 0;
  return {
    symbol,
    days,
    first_date: first,
    last_date: last,
    mean_weight: isKnown ? rounded(sum / daysWithValue) : null,
    highest_weight: isKnown ? highest : null,
  };
}

/** Unknown ones last, equal ones by symbol. */
function byMeanWeight(
  one: { symbol: string; mean_weight: number | null },
  other: typeof one,
): number {
  const difference = (other.mean_weight ?? -1) - (one.mean_weight ?? -1);
  if (difference !== 0) return difference;
  return one.symbol < other.symbol ? -1 : 1;
}
