import type { Wording } from '#agent/prompt.ts';
import type { Json } from '#json/json.ts';
import { type Money, toDollars } from '#money/money.ts';
import type { Limits, Member } from '#settings/configuration-schema.ts';
import type { MarketRules } from '#domain/market-rules.ts';
import type { DecisionRow, Side } from '#database/decisions.ts';
import type { Brief, OneAnswer } from '#wire/protocol.ts';
import type { Decider } from './decision.ts';
import { type Documents, newestTitles } from './morning-documents.ts';
import { currentMark, type Market } from './market.ts';
import type { NewsSearch } from './news.ts';
import type { MorningLedger } from './morning.ts';
import {
  type Action,
  requireMark,
  type Portfolio,
  heldQuantity,
  valuePortfolio,
} from './portfolio.ts';

export interface PlacedOrder {
  side: Side;
  symbol: string;
  amount: number;
}

/** What became of an order: it was executed or refused, or it waits. */
export type Order =
  | (PlacedOrder & { action?: Action; refusal?: never })
  | (Pick<DecisionRow, 'side' | 'symbol' | 'amount'> & { refusal: string; action?: never });

/**
 * How the orders of a day are taken: executed at the open that the model sees, or, where that is
 * hidden, placed by the previous close and filled at the open when the day ends.
 */
export interface OrderTerms {
  readonly rules: MarketRules;
  /** Whether nothing of the session date is known to the model. */
  readonly isOpenHidden: boolean;
  readonly limits: Limits | null;
  /** Members of a universe with dates. */
  readonly members?: readonly Member[] | undefined;
}

/**
 * What the tools of one model-day see. The portfolio is current: each call sees the result of the
 * one before.
 */
export interface TradingDay
  extends OrderTerms,
    Pick<MorningLedger, 'received' | 'exchanged' | 'arrived' | 'lost'> {
  readonly market: Market;
  readonly universe: ReadonlySet<string>;
  /** Null when the service has no key for it. */
  readonly news: NewsSearch | null;
  readonly documents: Documents | null;
  readonly portfolio: Portfolio;
  /**
   * The model's note from an earlier day; null without one, undefined when it may not keep notes.
   */
  readonly note: string | null | undefined;
  /** In which words its tools speak. */
  readonly wording: Wording;
  /** The names of the tools that its entry is offered; all of the day's when left out. */
  readonly offered?: readonly string[] | undefined;
  /** The orders that wait for the open, in the order of placing. */
  readonly placed: readonly PlacedOrder[];
  /** The portfolio as if they filled at previous closes; the portfolio without a hidden open. */
  readonly expected: Portfolio;
  /** How many shares of a symbol were bought today, or came by an exchange. */
  readonly bought: (symbol: string) => number;
  /** How many orders were executed or placed so far. */
  readonly orders: number;
  /** How many orders of rebalances were refused so far. */
  readonly refused: number;
  /** What of the orders of the day before did not fill, a sentence each. */
  readonly unfilled: readonly string[];
  /** What left the universe since the model's session before. */
  readonly left: readonly string[];
  /** Who ends the day by a decision; null where the model calls tools until it stops. */
  readonly decider: Decider | null;
}

/**
 * The result of a call: what it did, which is not yet done to the day. A refusal changed nothing,
 * and says whether no tool takes the call as it is.
 */
export type Reply<Result = Json> =
  | {
      result: Result;
      orders?: readonly Order[];
      /** After its orders; with a hidden open, as if they filled at previous closes. */
      portfolio?: Portfolio;
      note?: string;
      refusal?: never;
      isMalformed?: never;
    }
  | {
      refusal: string;
      isMalformed?: true;
      result?: never;
      orders?: never;
      portfolio?: never;
      note?: never;
    };

/**
 * What the model reads in the morning: the same cash, holdings and opens that its tools will use.
 */
