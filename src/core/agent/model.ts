import type { Answer, Carried, ToolCall, ToolMessage } from '#wire/protocol.ts';

/** The conversation as the child keeps it. */
export type ChatMessage =
  | { role: 'system' | 'user'; content: string }
  | {
      role: 'assistant';
      content: string;
      toolCalls: readonly ToolCall[];
      carried?: Carried | null | undefined;
    }
  | ToolMessage;

export type ModelAnswer = Omit<Answer, 'type'>;

/**
 * An answer without a tool call ends the day, and its text is the summary, unless its provider
 * paused it.
 */
export function isLastAnswer({
  toolCalls,
  carried,
}: Pick<ModelAnswer, 'toolCalls' | 'carried'>): boolean {
  return toolCalls.length === 0 && carried?.isPaused !== true;
}

/** Thrown when a provider refuses the key (401 or 403). */
export class KeyRefused extends Error {}

/**
 * Answers a conversation: a provider over the network, the simulated model or a baseline. One call
 * is one step.
 */
export type Model = (conversation: readonly ChatMessage[]) => Promise<ModelAnswer>;

/** What an answer takes that no provider gave. */
export const NO_TOKENS = {
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};
