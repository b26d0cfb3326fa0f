import type { TokenUsage } from '../protocol.ts';

/** Dollars per million tokens. Cached input costs the same as input unless it has a price of its own. */
export interface TokenPrices {
  input: number;
  output: number;
  cached_input?: number | null | undefined;
}

/** The cost of one answer, in dollars; null when its tokens or the prices are unknown. */
export function costOf(usage: TokenUsage | null, prices: TokenPrices | null): number | null {
  if (usage === null || prices === null || usage.promptTokens === null || usage.completionTokens === null) return null;
  const cached = Math.min(usage.cachedTokens ?? 0, usage.promptTokens);
  const input = (usage.promptTokens - cached) * prices.input + cached * (prices.cached_input ?? prices.input);
  return (input + usage.completionTokens * prices.output) / 1_000_000;
}
