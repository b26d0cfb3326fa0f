import type { AgentConfiguration } from '#settings/configuration-schema.ts';
import { type Money, money, toDollars } from '#money/money.ts';
import type { Side } from '#database/decisions.ts';
import {
  allowedLotsText,
  type Board,
  findBoard,
  lotsWithin,
  marketRules,
  wholeLots,
} from '#domain/market-rules.ts';
import { asPercent, count } from '#text/sentences.ts';
import { currentMark, type Market } from './market.ts';
import { limitReason } from './price-limit.ts';
import {
  type Action,
  affordableShares,
  commissionOn,
  fillPrice,
  type Portfolio,
  heldQuantity,
  trade,
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
  const { rules, expected: before } = day;
  const { costs } = rules;
  const refused = (words: string) => ({ refusal: `Cannot ${side} ${symbol}: ${words}` });
  const held = heldQuantity(day.portfolio, symbol);
  if (side === 'buy' && !day.universe.has(symbol))
    return refused('it is not among the symbols that can be traded.');
  if (side === 'sell' && held === 0) return refused('none is held.');
  const decided = decidingPrice(day, symbol);
  if (decided === null) return refused(noPriceReason(day, symbol));
  const board = findBoard(rules, symbol);
  // Who is asked once cannot order again.
  const isOnly = day.decider?.by === 'one_answer';
  const amount = (isOnly && lotsWithin(board, { side, amount: ordered, held })) || ordered;
  const price = fillPrice(decided, side, costs);
  const order = { side, symbol, amount, held, board, price, decidingPrice: decided, costs };
  const violation = findObstacle(day, order) ?? findLimitViolation(day, before, order);
  if (violation !== null) return { refusal: violation };
  const { portfolio: after, refusal } = trade(before, order);
  if (refusal !== undefined) return { refusal };
  const cut = amount < ordered && { cut: `${ordered} were ordered; ${amount} are whole lots` };
  const said = { symbol, amount, ...cut };
  if (day.isOpenHidden)
    return {
      orders: [{ side, symbol, amount }],
      portfolio: after,
      result: {
        placed: side,
        ...said,
        at_previous_close: toDollars(decided),
        cash_left: toDollars(after.cash),
      },
    };
  const commission = commissionOn(money(amount * price), side, costs);
  const action = { actionType: side, symbol, amount, price, cash: after.cash };
  return {
    orders: [{ side, symbol, amount, action }],
    portfolio: after,
    result: {
      executed: side,
      ...said,
      price: toDollars(price),
      ...(commission > 0 && { commission: toDollars(commission) }),
      cash: toDollars(after.cash),
      holding: heldQuantity(after, symbol),
    },
  };
}

