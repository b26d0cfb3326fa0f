import { asArray, asObject, asText, type Json, asObjects, tryParse } from '#json/json.ts';
import type { Carried } from '#wire/protocol.ts';
import type { ChatMessage, ModelAnswer } from '#agent/model.ts';
import { readAnswer, NoAnswer, readToolCalls, type SentCall } from './answer.ts';
import { createCallCollector } from './call-pieces.ts';
import {
  type Dialect,
  type Assembler,
  createSizeLimit,
  boundedJson,
  MAX_PARTS,
} from './dialect.ts';

/** Fields of the response itself; what comes last counts. */
const RESPONSE_FIELDS = ['id', 'model', 'system_fingerprint', 'service_tier', 'provider', 'usage'];
/** Fields of a message whose text comes in pieces. */
const TEXT_FIELDS = ['content', 'reasoning_content', 'reasoning', 'refusal'];
/** Fields of a message that are lists whose items come in pieces. */
const LIST_FIELDS = ['reasoning_details', 'thinking_blocks'];
/** Fields of such an item whose text comes in pieces; others are whole. */
const ITEM_TEXT_FIELDS = ['text', 'summary', 'thinking', 'data'];

/**
 * The stream of a chat completion: a piece of the message in each event, tokens in the last one,
 * then `[DONE]`. Without that it ends with a finish reason and tokens; some gateways send both with
 * every piece, so an event with a piece is not the end.
 */
function assembleCompletion(): Assembler {
  const response: Json = {};
  const message: Json = { role: 'assistant' };
  const calls = createCallCollector();
  const grow = createSizeLimit();
  let finishReason: unknown = null;
  let hasMessage = false;
  const takeDelta = (delta: Json, isWhole: boolean) => {
    for (const field of TEXT_FIELDS) {
      const [before, text] = [asText(message[field]) ?? '', asText(delta[field])];
      const repeats = isWhole && text?.startsWith(before);
      message[field] = repeats ? text : joinPieces(message[field], delta[field]);
    }
    for (const field of LIST_FIELDS)
      if (delta[field] != null)
        message[field] = mergePieces(asObjects(message[field]), asObjects(delta[field]));
    if (asObject(delta['function_call']))
      calls.take({ index: 0, function: delta['function_call'] });
    const sent = asObjects(delta['tool_calls']);
    if (isWhole) calls.takeMessage(sent);
    else sent.forEach(calls.take);
  };
  return {
    take(chunk) {
      for (const field of RESPONSE_FIELDS) if (chunk[field] != null) response[field] = chunk[field];
      const choice = asObjects(chunk['choices']).find(({ index = 0 }) => index === 0);
      const piece = asObject(choice?.['delta']);
      const delta = piece ?? asObject(choice?.['message']); // some send the last piece, or all, whole
      grow(delta);
      if (delta !== undefined) takeDelta(delta, piece === undefined);
      hasMessage ||= delta !== undefined;
      if (choice?.['error'] != null) response['error'] = choice['error'];
      const reason = choice?.['finish_reason'] ?? null;
      finishReason = reason ?? finishReason;
      if (finishReason === null) return false;
      const isPiece = Object.entries(delta ?? {}).some(isFilled);
      if (chunk['usage'] != null && !isPiece) return true;
      return (reason !== null || isPiece) && 'finished';
    },
    isComplete: (isDone) => isDone || finishReason !== null,
    body() {
      const list = calls.list();
      const whole = { ...message, ...(list.length > 0 && { tool_calls: list }) };
      const choice = {
        index: 0,
        ...(hasMessage && { message: whole }),
        finish_reason: finishReason,
      };
      return { ...response, choices: [choice] };
    },
  };
}

/** Whether a field of a piece has something of an answer. */
function isFilled([name, value]: [string, unknown]): boolean {
  return name !== 'role' && value != null && value !== '' && asArray(value)?.length !== 0;
}

/**
 * A text with its next piece, or a list of parts with the next ones, as Mistral sends its thoughts.
 */
function joinPieces(before: unknown, piece: unknown): unknown {
  if (piece == null || piece === '') return before ?? piece;
  const list = asArray(before);
  const next = asArray(piece);
  if (list === undefined && next === undefined) {
    const odd = [before ?? '', piece].find((part) => typeof part !== 'string');
    if (odd === undefined) return `${before ?? ''}${piece}`;
    throw new Error(`a piece that is not text: ${boundedJson(odd)}`);
  }
  const parts = list ?? (asText(before) === undefined ? [] : [before]);
  for (const part of next ?? [piece]) parts.push(part);
  return parts;
}

/**
 * A list with pieces of its items: those with an `index` belong together, others continue the last
 * one of their type.
 */
function mergePieces(list: Json[], pieces: readonly Json[]): Json[] {
  for (const piece of pieces) {
    const { index, type } = piece;
    const last = list.at(-1);
    const isSigned = last?.['signature'] != null && last['signature'] !== '';
    const openItem = last?.['type'] === type && !isSigned ? last : undefined;
    const item =
      index === undefined
        ? openItem
        : list.find((one) => one['index'] === index && one['type'] === type);
    if (item !== undefined) merge(item, piece);
    else if (list.push({ ...piece }) > MAX_PARTS)
      throw new Error(`more than ${MAX_PARTS} pieces of thoughts`);
  }
  return list;
}

