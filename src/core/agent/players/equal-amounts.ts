import { type Board, wholeLots } from '#domain/market-rules.ts';

/**
 * The orders that bring a portfolio to equal amounts in whole lots. Money here is an integer
 * count of some unit, so nothing is rounded.
 */

/** A symbol that can be traded now. */
export interface Stock {
  symbol: string;
  price: number;
  held: number;
  board: Board;
}

export interface PlannedOrder {
  side: 'buy' | 'sell';
  symbol: string;
  amount: number;
}

/**
 * The orders, sales first, after which the wanted stocks are worth about the same and the others
 * are sold.
 *
 * The target amount is the cash plus the value of all stocks, divided by the number of wanted ones;
 * while the most expensive of these costs more than that, it is left out and the target grows. A
 * stock that is above its target by a share or more is sold down to it; one that is below by a
 * share or more is bought up to it. The remaining cash then buys one more share each of those still
 * below their target, the furthest below first. Purchases never exceed the available cash. A stock
 * that was left out is sold down to the target too, but never bought.
 */
export function equalAmounts(
  stocks: readonly Stock[],
  { cash, wanted }: { cash: number; wanted: Set<string> },
): PlannedOrder[] {
  const chosen = stocks.filter(({ symbol }) => wanted.has(symbol));
  const pool = stocks.reduce((sum, { price, held }) => sum + price * held, cash);
  const { amount, members } = shareOut(pool, chosen);
  let available = cash;
  const sales = stocks.flatMap(({ symbol, price, held, board }): PlannedOrder[] => {
    const surplus = held - (wanted.has(symbol) ? Math.ceil(amount / price) : 0);
    const sold = wanted.has(symbol) ? surplus - (surplus % board.step) : surplus;
    if (sold <= 0) return [];
    available += sold * price;
    return [{ side: 'sell', symbol, amount: sold }];
  });
  return [...sales, ...buyUpTo(amount, members, available)];
}

/**
 * The purchases of what is not held of the stocks among which a pool is shared, in equal amounts: of
 * all, or of as many as the cash pays at least half their part of.
 */
export function equalRest(
  stocks: readonly Stock[],
  { cash, pool }: { cash: number; pool: number },
): PlannedOrder[] {
  const { amount, members } = shareOut(pool, stocks);
  const most = Math.max(0, Math.floor((2 * cash) / amount));
  const lacking = members.filter(({ held }) => held === 0).slice(0, most);
  return buyUpTo(Math.min(amount, cash / lacking.length), lacking, cash);
}

/**
 * The largest number of the cheapest stocks for which an equal part buys the least that can be
 * bought of each, and that part.
 */
function shareOut(pool: number, stocks: readonly Stock[]): { amount: number; members: Stock[] } {
  const cheapestFirst = [...stocks].sort(byPrice);
  const firstTooDear = cheapestFirst.findIndex(
    (stock, index) => minimumCost(stock) * (index + 1) > pool,
  );
  const members = firstTooDear === -1 ? cheapestFirst : cheapestFirst.slice(0, firstTooDear);
  return { amount: members.length === 0 ? 0 : pool / members.length, members };
}

function buyUpTo(amount: number, stocks: readonly Stock[], cash: number): PlannedOrder[] {
  const grown = stocks.map((stock) => ({ ...stock, shares: stock.held }));
  type Grown = (typeof grown)[number];
  const below = ({ shares, price }: Grown) => amount - price * shares;
  const furthestFirst = () =>
    grown.toSorted((one, other) => below(other) - below(one) || byPrice(one, other));
  let left = cash;
  const add = (stock: Grown, wish: number) => {
    const bought = stock.shares - stock.held;
    const most = Math.min(wish, Math.floor(left / stock.price));
    const more = Math.max(0, wholeLots(stock.board, bought + most) - bought);
    stock.shares += more;
    left -= more * stock.price;
  };
  for (const stock of furthestFirst()) add(stock, Math.floor(below(stock) / stock.price));
  for (const stock of furthestFirst())
    if (below(stock) > 0)
      add(stock, stock.shares > stock.held ? stock.board.step : stock.board.minimum);
  return grown
    .map(({ symbol, held, shares }) => ({ side: 'buy', symbol, amount: shares - held }) as const)
    .filter((order) => order.amount > 0)
    .sort((one, other) => (one.symbol < other.symbol ? -1 : 1));
}

function byPrice(one: Stock, other: Stock): number {
  return minimumCost(one) - minimumCost(other) || (one.symbol < other.symbol ? -1 : 1);
}

/** What the least that can be bought of a stock costs. */
export function minimumCost({ price, board }: Stock): number {
  return price * board.minimum;
}
