import assert from 'node:assert/strict';
import { countDays } from '#time/calendar.ts';
import { type Money, asMoney, toDollars } from '#money/money.ts';
import { list } from '#text/sentences.ts';
import type { Figure } from '../statistics/figure.ts';
import {
  addLots,
  type CashAction,
  countShares,
  exchangeLots,
  heldLots,
  type LotBook,
  type RoundTrip,
  sellLots,
  splitLots,
  sumCost,
  sumMoney,
  sumProfit,
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
  chosen: Pick<ReadonlySet<number>, 'has'>,
): ModelTrading {
  const days = new Map(ledger.map((day) => [day.sessionId, day]));
  const trading = noTrading();
  const isWhole = ledger.every(({ sessionId }) => chosen.has(sessionId));
  let book: LotBook = new Map();
  let cash = asMoney(0);
  let reached: number | null = null;
  for (const day of ledger) {
    if (!chosen.has(day.sessionId)) continue;
    // From the last day applied, or from the start of the ledger, to this one.
    const path = [day];
    let first = day;
    while (first.startedFrom !== null && first.startedFrom !== reached) {
      first =
        days.get(first.startedFrom) ?? assert.fail('the ledger has every day that one starts from');
      path.push(first);
    }
    if (first.startedFrom === null) [book, cash] = [new Map(), first.initialCash ?? asMoney(0)];
    for (const applied of path.reverse()) {
      applyDay({ book, trading: applied === day ? trading : noTrading(), isWhole }, applied, cash);
      cash = applied.cash;
    }
    reached = day.sessionId;
  }
  return { ...trading, book };
}

function noTrading() {
  const nothing = asMoney(0);
  return {
    /** Shares times price. */
    bought: nothing,
    sold: nothing,
    /** What orders cost beyond shares times price. */
    commission: nothing,
    roundTrips: [] as RoundTrip[],
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
function applyDay(accounts: Accounts, day: LedgerDay, openingCash: Money): void {
  for (const { symbol, date, quantity, cost } of day.lots ?? [])
    addLots(accounts.book, symbol, [{ date, quantity, cost }]);
  const steps: CashAction[] = [];
  let cash = openingCash;
  for (const action of day.actions) {
    const { symbol, amount } = action;
    const change = asMoney(action.cash - cash);
    cash = action.cash;
    if (symbol === null || amount === null) continue;
    const step = { ...action, symbol, amount, change, received: [] };
    add(symbolTrading(accounts.trading, symbol), 'cash', change);
    if (action.actionType === 'received') steps.at(-1)?.received.push(step);
    else steps.push(step);
  }
  for (const step of steps) applyStep(accounts, step, day);
}

function symbolTrading({ symbols }: Trading, symbol: string): SymbolTrading {
  const own = symbols.get(symbol) ?? noSymbolTrading();
  symbols.set(symbol, own);
  return own;
}

function add<Name extends string>(sums: Record<Name, Money>, name: Name, amount: number): void {
  sums[name] = asMoney(sums[name] + amount);
}

/**
 * Between the profits of two symbols, what an exchange took from one and brought of the other
 * counts at its cost, so that each is still realised, unrealised and dividends; in a part of a
 * chain, which begins with a value, at its value that morning.
 */
function applyStep(
  { book, trading, isWhole }: Accounts,
  step: CashAction,
  { sessionId, date }: LedgerDay,
): void {
  const { actionType, symbol, amount, price, change, received } = step;
  const own = symbolTrading(trading, symbol);
  if (actionType === 'dividend') {
    add(own, 'dividends', change);
    trading.dividends.set(sessionId, asMoney((trading.dividends.get(sessionId) ?? 0) + change));
  } else if (actionType === 'buy')
    addLots(book, symbol, [{ date, quantity: amount, cost: asMoney(-change) }]);
  else if (actionType !== 'split' && received.length === 0) {
    // A sale; shares that an exchange turns into only cash are sold too.
    const trips = sellLots(heldLots(book, symbol), {
      symbol,
      date,
      quantity: amount,
      proceeds: change,
    });
    trading.roundTrips.push(...trips);
    add(own, 'realised', sumProfit(trips));
  } else {
    const exchange = actionType === 'split' ? splitLots : exchangeLots;
    for (const part of exchange(book, step, date)) {
      const other = symbolTrading(trading, part.symbol);
      const moved = isWhole ? part.cost : part.value;
      add(own, 'cash', moved);
      add(other, 'cash', -moved);
      add(other, 'realised', part.profit);
    }
  }
  if (actionType !== 'buy' && actionType !== 'sell') return;
  const traded = asMoney(amount * (price ?? 0));
  own.trades += 1;
  add(trading, actionType === 'buy' ? 'bought' : 'sold', traded);
  add(trading, 'commission', orderCommission(actionType, traded, change));
}

/** What an order cost beside shares times price, by the change in cash. */
export function orderCommission(side: 'buy' | 'sell', traded: Money, change: Money): Money {
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
    .flatMap(([symbol, lots]) => {
      const [oldest] = lots;
      if (oldest === undefined) return [];
      const [quantity, cost] = [countShares(lots), sumCost(lots)];
      const mark = markOf(symbol);
      const value = mark === null ? null : asMoney(quantity * mark);
      const profit = value === null ? null : asMoney(value - cost);
      return { symbol, quantity, since: oldest.date, cost, value, profit };
    });
}
