import { MAX_TOKENS_OF_ANSWER, type TokenUsage } from '../../protocol.ts';
import { asObject } from '../../json.ts';

/**
 * The tokens of one answer, and a sentence for the log when one of the provider's counts is
 * impossible.
 */
export interface ReadUsage {
  /** Null when the provider reports no tokens. */
  usage: TokenUsage | null;
  note: string | null;
}

/**
 * The tokens of one answer, wherever this provider reports them. An impossible count is unknown.
 * The prompt's tokens include those that were read from a cache or written to one, which Anthropic
 * counts beside them.
 */
export function readUsage(value: unknown): ReadUsage {
  const usage = asObject(value);
  if (usage === undefined) return { usage: null, note: null };
  const inPrompt =
    asObject(usage['prompt_tokens_details']) ?? asObject(usage['input_tokens_details']);
  const inCompletion =
    asObject(usage['completion_tokens_details']) ?? asObject(usage['output_tokens_details']);
  const { cache_read_input_tokens: readBeside, cache_creation_input_tokens: writtenBeside } = usage;
  const isBeside =
    usage['prompt_tokens'] === undefined && (readBeside != null || writtenBeside != null);
  const prompt = usage['prompt_tokens'] ?? usage['input_tokens'];
  const completion = usage['completion_tokens'] ?? usage['output_tokens'];
  const cached =
    inPrompt?.['cached_tokens'] ??
    usage['prompt_cache_hit_tokens'] ??
    usage['cached_tokens'] ??
    readBeside;
  const written = inPrompt?.['cache_write_tokens'] ?? writtenBeside;
  const reasoning = inCompletion?.['reasoning_tokens'] ?? inCompletion?.['thinking_tokens'];
  const total = usage['total_tokens'];
  const beside = isBeside ? (asCount(readBeside) ?? 0) + (asCount(writtenBeside) ?? 0) : 0;
  const promptTokens = asCount(typeof prompt === 'number' ? prompt + beside : prompt);
  const completionTokens = asCount(completion);
  return {
    usage: {
      promptTokens,
      completionTokens: withHiddenTokens(completionTokens, {
        promptTokens,
        totalTokens: asCount(total),
      }),
      cachedTokens: asCount(cached),
      cacheWriteTokens: asCount(written),
      reasoningTokens: asCount(reasoning),
    },
    note: noteOnCounts({ prompt, completion, cached, written, reasoning, total }),
  };
}

/**
 * Gemini and Grok count thoughts only in the total; they cost as much as the rest of the
 * completion.
 */
function withHiddenTokens(
  completionTokens: number | null,
  { promptTokens, totalTokens }: { promptTokens: number | null; totalTokens: number | null },
): number | null {
  if (completionTokens === null || promptTokens === null || totalTokens === null)
    return completionTokens;
  return Math.max(completionTokens, totalTokens - promptTokens);
}

function asCount(value: unknown): number | null {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) return null;
  return value >= 0 && value <= MAX_TOKENS_OF_ANSWER ? value : null;
}

function noteOnCounts(counts: Record<string, unknown>): string | null {
  const wrong = Object.entries(counts).filter(
    ([, value]) => typeof value === 'number' && value > MAX_TOKENS_OF_ANSWER,
  );
  if (wrong.length === 0) return null;
  const named = wrong.map(([kind, value]) => `${kind} ${value}`).join(', ');
  return `The provider reported an impossible number of tokens (${named}); it is recorded as unknown.`;
}
