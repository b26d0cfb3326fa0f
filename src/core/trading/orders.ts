import type { AgentConfiguration } from '#settings/configuration-schema.ts';
import { type Money, money, toDollars } from '#money/money.ts';
import type { Side } from '#database/decisions.ts';
import {
  allowedLotsText,
  findBoard,
  isWholeLots,
  lotsWithin,
  marketRules,
  wholeLots,
} from '#domain/market-rules.ts';
import { asPercent } from '#text/sentences.ts';
import { currentMark, type Market } from './market.ts';
import { limitReason } from './price-limit.ts';
import {
  type Action,
  affordableShares,
  buy,
  commissionOn,
  fillPrice,
  type Portfolio,
  heldQuantity,
  sell,
} from './portfolio.ts';
import type { ToolResult } from './tool-results.ts';
import type { OrderTerms, PlacedOrder, Reply, TradingDay } from './trading-day.ts';

export function orderTerms(terms: AgentConfiguration): OrderTerms {
  return {
    rules: marketRules(terms),
    isOpenHidden: terms.open === 'hidden',
    limits: terms.limits,
    members: terms.members,
  };
}

/** An order of which not all shares filled, and why; without a price where there was no open. */
interface Unfilled extends PlacedOrder {
  filled: number;
  price: number | null;
  reason: string;
}

/** Executes or places a model's order, or refuses it. Does not change the day. */
export function takeOrder(
  day: TradingDay,
  side: Side,
  { symbol, amount: ordered }: { symbol: string; amount: number },
): Reply<ToolResult<Side>> {
  const { rules, isOpenHidden, expected: before } = day;
  const { costs } = rules;
  const board = findBoard(rules, symbol);
  const held = heldQuantity(day.portfolio, symbol);
  // Who is asked once cannot order again.
  const isOnly = day.decider?.by === 'one_answer';
  const amount = (isOnly && lotsWithin(board, { side, amount: ordered, held })) || ordered;
  const price = decidingPrice(day, symbol);
  const untradable = findObstacle(day, side, { symbol, amount });
  if (untradable !== null) return { refusal: untradable };
  if (price === null) return { refusal: `Cannot ${side} ${symbol}: ${noPriceReason(day, symbol)}` };
  const order = { symbol, amount, price: fillPrice(price, side, costs), costs, board };
  const violation = findLimitViolation(day, before, { ...order, side, decidingPrice: price });
  if (violation !== null) return { refusal: violation };
  const fill = side === 'buy' ? buy : sell;
  const { portfolio: after, refusal } = fill(before, order);
  if (refusal !== undefined) return { refusal };
  const cut = amount < ordered && { cut: `${ordered} were ordered; ${amount} are whole lots` };
  if (isOpenHidden)
    return {
      orders: [{ side, symbol, amount }],
      portfolio: after,
      result: {
        placed: side,
        symbol,
        amount,
        ...cut,
        at_previous_close: toDollars(price),
        cash_left: toDollars(after.cash),
      },
    };
  const commission = commissionOn(money(amount * order.price), side, costs);
  const action = { actionType: side, symbol, amount, price: order.price, cash: after.cash };
  return {
    orders: [{ side, symbol, amount, action }],
    portfolio: after,
    result: {
      executed: side,
      symbol,
      amount,
      ...cut,
      price: toDollars(order.price),
      ...(commission > 0 && { commission: toDollars(commission) }),
      cash: toDollars(after.cash),
      holding: heldQuantity(after, symbol),
    },
  };
}

