import assert from 'node:assert/strict';
import type { ChatMessage, Model } from '../../src/core/agent/model.ts';
import { firstMessages } from '../../src/core/agent/prompt.ts';
import { type Brief, MAX_TOOL_CALLS } from '../../src/core/wire/protocol.ts';
import { describePortfolio } from '../../src/core/trading/trading-day.ts';
import { callTool, type LedgerDay } from './trading-day.ts';
import { US_RULES } from './market-rules.ts';

const MOST_STEPS = 30;

/** What a model reads of a day in the morning. */
export function briefOf(day: LedgerDay): Brief {
  const dollars = (price: number | null) => price && price / 10_000;
  const quotes = [...day.universe].map((symbol) => {
    const { open, previousClose } = day.market.quote(symbol);
    return { symbol, open: dollars(open), previousClose: dollars(previousClose) };
  });
  const { isOpenHidden, limits } = day;
  return {
    date: day.market.date,
    ...describePortfolio(day),
    quotes,
    rules: US_RULES,
    ...(isOpenHidden && { isOpenHidden }),
    ...(limits && { limits }),
  };
}

/**
 * Runs a model over a day through the real tools; for each answer a new one, which knows only the
 * conversation.
 */
export async function playDay(
  day: LedgerDay,
  brief: Brief,
  createModel: () => Model,
): Promise<ChatMessage[]> {
  const conversation: ChatMessage[] = firstMessages(brief);
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const { content, toolCalls } = await createModel()(conversation);
    assert.ok(toolCalls.length <= MAX_TOOL_CALLS);
    conversation.push({ role: 'assistant', content, toolCalls });
    if (toolCalls.length === 0) return conversation;
    for (const call of toolCalls) {
      const result = await callTool(day, call);
      conversation.push({ role: 'tool', id: call.id, content: result.content });
    }
  }
  throw new Error('The model does not end its day');
}
