import { findBoard, wholeLots } from '#domain/market-rules.ts';
import { compact, count } from '#text/sentences.ts';
import type { Brief, ToolCall } from '#wire/protocol.ts';
import {
  equalAmounts,
  equalRest,
  minimumCost,
  type PlannedOrder,
  type Stock,
} from './equal-amounts.ts';
import { call, decidingPrices, heldShares, type ToolReply } from './simulated-model.ts';

/** How a baseline makes its orders and places them, within the limits of its day. */

/** A part of a day as a conversation: yields words and tool calls, and receives their results. */
export type ToolDialogue<Result> = Generator<
  { words: string; calls: ToolCall[] },
  Result,
  ToolReply[]
>;
/** Dialogue of a whole day; returns its summary. */
export type BaselineDay = ToolDialogue<string>;

/**
 * A refused purchase is retried with this fraction of the available cash, to leave room for trading
 * costs.
 */
const SECOND_TRY_SHARE = 0.98;
/** Whose open is at its limit: no smaller order fills either. */
const HALTED = /at its (?:upper|lower) limit, no one/;
/** How many shares a limit allows, in the sentence of its refusal. */
const ALLOWED = /(?:at most (\d+) shares?|none) can be bought/;
const UNITS_PER_DOLLAR = 10_000;

/**
 * Places the orders that may be placed today, and retries with less those that were refused for
 * lack of cash. Returns a summary; `isOfAll` where it would hold every stock with a price.
 */
export function* placeOrders(
  brief: Brief,
  wanted: readonly PlannedOrder[],
  { words, isOfAll = false }: { words: string; isOfAll?: boolean },
): BaselineDay {
  const most = brief.limits?.max_orders ?? Infinity;
  const orders = selectLargest(brief, wanted, most);
  const replies = orders.length === 0 ? [] : yield { words, calls: orders.map(orderCall) };
  const left = most - replies.filter(({ error }) => error === undefined).length;
  const smaller = planRetry(brief, orders, replies).slice(0, left);
  const again = 'I retry the refused purchases with less.';
  if (smaller.length > 0) replies.push(...(yield { words: again, calls: smaller.map(orderCall) }));
  const tried = [...orders, ...smaller];
  const taken = tried.filter((_, index) => replies[index]?.error === undefined);
  const bought = taken.filter(({ side }) => side === 'buy');
  const [sold, refused] = [taken.length - bought.length, tried.length - taken.length];
  const did =
    orders.length === 0
      ? 'There is nothing to trade today.'
      : `Bought ${bought.length}, sold ${sold}, ${count(refused, 'order')} refused.`;
  const holdings = [
    ...brief.holdings,
    ...bought.map(({ symbol, amount }) => ({ symbol, quantity: amount, price: 0 })),
  ];
  const part = isOfAll
    ? describeHeldPart({ ...brief, cash: cashAfter(brief, replies), holdings })
    : null;
  return `${words} ${did}${part === null ? '' : ` It ${part}.`}`;
}

function cashAfter({ cash }: Brief, replies: readonly ToolReply[]): number {
  const last = replies.findLast((reply) => (reply.cash ?? reply.cash_left) !== undefined);
  return last?.cash ?? last?.cash_left ?? cash;
}

/**
 * Of a baseline that would hold every symbol with a price, after its day: "holds 8 of 101 symbols:
 * max_orders is 8", with what keeps it from the others. Null where it holds all.
 */
export function describeHeldPart(brief: Brief): string | null {
  const stocks = tradableStocks(brief);
  const lacking = stocks.filter(({ held }) => held === 0);
  if (lacking.length === 0) return null;
  const { portfolioValue, limits } = brief;
  const { max_orders: orders, max_weight: weight, min_cash: cash } = limits ?? {};
  const held = stocks.length - lacking.length;
  const unlimited = planMissing({
    ...brief,
    cash: portfolioValue,
    holdings: [],
    limits: undefined,
  });
  const least = Math.min(...lacking.map(minimumCost)) / dollarUnits(portfolioValue);
  const limit = compact([
    orders != null && planMissing(brief).length > 0 && `max_orders is ${orders}`,
    weight != null && least > weight && `max_weight is ${weight}`,
    cash != null && `min_cash is ${cash}`,
  ])[0];
  const why =
    (unlimited.length > held && limit) ||
    'with this much cash, one share of each of the others costs more than an equal slice of the portfolio';
  return `holds ${held} of ${stocks.length} symbols: ${why}`;
}

