import type { Database } from '../database/database.ts';
import { type Closing, type ClosingHolding, closingsOf } from '../database/records/holdings.ts';
import type { LedgerDay } from '../database/records/performance.ts';
import { type Money, reported, toDollars } from '../basics/money.ts';
import { rounded } from './figure.ts';
import type { CalendarDate } from '../basics/calendar.ts';

/**
 * By symbol: what the chosen days end with minus what they began with, in exact money; null where a
 * price is unknown.
 */
export type ValueGains = ReadonlyMap<string, Money | null>;

/**
 * The profit on a symbol in the chosen days is the value of its shares at their closes, minus that
 * at the closes they started from, plus the cash that its actions brought in. So over all symbols
 * it adds up to the profit of these days, whether or not they are a whole chain. This is the part
 * without the cash. Where a day starts from a chosen one, the value in between cancels out and is
 * not read.
 */
export function readValueGains(
  database: Database,
  ledger: readonly LedgerDay[],
  chosen: ReadonlyMap<number, unknown>,
): ValueGains {
  const counts = boundaryCounts(ledger, chosen);
  const gains = new Map<string, Money | null>();
  const boundaries = [...counts].flatMap(([sessionId, count]) => (count === 0 ? [] : [sessionId]));
  for (const closing of closingsOf(database, boundaries))
    addClosing(gains, closing, counts.get(closing.sessionId) ?? 0);
  return gains;
}

/**
 * By session: how often its close is an end of a chosen day, minus how often it is the start of
 * one.
 */
export function boundaryCounts(
  ledger: readonly LedgerDay[],
  chosen: ReadonlyMap<number, unknown>,
): Map<number, number> {
  const counts = new Map<number, number>();
  const add = (sessionId: number, count: number) =>
    counts.set(sessionId, (counts.get(sessionId) ?? 0) + count);
  for (const { sessionId, startedFrom } of ledger) {
    if (!chosen.has(sessionId)) continue;
    add(sessionId, 1);
    if (startedFrom !== null) add(startedFrom, -1);
  }
  return counts;
}

/** Adds what is held at a close to the gains, so many times. */
export function addClosing(
  gains: Map<string, Money | null>,
  { holdings }: Pick<Closing, 'holdings'>,
  count: number,
): void {
  for (const { symbol, quantity, price } of holdings) {
    const before = gains.get(symbol);
    gains.set(
      symbol,
      price === null || before === null ? null : reported((before ?? 0) + count * quantity * price),
    );
  }
}

/**
 * A portfolio at the close, named as in the response. A weight is a share of the portfolio's value,
 * so that the weights of cash and holdings add up to 1; there are none of a portfolio that is worth
 * nothing.
 */
export function reportClosing({ date, cash, value, holdings }: Closing) {
  const weightOf = (part: Money) => (value === 0 ? null : rounded(part / value));
  const valued = holdings.map((holding) => ({ ...holding, value: valueOf(holding) }));
  return {
    date,
    cash: toDollars(cash),
    value: toDollars(value),
    cash_weight: weightOf(cash),
    holdings: highestFirst(valued, 'value').map(({ symbol, quantity, price, value: own }) => ({
      symbol,
      quantity,
      price: price === null ? null : toDollars(price),
      value: own === null ? null : toDollars(own),
      weight: own === null ? null : weightOf(own),
    })),
  };
}

function valueOf({ quantity, price }: ClosingHolding): Money | null {
  return price === null ? null : reported(quantity * price);
}

/** The highest first, equal ones by symbol; those of which it is unknown last. */
export function highestFirst<
  Name extends string,
  Item extends { symbol: string } & Record<Name, number | null>,
>(items: readonly Item[], name: Name): Item[] {
  const orderOf = (item: Item) => item[name] ?? -Number.MAX_VALUE;
  return items.toSorted(
    (one, other) => orderOf(other) - orderOf(one) || (one.symbol < other.symbol ? -1 : 1),
  );
}

/** One symbol over some days; a weight that is unknown makes the sum and the highest NaN. */
interface HeldSymbol {
  days: number;
  first: CalendarDate;
  last: CalendarDate;
  sum: number;
  highest: number;
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
        const held = bySymbol.get(symbol) ?? { days: 0, first: date, sum: 0, highest: 0 };
        const own = value === 0 ? 0 : (weight ?? NaN);
        bySymbol.set(symbol, {
          ...held,
          days: held.days + 1,
          last: date,
          sum: held.sum + own,
          highest: Math.max(held.highest, own),
        });
      }
    },
    report: () =>
      highestFirst(
        [...bySymbol].map(([symbol, held]) => reportSymbol(symbol, held, daysWithValue)),
        'mean_weight',
      ),
  };
}

function reportSymbol(
  symbol: string,
  { days, first, last, sum, highest }: HeldSymbol,
  daysWithValue: number,
) {
  const isKnown = !Number.isNaN(sum) && daysWithValue > 0;
  return {
    symbol,
    days,
    first_date: first,
    last_date: last,
    mean_weight: isKnown ? rounded(sum / daysWithValue) : null,
    highest_weight: isKnown ? highest : null,
  };
}
