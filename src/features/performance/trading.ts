import assert from 'node:assert/strict';
import { type CalendarDate, countDays } from '#time/calendar.ts';
import { type Money, asMoney, toDollars } from '#money/money.ts';
import { list } from '#text/sentences.ts';
import type { Figure } from '../statistics/figure.ts';
import {
  buyLot,
  type CashAction,
  countShares,
  exchangeLots,
  type LotBook,
  type RoundTrip,
  sellLots,
  splitLots,
  sumCost,
  sumMoney,
  tripProfit,
} from './lots.ts';
import type { LedgerDay } from './queries.ts';

/** Calendar days from purchase to sale; 0 within one day. */
export function holdingDays({ buyDate, sellDate }: RoundTrip): number {
  return countDays(buyDate, sellDate) - 1;
}

/** What some model-days traded, in exact money. */
type Trading = ReturnType<typeof noTrading>;

/** What some model-days traded in one symbol, and received for holding it. */
type SymbolTrading = ReturnType<typeof noSymbolTrading>;

/** What a model traded, and the lots that it still holds. */
export type ModelTrading = Trading & { book: LotBook };

/**
 * What the chosen days traded, and the lots at the close of the last of them. `ledger` holds them
 * and all days that they depend on, each after the day it started from. Lots follow the day that a
 * day really started from, which for a stale day is not the active day before it.
 */
export function measureTrading(
  ledger: readonly LedgerDay[],
  chosen: ReadonlySet<number>,
): ModelTrading {
  const days = new Map(ledger.map((day) => [day.sessionId, day]));
  const trading = noTrading();
  const isWhole = ledger.every(({ sessionId }) => chosen.has(sessionId));
  let book: LotBook = new Map();
  let reached: number | null = null;
  for (const day of ledger) {
    if (!chosen.has(day.sessionId)) continue;
    const { path, isContinuation } = pathTo(days, day, reached);
    if (!isContinuation) book = new Map();
    for (const applied of [...path, day]) {
      applyDay(
        { book, trading: applied === day ? trading : noTrading(), isWhole },
        applied,
        openingCash(days, applied),
      );
    }
    reached = day.sessionId;
  }
  return { ...trading, book };
}

function noTrading() {
  const nothing = asMoney(0);
  return {
    trades: 0,
    /** Shares times price. */
    bought: nothing,
    sold: nothing,
    /** What orders cost beyond shares times price. */
    commission: nothing,
    roundTrips: [] as RoundTrip[],
    /** Profit on the cash of splits for fractions of shares, and of exchanges beside shares. */
    fractionProfit: nothing,
    /** The dividends received, by session; none where there were none. */
    dividends: new Map<number, Money>(),
    /** By symbol, of every action that names one. */
    symbols: new Map<string, SymbolTrading>(),
  };
}

export function noSymbolTrading() {
  const nothing = asMoney(0);
  return {
    trades: 0,
    /** Profit on shares sold, on the fractions that splits paid in cash, and on exchanges. */
    realised: nothing,
    dividends: nothing,
    /**
     * All that came in minus all that was paid, dividends and commission included; shares that
     * exchanges took or brought count too.
     */
    cash: nothing,
  };
}

/**
 * The days strictly between the last one applied (or the start of the ledger) and the given one, in
 * order.
 */
function pathTo(days: ReadonlyMap<number, LedgerDay>, day: LedgerDay, reached: number | null) {
  const path: LedgerDay[] = [];
  let past = day.startedFrom;
  while (past !== null && past !== reached) {
    const previous = requireDay(days, past);
    path.push(previous);
    past = previous.startedFrom;
  }
  return { path: path.reverse(), isContinuation: past !== null };
}

function openingCash(
  days: ReadonlyMap<number, LedgerDay>,
  { startedFrom, initialCash }: LedgerDay,
): Money {
  return startedFrom === null ? (initialCash ?? asMoney(0)) : requireDay(days, startedFrom).cash;
}

function requireDay(days: ReadonlyMap<number, LedgerDay>, sessionId: number): LedgerDay {
  const day = days.get(sessionId);
  if (day === undefined)
    throw new Error(`Cannot follow the ledger: session ${sessionId} is not in it`);
  return day;
}

/** The lots and sums that actions change. */
interface Accounts {
  book: LotBook;
  trading: Trading;
  /** Whether all days of the ledger are chosen. */
  isWhole: boolean;
}

/**
 * Applies a day's actions; an opening has none, but lots. The cost or proceeds of a trade are the
 * change in cash, so the profit includes everything that an order is charged beside its price.
 */
