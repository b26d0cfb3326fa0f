import { asArray, asObject, asText, type Json, objectsIn } from '../../basics/json.ts';
import type { ChatMessage, ModelAnswer } from '../model.ts';
import { answerOf, readToolCalls } from './answer.ts';
import { type Assembler, type Dialect, createGrowth, textIn } from './dialect.ts';

/**
 * Responses: OpenAI's own dialect, and the Open Responses specification, which gateways and local
 * servers speak too. Nothing is kept at the provider: each request has the whole conversation, with
 * every output item as it came.
 */
export const responses: Dialect = {
  path: (base) => (base.endsWith('/responses') ? base : `${base}/responses`),
  body({ conversation, tools, format, parameters, isStreamed, cacheKey, adds }) {
    const system = conversation
      .filter(({ role }) => role === 'system')
      .map(({ content }) => content);
    const set = asObject(parameters['reasoning']);
    const hasSummary =
      set?.['summary'] === undefined &&
      parameters['reasoning'] !== null &&
      adds('reasoning.summary');
    const text = asObject(parameters['text']);
    const hasFormat = format && text?.['format'] === undefined && adds('text.format');
    return {
      store: false,
      ...(parameters['include'] === undefined &&
        adds('include') && { include: ['reasoning.encrypted_content'] }),
      ...(cacheKey !== null &&
        parameters['prompt_cache_key'] === undefined &&
        adds('prompt_cache_key') && { prompt_cache_key: cacheKey }),
      ...parameters,
      ...(hasSummary && { reasoning: { ...set, summary: 'auto' } }),
      ...(hasFormat && {
        text: {
          ...text,
          format: { type: 'json_schema', name: format.name, schema: format.parameters },
        },
      }),
      ...(isStreamed && { stream: true }),
      ...(system.length > 0 && { instructions: system.join('\n\n') }),
      input: conversation.flatMap(wireItems),
      ...(!format && {
        tools: tools.map(({ name, description, parameters: schema }) => ({
          type: 'function',
          name,
          description,
          parameters: schema,
          strict: allowsStrict(schema),
        })),
      }),
    };
  },
  read: readResponse,
  assemble: assembleResponse,
};

function wireItems(message: ChatMessage): Json[] {
  if (message.role === 'tool')
    return [{ type: 'function_call_output', call_id: message.id, output: message.content }];
  if (message.role !== 'assistant')
    // what the system says are the instructions
    return message.role === 'user'
      ? [{ type: 'message', role: 'user', content: message.content }]
      : [];
  const { content, toolCalls, carried } = message;
  if (carried?.message['output'] !== undefined)
    return objectsIn(carried.message['output']).filter(canGoBack);
  return [
    ...(content === '' ? [] : [{ type: 'message', role: 'assistant', content }]),
    ...toolCalls.map(({ id, name, arguments: text }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: text,
    })),
  ];
}

/**
 * What a property may not say where a provider holds the model to the schema (OpenAI, "Structured
 * outputs: supported schemas").
 */
const NOT_STRICT = ['minLength', 'maxLength'];

/**
 * Whether a tool can be asked for strictly: every one of its arguments is required, and nothing is
 * said of one that is not supported.
 */
function allowsStrict({ properties, required, additionalProperties }: Json): boolean {
  const names = asArray(required) ?? [];
  const fits = ([name, property]: [string, unknown]) =>
    names.includes(name) &&
    !NOT_STRICT.some((keyword) => asObject(property)?.[keyword] !== undefined);
  return additionalProperties === false && Object.entries(asObject(properties) ?? {}).every(fits);
}

/**
 * A reasoning item with nothing but a summary refers to what the provider would have had to keep.
 */
function canGoBack(item: Json): boolean {
  return (
    item['type'] !== 'reasoning' ||
    item['encrypted_content'] != null ||
    objectsIn(item['content']).length > 0
  );
}

/** Reads the body of a response. Throws an `Error` that says what is missing when it is not one. */
function readResponse(body: Json, step: number): ModelAnswer {
  const { status } = body;
  if (asArray(body['output']) === undefined && status == null) throw new Error('it has no output');
  if (status === 'failed') throw new Error('its status is failed');
  const output = objectsIn(body['output']);
  const calls = output.filter(({ type }) => type === 'function_call');
  const toolCalls = readToolCalls(
    calls.map(({ call_id, id, name, arguments: text }) => ({
      id: asText(call_id) ?? id,
      name,
      arguments: text,
    })),
    step,
  );
  calls.forEach((call, index) => (call['call_id'] = toolCalls[index]?.id)); // the same unless it was missing or twice the same
  const parts = output.filter(({ type }) => type === 'message').flatMap(contentOf);
  const refusal = textsOf(parts, 'refusal');
  const content = textsOf(parts, 'text') + refusal;
  return answerOf(body, {
    content,
    toolCalls,
    reasoning: readReasoning(output),
    carried: output.length === 0 ? null : { message: { output }, calls: [] },
    finishReason: endIn(body, { calls, refusal }),
  });
}

