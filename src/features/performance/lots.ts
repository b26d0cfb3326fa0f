import { byDate, type CalendarDate } from '#time/calendar.ts';
import { type Money, asMoney } from '#money/money.ts';
import { at } from '../statistics/moments.ts';
import type { LedgerAction } from './exchange-evidence.ts';

/** An action on some shares, how it changed the cash and, of an exchange, the shares it brought. */
export interface CashAction extends LedgerAction {
  symbol: string;
  amount: number;
  change: Money;
  received: CashAction[];
}

/** Shares of one symbol that were bought together, and their cost including commission. */
interface Lot {
  date: CalendarDate;
  quantity: number;
  cost: Money;
}

/** The lots held of each symbol, oldest first; none of one that is not held any more. */
export type LotBook = Map<string, Lot[]>;

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

export function sumProfit(trips: readonly RoundTrip[]): Money {
  return sumMoney(trips.map(tripProfit));
}

export function sumCost(lots: readonly Lot[]): Money {
  return sumMoney(lots.map(({ cost }) => cost));
}

export function countShares(lots: readonly Lot[]): number {
  return lots.reduce((sum, { quantity }) => sum + quantity, 0);
}

/** The list itself, to change it. */
export function heldLots(book: LotBook, symbol: string): Lot[] {
  const lots = book.get(symbol) ?? [];
  book.set(symbol, lots);
  return lots;
}

/** Lots that an exchange brought are older than some that were bought before they came. */
export function addLots(book: LotBook, symbol: string, added: readonly Lot[]): void {
  const lots = heldLots(book, symbol);
  lots.push(...added);
  lots.sort(byDate);
}

/**
 * Sells shares first in, first out (the default of US tax law, 26 CFR 1.1012-1(c)): every lot that
 * the order reaches makes a round trip. Cost and proceeds are divided in proportion to shares; the
 * parts add up to the whole, to 1/10000 dollar.
 */
export function sellLots(
  lots: Lot[],
  {
    symbol,
    date,
    quantity,
    proceeds,
  }: { symbol: string; date: CalendarDate; quantity: number; proceeds: Money },
): RoundTrip[] {
  const trips: RoundTrip[] = [];
  let [sold, paid] = [0, 0];
  while (sold < quantity) {
    const [lot] = lots;
    if (lot === undefined)
      throw new Error(`Cannot sell ${quantity} ${symbol} on ${date}: the ledger bought fewer`);
    const part = Math.min(quantity - sold, lot.quantity);
    const cost = asMoney(portion(lot.cost, part, lot.quantity));
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
  return trips;
}

/**
 * Applies a split as recorded, an exchange of all shares for those of their own symbol: shares added
 * (below 0: removed), and cash for a fraction at a price.
 */
export function splitLots(book: LotBook, split: CashAction, date: CalendarDate) {
  const { symbol, amount: added, change, price } = split;
  const shares = countShares(heldLots(book, symbol));
  const amount = shares + added;
  const ratio = (amount + (price ? change / price : 0)) / shares;
  const received = [{ ...split, amount, ratio, open: 1 }];
  return exchangeLots(book, { ...split, amount: shares, change: asMoney(0), received }, date);
}

/**
 * Scales lots to whole shares that add up to `quantity`. A lot that rounds to 0 passes its cost to
 * the next one, the last one to that before it.
 */
function rescale(lots: readonly Lot[], quantity: number): Lot[] {
  const total = countShares(lots);
  const scaled: Lot[] = [];
  let [reached, done, cost] = [0, 0, 0];
  for (const lot of lots) {
    reached += lot.quantity;
    cost += lot.cost;
    const bound = portion(quantity, reached, total);
    if (bound === done) continue;
    scaled.push({ date: lot.date, quantity: bound - done, cost: asMoney(cost) });
    [done, cost] = [bound, 0];
  }
  const last = scaled.at(-1);
  if (last !== undefined) last.cost = asMoney(last.cost + cost);
  return scaled;
}

/** `amount * part / whole`, rounded; exactly `amount` for the whole. */
function portion(amount: number, part: number, whole: number): number {
  return part === whole ? amount : Math.round(amount * (part / whole));
}

/**
 * Exchanges lots for whole shares; what they become keeps their dates and cost. That is divided by
 * value at the opens of that morning, among the old shares that remain, the cash and the
 * entitlements with their fractions. Without any value it stays with what remains, or goes to the
 * first arrival. The old shares behind a fraction that is paid in cash are sold, the oldest first
 * (IRS Publication 550, "fractional shares"). Returns what each symbol got, in cash or in shares,
 * and the profit on what was sold.
 */
export function exchangeLots(
  book: LotBook,
  { symbol, amount, change, received, open = 0 }: CashAction,
  date: CalendarDate,
) {
  const lots = heldLots(book, symbol);
  book.delete(symbol);
  const shares = countShares(lots);
  const remains = amount === 0;
  const values = [
    remains ? shares * open : 0,
    change,
    ...received.map((one) => shares * (one.ratio ?? 0) * (one.open ?? 0)),
  ];
  if (!values.some((value) => value > 0)) values[remains ? 0 : 2] = Number.EPSILON;
  const [kept = [], paid = [], ...divided] = divideLots(lots, values);
  if (remains) book.set(symbol, kept);
  const parts = [{ symbol, cost: 0, value: 0, profit: change - sumCost(paid) }];
  for (const [place, own] of divided.entries()) {
    const one = at(received, place);
    const [cost, value] = [sumCost(own), Math.round(at(values, place + 2))];
    const part = one.amount === 0 ? 1 : 1 - one.amount / (shares * (one.ratio ?? 0));
    const fraction = { symbol: one.symbol, quantity: shares * part, proceeds: one.change };
    const trips = sellLots(own, { ...fraction, date });
    addLots(book, one.symbol, rescale(own, one.amount));
    const profit = trips.length === 0 ? one.change : sumProfit(trips);
    parts.push({ symbol: one.symbol, cost, value, profit });
  }
  return parts;
}

/** The same lots for each of some values, to which their cost goes in proportion. */
function divideLots(lots: readonly Lot[], values: readonly number[]): Lot[][] {
  const total = values.reduce((sum, value) => sum + value, 0);
  let reached = 0;
  return values.map((value) => {
    const before = reached;
    reached += value;
    return lots.map((lot) => {
      const given = portion(lot.cost, before, total);
      return { ...lot, cost: asMoney(portion(lot.cost, reached, total) - given) };
    });
  });
}