function applyDay(
  accounts: Accounts,
  { sessionId, date, actions, lots = [] }: LedgerDay,
  openingCash: Money,
): void {
  const { trading } = accounts;
  for (const { symbol, date: boughtOn, quantity, cost } of lots)
    buyLot(accounts.book, symbol, { date: boughtOn, quantity, cost });
  let cash = openingCash;
  const changes = actions.flatMap((action): CashAction[] => {
    const { symbol, amount } = action;
    const change = asMoney(action.cash - cash);
    cash = action.cash;
    return symbol === null || amount === null ? [] : [{ ...action, symbol, amount, change }];
  });
  for (const [place, action] of changes.entries()) {
    const { symbol, actionType, change } = action;
    const own = symbolTrading(trading, symbol);
    own.cash = asMoney(own.cash + change);
    if (actionType === 'dividend') {
      own.dividends = asMoney(own.dividends + change);
      trading.dividends.set(sessionId, asMoney((trading.dividends.get(sessionId) ?? 0) + change));
    } else if (actionType === 'exchange') {
      const next = changes.findIndex((one, at) => at > place && one.actionType !== 'received');
      const received = changes.slice(place + 1, next < 0 ? undefined : next);
      applyExchange(accounts, action, { date, received });
    } else if (actionType !== 'received') applyAction(accounts, action, { date, own });
  }
}

function symbolTrading({ symbols }: Trading, symbol: string): SymbolTrading {
  const own = symbols.get(symbol) ?? noSymbolTrading();
  symbols.set(symbol, own);
  return own;
}

/**
 * Between the profits of two symbols, what an exchange took from one and brought of the other
 * counts at its cost, so that each is still realised, unrealised and dividends; in a part of a
 * chain, which begins with a value, at its value that morning.
 */
function applyExchange(
  { book, trading, isWhole }: Accounts,
  exchange: CashAction,
  when: { date: CalendarDate; received: readonly CashAction[] },
): void {
  const { trips, parts } = exchangeLots(book, exchange, when);
  const old = symbolTrading(trading, exchange.symbol);
  trading.roundTrips.push(...trips);
  old.realised = sumMoney([old.realised, ...trips.map(tripProfit)]);
  for (const { symbol, cost, value, profit } of parts) {
    const own = symbolTrading(trading, symbol);
    const moved = isWhole ? cost : value;
    old.cash = asMoney(old.cash + moved);
    own.cash = asMoney(own.cash - moved);
    own.realised = asMoney(own.realised + profit);
    trading.fractionProfit = asMoney(trading.fractionProfit + profit);
  }
}

function applyAction(
  { book, trading }: Accounts,
  { actionType, symbol, amount, price, change }: CashAction,
  { date, own }: { date: CalendarDate; own: SymbolTrading },
): void {
  if (actionType === 'split') {
    const profit = splitLots(book, symbol, { date, added: amount, cash: change, price });
    trading.fractionProfit = asMoney(trading.fractionProfit + profit);
    own.realised = asMoney(own.realised + profit);
    return;
  }
  const side = actionType === 'buy' ? 'buy' : 'sell';
  const traded = asMoney(amount * (price ?? 0));
  trading.trades += 1;
  own.trades += 1;
  trading.commission = asMoney(trading.commission + orderCommission({ side, traded, change }));
  if (side === 'buy') {
    trading.bought = asMoney(trading.bought + traded);
    buyLot(book, symbol, { date, quantity: amount, cost: asMoney(-change) });
  } else {
    trading.sold = asMoney(trading.sold + traded);
    const trips = sellLots(book, symbol, { date, quantity: amount, proceeds: change });
    trading.roundTrips.push(...trips);
    own.realised = sumMoney([own.realised, ...trips.map(tripProfit)]);
  }
}

/** What an order cost beside shares times price, by the change in cash. */
export function orderCommission({
  side,
  traded,
  change,
}: {
  side: 'buy' | 'sell';
  traded: Money;
  change: Money;
}): Money {
  return asMoney(side === 'buy' ? -change - traded : traded - change);
}

/**
 * A holding at the close of the last day, with its cost; `since` is when the oldest of its lots was
 * bought. Its value is null when no price of the symbol is stored.
 */
export type OpenPosition = ReturnType<typeof openPositions>[number];

/** What some positions would have made at the last close, in dollars. */
export function unrealisedProfit(positions: readonly OpenPosition[]): Figure {
  const unpriced = positions.filter(({ profit }) => profit === null).map(({ symbol }) => symbol);
  return unpriced.length === 0
    ? toDollars(sumMoney(positions.map(({ profit }) => profit ?? 0)))
    : { reason: `No price of ${list(unpriced)} is stored` };
}

export function openPositions(book: LotBook, markOf: (symbol: string) => Money | null) {
  return [...book]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([symbol, lots]) => {
      const [oldest] = lots;
      assert(oldest !== undefined, 'a book holds no symbol without lots');
      const [quantity, cost] = [countShares(lots), sumCost(lots)];
      const mark = markOf(symbol);
      const value = mark === null ? null : asMoney(quantity * mark);
      const profit = value === null ? null : asMoney(value - cost);
      return { symbol, quantity, since: oldest.date, cost, value, profit };
    });
}
