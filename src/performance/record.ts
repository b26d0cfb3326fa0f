import type { CalendarDate } from '../calendar.ts';
import type { SessionFilters } from '../database/chosen.ts';
import type { Database } from '../database/database.ts';
import {
  type ChosenDay,
  type LedgerDay,
  type UsageTotals,
  chosenDays,
  ledgerDays,
  usageTotals,
} from '../database/records/performance.ts';
import { staleAmong } from '../database/stale.ts';
import type { Money } from '../money.ts';
import { closingMark } from '../trading/market.ts';
import type { Steps } from '../turns.ts';
import type { BothLevels } from './benchmark.ts';
import type { ModelPeriod } from './comparability.ts';
import { createUnknownSearch } from './unknown-dividends.ts';

/** Which model-days the figures cover: those that match the filters, as of a change of the ledger. */
export interface Choice {
  database: Database;
  filters: SessionFilters;
  at: number;
}

/** All chosen model-days in brief, read before the figures of each model. */
export interface ChosenDays {
  /** By model. */
  periods: ModelPeriod[];
  /** One per date, start and job: all that the benchmark needs. */
  days: ChosenDay[];
}

/** Reads every model-day once and keeps only a little of each. */
export function* readChosenDays({ database, filters, at }: Choice): Steps<ChosenDays> {
  const periods = new Map<string, ModelPeriod & { jobIds: Set<string> }>();
  const days = new Map<string, ChosenDay>();
  for (const step of chosenDays(database, filters, at)) {
    for (const day of step) {
      const { model, date, jobId, startDate } = day;
      const period = periods.get(model) ?? { model, start: date, end: date, days: 0, jobIds: new Set() };
      period.end = date;
      period.days += 1;
      period.jobIds.add(jobId);
      periods.set(model, period);
      const key = `${date} ${startDate} ${jobId}`;
      if (!days.has(key)) days.set(key, day);
    }
    yield null;
  }
  const byModel = [...periods.values()].sort((one, other) => (one.model < other.model ? -1 : 1));
  return { periods: byModel, days: [...days.values()] };
}

/** What the figures of one model are computed from. */
export interface ModelRecord {
  /** The chosen days, at least one, and all that they depend on; each after the day it started from. */
  ledger: readonly LedgerDay[];
  /** The chosen days by session, each with the date of the day it started from; null for the initial cash. */
  chosen: ReadonlyMap<number, CalendarDate | null>;
  staleDates: ReadonlySet<CalendarDate>;
  /** Of the model-days that pay no dividends, and of those that pay them but lie in an unknown span of what they held. */
  unpaidDates: ReadonlySet<CalendarDate>;
  unknownDates: ReadonlySet<CalendarDate>;
  usage: UsageTotals;
  benchmark: BothLevels;
  /** The value of a share at the last day's close; null when no price of the symbol is stored. */
  markOf: (symbol: string) => Money | null;
  /** Per day. */
  riskFree: number;
}

/** The record of one model, with its days and those that they depend on in memory. */
export function* readRecord(
  { database, filters, at }: Choice,
  { model, end }: ModelPeriod,
  { benchmark, riskFree }: Pick<ModelRecord, 'benchmark' | 'riskFree'>,
): Steps<ModelRecord> {
  const chosen = new Map<number, CalendarDate | null>();
  const [staleDates, unpaidDates, unknownDates] = [new Set<CalendarDate>(), new Set<CalendarDate>(), new Set<CalendarDate>()];
  const findUnknown = createUnknownSearch(database);
  for (const step of chosenDays(database, { ...filters, model }, at)) {
    for (const { sessionId, date, startDate, paysDividends } of step) {
      chosen.set(sessionId, startDate);
      if (!paysDividends) unpaidDates.add(date);
    }
    yield null;
    for (const { date } of yield* findUnknown(step)) unknownDates.add(date);
    for (const { date } of staleAmong(database, step)) staleDates.add(date);
    yield null;
  }
  const sessionIds = [...chosen.keys()];
  const marks = new Map<string, Money | null>();
  return {
    ledger: yield* ledgerDays(database, sessionIds),
    chosen,
    staleDates,
    unpaidDates,
    unknownDates,
    usage: yield* usageTotals(database, sessionIds),
    benchmark,
    markOf(symbol) {
      if (!marks.has(symbol)) marks.set(symbol, closingMark(database, end, symbol)?.price ?? null);
      return marks.get(symbol) ?? null;
    },
    riskFree,
  };
}
