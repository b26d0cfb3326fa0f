/**
 * The orders that bring a portfolio to equal amounts in whole shares. Money here is an integer count of some unit, so that
 * nothing rounds.
 */

/** A symbol that can be traded now. */
export interface Stock {
  symbol: string;
  price: number;
  /** Shares held. */
  held: number;
}

export interface Order {
  side: 'buy' | 'sell';
  symbol: string;
  amount: number;
}

/**
 * The orders, sales first, after which the wanted stocks are worth about the same and the others are sold.
 *
 * The amount is the cash and the value of all the stocks, divided by the number of wanted ones; while the most expensive of
 * these costs more than that, it is left out and the amount grows. What is above its amount by a share or more is sold
 * down to it, what is below it by a share or more is bought up to it. What cash is left then buys one share more of
 * those still below their amount, the furthest below first. Nothing costs more than the cash at hand; a stock that is
 * left out is sold down likewise, and not bought.
 */
export function equalAmounts(
  stocks: readonly Stock[],
  { cash, wanted }: { cash: number; wanted: Set<string> },
): Order[] {
  const chosen = stocks.filter(({ symbol }) => wanted.has(symbol));
  const pool = stocks.reduce((sum, { price, held }) => sum + price * held, cash);
  const { amount, members } = shareOut(pool, chosen);
  const sales = stocks.flatMap(({ symbol, price, held }) => {
    const surplus = held - (wanted.has(symbol) ? Math.ceil(amount / price) : 0);
    return surplus > 0 ? [{ side: 'sell', symbol, amount: surplus, price } as const] : [];
  });
  const proceeds = sales.reduce((sum, sale) => sum + sale.amount * sale.price, 0);
  const purchases = buyUpTo(amount, members, cash + proceeds);
  return [...sales.map(({ side, symbol, amount: shares }) => ({ side, symbol, amount: shares })), ...purchases];
}

/** The largest number of the cheapest stocks of which each can have a share of an equal part, and that part. */
function shareOut(pool: number, stocks: readonly Stock[]): { amount: number; members: Stock[] } {
  const cheapestFirst = [...stocks].sort(byPrice);
  const firstTooDear = cheapestFirst.findIndex(({ price }, index) => price * (index + 1) > pool);
  const members = firstTooDear === -1 ? cheapestFirst : cheapestFirst.slice(0, firstTooDear);
  return { amount: members.length === 0 ? 0 : pool / members.length, members };
}

function buyUpTo(amount: number, stocks: readonly Stock[], cash: number): Order[] {
  const shares = new Map(stocks.map(({ symbol, held }) => [symbol, held]));
  const below = ({ symbol, price }: Stock) => amount - price * (shares.get(symbol) as number);
  const furthestFirst = () => [...stocks].sort((one, other) => below(other) - below(one) || byPrice(one, other));
  let left = cash;
  const add = ({ symbol, price }: Stock, wish: number) => {
    const affordable = Math.max(0, Math.min(wish, Math.floor(left / price)));
    shares.set(symbol, (shares.get(symbol) as number) + affordable);
    left -= affordable * price;
  };
  for (const stock of furthestFirst()) add(stock, Math.floor(below(stock) / stock.price));
  for (const stock of furthestFirst()) if (below(stock) > 0) add(stock, 1);
  return stocks
    .map(({ symbol, held }) => ({ side: 'buy', symbol, amount: (shares.get(symbol) as number) - held }) as const)
    .filter((order) => order.amount > 0)
    .sort((one, other) => (one.symbol < other.symbol ? -1 : 1));
}

function byPrice(one: Stock, other: Stock): number {
  return one.price - other.price || (one.symbol < other.symbol ? -1 : 1);
}