/** Why a response ended: what its details say, its status, or that of one of its calls. */
function endIn(body: Json, { calls, refusal }: { calls: Json[]; refusal: string }): unknown {
  const { status = 'completed', incomplete_details: details } = body;
  if (status === 'incomplete') return asObject(details)?.['reason'] ?? status;
  if (refusal !== '') return 'refusal';
  return calls.find((call) => call['status'] === 'incomplete')?.['status'] ?? status;
}

function contentOf(item: Json): Json[] {
  const { content } = item;
  if (typeof content === 'string') return [{ text: content }];
  return objectsIn(content);
}

function textsOf(parts: readonly Json[], field: string, between = ''): string {
  return parts.flatMap((part) => asText(part[field]) ?? []).join(between);
}

/**
 * The summaries of what it thought; without one the thoughts themselves, which local servers send.
 */
function readReasoning(output: readonly Json[]): string | null {
  const items = output.filter(({ type }) => type === 'reasoning');
  const texts = items.map(
    (item) =>
      textsOf(objectsIn(item['summary']), 'text', '\n\n') || textsOf(contentOf(item), 'text'),
  );
  return texts.filter((text) => text !== '').join('\n\n') || null;
}

const LAST_EVENTS = ['response.completed', 'response.incomplete', 'response.failed'];

/** An item of the output, at its place. */
interface Placed {
  index: number;
  item: Json;
}

/** Whether both are one item: two calls may have one index. */
function isSame(one: Placed, other: Placed): boolean {
  const key = ['id', 'call_id'].find((name) => one.item[name] != null && other.item[name] != null);
  return key === undefined
    ? one.index === other.index && one.item['type'] === other.item['type']
    : one.item[key] === other.item[key];
}

/** The items with a later form of one of them, which may lack the arguments that came before. */
function put(items: Placed[], { index, item }: Placed): void {
  const known = items.find((one) => isSame(one, { index, item }));
  if (known === undefined) return void items.push({ index, item });
  const given = known.item['arguments'];
  const lacksThem = given != null && (item['arguments'] ?? '') === '';
  known.item = lacksThem ? { ...item, arguments: given } : item;
}

/**
 * The stream of a response: its items one by one, some with arguments in pieces, and at its end the
 * whole of it, which some servers send without some of the items.
 */
function assembleResponse(): Assembler {
  let response: Json = {};
  const items: Placed[] = [];
  let isComplete = false;
  let hasItem = false;
  const grow = createGrowth();
  const takeArguments = (event: Json, index: number) => {
    const item = { type: 'function_call', id: event['item_id'] };
    const known = items.find((one) => isSame(one, { index, item }))?.item;
    if (known === undefined) return;
    const whole = event['arguments'];
    known['arguments'] = whole ?? textIn(known, 'arguments') + textIn(event, 'delta');
  };
  return {
    take(event, name) {
      const type = textIn(event, 'type') || name;
      const place = event['output_index'];
      const index = typeof place === 'number' ? place : items.length;
      const item = asObject(event['item']);
      const isItem = type === 'response.output_item.done';
      if (item !== undefined && (isItem || item['type'] === 'function_call')) {
        grow(item);
        put(items, { index, item: { ...item } });
        hasItem ||= isItem;
      }
      if (type.startsWith('response.function_call_arguments.')) {
        grow([event['delta'], event['arguments']]);
        takeArguments(event, index);
      }
      const whole = asObject(event['response']);
      if (whole !== undefined) response = whole;
      isComplete = LAST_EVENTS.includes(type);
      return isComplete;
    },
    isComplete: (isDone) => isComplete || (isDone && hasItem), // without any it broke off
    body() {
      const all = items.map((one) => ({ ...one }));
      const output = objectsIn(response['output']);
      output.forEach((item, index) => put(all, { index, item }));
      if (all.length === 0 && !isComplete) return response;
      const sorted = all.toSorted((one, other) => one.index - other.index);
      return { ...response, output: sorted.map(({ item }) => item) };
    },
  };
}
