import type { Split } from '../database/market.ts';
import type { Bar, PriceSource } from '../database/prices.ts';

/**
 * What a price provider may answer instead of prices. `short_limit` passes within a minute, `daily_quota` tomorrow;
 * `premium` and `unknown_symbol` concern what was asked, `bad_key` everything; `unreachable` is the network's doing,
 * `unreadable` is an answer that makes no sense.
 */
export type Problem =
  'short_limit' | 'daily_quota' | 'premium' | 'unknown_symbol' | 'bad_key' | 'unreachable' | 'unreadable';

export type ProviderAnswer<Value> =
  | { value: Value; problem?: never }
  | { problem: Problem; /** The provider's own words, without the key. */ message: string; value?: never };

/** `compact`: the last 100 bars; `full`: all there are. */
export type OutputSize = 'compact' | 'full';
export const COMPACT_BARS = 100;

/** One request each; nothing is thrown for what a provider answers. */
export interface PriceProvider {
  source: PriceSource;
  /** Bars oldest first, and how many of the answer's were not plausible. */
  daily(
    symbol: string,
    size: OutputSize,
    signal: AbortSignal,
  ): Promise<ProviderAnswer<{ bars: Bar[]; refused: number }>>;
  splits(symbol: string, signal: AbortSignal): Promise<ProviderAnswer<Split[]>>;
}
