import type { TokenUsage } from '../protocol.ts';
import { asObject } from './json.ts';

/** The tokens of one answer, wherever this provider writes them down; null when it does not. */
export function readUsage(value: unknown): TokenUsage | null {
  const usage = asObject(value);
  if (usage === undefined) return null;
  const promptTokens = asCount(usage['prompt_tokens'] ?? usage['input_tokens']);
  const completionTokens = asCount(usage['completion_tokens'] ?? usage['output_tokens']);
  const inPrompt = asObject(usage['prompt_tokens_details'])?.['cached_tokens'];
  return {
    promptTokens,
    completionTokens: withHiddenTokens(completionTokens, { promptTokens, totalTokens: asCount(usage['total_tokens']) }),
    cachedTokens: asCount(inPrompt ?? usage['prompt_cache_hit_tokens'] ?? usage['cached_tokens']),
    reasoningTokens: asCount(asObject(usage['completion_tokens_details'])?.['reasoning_tokens']),
  };
}

/** Gemini and Grok count thoughts in the total alone; they are paid for like the rest of the completion. */
function withHiddenTokens(
  completionTokens: number | null,
  { promptTokens, totalTokens }: { promptTokens: number | null; totalTokens: number | null },
): number | null {
  if (completionTokens === null || promptTokens === null || totalTokens === null) return completionTokens;
  return Math.max(completionTokens, totalTokens - promptTokens);
}

function asCount(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
}
