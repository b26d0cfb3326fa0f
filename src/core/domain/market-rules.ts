import * as v from 'valibot';
import { SYMBOL_PATTERN } from './symbols.ts';

/**
 * How a market trades, as data: what its models read, and what their orders, the baselines and the
 * figures keep to. Resolved once per job, stored with its terms, and sent to its children.
 */

/** The columns of a row of boards. */
const COLUMNS = 'symbols,minimum,step,price_limit';
const MAX_BOARDS = 1_000;
const MAX_LOT = 1_000_000;
const LOT = `minimum and step must be whole numbers from 1 to ${MAX_LOT}`;
const LIMIT = 'price_limit must be above 0 and below 1 (0.1 is 10 %), or empty';
/** With at most one `*`. */
const PATTERN = /^(?!.*\*.*\*)[A-Z0-9.^=*-]{1,20}$/;

const lot = v.pipe(v.number(LOT), v.integer(LOT), v.minValue(1, LOT), v.maxValue(MAX_LOT, LOT));
const textLike = (pattern: RegExp, message: string) =>
  v.pipe(v.string(message), v.regex(pattern, message));

/** The lots of some symbols: the least of a purchase, and the steps from there. */
const boardSchema = v.object({
  /** A symbol, or a pattern with `*` for any characters. */
  symbols: textLike(
    PATTERN,
    'symbols must be a symbol in capital letters, or a pattern with one *',
  ),
  minimum: lot,
  step: lot,
  /** How far a day's price may be from the reference price, as a share of it; null: any. */
  price_limit: v.nullish(v.pipe(v.number(LIMIT), v.gtValue(0, LIMIT), v.ltValue(1, LIMIT)), null),
});
export type Board = v.InferOutput<typeof boardSchema>;

const boardRow = v.pipe(
  v.string(),
  v.regex(/^[^,]*(,[^,]*){2,3}$/, `must be ${COLUMNS}`),
  v.transform((row): v.InferInput<typeof boardSchema> => {
    const [symbols = '', minimum, step, limit] = row.split(',').map((cell) => cell.trim());
    const price_limit = limit ? Number(limit) : null;
    return { symbols, minimum: Number(minimum), step: Number(step), price_limit };
  }),
  boardSchema,
);

/** Boards as people write them, a row each; the header may be left out. */
export const boardsSchema = v.pipe(
  v.string(`must be text with lines of ${COLUMNS}`),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const boards: Board[] = [];
    for (const [index, row] of dataset.value.split('\n').entries()) {
      if (row.trim() === '' || (index === 0 && row.trim() === COLUMNS)) continue;
      const { success, output, issues } = v.safeParse(boardRow, row);
      if (success) boards.push(output);
      else {
        addIssue({ message: `line ${index + 1}: ${issues[0].message}` });
        return NEVER;
      }
    }
    return boards;
  }),
  v.maxLength(MAX_BOARDS, `must have no more than ${MAX_BOARDS} rows`),
);

/** A board as such a row. */
export function boardText({ symbols, minimum, step, price_limit: limit }: Board): string {
  return [symbols, minimum, step, limit].join();
}

