import type { ToolCall } from '../../protocol.ts';
import type { ChatMessage, ModelAnswer } from '../model.ts';

/** What all rule-based models share: their answers, and how they read the tools' replies. */

/** The fields of the tools' replies that they read. Amounts of money are dollars. */
export interface ToolReply {
  error?: string;
  executed?: 'buy' | 'sell';
  symbol?: string;
  amount?: number;
  price?: number;
  /** After an order. */
  cash?: number;
  close?: number;
  bars?: { date: string; open: number; close?: number }[];
}

/** An answer; without a tool call it ends the day. */
export function say(content: string, toolCalls: readonly ToolCall[] = []): ModelAnswer {
  const calls = toolCalls.map((one, index) => ({ ...one, id: `call_${index + 1}` }));
  return { content, toolCalls: calls, reasoning: null, usage: null, note: null };
}

/** A tool call; `say` gives it its id. */
export function call(name: string, args: Record<string, unknown>): ToolCall {
  return { id: '', name, arguments: JSON.stringify(args) };
}

/** The tools' replies in a conversation, in order. */
export function toolReplies(messages: readonly ChatMessage[]): ToolReply[] {
  return messages.flatMap((message) =>
    message.role === 'tool' ? [JSON.parse(message.content) as ToolReply] : [],
  );
}
