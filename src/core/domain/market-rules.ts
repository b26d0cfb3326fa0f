import * as v from 'valibot';

/**
 * How a market trades, as data: what its models read, and what their orders, the baselines and the
 * figures keep to. Resolved once per job, stored with its terms, and sent to its children.
 */

/** The lots of some symbols: the least of a purchase, and the steps from there. */
const boardSchema = v.object({
  /** A symbol, or a pattern with `*` for any characters. */
  symbols: v.string(),
  minimum: v.number(),
  step: v.number(),
});

export const marketSchema = v.object({
  /** What its prices and the book are in. */
  currency: v.string(),
  /** When a session begins by the clocks of its place, such as `09:30`: what is out before is known. */
  opens: v.string(),
  time_zone: v.string(),
  /** The default benchmark, if its prices are stored. */
  benchmark: v.string(),
  /** The first that matches a symbol counts; the last matches all. */
  boards: v.array(boardSchema),
});
type Market = v.InferOutput<typeof marketSchema>;
export type Board = v.InferOutput<typeof boardSchema>;

/** What an order costs beside its shares at the open. One basis point is 1/10000. */
export interface TradingCosts {
  /** In the market's currency. */
  commissionPerTrade: number;
  commissionBps: number;
  /** How much worse than the open an order fills. */
  slippageBps: number;
}

export interface MarketRules extends Market {
  costs: TradingCosts;
}

const ONE_SHARE: Board = { symbols: '*', minimum: 1, step: 1 };

/** The American exchanges. */
export const US: Market = {
  currency: 'USD',
  opens: '09:30',
  time_zone: 'America/New_York',
  benchmark: 'QQQ',
  boards: [ONE_SHARE],
};
export const NO_COSTS: TradingCosts = { commissionPerTrade: 0, commissionBps: 0, slippageBps: 0 };
export const US_RULES: MarketRules = { ...US, costs: NO_COSTS };

/** The rules by which a job trades. */
export function marketRules({
  market,
  commission_per_trade: commissionPerTrade,
  commission_bps: commissionBps,
  slippage_bps: slippageBps,
}: { market: Market } & Record<
  'commission_per_trade' | 'commission_bps' | 'slippage_bps',
  number
>): MarketRules {
  return { ...market, costs: { commissionPerTrade, commissionBps, slippageBps } };
}

export function hasCosts({ costs }: MarketRules): boolean {
  return Object.values(costs).some((cost) => cost > 0);
}

export function findBoard({ boards }: Pick<Market, 'boards'>, symbol: string): Board {
  const matches = ({ symbols }: Board) => {
    const [start = '', ...rest] = symbols.split('*');
    return rest.length === 0
      ? symbol === start
      : symbol.startsWith(start) && symbol.endsWith(rest.at(-1) ?? '');
  };
  return boards.find(matches) ?? ONE_SHARE;
}

/** The most of some shares that can be bought in one order: whole lots. */
export function wholeLots({ minimum, step }: Board, shares: number): number {
  return shares < minimum ? 0 : minimum + Math.floor((shares - minimum) / step) * step;
}

/** Whether so many shares are whole lots; a sale may be of all odd ones that are held, too. */
export function isWholeLots(
  { minimum, step }: Board,
  { side, amount, held }: { side: 'buy' | 'sell'; amount: number; held: number },
): boolean {
  if (side === 'sell') return [0, held % step].includes(amount % step);
  return amount >= minimum && (amount - minimum) % step === 0;
}

/** The lots in words; null where every whole number of shares can be bought. */
export function lotsText({ minimum, step }: Board): string | null {
  if (minimum === 1 && step === 1) return null;
  return `${minimum} shares or more, in steps of ${step}`;
}
