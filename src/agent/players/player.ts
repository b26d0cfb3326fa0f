import type { Brief, ToolCall } from '../../wire/protocol.ts';
import { hashText } from '../../basics/hash.ts';
import type { ChatMessage, ModelAnswer } from '../model.ts';

/** What all rule-based models share: their answers, and how they read the tools' replies. */

/** The fields of the tools' replies that they read. Amounts of money are dollars. */
export interface ToolReply {
  error?: string;
  executed?: 'buy' | 'sell';
  /** Of an order that waits for the open. */
  placed?: 'buy' | 'sell';
  symbol?: string;
  amount?: number;
  price?: number;
  /** After an order; with those that wait for the open. */
  cash?: number;
  cash_left?: number;
  close?: number;
  bars?: { date: string; open: number; close?: number }[];
}

/** Each symbol with the price by which orders are decided; null without one. */
export function pricesIn({
  quotes,
  isOpenHidden,
}: Brief): { symbol: string; price: number | null }[] {
  return quotes.map(({ symbol, open, previousClose }) => {
    return { symbol, price: isOpenHidden ? previousClose : open };
  });
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

/** A source of numbers from 0 up to 1, the same for the same seed on every machine. */
export type Random = () => number;

/** The mulberry32 generator (public domain), seeded with the seed's hash. */
export function createRandom(seed: string): Random {
  let state = hashText(seed) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of the items; the list must not be empty. */
export function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('Cannot pick from an empty list');
  return item;
}

/** Up to `count` different items, in random order. */
export function sample<Item>(random: Random, items: readonly Item[], count: number): Item[] {
  const rest = [...items];
  const chosen: Item[] = [];
  while (chosen.length < count && rest.length > 0)
    chosen.push(...rest.splice(Math.floor(random() * rest.length), 1));
  return chosen;
}
