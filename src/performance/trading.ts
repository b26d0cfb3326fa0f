import assert from 'node:assert/strict';
import type { CalendarDate } from '../calendar.ts';
import type { LedgerAction, LedgerDay } from '../database/records/performance.ts';
import { type Money, money } from '../money.ts';
import { type LotBook, type RoundTrip, buyLot, quantityOf, sellLots, splitLots } from './lots.ts';

/** What some model-days traded, in exact money. */
export interface Trading {
  trades: number;
  /** Shares times price. */
  bought: Money;
  sold: Money;
  /** What orders cost beyond shares times price. */
  commission: Money;
  roundTrips: RoundTrip[];
  /** Profit on the fractions of shares that splits paid in cash. */
  fractionProfit: Money;
  /** The dividends received, by session; none where there were none. */
  dividends: Map<number, Money>;
}

/** What a model traded, and the lots that it still holds. */
export type ModelTrading = Trading & { book: LotBook };

/**
 * What the chosen days traded, and the lots at the close of the last of them. `ledger` holds them and all days that they
 * depend on, each after the day it started from. Lots follow the day that a day really started from, which for a stale day is
 * not the active day before it.
 */
export function tradingOf(ledger: readonly LedgerDay[], chosen: ReadonlySet<number>): ModelTrading {
  const days = new Map(ledger.map((day) => [day.sessionId, day]));
  const trading = noTrading();
  let book: LotBook = new Map();
  let reached: number | null = null;
  for (const day of ledger) {
    if (!chosen.has(day.sessionId)) continue;
    const { path, isContinuation } = pathTo(days, day, reached);
    if (!isContinuation) book = new Map();
    for (const past of path) applyDay({ book, trading: noTrading() }, past, openingCash(days, past));
    applyDay({ book, trading }, day, openingCash(days, day));
    reached = day.sessionId;
  }
  return { ...trading, book };
}

function noTrading(): Trading {
  const nothing = money(0);
  return {
    ...{ trades: 0, bought: nothing, sold: nothing, commission: nothing },
    ...{ roundTrips: [], fractionProfit: nothing, dividends: new Map() },
  };
}

/** The days strictly between the last one applied (or the start of the ledger) and the given one, in order. */
function pathTo(
  days: ReadonlyMap<number, LedgerDay>,
  day: LedgerDay,
  reached: number | null,
): { path: LedgerDay[]; isContinuation: boolean } {
  const path: LedgerDay[] = [];
  let past = day.startedFrom;
  while (past !== null && past !== reached) {
    const previous = dayOf(days, past);
    path.push(previous);
    past = previous.startedFrom;
  }
  return { path: path.reverse(), isContinuation: past !== null };
}

function openingCash(days: ReadonlyMap<number, LedgerDay>, { startedFrom, initialCash }: LedgerDay): Money {
  return startedFrom === null ? (initialCash ?? money(0)) : dayOf(days, startedFrom).cash;
}

function dayOf(days: ReadonlyMap<number, LedgerDay>, sessionId: number): LedgerDay {
  const day = days.get(sessionId);
  if (day === undefined) throw new Error(`Cannot follow the ledger: session ${sessionId} is not in it`);
  return day;
}

/** The lots and sums that actions change. */
interface Accounts {
  book: LotBook;
  trading: Trading;
}

/**
 * Applies a day's actions. The cost or proceeds of a trade are the change in cash, so the profit includes everything that an
 * order is charged beside its price.
 */
function applyDay(accounts: Accounts, { sessionId, date, actions }: LedgerDay, openingCash: Money): void {
  const { dividends } = accounts.trading;
  let cash = openingCash;
  for (const action of actions) {
    const change = money(action.cash - cash);
    if (action.actionType === 'dividend') dividends.set(sessionId, money((dividends.get(sessionId) ?? 0) + change));
    else applyAction(accounts, action, { date, change });
    cash = action.cash;
  }
}

function applyAction(
  { book, trading }: Accounts,
  { actionType, symbol, amount, price }: LedgerAction,
  { date, change }: { date: CalendarDate; change: Money },
): void {
  if (symbol === null || amount === null) return;
  if (actionType === 'split') {
    const profit = splitLots(book, symbol, { date, added: amount, cash: change, price });
    trading.fractionProfit = money(trading.fractionProfit + profit);
    return;
  }
  const side = actionType === 'buy' ? 'buy' : 'sell';
  const traded = money(amount * (price ?? 0));
  trading.trades += 1;
  trading.commission = money(trading.commission + commissionOf({ side, traded, change }));
  if (side === 'buy') {
    trading.bought = money(trading.bought + traded);
    buyLot(book, symbol, { date, quantity: amount, cost: money(-change) });
  } else {
    trading.sold = money(trading.sold + traded);
    trading.roundTrips.push(...sellLots(book, symbol, { date, quantity: amount, proceeds: change }));
  }
}

/** What an order cost beside shares times price, by the change in cash. */
export function commissionOf({ side, traded, change }: { side: 'buy' | 'sell'; traded: Money; change: Money }): Money {
  return money(side === 'buy' ? -change - traded : traded - change);
}

/** A holding at the close of the last day, with its cost. Its value is null when no price of the symbol is stored. */
export interface OpenPosition {
  symbol: string;
  quantity: number;
  /** When the oldest of its lots was bought. */
  since: CalendarDate;
  cost: Money;
  value: Money | null;
}

export function openPositions(book: LotBook, markOf: (symbol: string) => Money | null): OpenPosition[] {
  return [...book]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([symbol, lots]) => {
      const [oldest] = lots;
      assert(oldest !== undefined, 'a book holds no symbol without lots');
      const quantity = quantityOf(book, symbol);
      const mark = markOf(symbol);
      return {
        symbol,
        quantity,
        since: oldest.date,
        cost: money(lots.reduce((sum, { cost }) => sum + cost, 0)),
        value: mark === null ? null : money(quantity * mark),
      };
    });
}
