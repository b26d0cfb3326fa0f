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
  if (asArray(body['output']) === undefined) throw new Error('it has no output');
  const output = objectsIn(body['output']);
  const { status } = body;
  if (status === 'failed' || status === 'cancelled') throw new Error(`its status is ${status}`);
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
  const reason = asObject(body['incomplete_details'])?.['reason'];
  return answerOf(body, {
    content,
    toolCalls,
    reasoning: readReasoning(output),
    carried: output.length === 0 ? null : { message: { output }, calls: [] },
    finishReason:
      status === 'incomplete' ? (reason ?? 'incomplete') : refusal === '' ? 'stop' : 'refusal',
  });
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

/**
 * The stream of a response: its items one by one, and at its end the whole of it, which some
 * servers send without the items.
 */
function assembleResponse(): Assembler {
  let response: Json = {};
  const items = new Map<number, Json>();
  let isComplete = false;
  const grow = createGrowth();
  return {
    take(event, name) {
      const type = textIn(event, 'type') || name;
      if (type === 'response.output_item.done') {
        const [index, item] = [event['output_index'], asObject(event['item'])];
        grow(item);
        if (item !== undefined) items.set(typeof index === 'number' ? index : items.size, item);
      }
      const whole = asObject(event['response']);
      if (whole !== undefined) response = whole;
      isComplete = LAST_EVENTS.includes(type);
      return isComplete;
    },
    isComplete: (isDone) => isComplete || (isDone && items.size > 0), // without any it broke off
    body() {
      const output = asArray(response['output']) ?? [];
      const collected = [...items].sort(([one], [other]) => one - other).map(([, item]) => item);
      const hasNone = output.length === 0 && (collected.length > 0 || isComplete);
      return hasNone ? { ...response, output: collected } : response;
    },
  };
}
