import type { Answer, ToolCall } from '../protocol.ts';
import type { Json } from './json.ts';

/**
 * What a provider wants back with its own message, word for word, and refuses the next request without: its thoughts,
 * and signatures under them. `calls` has one entry for each tool call.
 */
export interface Carried {
  message: Json;
  calls: readonly Json[];
}

/** The conversation as the child keeps it. */
export type ChatMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; toolCalls: readonly ToolCall[]; carried?: Carried | undefined }
  | { role: 'tool'; id: string; content: string };

/** What a model says next. Without a tool call it ends the day, and its text is the summary. */
export type ModelAnswer = Omit<Answer, 'type'> & { carried?: Carried };

/** Whoever answers: a provider over the network or the simulated model. One call is one step. */
export type Model = (conversation: readonly ChatMessage[]) => Promise<ModelAnswer>;
