import { type Json, asObject, tryParse } from '../../json.ts';
import type { ChatMessage } from '../model.ts';
import { readCompletion } from './chat-answer.ts';
import { assembleCompletion } from './chat-stream.ts';
import type { Dialect } from './dialect.ts';

/** Chat Completions, as OpenAI began it and nearly every other server speaks it. */
export const chat: Dialect = {
  path: (base) => (base.endsWith('/chat/completions') ? base : `${base}/chat/completions`),
  keyHeaders: (key) => ({ authorization: `Bearer ${key}` }),
  headers: {},
  body({ conversation, tools, parameters, isStreamed, adds }) {
    const hasOptions =
      isStreamed && parameters['stream_options'] === undefined && adds('stream_options');
    return {
      ...parameters,
      ...(isStreamed && { stream: true }),
      ...(hasOptions && { stream_options: { include_usage: true } }),
      messages: wireMessages(conversation),
      tools: tools.map((tool) => ({ type: 'function', function: tool })),
    };
  },
  read: readCompletion,
  assemble: assembleCompletion,
};

/** OpenAI refuses a history with other tool names, but models do invent such names. */
const WIRE_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
/**
 * Once an answer had this field, DeepSeek and Moonshot want it on every one: they refuse a request
 * without it.
 */
const THOUGHTS = 'reasoning_content';

function wireMessages(conversation: readonly ChatMessage[]): Json[] {
  const hasThoughts = conversation.some(
    (message) => message.role === 'assistant' && message.carried?.message[THOUGHTS] !== undefined,
  );
  return conversation.map((message) => wireMessage(message, hasThoughts ? { [THOUGHTS]: '' } : {}));
}

function wireMessage(message: ChatMessage, thoughts: Json): Json {
  if (message.role === 'tool')
    return { role: 'tool', tool_call_id: message.id, content: message.content };
  if (message.role !== 'assistant') return { role: message.role, content: message.content };
  const { content, toolCalls, carried } = message;
  const calls = toolCalls.map(({ id, name, arguments: text }, index) => ({
    ...carried?.calls[index],
    id,
    type: 'function',
    function: {
      name: WIRE_NAME.test(name) ? name : 'unknown',
      arguments: asObject(tryParse(text)) === undefined ? '{}' : text, // providers refuse a history with broken arguments
    },
  }));
  return {
    role: 'assistant',
    content: content || null,
    ...thoughts,
    ...carried?.message,
    tool_calls: calls,
  };
}
