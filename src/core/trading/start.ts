import { type CalendarDate, type Clock, timestamp } from '#time/calendar.ts';
import { type ClosingState, latestActiveDayBefore } from '#database/active-days.ts';
import type { Database } from '#database/database.ts';
import { eventsBetween } from '#database/exchanges.ts';
import type { KnownEvents } from '#database/evidence.ts';
import {
  insertSession,
  interruptedSession,
  markRunning,
  type ModelDay,
  archiveSession,
} from '#database/sessions.ts';
import type { Money } from '#money/money.ts';
import type { Market } from './market.ts';
import { type MorningLedger, applyCorporateActions } from './morning.ts';
import type { Portfolio } from './portfolio.ts';
import { cashPerShare } from './share-events.ts';
import type { StoredMessage } from '#database/replay-queries.ts';
import { LogMismatch } from './reasoning-log.ts';

export interface SessionContext {
  database: Database;
  clock: Clock;
}

export interface DayStart {
  /**
   * The closing value of the day it starts from, or the initial cash; the daily profit is measured
   * against it.
   */
  readonly startValue: Money;
  /** The date of the day it starts from; null for the initial cash. */
  readonly startDate: CalendarDate | null;
  /** Before splits, dividends and exchanges. */
  readonly startPortfolio: Portfolio;
  /** What has happened since then to its holdings, and its effects. */
  readonly known: KnownEvents;
  /** Since when each symbol may be held: that of the start, or the date of its arrival. */
  readonly heldSince: ReadonlyMap<string, CalendarDate>;
  readonly morning: MorningLedger;
  /** The model's note as it was at the end of that day; null without one. */
  readonly startNote: string | null;
  /** What of the orders of that day did not fill, a sentence each. */
  readonly startUnfilled: readonly string[];
}

export interface OpenedSession extends DayStart {
  readonly sessionId: number;
  /** The log of an earlier process of this model-day; empty for a new session. */
  readonly log: readonly StoredMessage[];
}

export interface StartTerms {
  readonly market: Market;
  initialCash: Money;
  paysDividends: boolean;
}

/**
 * Starts a model-day from the closing portfolio of the model's latest earlier active day, or from
 * the initial cash. Resumes a session that was running when its process ended. Within the caller's
 * transaction.
 */
export function beginSession(
  context: SessionContext,
  modelDay: ModelDay,
  terms: StartTerms,
): OpenedSession {
  const past = latestActiveDayBefore(context.database, modelDay.model, modelDay.date);
  const claimed = claimSession(context, modelDay, {
    ...terms,
    startedFrom: past?.sessionId ?? null,
  });
  return { ...claimed, ...computeDayStart(past, terms) };
}

/**
 * What a day starts with: applies the splits and exchanges since the day that it starts from, and
 * pays the dividends where its job does.
 */
export function computeDayStart(
  past: ClosingState | null,
  { market, initialCash, paysDividends }: StartTerms,
): DayStart {
  const startDate = past?.date ?? null;
  const held = past?.holdings.map(({ symbol, quantity }) => [symbol, quantity] as const);
  const startPortfolio = { cash: past?.cash ?? initialCash, holdings: new Map(held) };
  const since = { after: startDate ?? market.date, upTo: market.date, paysDividends };
  const initial = [...startPortfolio.holdings.keys()];
  const { events, heldSince } = eventsBetween(market.prices, initial, since);
  const dividends = events.dividends.map((own) => ({ ...own, paid: cashPerShare(own) }));
  const known = { ...events, dividends };
  return {
    startValue: past?.portfolioValue ?? initialCash,
    startDate,
    startPortfolio,
    known,
    heldSince,
    morning: applyCorporateActions(startPortfolio, known, market),
    startNote: past?.note ?? null,
    startUnfilled: JSON.parse(past?.unfilled ?? '[]'),
  };
}

/**
 * The row of the session: the one still running from an ended process, unless that started from
 * another day.
 */
function claimSession(
  { database, clock }: SessionContext,
  modelDay: ModelDay,
  { market, ...start }: StartTerms & { startedFrom: number | null },
): Pick<OpenedSession, 'sessionId' | 'log'> {
  const found = interruptedSession(database, modelDay);
  const now = timestamp(clock());
  if (found !== null && found.startedFrom === start.startedFrom) {
    markRunning(database, modelDay);
    return { sessionId: found.sessionId, log: found.messages };
  }
  const terms = { ...start, morningWrite: market.prices.write ?? 0, startedAt: now };
  if (found !== null) {
    const { reason: error } = new LogMismatch('the model-day starts from another day now');
    archiveSession(database, found.sessionId, { error, completedAt: now });
  }
  return { sessionId: insertSession(database, modelDay, terms), log: [] };
}
