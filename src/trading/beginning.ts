import { type CalendarDate, type Clock, timestamp } from '../calendar.ts';
import type { Database } from '../database/database.ts';
import { type LoggedMessage, interruptedSession, markRunning, setAside } from '../database/interrupted-session.ts';
import { type Split, splitsBetween } from '../database/market.ts';
import { type ModelDay, insertSession, latestActiveDayBefore } from '../database/sessions.ts';
import { type Money, money } from '../money.ts';
import type { Market } from './market.ts';
import { type Action, type Portfolio, applySplit, quantityOf } from './portfolio.ts';
import { LogMismatch } from './reasoning-log.ts';

export interface SessionContext {
  database: Database;
  clock: Clock;
}

/** The state in which a session starts. */
export interface Beginning {
  readonly sessionId: number;
  /** The log of an earlier process of this model-day; empty for a new session. */
  readonly log: readonly LoggedMessage[];
  /** The closing value of the day it starts from, or the initial cash; the daily profit is measured against it. */
  readonly startValue: Money;
  /** The date of the day it starts from; null for the initial cash. */
  readonly startDate: CalendarDate | null;
  /** Before the splits. */
  readonly startPortfolio: Portfolio;
  /** The splits since then of its holdings, in order, and their effects. */
  readonly knownSplits: readonly Split[];
  readonly splits: readonly Action[];
  /** The model's note as it was at the end of that day; null without one. */
  readonly startNote: string | null;
}

/**
 * Starts a model-day from the closing portfolio of the model's latest earlier active day, or from the initial cash, and
 * applies the splits since. Resumes a session that was running when its process ended. Within the caller's transaction.
 */
export function beginSession(
  context: SessionContext,
  modelDay: ModelDay,
  { market, initialCash }: { market: Market; initialCash: Money },
): Beginning {
  const past = latestActiveDayBefore(context.database, modelDay.model, modelDay.date);
  const startedFrom = past?.sessionId ?? null;
  const claimed = claimSession(context, modelDay, { startedFrom, initialCash });
  if (past === null) {
    const startPortfolio = { cash: initialCash, holdings: new Map() };
    return { ...claimed, startValue: initialCash, startDate: null, startPortfolio, knownSplits: [], splits: [], startNote: null };
  }
  const { cash, portfolioValue: startValue, date: startDate, note: startNote } = past;
  const holdings = new Map(past.holdings.map(({ symbol, quantity }) => [symbol, quantity]));
  const knownSplits = splitsBetween(context.database, [...holdings.keys()], { after: startDate, upTo: modelDay.date });
  const startPortfolio = { cash, holdings };
  const splits = splitActions(startPortfolio, knownSplits, market);
  return { ...claimed, startValue, startDate, startPortfolio, knownSplits, splits, startNote };
}

/** The row of the session: the one still running from an ended process, unless that started from another day. */
function claimSession(
  { database, clock }: SessionContext,
  modelDay: ModelDay,
  { startedFrom, initialCash }: { startedFrom: number | null; initialCash: Money },
): Pick<Beginning, 'sessionId' | 'log'> {
  const found = interruptedSession(database, modelDay);
  const now = timestamp(clock());
  if (found !== null && found.startedFrom === startedFrom) {
    markRunning(database, modelDay);
    return { sessionId: found.sessionId, log: found.messages };
  }
  if (found !== null) {
    const { reason: error } = new LogMismatch('the model-day starts from another day now');
    setAside(database, found.sessionId, { error, completedAt: now });
  }
  return { sessionId: insertSession(database, modelDay, { startedFrom, initialCash, startedAt: now }), log: [] };
}

/** Applies splits in order. Fractions are paid at the session's mark, converted to the shares of that split where others follow it. */
function splitActions(start: Portfolio, splits: readonly Split[], market: Market): Action[] {
  const actions: Action[] = [];
  splits.forEach(({ symbol, numerator, denominator }, index) => {
    const before = actions.at(-1)?.portfolio ?? start;
    if (quantityOf(before, symbol) === 0) return;
    const later = splits.slice(index + 1).filter((split) => split.symbol === symbol);
    const ratio = later.reduce((product, split) => product * (split.numerator / split.denominator), 1);
    const price = money(Math.round(market.mark(symbol) * ratio));
    const { portfolio, added } = applySplit(before, { symbol, numerator, denominator, price });
    actions.push({ actionType: 'split', symbol, amount: added, price, portfolio });
  });
  return actions;
}