/** Why a symbol, or so many of its shares, cannot be traded, whatever limits and cash are; or null. */
function findObstacle(
  day: TradingDay,
  side: Side,
  { symbol, amount }: { symbol: string; amount: number },
): string | null {
  const { universe, portfolio, rules, isOpenHidden, placed } = day;
  if (side === 'buy' && !universe.has(symbol))
    return `Cannot buy ${symbol}: it is not among the symbols that can be traded.`;
  const held = heldQuantity(portfolio, symbol);
  if (side === 'sell' && held === 0) return `Cannot sell ${symbol}: none is held.`;
  if (decidingPrice(day, symbol) === null)
    return `Cannot ${side} ${symbol}: ${noPriceReason(day, symbol)}`;
  const limit = isOpenHidden ? null : limitReason(day.market, rules, { side, symbol });
  if (limit !== null) return `Cannot ${side} ${symbol}: ${limit}.`;
  const board = findBoard(rules, symbol);
  const order = { side, amount, held };
  const refused = (words: string) => `Cannot ${side} ${amount} ${symbol}: ${words}`;
  if (!isWholeLots(board, order)) return refused(`${allowedLotsText(board, order)}.`);
  if (side === 'buy') return null;
  const leaving = placed
    .filter((other) => other.side === 'sell' && other.symbol === symbol)
    .reduce((sum, other) => sum + other.amount, 0);
  // Shares that an order of today would buy cannot be sold today.
  if (isOpenHidden && amount > held - leaving) {
    const words = leaving === 0 ? '' : `, ${leaving} of them in orders already`;
    return refused(`${held} are held${words}`);
  }
  const bought = rules.sell_same_day ? 0 : day.bought(symbol);
  if (bought === 0 || amount > held || amount <= held - bought - leaving) return null;
  const most = lotsWithin(board, { ...order, amount: held - bought - leaving });
  const rest = most === 0 ? 'none' : `at most ${most}`;
  const isReceived = day.exchanged.some(({ received }) =>
    received.some((own) => own.symbol === symbol),
  );
  const how = isReceived ? 'bought or received' : 'bought';
  return refused(
    `${bought} of the ${held} held were ${how} today, and cannot be sold before the next session; ${rest} can be sold.`,
  );
}

/** The price by which a model decides; null without one. */
export function decidingPrice({ market, isOpenHidden }: TradingDay, symbol: string): Money | null {
  const { open, previousClose } = market.quote(symbol);
  return isOpenHidden ? previousClose : open;
}

export function noPriceReason(day: TradingDay, symbol: string): string {
  return `${day.isOpenHidden ? 'it has no previous close' : unpricedReason(day, symbol)}.`;
}

/** Since the second version of the wording with the date of the last close. */
function unpricedReason(
  { market, wording }: Pick<TradingDay, 'market' | 'wording'>,
  symbol: string,
): string {
  const { previousDate } = market.quote(symbol);
  const last = wording < 2 || previousDate === null ? '' : `; its last close is of ${previousDate}`;
  return `it has no price on ${market.date}${last}`;
}

export function exactPortfolioValue({ cash, holdings }: Portfolio, market: Market): bigint {
  let value = BigInt(cash);
  for (const [symbol, quantity] of holdings)
    value += BigInt(quantity) * BigInt(currentMark(market, symbol));
  return value;
}

interface WantedOrder extends PlacedOrder {
  /** The price by which the model decides, at which weights are measured, and that of the fill. */
  decidingPrice: Money;
  price: Money;
}

/** Shares of a whole have at most so many decimals. */
const PARTS = 1_000_000_000_000n;
const shareParts = (share: number) => BigInt(Math.round(share * Number(PARTS)));

/** Orders of a day, whatever its limits: each is rows to be written at its end. */
export const MAX_DAY_ORDERS = 10_000;

export function orderLimitReason(orders: number, most: number): string {
  return `This is order ${orders + 1}, and the limit is ${most} a day.`;
}

/**
 * How many shares of a symbol can be bought: by only the largest weight, and by all limits and the
 * cash. Below 0 where a limit is passed already.
 */
export function maxPurchase(
  { limits, market, rules }: TradingDay,
  before: Portfolio,
  { symbol, decidingPrice, price }: Omit<WantedOrder, 'side' | 'amount'>,
): { byWeight: number; most: number } {
  const { max_weight: weight, min_cash: least } = limits ?? {};
  const paid = affordableShares(before.cash, price, rules.costs);
  if (weight == null && least == null) return { byWeight: Infinity, most: paid };
  const value = exactPortfolioValue(before, market);
  const shares = (parts: bigint) => Number(parts / (PARTS * BigInt(decidingPrice)));
  const held = heldQuantity(before, symbol);
  const byWeight = weight == null ? Infinity : shares(shareParts(weight) * value) - held;
  const byCash = shares(PARTS * BigInt(before.cash) - shareParts(least ?? 0) * value);
  return { byWeight, most: Math.min(paid, byWeight, byCash) };
}

