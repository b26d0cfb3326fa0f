import { type CalendarDate, countDays } from '../calendar.ts';
import { type Money, reported } from '../money.ts';

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

export function profitOf({ cost, proceeds }: RoundTrip): Money {
  return reported(proceeds - cost);
}

/** Calendar days from purchase to sale; 0 within one day. */
export function holdingDaysOf({ buyDate, sellDate }: RoundTrip): number {
  return countDays(buyDate, sellDate) - 1;
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
      proceeds: reported(paidSoFar - paid),
    });
    paid = paidSoFar;
    if (part === lot.quantity) lots.shift();
    else lots[0] = { ...lot, quantity: lot.quantity - part, cost: reported(lot.cost - cost) };
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
  const before = quantityOf(book, symbol);
  const after = before + added;
  const fraction = price === null || price === 0 ? 0 : cash / price;
  const oldShares = after === 0 ? before : (before * fraction) / (after + fraction);
  const trips = sellLots(book, symbol, { date, quantity: oldShares, proceeds: cash });
  if (after > 0) book.set(symbol, rescale(book.get(symbol) ?? [], after));
  return reported(
    trips.reduce((profit, trip) => profit + profitOf(trip), trips.length === 0 ? cash : 0),
  );
}

export function quantityOf(book: LotBook, symbol: string): number {
  return (book.get(symbol) ?? []).reduce((sum, { quantity }) => sum + quantity, 0);
}

/**
 * Scales lots to whole shares that add up to `quantity`. A lot that rounds to 0 passes its cost to
 * the next one.
 */
function rescale(lots: readonly Lot[], quantity: number): Lot[] {
  const total = lots.reduce((sum, lot) => sum + lot.quantity, 0);
  const scaled: Lot[] = [];
  let [reached, done, cost] = [0, 0, 0];
  lots.forEach((lot, index) => {
    reached += lot.quantity;
    cost += lot.cost;
    const bound = index === lots.length - 1 ? quantity : Math.round((reached / total) * quantity);
    const last = scaled.at(-1);
    if (bound > done) scaled.push({ date: lot.date, quantity: bound - done, cost: reported(cost) });
    else if (index === lots.length - 1 && last !== undefined)
      last.cost = reported(last.cost + cost);
    else return;
    [done, cost] = [bound, 0];
  });
  return scaled;
}

/** `amount * part / whole`, to the nearest 1/10000 dollar; exactly `amount` for the whole. */
function portion(amount: Money, part: number, whole: number): Money {
  return part === whole ? amount : reported(Math.round(amount * (part / whole)));
}