/** What a market has beside its boards. */
export const marketEntries = {
  /** What its prices and the book are in. */
  currency: textLike(/^[A-Z]{3}$/, 'must be three capital letters such as CNY'),
  /** Whether what was bought on a date can be sold on it. */
  sell_same_day: v.boolean('must be true or false'),
  /** When a session begins by the clocks of its place: what is out before is known. */
  opens: textLike(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 09:30'),
  time_zone: v.string(),
  /** The default benchmark, if its prices are stored. */
  benchmark: textLike(SYMBOL_PATTERN, 'must be a ticker symbol in capital letters'),
};

/** As stored. Jobs from before there were others have neither a name nor `sell_same_day`. */
export const marketSchema = v.object({
  name: v.optional(v.string(), 'us'),
  ...marketEntries,
  sell_same_day: v.optional(marketEntries.sell_same_day, true),
  /** The first that matches a symbol counts; the last matches all. */
  boards: v.array(boardSchema),
});
export type MarketTerms = v.InferOutput<typeof marketSchema>;

/**
 * What an order costs beside its shares at the open, as a configuration names it: a commission per
 * trade and in basis points, its least sum, the tax of a sale, and how much worse than the open it
 * fills. One basis point is 1/10000.
 */
export const costKeys = [
  'commission_per_trade',
  'commission_bps',
  'min_commission',
  'sell_tax_bps',
  'slippage_bps',
] as const;
/** Amounts are in the market's currency. */
export type TradingCosts = Record<(typeof costKeys)[number], number>;

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
  boards: v.parse(
    boardsSchema,
    `688*.SH,100,100,0.2
     689*.SH,100,100,0.2
     30*.SZ,100,100,0.2
     *.BJ,100,1,0.3
     *,100,100,0.1`,
  ),
};
/** By the names under which a configuration picks one. */
export const namedMarkets = { us: US, cn: CN };

/** The rules by which a job trades. */
export function marketRules(terms: { market: MarketTerms } & TradingCosts): MarketRules {
  const costs = costKeys.map((key) => [key, terms[key]]);
  return { ...terms.market, costs: Object.fromEntries(costs) };
}

/** What two markets must share to be one: all but the name. */
export function rulesOf({ name: _name, ...rules }: MarketTerms) {
  return rules;
}

export function findBoard({ boards }: Pick<MarketTerms, 'boards'>, symbol: string): Board {
  const matches = ({ symbols }: Board) => {
    const [start = '', end] = symbols.split('*');
    return end === undefined
      ? symbol === start
      : symbol.startsWith(start) && symbol.slice(start.length).endsWith(end);
  };
  return boards.find(matches) ?? ONE_SHARE;
}

/** The most of some shares that can be bought in one order: whole lots. */
export function wholeLots({ minimum, step }: Board, shares: number): number {
  return shares < minimum ? 0 : minimum + Math.floor((shares - minimum) / step) * step;
}

interface LotOrder {
  side: 'buy' | 'sell';
  amount: number;
  held: number;
}

/** The whole lots below and above an order, rising; a sale may be of the odd shares held, too. */
function lotsAround(board: Board, { side, amount, held }: LotOrder): number[] {
  const { minimum, step } = board;
  const bought = wholeLots(board, amount);
  if (side === 'buy') return [bought, bought === 0 ? minimum : bought + step];
  const sold = amount - (amount % step);
  return [sold, sold + (held % step), sold + step];
}

/** The most that is whole lots and no more than an order; 0 where even the least is more. */
export function lotsWithin(board: Board, order: LotOrder): number {
  return Math.max(...lotsAround(board, order).filter((shares) => shares <= order.amount));
}

/** Which amounts an order may have, and the nearest ones: `100 or 200`. */
export function allowedLotsText(board: Board, { side, amount: ordered, held }: LotOrder): string {
  const most = side === 'buy' ? Infinity : held;
  const order = { side, amount: Math.min(ordered, most), held };
  const above = lotsAround(board, order).find((shares) => shares > order.amount && shares <= most);
  const nearest = [lotsWithin(board, order), above].filter(Boolean).join(' or ');
  if (side === 'buy') return `a purchase is of ${lotsText(board)}; ${nearest} can be bought`;
  const odd = held % board.step;
  const rest = odd === 0 ? '' : `, with or without the odd ${odd}`;
  return `a sale is of ${board.step} shares or a multiple${rest}; ${nearest} can be sold`;
}

/** The lots in words; null where every whole number of shares can be bought. */
export function lotsText({ minimum, step }: Board): string | null {
  if (minimum === 1 && step === 1) return null;
  return `${minimum} shares or more, in steps of ${step}`;
}