/** Why an order is beyond the limits of its day, with the most that can be bought; null within. */
function findLimitViolation(
  day: TradingDay,
  before: Portfolio,
  wanted: WantedOrder,
): string | null {
  const { limits, rules, market, orders } = day;
  const { side, symbol, amount, decidingPrice } = wanted;
  const { max_orders: maxOrders, max_weight: maxWeight, min_cash: minCash } = limits ?? {};
  const mostOrders = Math.min(maxOrders ?? MAX_DAY_ORDERS, MAX_DAY_ORDERS);
  if (orders >= mostOrders) return orderLimitReason(orders, mostOrders);
  if (side === 'sell' || (maxWeight == null && minCash == null)) return null;
  const [price, cash] = [BigInt(decidingPrice), BigInt(before.cash)];
  const value = exactPortfolioValue(before, market);
  const held = BigInt(heldQuantity(before, symbol));
  const refuse = (words: string) => {
    const whole = wholeLots(findBoard(rules, symbol), maxPurchase(day, before, wanted).most);
    return `Cannot buy ${amount} ${symbol}: ${words}; ${purchasableText(whole)}.`;
  };
  const cost = BigInt(amount) * price;
  const weight = held * price + cost;
  if (maxWeight != null && weight * PARTS > shareParts(maxWeight) * value) {
    const limit = asPercent(maxWeight);
    return refuse(
      `it would be ${asPercent(Number(weight) / Number(value), limit)} of the portfolio, and the limit is ${limit}`,
    );
  }
  if (minCash != null && (cash - cost) * PARTS < shareParts(minCash) * value) {
    const least = asPercent(minCash);
    return refuse(
      `cash would be ${asPercent(Number(cash - cost) / Number(value), least)} of the portfolio, and the least is ${least}`,
    );
  }
  return null;
}

function purchasableText(shares: number): string {
  if (shares <= 0) return 'none can be bought';
  return `at most ${shares} share${shares === 1 ? '' : 's'} can be bought`;
}

/**
 * Fills orders at the open: all sales in the order in which they were placed, then all purchases. A
 * purchase that cash does not cover fills for as many shares as it pays. Of each order the trade,
 * if any, and what did not fill.
 */
export function fillOrders<Waiting extends PlacedOrder>(
  start: Portfolio,
  placed: readonly Waiting[],
  terms: Pick<TradingDay, 'market' | 'rules' | 'wording'>,
) {
  const { market, rules } = terms;
  const salesFirst = placed.toSorted(
    (one, other) => Number(one.side === 'buy') - Number(other.side === 'buy'),
  );
  const { costs } = rules;
  let portfolio = start;
  const fills = salesFirst.map((order) => {
    const { side, symbol, amount } = order;
    const { open } = market.quote(symbol);
    const price = open && fillPrice(open, side, costs);
    const limit = limitReason(market, rules, order);
    let action: Action | null = null;
    if (price !== null && limit === null) {
      const most = affordableShares(portfolio.cash, price, costs);
      const lots = wholeLots(findBoard(rules, symbol), Math.min(amount, most));
      const shares = side === 'sell' ? amount : lots;
      const fill = { symbol, amount: shares, price };
      const { portfolio: after } = (side === 'buy' ? buy : sell)(portfolio, { ...fill, costs });
      portfolio = after ?? portfolio;
      action = after ? { actionType: side, ...fill, cash: after.cash } : null;
    }
    const filled = action?.amount ?? 0;
    const reason = price === null ? unpricedReason(terms, symbol) : (limit ?? 'not enough cash');
    const told = { side, symbol, amount, filled, price: price && toDollars(price), reason };
    return { order, action, unfilled: filled < amount ? told : null };
  });
  return { fills, portfolio };
}

/** `Bought 10 of 12 AAPL at 231.02: not enough cash`. */
export function describeUnfilled(order: Unfilled): string {
  const { side, symbol, amount, filled, price, reason } = order;
  const what = `${amount} ${symbol}`;
  return filled > 0
    ? `Bought ${filled} of ${what} at ${price}: ${reason}`
    : `Did not ${side} ${what}: ${reason}`;
}