function merge(item: Json, piece: Json): void {
  for (const [field, value] of Object.entries(piece))
    if (value != null)
      item[field] = ITEM_TEXT_FIELDS.includes(field) ? joinPieces(item[field], value) : value;
}

/** Chat Completions, as OpenAI began it and nearly every other server speaks it. */
export const chat: Dialect = {
  path: (base) => (base.endsWith('/chat/completions') ? base : `${base}/chat/completions`),
  body({ conversation, tools, format, parameters, isStreamed, adds }) {
    const hasOptions =
      isStreamed && parameters['stream_options'] === undefined && adds('stream_options');
    return {
      ...parameters,
      ...(isStreamed && { stream: true }),
      ...(hasOptions && { stream_options: { include_usage: true } }),
      messages: wireMessages(conversation),
      ...(format &&
        parameters['response_format'] === undefined &&
        adds('response_format') && {
          response_format: {
            type: 'json_schema',
            json_schema: { name: format.name, schema: format.parameters },
          },
        }),
      ...(!format && {
        tools: tools.map((tool) => ({ type: 'function', function: tool })),
      }),
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
const THOUGHTS_FIELD = 'reasoning_content';

function wireMessages(conversation: readonly ChatMessage[]): Json[] {
  const hasThoughts = conversation.some(
    (message) =>
      message.role === 'assistant' && message.carried?.message[THOUGHTS_FIELD] !== undefined,
  );
  return conversation.map((message) =>
    wireMessage(message, hasThoughts ? { [THOUGHTS_FIELD]: '' } : {}),
  );
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
const CARRIED_MESSAGE_FIELDS = ['reasoning_content', 'reasoning_details', 'thinking_blocks'];
/** Gemini's signatures. */
const CARRIED_CALL_FIELDS = ['extra_content'];

/**
 * Reads a Chat Completions body. Throws an `Error` that says what is missing when it is not one.
 * `step` makes this answer's calls distinct from those of others when the provider gives them no
 * ids.
 */
export function readCompletion(body: Json, step: number): ModelAnswer {
  const choice = asObject(asArray(body['choices'])?.[0]);
  const message = asObject(choice?.['message']);
  if (message === undefined && asArray(body['choices']) !== undefined)
    throw new NoAnswer('sent an answer without a message');
  if (message === undefined) throw new Error('it has no choices[0].message');
  const calls = messageCalls(message);
  const { content, thoughts } = splitThoughts(readContent(message));
  const hasRefused = asText(message['refusal']) !== undefined && content === message['refusal'];
  return readAnswer(body, {
    content,
    toolCalls: readToolCalls(calls.map(sentCall), step),
    reasoning: readReasoning(message) ?? thoughts,
    carried: readCarried(message, calls),
    finishReason: hasRefused ? 'refusal' : choice?.['finish_reason'],
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
  const parts = [...asObjects(message['content']), ...asObjects(message['reasoning_details'])];
  const inParts = parts.flatMap(partThoughts);
  return (
    asText(message['reasoning_content']) ??
    asText(message['reasoning']) ??
    asText(inParts.join('')) ??
    null
  );
}

/** Mistral's `thinking` parts; OpenRouter's and MiniMax's `reasoning.*` parts. */
function partThoughts(part: Json): string[] {
  const isThought = /^(thinking|reasoning)/.test(asText(part['type']) ?? '');
  const texts = asArray(part['thinking'])?.map((inner) => asObject(inner)?.['text']) ?? [
    part['text'],
    part['summary'],
  ];
  return isThought ? texts.filter((text) => typeof text === 'string') : [];
}

function messageCalls(message: Json): unknown[] {
  const calls = asArray(message['tool_calls']) ?? [];
  const legacy = asObject(message['function_call']);
  return calls.length > 0 || legacy === undefined ? calls : [{ function: legacy }];
}

function sentCall(call: unknown): SentCall {
  const named = asObject(asObject(call)?.['function']) ?? asObject(call); // some omit the level in between
  const value = ARGUMENT_FIELDS.map((field) => named?.[field]).find((field) => field != null);
  return { id: asObject(call)?.['id'], name: named?.['name'], arguments: value };
}

function readCarried(message: Json, calls: readonly unknown[]): Carried | null {
  const carried = {
    message: pickFields(message, CARRIED_MESSAGE_FIELDS),
    calls: calls.map((call) => pickFields(asObject(call) ?? {}, CARRIED_CALL_FIELDS)),
  };
  return [carried.message, ...carried.calls].every((fields) => Object.keys(fields).length === 0)
    ? null
    : carried;
}

function pickFields(from: Json, fields: readonly string[]): Json {
  return Object.fromEntries(
    fields.flatMap((field) => (from[field] == null ? [] : [[field, from[field]]])),
  );
}
