import type { CalendarDate } from '../calendar.ts';
import type { SessionFilters } from '../database/chosen.ts';
import type { Database } from '../database/database.ts';
import { type ChosenDay, chosenDays, ledgerDays, usageTotals } from '../database/records/performance.ts';
import { staleAmong } from '../database/stale.ts';
import type { Money } from '../money.ts';
import type { Chain } from '../performance/comparability.ts';
import type { Levels } from '../performance/benchmark.ts';
import type { ModelRecord } from '../performance/record.ts';
import { knownClosingMark } from '../trading/market.ts';
import type { Steps } from '../turns.ts';

/** Which model-days the figures are about: those that the filters let through as of a change of the ledger. */
export interface Choice {
  database: Database;
  filters: SessionFilters;
  at: number;
}

/** What is known of all model-days together before the figures of each model are made. */
export interface Overview {
  /** By model. */
  chains: Chain[];
  /** Of days with the same date, start and job one stands for all: the benchmark asks for nothing else. */
  days: ChosenDay[];
}

/** Looks at every model-day once and keeps little of it. */
export function* readOverview({ database, filters, at }: Choice): Steps<Overview> {
  const chains = new Map<string, Chain & { jobIds: Set<string> }>();
  const days = new Map<string, ChosenDay>();
  for (const step of chosenDays(database, filters, at)) {
    for (const day of step) {
      const { model, date, jobId, startDate } = day;
      const chain = chains.get(model);
      if (chain === undefined) chains.set(model, { model, start: date, end: date, days: 1, jobIds: new Set([jobId]) });
      else {
        chain.end = date;
        chain.days += 1;
        chain.jobIds.add(jobId);
      }
      const key = `${date} ${startDate} ${jobId}`;
      if (!days.has(key)) days.set(key, day);
    }
    yield null;
  }
  const byModel = [...chains.values()].sort((one, other) => (one.model < other.model ? -1 : 1));
  return { chains: byModel, days: [...days.values()] };
}

/** What the figures of one model are made of. In memory are its days and what they go back to. */
export function* readRecord(
  { database, filters, at }: Choice,
  { model, end }: Chain,
  { benchmark, riskFree }: { benchmark: Levels; riskFree: number },
): Steps<ModelRecord> {
  const chosen = new Map<number, CalendarDate | null>();
  const staleDates = new Set<CalendarDate>();
  for (const step of chosenDays(database, { ...filters, model }, at)) {
    for (const { sessionId, startDate } of step) chosen.set(sessionId, startDate);
    yield null;
    for (const { date } of staleAmong(database, step.map(({ sessionId }) => sessionId))) staleDates.add(date);
    yield null;
  }
  const sessionIds = [...chosen.keys()];
  const marks = new Map<string, Money | null>();
  return {
    ledger: yield* ledgerDays(database, sessionIds),
    chosen,
    staleDates,
    usage: yield* usageTotals(database, sessionIds),
    benchmark,
    markOf: (symbol) => {
      if (!marks.has(symbol)) marks.set(symbol, knownClosingMark(database, end, symbol));
      return marks.get(symbol) ?? null;
    },
    riskFree,
  };
}
