import type { TokenUsage } from '../protocol.ts';

/** Dollars for a million tokens. Cached input costs what input costs where it has no price of its own. */
export interface TokenPrices {
  input: number;
  output: number;
  cached_input?: number | null | undefined;
}

/** What one answer cost, in dollars; null when its tokens or the prices are not known. */
export function costOf(usage: TokenUsage | null, prices: TokenPrices | null): number | null {
  if (usage === null || prices === null || usage.promptTokens === null || usage.completionTokens === null) return null;
  const cached = Math.min(usage.cachedTokens ?? 0, usage.promptTokens);
  const input = (usage.promptTokens - cached) * prices.input + cached * (prices.cached_input ?? prices.input);
  return (input + usage.completionTokens * prices.output) / 1_000_000;
}
