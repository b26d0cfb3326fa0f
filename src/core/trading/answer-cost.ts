import type { Entry } from '#settings/entry.ts';
import type { TokenUsage } from '#wire/protocol.ts';

/**
 * Dollars per million tokens. Cached input costs the same as input unless it has a price of its
 * own.
 */
export type TokenPrices = Entry['price_per_million_tokens'];

/** What is written to a provider's cache costs this much more than input, as Anthropic charges. */
const CACHE_WRITE_FACTOR = 1.25;

/** The cost of one answer, in dollars; null when its tokens or the prices are unknown. */
export function answerCost(usage: TokenUsage | null, prices: TokenPrices): number | null {
  if (usage?.costUsd !== undefined) return usage.costUsd;
  if (
    usage === null ||
    prices === null ||
    usage.promptTokens === null ||
    usage.completionTokens === null
  )
    return null;
  const cached = Math.min(usage.cachedTokens ?? 0, usage.promptTokens);
  const written = Math.min(usage.cacheWriteTokens ?? 0, usage.promptTokens - cached);
  const ofCache =
    cached * (prices.cached_input ?? prices.input) +
    written * (prices.cache_write ?? prices.input * CACHE_WRITE_FACTOR);
  const input = (usage.promptTokens - cached - written) * prices.input + ofCache;
  return (input + usage.completionTokens * prices.output) / 1_000_000;
}
