import type { BaselineStrategy } from '../../domain.ts';
import { type Brief, MAX_TOOL_CALLS, type ToolCall } from '../../protocol.ts';
import { type Play, strategies } from './baselines.ts';
import type { Model, ModelAnswer } from '../model.ts';
import { say, toolReplies } from './turns.ts';

/** No provider is involved, so there are no tokens to count or pay for. */
const NO_TOKENS = {
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/**
 * A rule that trades in a model's place, through the same conversation and tools. It keeps no state
 * between two answers: each time, it replays its day from the start against the tools' replies so
 * far, so it can continue any conversation. Calls that exceed the limit of one answer are spread
 * over several.
 */
export function createBaselineModel(
  strategy: BaselineStrategy,
  { signature, brief }: { signature: string; brief: Brief },
): Model {
  return async (conversation) => {
    const replies = toolReplies(conversation);
    const play: Play = strategies[strategy](brief, signature);
    let heard = 0;
    let turn = play.next([]);
    while (turn.done !== true) {
      const { words, calls } = turn.value;
      const answered = replies.slice(heard, heard + calls.length);
      if (answered.length < calls.length) return speak(words, calls.slice(answered.length));
      heard += calls.length;
      turn = play.next(answered);
    }
    return speak(turn.value);
  };
}

function speak(words: string, calls: readonly ToolCall[] = []): ModelAnswer {
  return { ...say(words, calls.slice(0, MAX_TOOL_CALLS)), usage: NO_TOKENS };
}