/** Why so many shares of what is priced cannot be traded, whatever limits and cash are; or null. */
function findObstacle(day: TradingDay, order: WantedOrder): string | null {
  const { side, symbol, amount, held, board } = order;
  const limit = limitReason(day.market, day.rules, order);
  if (limit !== null) return `Cannot ${side} ${symbol}: ${limit}.`;
  const refused = (words: string) => `Cannot ${side} ${amount} ${symbol}: ${words}`;
  if (lotsWithin(board, order) !== amount) return refused(`${allowedLotsText(board, order)}.`);
  if (side === 'buy') return null;
  const leaving = day.placed
    .filter((other) => other.side === 'sell' && other.symbol === symbol)
    .reduce((sum, other) => sum + other.amount, 0);
  // Shares that an order of today would buy cannot be sold today.
  if (day.isOpenHidden && amount > held - leaving) {
    const words = leaving === 0 ? '' : `, ${leaving} of them in orders already`;
    return refused(`${held} are held${words}`);
  }
  const bought = day.rules.sell_same_day ? 0 : day.bought(symbol);
  if (bought === 0 || amount > held || amount <= held - bought - leaving) return null;
  const most = lotsWithin(board, { ...order, amount: held - bought - leaving });
  const came = day.arrived.has(symbol) ? 'or received ' : '';
  return refused(
    `${bought} of the ${held} held were bought ${came}today, and cannot be sold before the next session; ` +
      `${most === 0 ? 'none' : `at most ${most}`} can be sold.`,
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
  held: number;
  board: Board;
  /** The price by which the model decides, at which weights are measured. */
  decidingPrice: Money;
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
 * How many shares of a symbol can be bought: by only the largest weight, by only the least cash, and
 * by both and what the cash pays. Below 0 where a limit is passed already.
 */
export function maxPurchase(
  { limits, market, rules }: TradingDay,
  before: Portfolio,
  { symbol, decidingPrice }: Pick<WantedOrder, 'symbol' | 'decidingPrice'>,
): { byWeight: number; byCash: number; most: number } {
  const { max_weight: weight, min_cash: least } = limits ?? {};
  const { costs } = rules;
  const paid = affordableShares(before.cash, fillPrice(decidingPrice, 'buy', costs), costs);
  if (weight == null && least == null) return { byWeight: Infinity, byCash: Infinity, most: paid };
  const value = exactPortfolioValue(before, market);
  const shares = (parts: bigint) => Number(parts / (PARTS * BigInt(decidingPrice)));
  const held = heldQuantity(before, symbol);
  const byWeight = weight == null ? Infinity : shares(shareParts(weight) * value) - held;
  const byCash = shares(PARTS * BigInt(before.cash) - shareParts(least ?? 0) * value);
  return { byWeight, byCash, most: Math.min(paid, byWeight, byCash) };
}

/** Why an order is beyond the limits of its day, with the most that can be bought; null within. */
function findLimitViolation(
  day: TradingDay,
  before: Portfolio,
  wanted: WantedOrder,
): string | null {
  const { side, symbol, amount, decidingPrice, board } = wanted;
  const { max_orders: maxOrders, max_weight: maxWeight, min_cash: minCash } = day.limits ?? {};
  const mostOrders = Math.min(maxOrders ?? MAX_DAY_ORDERS, MAX_DAY_ORDERS);
  if (day.orders >= mostOrders) return orderLimitReason(day.orders, mostOrders);
  if (side === 'sell' || (maxWeight == null && minCash == null)) return null;
  const { byWeight, byCash, most } = maxPurchase(day, before, wanted);
  const cost = BigInt(amount) * BigInt(decidingPrice);
  const shareText = (part: bigint, limit: string) =>
    `${asPercent(Number(part) / Number(exactPortfolioValue(before, day.market)), limit)} of the portfolio`;
  const whole = wholeLots(board, most);
  const refuse = (words: string) =>
    `Cannot buy ${amount} ${symbol}: ${words}; ${whole > 0 ? `at most ${count(whole, 'share')}` : 'none'} can be bought.`;
  if (maxWeight != null && amount > byWeight) {
    const limit = asPercent(maxWeight);
    const held = BigInt(heldQuantity(before, symbol)) * BigInt(decidingPrice);
    return refuse(`it would be ${shareText(held + cost, limit)}, and the limit is ${limit}`);
  }
  if (minCash != null && amount > byCash) {
    const least = asPercent(minCash);
    const left = shareText(BigInt(before.cash) - cost, least);
    return refuse(`cash would be ${left}, and the least is ${least}`);
  }
  return null;
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
  const { costs } = rules;
  const salesFirst = placed.toSorted(
    (one, other) => Number(one.side === 'buy') - Number(other.side === 'buy'),
  );
  let portfolio = start;
  const fills = salesFirst.map((order) => {
    const { side, symbol, amount } = order;
    const { open } = market.quote(symbol);
    const price = open && fillPrice(open, side, costs);
    const limit = limitReason(market, rules, order);
    let action: Action | null = null;
    if (price !== null && limit === null) {
      const paid = Math.min(amount, affordableShares(portfolio.cash, price, costs));
      const shares = side === 'sell' ? amount : wholeLots(findBoard(rules, symbol), paid);
      const fill = { symbol, amount: shares, price };
      const { portfolio: after } = trade(portfolio, { side, ...fill, costs });
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