export function createBrief(day: TradingDay): Brief {
  const { market, universe, portfolio, received, exchanged, rules, note } = day;
  const { isOpenHidden, limits, unfilled, left, documents, decider, wording } = day;
  const symbols = [...new Set([...universe, ...portfolio.holdings.keys()])].sort();
  const quotes = symbols.map((symbol) => {
    const { open, previousDate: _date, previousClose, ...own } = market.quote(symbol);
    const prices = { previousClose: dollarsOrNull(previousClose), open: dollarsOrNull(open) };
    return { symbol, ...prices, ...own };
  });
  return {
    date: market.date,
    ...describePortfolio(day),
    dividends: received,
    exchanges: exchanged,
    unpriced: wording < 2 ? [] : findUnpriced(day, symbols),
    quotes,
    rules,
    ...(note !== undefined && { note }),
    isOpenHidden,
    limits: limits ?? undefined,
    unfilled,
    documents: documents?.counts,
    left,
    ...(decider && {
      decision:
        decider.by === 'agent'
          ? { ...decider, universe: [...universe] }
          : {
              ...lastCloses(market, symbols),
              ...(documents && { titles: newestTitles(documents) }),
            },
    }),
  };
}

/**
 * What is held without a price on this morning and the trading day before it, with its last close.
 * While today is not known, these are the last two trading days before it. A day counts on which
 * another symbol traded.
 */
function findUnpriced(
  { market, portfolio, isOpenHidden }: TradingDay,
  symbols: readonly string[],
): { symbol: string; lastClose: string }[] {
  return [...portfolio.holdings.keys()].sort().flatMap((symbol) => {
    const { open, previousDate } = market.quote(symbol);
    const [bar] = open === null ? market.bars(symbol, 1) : [];
    if (bar === undefined || previousDate === null) return [];
    const hasTraded = (other: string) => {
      if ((market.quote(other).previousDate ?? '') <= bar.date) return false;
      const [first, second] = isOpenHidden ? market.bars(other, 2) : [];
      return !isOpenHidden || (second !== undefined && (first?.date ?? '') > bar.date);
    };
    return symbols.some(hasTraded) ? { symbol, lastClose: previousDate } : [];
  });
}

const CLOSE_DAYS = 20;
/** The closes of one answer's table: a larger universe has fewer days. */
const MAX_CLOSES = 4_000;

/** The last closes of symbols before today, as `get_price_history` has them. */
function lastCloses(market: Market, symbols: readonly string[]): OneAnswer {
  const days = Math.min(CLOSE_DAYS, Math.floor(MAX_CLOSES / symbols.length));
  const found = symbols.map((symbol) => {
    const bars = market.bars(symbol, days + 1).filter(({ date }) => date < market.date);
    return { symbol, byDate: new Map(bars.map(({ date, close }) => [date, close])) };
  });
  const all = new Set(found.flatMap(({ byDate }) => [...byDate.keys()]));
  const dates = [...all].sort().slice(-days);
  const closes = found.map(({ symbol, byDate }) => {
    return { symbol, closes: dates.map((date) => byDate.get(date) ?? null) };
  });
  return { by: 'one_answer', dates, closes };
}

/**
 * Cash and holdings at today's open, or at previous closes, in dollars: the same for the brief and
 * for `get_portfolio`.
 */
export function describePortfolio({ market, portfolio }: TradingDay) {
  const { cash, holdings: held } = portfolio;
  const symbols = [...held.keys()].sort();
  const marks = new Map(symbols.map((symbol) => [symbol, currentMark(market, symbol)]));
  const holdings = symbols.map((symbol) => {
    const price = toDollars(requireMark(symbol, marks));
    return { symbol, quantity: heldQuantity(portfolio, symbol), price };
  });
  const portfolioValue = toDollars(valuePortfolio(portfolio, marks));
  return { cash: toDollars(cash), holdings, portfolioValue };
}

/** Whether the model may read a symbol's prices: it can be bought, or is held. */
export function isKnownSymbol({ universe, portfolio }: TradingDay, symbol: string): boolean {
  return universe.has(symbol) || heldQuantity(portfolio, symbol) > 0;
}

/** A symbol as the day has it: `BRK-B` and `BRK.B` are one. */
export function canonicalSymbol(day: TradingDay, symbol: string): string {
  const other = symbol.includes('.') ? symbol.replaceAll('.', '-') : symbol.replaceAll('-', '.');
  return !isKnownSymbol(day, symbol) && isKnownSymbol(day, other) ? other : symbol;
}

function dollarsOrNull(amount: Money | null): number | null {
  return amount === null ? null : toDollars(amount);
}
