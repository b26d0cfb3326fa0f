import { normaliseSymbol } from '#domain/symbols.ts';
import { limitsText } from '#text/sentences.ts';
import { findBoard, wholeLots } from '#domain/market-rules.ts';
import { type Money, parseFraction, toDollars } from '#money/money.ts';
import type { Side } from '#database/decisions.ts';
import {
  decidingPrice,
  exactPortfolioValue,
  noPriceReason,
  MAX_DAY_ORDERS,
  maxPurchase,
  takeOrder,
  orderLimitReason,
} from './orders.ts';
import { heldQuantity } from './portfolio.ts';
import { quoteArgument, type ToolArguments } from './tool-arguments.ts';
import type { ToolResult } from './tool-results.ts';
import {
  isKnownSymbol,
  type Order,
  canonicalSymbol,
  type Reply,
  type TradingDay,
} from './trading-day.ts';

/** How many shares a symbol lacks of its target, below 0 where it has more; and their price. */
interface Target {
  symbol: string;
  lack: bigint;
  price: Money;
}

type Rebalanced = ToolResult<'rebalance'>;

/** The name under which a weight is cash, unless the day has such a symbol. */
const CASH = 'CASH';

/**
 * Trades to target shares of the portfolio's value: what exceeds its target is sold, in the order
 * of the symbols, then what lacks most dollars is bought first, as far as the cash pays and the
 * limits allow; where the largest weight allows less, it says so. What is not named is sold only
 * with `sell_rest`. Each order is taken as `buy` and `sell` take it; a refused one is listed among
 * them.
 */
export function rebalance(day: TradingDay, args: ToolArguments<'rebalance'>): Reply<Rebalanced> {
  if (day.orders + day.refused >= MAX_DAY_ORDERS)
    return { refusal: orderLimitReason(MAX_DAY_ORDERS, MAX_DAY_ORDERS) };
  const weights = new Map<string, bigint>();
  for (const [name, weight] of Object.entries(args.weights)) {
    const symbol = canonicalSymbol(day, normaliseSymbol(name) ?? '');
    if (symbol !== CASH && !isKnownSymbol(day, symbol))
      return {
        refusal: `Cannot rebalance: ${quoteArgument(name)} is not among the symbols that can be traded.`,
      };
    if (weights.has(symbol)) return { refusal: `Cannot rebalance: ${symbol} is named twice.` };
    weights.set(symbol, exactWeight(weight));
  }
  const { rules, isOpenHidden } = day;
  const runner = createOrderRunner(day);
  const targets = findTargets(day, weights, { ...args, refuse: runner.refuse });
  for (const { symbol, lack } of targets)
    if (lack < 0n) runner.trade('sell', symbol, Number(-lack));
  const value = ({ lack, price }: Target) => lack * BigInt(price);
  const purchases = targets.filter(({ lack }) => lack > 0n);
  const cut: string[] = [];
  for (const target of purchases.sort((one, other) => Number(value(other) - value(one)))) {
    const { symbol, price: decidingPrice } = target;
    const lack = Number(target.lack);
    const { byWeight, most } = maxPurchase(day, runner.portfolio(), { symbol, decidingPrice });
    const isMember = day.universe.has(symbol);
    if (isMember && byWeight < lack) cut.push(symbol);
    // Of what cannot be bought, the wish to hold more is refused, whatever the cash.
    const shares = isMember ? wholeLots(findBoard(rules, symbol), Math.min(lack, most)) : lack;
    if (shares > 0) runner.trade('buy', symbol, shares);
  }
  const portfolio = runner.portfolio();
  const cash = { [isOpenHidden ? 'cash_left' : 'cash']: toDollars(portfolio.cash) };
  const most = limitsText({ max_weight: day.limits?.max_weight });
  const words = cut.length > 0 && { cut: `${cut.join(', ')}: ${most}` };
  return { result: { orders: runner.told, ...words, ...cash }, orders: runner.orders, portfolio };
}

/** Runs orders one after another on a copy of the day: each sees what the ones before it left. */
function createOrderRunner(start: TradingDay) {
  let day: TradingDay = { ...start };
  const orders: Order[] = [];
  const told: Rebalanced['orders'] = [];
  return {
    orders,
    told,
    portfolio: () => day.expected,
    refuse(refusal: string, symbol: string): void {
      orders.push({ side: null, symbol, amount: null, refusal });
      told.push({ error: refusal, symbol });
    },
    trade(side: Side, symbol: string, amount: number): void {
      const { refusal, result, ...taken } = takeOrder(day, side, { symbol, amount });
      if (refusal !== undefined) {
        orders.push({ side, symbol, amount, refusal });
        return void told.push({ error: refusal, side, symbol, amount });
      }
      const { orders: own = [], portfolio: expected = day.portfolio } = taken;
      orders.push(...own);
      told.push(result);
      day = { ...day, expected, orders: day.orders + 1 };
      if (day.isOpenHidden) day = { ...day, placed: [...day.placed, { side, symbol, amount }] };
      else day = { ...day, portfolio: expected };
    },
  };
}

/**
 * What differs from its target, in the order of the symbols. A target is the weight times the value
 * of the portfolio before the first order, in whole shares and rounded down to the steps of a lot.
 */
function findTargets(
  day: TradingDay,
  weights: ReadonlyMap<string, bigint>,
  {
    sell_rest: sellsRest = false,
    refuse,
  }: ToolArguments<'rebalance'> & Pick<ReturnType<typeof createOrderRunner>, 'refuse'>,
): Target[] {
  const { expected: portfolio } = day;
  const value = exactPortfolioValue(portfolio, day.market);
  const sum = weights.values().reduce((all, part) => all + part, 0n);
  const whole = sum > ONE ? sum : ONE; // what rounding adds to the sum is taken from each
  const named = new Set([...weights.keys(), ...(sellsRest ? portfolio.holdings.keys() : [])]);
  if (!isKnownSymbol(day, CASH)) named.delete(CASH);
  return [...named].sort().flatMap((symbol): Target[] => {
    const held = BigInt(heldQuantity(portfolio, symbol));
    const part = weights.get(symbol) ?? 0n;
    const price = decidingPrice(day, symbol);
    if (price === null) {
      if (held > 0n || part > 0n)
        refuse(`Cannot trade ${symbol}: ${noPriceReason(day, symbol)}`, symbol);
      return [];
    }
    const shares = (part * value) / (whole * BigInt(price));
    const target = shares - (shares % BigInt(findBoard(day.rules, symbol).step));
    return [{ symbol, lack: target - held, price }];
  });
}

/** More decimals than any number has. */
const DECIMALS = 400;
const ONE = 10n ** BigInt(DECIMALS);

/** A weight as parts of `ONE`, exactly as the decimal that is written. */
function exactWeight(weight: number): bigint {
  const { over, under } = parseFraction(`${weight}`) ?? { over: 0n, under: 1n };
  return (over * ONE) / under;
}
