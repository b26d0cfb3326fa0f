import type { CalendarDate } from '#time/calendar.ts';
import { type Money, asMoney } from '#money/money.ts';
import type { LedgerAction } from './exchange-evidence.ts';

/** An action on some shares, and how it changed the cash. */
export type CashAction = LedgerAction & { symbol: string; amount: number; change: Money };

/** Shares of one symbol that were bought together, and their cost including commission. */
export interface Lot {
  date: CalendarDate;
  quantity: number;
  cost: Money;
}

/** The lots held of each symbol, oldest first, without symbols that are not held. */
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

export function buyLot(book: LotBook, symbol: string, lot: Lot): void {
  const lots = book.get(symbol);
  if (lots === undefined) book.set(symbol, [lot]);
  else lots.push(lot);
}

/**
 * Sells shares first in, first out (the default of US tax law, 26 CFR 1.1012-1(c)): every lot that
 * the order reaches makes a round trip. Cost and proceeds are divided in proportion to shares; the
 * parts add up to the whole, to 1/10000 dollar.
 */
export function sellLots(
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
export function splitLots(
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

export function countShares(lots: readonly Lot[]): number {
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

/**
 * Exchanges lots. Only cash is a sale of them all, which makes round trips. Otherwise their cost is
 * divided by value at the opens of that morning, among the old shares that remain, the cash and the
 * entitlements with their fractions; a fraction is then sold for its cash. Without any value it
 * stays with what remains, or goes to the first arrival. Lots keep their dates.
 */
export function exchangeLots(
  book: LotBook,
  { symbol, amount, change, open = 0 }: CashAction,
  { date, received }: { date: CalendarDate; received: readonly CashAction[] },
) {
  const lots = book.get(symbol) ?? [];
  const quantity = countShares(lots);
  if (received.length === 0) {
    const trips = sellLots(book, symbol, { date, quantity, proceeds: change });
    return { trips, parts: [] };
  }
  const remains = amount === 0;
  const brought = received.map((one) => quantity * (one.ratio ?? 0) * (one.open ?? 0));
  const values = [remains ? quantity * open : 0, change, ...brought];
  if (!values.some((value) => value > 0)) values[remains ? 0 : 2] = 1;
  const [kept = [], sold = [], ...divided] = divideLots(lots, values);
  if (remains) book.set(symbol, kept);
  else book.delete(symbol);
  const arrived = received.map((one, place) => {
    const [own = [], value = 0] = [divided[place], brought[place]];
    const profit = receiveLots(book, own, { ...one, date });
    return { symbol: one.symbol, value: Math.round(value), cost: sumCost(own), profit };
  });
  const paid = { symbol, value: 0, cost: 0, profit: change - sumCost(sold) };
  return { trips: [], parts: [paid, ...arrived] };
}

export function sumCost(lots: readonly Lot[]): Money {
  return sumMoney(lots.map(({ cost }) => cost));
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

/** Makes whole new shares of lots of old ones. Returns the profit on the fraction. */
function receiveLots(
  book: LotBook,
  old: readonly Lot[],
  { symbol, amount: whole, ratio = 0, change, date }: CashAction & { date: CalendarDate },
): Money {
  const own: LotBook = new Map([[symbol, [...old]]]);
  const shares = countShares(old);
  const quantity = shares * Math.max(0, 1 - whole / (shares * ratio));
  const trips = sellLots(own, symbol, { date, quantity, proceeds: change });
  const lots = [...(book.get(symbol) ?? []), ...rescale(own.get(symbol) ?? [], whole)];
  lots.sort((one, other) => one.date.localeCompare(other.date));
  if (lots.length > 0) book.set(symbol, lots);
  return sumMoney(trips.map(tripProfit));
}
