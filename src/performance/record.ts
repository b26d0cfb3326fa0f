import type { CalendarDate } from '../calendar.ts';
import type { LedgerDay, UsageTotals } from '../database/records/performance.ts';
import type { Money } from '../money.ts';
import type { Levels } from './benchmark.ts';

/** What the figures of one model are made of. */
export interface ModelRecord {
  /** The chosen days, at least one, and all that they started from; each after its past. */
  ledger: readonly LedgerDay[];
  /** The chosen days by session, each with the date of the day it started from; null for the initial cash. */
  chosen: ReadonlyMap<number, CalendarDate | null>;
  staleDates: ReadonlySet<CalendarDate>;
  usage: UsageTotals;
  benchmark: Levels;
  /** What a share was worth at the last day's close; null when no price of the symbol is stored. */
  markOf: (symbol: string) => Money | null;
  /** Per day. */
  riskFree: number;
}
