import type { Split } from '../database/market.ts';
import type { Bar, PriceSource } from '../database/prices.ts';

/**
 * What a price provider may return instead of prices. `short_limit` passes within a minute, `daily_quota` by tomorrow;
 * `premium` and `unknown_symbol` concern the request, `bad_key` all requests; `unreachable` is a network failure,
 * `unreadable` a response that makes no sense.
 */
export type Problem =
  'short_limit' | 'daily_quota' | 'premium' | 'unknown_symbol' | 'bad_key' | 'unreachable' | 'unreadable';

export type ProviderResponse<Value> =
  | { value: Value; problem?: never }
  | { problem: Problem; /** The provider's own words, without the key. */ message: string; value?: never };

/** `compact`: the last 100 bars; `full`: the whole history. */
export type OutputSize = 'compact' | 'full';
export const COMPACT_BARS = 100;

/** Each method makes one request and throws nothing for what a provider returns. */
export interface PriceProvider {
  source: PriceSource;
  /** The bars, oldest first, and how many of the response's were implausible. */
  daily(
    symbol: string,
    size: OutputSize,
    signal: AbortSignal,
  ): Promise<ProviderResponse<{ bars: Bar[]; refused: number }>>;
  splits(symbol: string, signal: AbortSignal): Promise<ProviderResponse<Split[]>>;
}
