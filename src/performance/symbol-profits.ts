import type { Database } from '../database/database.ts';
import { CLOSINGS_PER_STEP, type Closing, closingsOf } from '../database/records/closings.ts';
import type { LedgerDay } from '../database/records/performance.ts';
import { type Money, reported } from '../money.ts';

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
  const counts = [...boundaryCounts(ledger, chosen)].filter(([, count]) => count !== 0);
  const gains = new Map<string, Money | null>();
  for (let start = 0; start < counts.length; start += CLOSINGS_PER_STEP) {
    const slice = new Map(counts.slice(start, start + CLOSINGS_PER_STEP));
    for (const closing of closingsOf(database, [...slice.keys()]))
      addClosing(gains, closing, slice.get(closing.sessionId) ?? 0);
  }
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
