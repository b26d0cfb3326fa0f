import { asArray, asObject, asText, type Json, tryParse } from '../../basics/json.ts';
import type { Carried } from '../../wire/protocol.ts';
import type { ChatMessage, ModelAnswer } from '../model.ts';
import { answerOf, readToolCalls, type SentCall } from './answer.ts';
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

/**
 * Reads what providers of the Chat Completions family really send into one form. Unusual forms are
 * accepted where their meaning is clear; nothing is guessed. test/fixtures/completions has one
 * recorded response of each form.
 */

/** Names for the same field by OpenAI, LangChain, Llama and Anthropic. */
const ARGUMENT_FIELDS = ['arguments', 'args', 'parameters', 'input'];
/**
 * DeepSeek and Kimi, OpenRouter, LiteLLM. Not `reasoning`: Groq sends it but refuses it in a
 * request.
 */
const CARRIED_OF_MESSAGE = ['reasoning_content', 'reasoning_details', 'thinking_blocks'];
/** Gemini's signatures. */
const CARRIED_OF_CALL = ['extra_content'];

/**
 * Reads a Chat Completions body. Throws an `Error` that says what is missing when it is not one.
 * `step` makes this answer's calls distinct from those of others when the provider gives them no
 * ids.
 */
export function readCompletion(body: Json, step: number): ModelAnswer {
  const choice = asObject(asArray(body['choices'])?.[0]);
  const message = asObject(choice?.['message']);
  if (message === undefined) throw new Error('it has no choices[0].message');
  const calls = callsOf(message);
  const { content, thoughts } = splitThoughts(readContent(message));
  return answerOf(body, {
    content,
    toolCalls: readToolCalls(calls.map(sentCall), step),
    reasoning: readReasoning(message) ?? thoughts,
    carried: readCarried(message, calls),
    finishReason: choice?.['finish_reason'],
  });
}

/**
 * A text, null, an array in which some parts are text, or the text of a refusal. Throws an `Error`
 * for anything else.
 */
function readContent(message: Json): string {
  const { content, refusal } = message;
  if (typeof content === 'string' && content !== '') return content;
  if (typeof (content ?? '') !== 'string' && asArray(content) === undefined)
    throw new Error('its content is neither text nor a list');
  const texts = (asArray(content) ?? []).map((part) =>
    typeof part === 'string' ? part : (asObject(part)?.['text'] ?? asObject(part)?.['refusal']),
  );
  return texts.filter((text) => typeof text === 'string').join('') || (asText(refusal) ?? '');
}

/**
 * Gemini, and servers without a parser for thoughts, leave them in the text; some omit the opening
 * tag that their template wrote.
 */
function splitThoughts(text: string): { content: string; thoughts: string | null } {
  const end = /<\/think>|<\/thought>/.exec(text);
  const before = end === null ? text : text.slice(0, end.index);
  const opening = /<think>|<thought>/.exec(before);
  const isThought = opening === null ? end !== null : before.slice(0, opening.index).trim() === '';
  if (!isThought) return { content: text, thoughts: null };
  const content = end === null ? '' : text.slice(end.index + end[0].length).trim();
  return { content, thoughts: before.replace(opening?.[0] ?? '', '').trim() || null };
}

function readReasoning(message: Json): string | null {
  const parts = [
    ...(asArray(message['content']) ?? []),
    ...(asArray(message['reasoning_details']) ?? []),
  ];
  const inParts = parts.flatMap((part) => thoughtsIn(asObject(part) ?? {}));
  return (
    asText(message['reasoning_content']) ??
    asText(message['reasoning']) ??
    asText(inParts.join('')) ??
    null
  );
}

/** Mistral's `thinking` parts; OpenRouter's and MiniMax's `reasoning.*` parts. */
function thoughtsIn(part: Json): string[] {
  const isThought = /^(thinking|reasoning)/.test(asText(part['type']) ?? '');
  const texts = asArray(part['thinking'])?.map((inner) => asObject(inner)?.['text']) ?? [
    part['text'],
    part['summary'],
  ];
  return isThought ? texts.filter((text) => typeof text === 'string') : [];
}

function callsOf(message: Json): unknown[] {
  const calls = asArray(message['tool_calls']) ?? [];
  const legacy = asObject(message['function_call']);
  return calls.length > 0 || legacy === undefined ? calls : [{ function: legacy }];
}

function sentCall(call: unknown): SentCall {
  const named = asObject(asObject(call)?.['function']) ?? asObject(call); // some omit the level in between
  const value = ARGUMENT_FIELDS.map((field) => named?.[field]).find(
    (field) => field !== undefined && field !== null,
  );
  return { id: asObject(call)?.['id'], name: named?.['name'], arguments: value };
}

function readCarried(message: Json, calls: readonly unknown[]): Carried | null {
  const carried = {
    message: pick(message, CARRIED_OF_MESSAGE),
    calls: calls.map((call) => pick(asObject(call) ?? {}, CARRIED_OF_CALL)),
  };
  return [carried.message, ...carried.calls].every((fields) => Object.keys(fields).length === 0)
    ? null
    : carried;
}

function pick(from: Json, fields: readonly string[]): Json {
  return Object.fromEntries(
    fields.flatMap((field) => (from[field] == null ? [] : [[field, from[field]]])),
  );
}
