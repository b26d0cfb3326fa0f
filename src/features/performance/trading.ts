import assert from 'node:assert/strict';
import { type CalendarDate, countDays } from '#time/calendar.ts';
import { type Money, asMoney, toDollars } from '#money/money.ts';
import { list } from '#text/sentences.ts';
import type { Figure } from '../statistics/figure.ts';
import type { LedgerAction, LedgerDay } from './queries.ts';

/** Shares of one symbol that were bought together, and their cost including commission. */
interface Lot {
  date: CalendarDate;
  quantity: number;
  cost: Money;
}

/** The lots held of each symbol, oldest first, without symbols that are not held. */
type LotBook = Map<string, Lot[]>;

/** Shares bought together and sold together: one lot, or the part of it that one order sold. */
export interface RoundTrip {
  symbol: string;
  quantity: number;
  buyDate: CalendarDate;
  sellDate: CalendarDate;
  cost: Money;
  proceeds: Money;
}

export function sumMoney(amounts: readonly number[]): Money {
  return asMoney(amounts.reduce((total, amount) => total + amount, 0));
}

export function tripProfit({ cost, proceeds }: RoundTrip): Money {
  return asMoney(proceeds - cost);
}

/** Calendar days from purchase to sale; 0 within one day. */
export function holdingDays({ buyDate, sellDate }: RoundTrip): number {
  return countDays(buyDate, sellDate) - 1;
}

function buyLot(book: LotBook, symbol: string, lot: Lot): void {
  const lots = book.get(symbol);
  if (lots === undefined) book.set(symbol, [lot]);
  else lots.push(lot);
}

/**
 * Sells shares first in, first out (the default of US tax law, 26 CFR 1.1012-1(c)): every lot that
 * the order reaches makes a round trip. Cost and proceeds are divided in proportion to shares; the
 * parts add up to the whole, to 1/10000 dollar.
 */
function sellLots(
  book: LotBook,
  symbol: string,
  { date, quantity, proceeds }: { date: CalendarDate; quantity: number; proceeds: Money },
): RoundTrip[] {
  const lots = book.get(symbol) ?? [];
  const trips: RoundTrip[] = [];
  let [sold, paid] = [0, 0];
  while (sold < quantity) {
    const [lot] = lots;
    if (lot === undefined)
      throw new Error(`Cannot sell ${quantity} ${symbol} on ${date}: the ledger bought fewer`);
    const part = Math.min(quantity - sold, lot.quantity);
    const cost = portion(lot.cost, part, lot.quantity);
    sold += part;
    const paidSoFar = portion(proceeds, sold, quantity);
    trips.push({
      symbol,
      quantity: part,
      buyDate: lot.date,
      sellDate: date,
      cost,
      proceeds: asMoney(paidSoFar - paid),
    });
    paid = paidSoFar;
    if (part === lot.quantity) lots.shift();
    else lots[0] = { ...lot, quantity: lot.quantity - part, cost: asMoney(lot.cost - cost) };
  }
  if (lots.length === 0) book.delete(symbol);
  return trips;
}

/**
 * Applies a split as recorded: `added` shares (negative: removed), and `cash` for the remaining
 * fraction of a share, at `price`. The fraction counts as sold from the oldest lot (IRS Publication
 * 550, "fractional shares"). Returns the profit of that sale. Lots remain whole shares and keep
 * their cost.
 */
function splitLots(
  book: LotBook,
  symbol: string,
  {
    date,
    added,
    cash,
    price,
  }: { date: CalendarDate; added: number; cash: Money; price: Money | null },
): Money {
  const before = countShares(book.get(symbol) ?? []);
  const after = before + added;
  const fraction = price === null || price === 0 ? 0 : cash / price;
  const oldShares = after === 0 ? before : (before * fraction) / (after + fraction);
  const trips = sellLots(book, symbol, { date, quantity: oldShares, proceeds: cash });
  if (after > 0) book.set(symbol, rescale(book.get(symbol) ?? [], after));
  return trips.length === 0 ? cash : sumMoney(trips.map(tripProfit));
}

function countShares(lots: readonly Lot[]): number {
  return lots.reduce((sum, { quantity }) => sum + quantity, 0);
}

/**
 * Scales lots to whole shares that add up to `quantity`. A lot that rounds to 0 passes its cost to
 * the next one.
 */
function rescale(lots: readonly Lot[], quantity: number): Lot[] {
  const total = countShares(lots);
  const scaled: Lot[] = [];
  let [reached, done, cost] = [0, 0, 0];
  lots.forEach((lot, index) => {
    reached += lot.quantity;
    cost += lot.cost;
    const bound = index === lots.length - 1 ? quantity : Math.round((reached / total) * quantity);
    const last = scaled.at(-1);
    if (bound > done) scaled.push({ date: lot.date, quantity: bound - done, cost: asMoney(cost) });
    else if (index === lots.length - 1 && last !== undefined) last.cost = asMoney(last.cost + cost);
    else return;
    [done, cost] = [bound, 0];
  });
  return scaled;
}

/** `amount * part / whole`, to the nearest 1/10000 dollar; exactly `amount` for the whole. */
function portion(amount: Money, part: number, whole: number): Money {
  return part === whole ? amount : asMoney(Math.round(amount * (part / whole)));
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
  let book: LotBook = new Map();
  let reached: number | null = null;
  for (const day of ledger) {
    if (!chosen.has(day.sessionId)) continue;
    const { path, isContinuation } = pathTo(days, day, reached);
    if (!isContinuation) book = new Map();
    for (const applied of [...path, day]) {
      applyDay(
        { book, trading: applied === day ? trading : noTrading() },
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
    /** Profit on the fractions of shares that splits paid in cash. */
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
    /** Profit on shares sold, and on the fractions that splits paid in cash. */
    realised: nothing,
    dividends: nothing,
    /** All that came in minus all that was paid, dividends and commission included. */
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
  for (const action of actions) {
    const change = asMoney(action.cash - cash);
    cash = action.cash;
    if (action.symbol === null) continue;
    const own = trading.symbols.get(action.symbol) ?? noSymbolTrading();
    trading.symbols.set(action.symbol, own);
    own.cash = asMoney(own.cash + change);
    if (action.actionType === 'dividend') {
      own.dividends = asMoney(own.dividends + change);
      trading.dividends.set(sessionId, asMoney((trading.dividends.get(sessionId) ?? 0) + change));
    } else applyAction(accounts, action, { date, change, own });
  }
}

function applyAction(
  { book, trading }: Accounts,
  { actionType, symbol, amount, price }: LedgerAction,
  { date, change, own }: { date: CalendarDate; change: Money; own: SymbolTrading },
): void {
  if (symbol === null || amount === null) return;
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
      const [quantity, cost] = [countShares(lots), sumMoney(lots.map((lot) => lot.cost))];
      const mark = markOf(symbol);
      const value = mark === null ? null : asMoney(quantity * mark);
      const profit = value === null ? null : asMoney(value - cost);
      return { symbol, quantity, since: oldest.date, cost, value, profit };
    });
}
