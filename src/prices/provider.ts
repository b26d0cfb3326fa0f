import type { CalendarDate } from '../calendar.ts';
import type { Dividend } from '../database/dividends.ts';
import type { Split } from '../database/market.ts';
import type { Bar, PriceSource } from '../database/prices.ts';

/**
 * What a price provider may return instead of prices. `short_limit` passes within a minute,
 * `daily_quota` by tomorrow; `premium`, `beyond_plan` (of one date, or of splits or dividends) and
 * `unknown_symbol` concern the request, `bad_key` all requests; `unreachable` is a network failure,
 * `unreadable` a response that makes no sense.
 */
export type Problem =
  | 'short_limit'
  | 'daily_quota'
  | 'premium'
  | 'beyond_plan'
  | 'unknown_symbol'
  | 'bad_key'
  | 'unreachable'
  | 'unreadable';

export type ProviderResponse<Value> =
  | { value: Value; problem?: never }
  | {
      problem: Problem;
      /** The provider's own words, without the key. */
      message: string;
      /** At a short limit: how long the provider asks to wait. */
      retryAfterMs?: number;
      value?: never;
    };

/** `compact`: the last 100 bars; `full`: the whole history. */
export type OutputSize = 'compact' | 'full';
export const COMPACT_BARS = 100;

/** A bar that is not plausible, and why. */
export interface RefusedBar {
  symbol: string;
  reason: string;
}

/**
 * One request supplies one symbol. Each method makes one request and throws nothing for what a
 * provider returns.
 */
export interface SymbolProvider {
  by: 'symbol';
  source: PriceSource;
  /** The bars, oldest first, and those of the response that were implausible. */
  daily(
    symbol: string,
    size: OutputSize,
    signal: AbortSignal,
  ): Promise<ProviderResponse<{ bars: Bar[]; refused: RefusedBar[] }>>;
  splits(symbol: string, signal: AbortSignal): Promise<ProviderResponse<Split[]>>;
  dividends(symbol: string, signal: AbortSignal): Promise<ProviderResponse<DividendHistory>>;
}

/** The dividends of a symbol. */
export interface DividendHistory {
  /** With cash per share as it was paid then, in any order. */
  dividends: Dividend[];
  /** Ex-dates on which it is open what was paid. */
  unreadable: { exDate: CalendarDate; reason: string }[];
  /** The first date from which they are all of them. */
  from: CalendarDate;
}

/** One day of the whole market, reduced to some symbols. */
export interface MarketDay {
  /** At most one per symbol. */
  bars: Bar[];
  /** The symbols whose only bar is implausible. */
  refused: RefusedBar[];
  /** Bars of symbols that were not asked for. */
  others: number;
}

/** A span of dates and some symbols. */
export interface ActionQuery {
  from: CalendarDate;
  to: CalendarDate;
  symbols: readonly string[];
}

/** One page of a list of splits or dividends. */
export interface ActionPage<Action> {
  /** Each with the provider's identifier, where it has one: the same action may be on two pages. */
  actions: { id: string | null; action: Action }[];
  /**
   * Those that cannot be used; unreadable ones leave it open what the symbol paid or how it split
   * on their date, or without one on every date.
   */
  refused: { symbol: string; date: CalendarDate | null; reason: string; isUnreadable: boolean }[];
  /** How many others cannot be read, outside the dates asked for. */
  skipped: number;
  /** Whether it has no row at all, of any symbol. */
  isEmpty: boolean;
  /** Where the next page is; null on the last. */
  next: string | null;
}

/**
 * One request supplies one date, for all symbols. Each method makes one request and throws nothing
 * for what a provider returns.
 */
export interface DateProvider {
  by: 'date';
  source: PriceSource;
  bars(
    date: CalendarDate,
    symbols: readonly string[],
    signal: AbortSignal,
  ): Promise<ProviderResponse<MarketDay>>;
  /** The first page, or a later one by the `next` of the page before. */
  splits(
    query: ActionQuery,
    page: string | null,
    signal: AbortSignal,
  ): Promise<ProviderResponse<ActionPage<Split>>>;
  /** As it was paid, per share of the time, in dollars. */
  dividends(
    query: ActionQuery,
    page: string | null,
    signal: AbortSignal,
  ): Promise<ProviderResponse<ActionPage<Dividend>>>;
}

export type PriceProvider = SymbolProvider | DateProvider;