/** As many orders as may be placed: the largest, of purchases as far as there is cash. */
function selectLargest(
  brief: Brief,
  orders: readonly PlannedOrder[],
  most: number,
): readonly PlannedOrder[] {
  if (orders.length <= most) return orders;
  const stocks = stocksBySymbol(brief);
  const orderValue = ({ side, symbol, amount }: PlannedOrder) =>
    Math.min(
      amount * (stocks.get(symbol)?.price ?? 0),
      side === 'sell' ? Infinity : spendableCash(brief),
    );
  const first = orders.toSorted((one, other) => orderValue(other) - orderValue(one)).slice(0, most);
  return orders.filter((order) => first.includes(order));
}

/**
 * The orders after which the portfolio is in equal amounts of the wanted stocks, without what the
 * limits allow no share of.
 */
export function planEqualAmounts(brief: Brief, wanted = tradableStocks(brief)): PlannedOrder[] {
  return equalAmounts(tradableStocks(brief), {
    cash: spendableCash(brief),
    wanted: new Set(allowedStocks(brief, wanted).map(({ symbol }) => symbol)),
  });
}

/** The purchases that it lacks of equal amounts of all stocks, as far as there is cash for them. */
export function planMissing(brief: Brief): PlannedOrder[] {
  const cash = spendableCash(brief);
  const pool = cash + dollarUnits(brief.portfolioValue - brief.cash);
  return equalRest(allowedStocks(brief), { cash, pool });
}

/** Those stocks of which it holds some, or may buy the least that can be bought. */
function allowedStocks(brief: Brief, stocks = tradableStocks(brief)): Stock[] {
  const { limits, portfolioValue } = brief;
  const most = (limits?.max_weight ?? Infinity) * dollarUnits(portfolioValue);
  return stocks.filter((stock) => stock.held > 0 || !(minimumCost(stock) > most));
}

/** The cash above the least that must be left. */
export function spendableCash({ cash, portfolioValue, limits }: Brief): number {
  return dollarUnits(cash) - Math.ceil((limits?.min_cash ?? 0) * dollarUnits(portfolioValue));
}

/**
 * The refused purchases, reduced to what the available cash allows; without those that it does not
 * allow at all.
 */
function planRetry(
  brief: Brief,
  orders: readonly PlannedOrder[],
  replies: readonly ToolReply[],
): PlannedOrder[] {
  const stocks = stocksBySymbol(brief);
  let cash = dollarUnits(cashAfter(brief, replies)) * SECOND_TRY_SHARE;
  return orders.flatMap((order, index) => {
    const stock = stocks.get(order.symbol);
    const error = replies[index]?.error;
    if (order.side === 'sell' || stock === undefined || error === undefined) return [];
    if (HALTED.test(error)) return [];
    const [limit, shares = 0] = ALLOWED.exec(error) ?? [];
    const allowed = limit === undefined ? Infinity : Number(shares);
    const most = Math.min(order.amount - 1, Math.floor(cash / stock.price), allowed);
    const amount = wholeLots(stock.board, most);
    if (amount < 1) return [];
    cash -= amount * stock.price;
    return [{ ...order, amount }];
  });
}

function orderCall({ side, symbol, amount }: PlannedOrder): ToolCall {
  return call(side, { symbol, amount });
}

/**
 * Every stock with a price today, and how much of it is held. Holdings outside the universe can be
 * sold, but not bought.
 */
export function tradableStocks(brief: Brief): Stock[] {
  const held = heldShares(brief);
  return decidingPrices(brief).flatMap(({ symbol, price }): Stock[] => {
    if (price === null) return [];
    const board = findBoard(brief.rules, symbol);
    return [{ symbol, price: dollarUnits(price), held: held.get(symbol) ?? 0, board }];
  });
}

function stocksBySymbol(brief: Brief): Map<string, Stock> {
  return new Map(tradableStocks(brief).map((stock) => [stock.symbol, stock]));
}

/** Dollars in 1/10000. */
export function dollarUnits(dollars: number): number {
  return Math.round(dollars * UNITS_PER_DOLLAR);
}
