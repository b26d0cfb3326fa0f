import type { CalendarDate } from '../calendar.ts';
import {
  type LedgerDay,
  type UsageTotals,
  ledgerDays,
  usageTotals,
} from '../database/records/performance.ts';
import { staleAmong } from '../database/stale.ts';
import type { Money } from '../money.ts';
import { closingPrice } from '../trading/market.ts';
import type { BothLevels } from './benchmark.ts';
import { type Choice, chosenBatches } from './choice.ts';
import type { ModelPeriod } from './comparability.ts';
import { type ValueGains, readValueGains } from './symbol-profits.ts';
import type { UnknownSearch } from './unknown-dividends.ts';

/** What the figures of one model are computed from. */
export interface ModelRecord {
  /**
   * The chosen days, at least one, and all that they depend on; each after the day it started from.
   */
  ledger: readonly LedgerDay[];
  /**
   * The chosen days by session, each with the date of the day it started from; null for the initial
   * cash.
   */
  chosen: ReadonlyMap<number, CalendarDate | null>;
  staleDates: ReadonlySet<CalendarDate>;
  /**
   * Of the model-days that pay no dividends, and of those that pay them but lie in an unknown span
   * of what they held.
   */
  unpaidDates: ReadonlySet<CalendarDate>;
  unknownDates: ReadonlySet<CalendarDate>;
  usage: UsageTotals;
  benchmark: BothLevels;
  /** The value of a share at the last day's close; null when no price of the symbol is stored. */
  markOf: (symbol: string) => Money | null;
  /** Per day. */
  riskFree: number;
  /** What the details of each symbol need; null unless they are wanted. */
  gains: ValueGains | null;
}

/** What the records of all models share, and which of their parts are wanted. */
interface RecordOptions extends Pick<ModelRecord, 'benchmark' | 'riskFree'> {
  withDetails: boolean;
  findUnknown: UnknownSearch;
}

/** The record of one model, with its days and those that they depend on in memory. */
export function readRecord(
  choice: Choice,
  { model, end }: ModelPeriod,
  { benchmark, riskFree, withDetails, findUnknown }: RecordOptions,
): ModelRecord {
  const { database } = choice;
  const chosen = new Map<number, CalendarDate | null>();
  const startedFrom = new Map<number, number | null>();
  const [staleDates, unpaidDates, unknownDates] = [
    new Set<CalendarDate>(),
    new Set<CalendarDate>(),
    new Set<CalendarDate>(),
  ];
  for (const step of chosenBatches({ ...choice, models: [model] })) {
    for (const { sessionId, date, startDate, startedFrom: start, paysDividends } of step) {
      chosen.set(sessionId, startDate);
      startedFrom.set(sessionId, start);
      if (!paysDividends) unpaidDates.add(date);
    }
    for (const { date } of findUnknown(step)) unknownDates.add(date);
    for (const { date } of staleAmong(database, step)) staleDates.add(date);
  }
  const sessionIds = [...chosen.keys()];
  const marks = new Map<string, Money | null>();
  const ledger = ledgerDays(database, startedFrom);
  return {
    ledger,
    chosen,
    staleDates,
    unpaidDates,
    unknownDates,
    usage: usageTotals(database, sessionIds),
    benchmark,
    markOf(symbol) {
      if (!marks.has(symbol)) marks.set(symbol, closingPrice(database, end, symbol)?.price ?? null);
      return marks.get(symbol) ?? null;
    },
    riskFree,
    gains: withDetails ? readValueGains(database, ledger, chosen) : null,
  };
}
