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
  /** How far a day's price may be from the reference price, as a share of it; null: any. */
  price_limit: v.optional(v.nullable(v.number()), null),
});

export const marketSchema = v.object({
  /** Jobs from before there were others name none. */
  name: v.optional(v.string(), 'us'),
  /** What its prices and the book are in. */
  currency: v.string(),
  /** Whether what was bought on a date can be sold on it. */
  sell_same_day: v.optional(v.boolean(), true),
  /** When a session begins by the clocks of its place, such as `09:30`: what is out before is known. */
  opens: v.string(),
  time_zone: v.string(),
  /** The default benchmark, if its prices are stored. */
  benchmark: v.string(),
  /** The first that matches a symbol counts; the last matches all. */
  boards: v.array(boardSchema),
});
export type MarketTerms = v.InferOutput<typeof marketSchema>;
export type Board = v.InferOutput<typeof boardSchema>;

/** What an order costs beside its shares at the open. One basis point is 1/10000. */
export interface TradingCosts {
  /** In the market's currency. */
  commissionPerTrade: number;
  commissionBps: number;
  /** The least commission of an order. */
  minCommission: number;
  /** Of the amount of a sale, beside its commission. */
  sellTaxBps: number;
  /** How much worse than the open an order fills. */
  slippageBps: number;
}

export interface MarketRules extends MarketTerms {
  costs: TradingCosts;
}

const ONE_SHARE: Board = { symbols: '*', minimum: 1, step: 1, price_limit: null };

/** The American exchanges. */
export const US: MarketTerms = {
  name: 'us',
  currency: 'USD',
  sell_same_day: true,
  opens: '09:30',
  time_zone: 'America/New_York',
  benchmark: 'QQQ',
  boards: [ONE_SHARE],
};
/** The exchanges of Shanghai, Shenzhen and Beijing. */
const CN: MarketTerms = {
  name: 'cn',
  currency: 'CNY',
  sell_same_day: false,
  opens: '09:30',
  time_zone: 'Asia/Shanghai',
  benchmark: '000016.SH',
  boards: [
    { symbols: '688*.SH', minimum: 100, step: 100, price_limit: 0.2 },
    { symbols: '689*.SH', minimum: 100, step: 100, price_limit: 0.2 },
    { symbols: '30*.SZ', minimum: 100, step: 100, price_limit: 0.2 },
    { symbols: '*.BJ', minimum: 100, step: 1, price_limit: 0.3 },
    { symbols: '*', minimum: 100, step: 100, price_limit: 0.1 },
  ],
};
/** By the names under which a configuration picks one. */
export const namedMarkets: Readonly<Record<string, MarketTerms>> = { us: US, cn: CN };
export const NO_COSTS: TradingCosts = {
  ...{ commissionPerTrade: 0, commissionBps: 0, minCommission: 0 },
  ...{ sellTaxBps: 0, slippageBps: 0 },
};
export const US_RULES: MarketRules = { ...US, costs: NO_COSTS };

/** The rules by which a job trades. */
export function marketRules({
  market,
  commission_per_trade: commissionPerTrade,
  commission_bps: commissionBps,
  min_commission: minCommission,
  sell_tax_bps: sellTaxBps,
  slippage_bps: slippageBps,
}: { market: MarketTerms } & Record<
  'commission_per_trade' | 'commission_bps' | 'min_commission' | 'sell_tax_bps' | 'slippage_bps',
  number
>): MarketRules {
  const commission = { commissionPerTrade, commissionBps, minCommission };
  return { ...market, costs: { ...commission, sellTaxBps, slippageBps } };
}

/** What two markets must share to be one: all but the name. */
export function rulesOf({ name: _name, ...rules }: MarketTerms): Omit<MarketTerms, 'name'> {
  return rules;
}

export function hasCosts({ costs }: MarketRules): boolean {
  return Object.values(costs).some((cost) => cost > 0);
}

export function findBoard({ boards }: Pick<MarketTerms, 'boards'>, symbol: string): Board {
  const matches = ({ symbols }: Board) => {
    const [start = '', ...rest] = symbols.split('*');
    return rest.length === 0
      ? symbol === start
      : symbol.startsWith(start) && symbol.slice(start.length).endsWith(rest.at(-1) ?? '');
  };
  return boards.find(matches) ?? ONE_SHARE;
}

/** A board as a line of a market's `symbols`. */
export function boardRow({ symbols, minimum, step, price_limit }: Board, of = symbols): string {
  return [of, minimum, step, price_limit ?? ''].join();
}

/** The most of some shares that can be bought in one order: whole lots. */
export function wholeLots(
  { minimum, step }: Pick<Board, 'minimum' | 'step'>,
  shares: number,
): number {
  return shares < minimum ? 0 : minimum + Math.floor((shares - minimum) / step) * step;
}

interface LotOrder {
  side: 'buy' | 'sell';
  amount: number;
  held: number;
}

/** Whether so many shares are whole lots; a sale may be of all odd ones that are held, too. */
export function isWholeLots(board: Board, order: LotOrder): boolean {
  return lotsWithin(board, order) === order.amount;
}

/** The most that is whole lots and no more than an order; 0 where even the least is more. */
export function lotsWithin({ minimum, step }: Board, { side, amount, held }: LotOrder): number {
  if (side === 'buy') return wholeLots({ minimum, step }, amount);
  const odd = held % step;
  return Math.max(amount - (amount % step), amount < odd ? 0 : amount - ((amount - odd) % step));
}

/** The nearest amounts that are whole lots, in words: `100 or 200`. */
function nearestLots(board: Board, order: LotOrder): string {
  const { side, amount, held } = order;
  const { minimum, step } = board;
  const below = lotsWithin(board, order);
  const aboveOf = (rest: number) => amount + ((step + rest - (amount % step)) % step || step);
  const above =
    side === 'buy'
      ? [below === 0 ? minimum : below + step]
      : [aboveOf(0), aboveOf(held % step)].filter((shares) => shares <= held);
  const nearest = [
    ...(below > 0 ? [below] : []),
    ...(above.length > 0 ? [Math.min(...above)] : []),
  ];
  return nearest.join(' or ');
}

/** Which amounts an order may have, and the nearest ones. */
export function allowedLotsText(board: Board, order: LotOrder): string {
  const { side, held } = order;
  const nearest = nearestLots(board, order);
  if (side === 'buy') return `a purchase is of ${lotsText(board)}; ${nearest} can be bought`;
  const odd = held % board.step;
  const rest = odd === 0 ? '' : `, with or without the odd ${odd}`;
  return `a sale is of ${board.step} shares or a multiple${rest}; ${nearest || 'none'} can be sold`;
}

/** The lots in words; null where every whole number of shares can be bought. */
export function lotsText({ minimum, step }: Board): string | null {
  if (minimum === 1 && step === 1) return null;
  return `${minimum} shares or more, in steps of ${step}`;
}
