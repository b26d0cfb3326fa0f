import { asArray, asObject, asText, type Json, asObjects } from '#json/json.ts';
import type { ChatMessage, ModelAnswer } from '#agent/model.ts';
import { readAnswer, readCallArguments, readToolCalls } from './answer.ts';
import {
  type Assembler,
  type Dialect,
  createSizeLimit,
  boundedJson,
  joinTexts,
  MAX_PARTS,
  readTextField,
} from './dialect.ts';

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
    return asObjects(carried.message['output']).filter(isReturnable);
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
function isReturnable(item: Json): boolean {
  return (
    item['type'] !== 'reasoning' ||
    item['encrypted_content'] != null ||
    asObjects(item['content']).length > 0
  );
}

/** Reads the body of a response. Throws an `Error` that says what is missing when it is not one. */
function readResponse(body: Json, step: number): ModelAnswer {
  const { status } = body;
  if (asArray(body['output']) === undefined && status == null) throw new Error('it has no output');
  if (status === 'failed') throw new Error('its status is failed');
  const output = asObjects(body['output']);
  const calls = output.filter(({ type }) => type === 'function_call');
  const toolCalls = readToolCalls(
    calls.map(({ call_id, id, name, arguments: text }) => ({
      id: asText(call_id) ?? id,
      name,
      arguments: text,
    })),
    step,
  );
  calls.forEach((call, index) => {
    call['call_id'] = toolCalls[index]?.id; // the same unless it was missing or twice the same
    call['arguments'] = toolCalls[index]?.arguments; // as they are executed
  });
  const parts = output.filter(({ type }) => type === 'message').flatMap(contentParts);
  const refusal = joinTexts(parts, 'refusal');
  const content = joinTexts(parts, 'text') + refusal;
  return readAnswer(body, {
    content,
    toolCalls,
    reasoning: readReasoning(output),
    carried: output.length === 0 ? null : { message: { output }, calls: [] },
    finishReason: readFinishReason(body, { calls, refusal }),
  });
}

/** Why a response ended: what its details say, its status, or that of one of its calls. */
function readFinishReason(
  body: Json,
  { calls, refusal }: { calls: Json[]; refusal: string },
): unknown {
  const { status = 'completed', incomplete_details: details } = body;
  if (status === 'incomplete') return asObject(details)?.['reason'] ?? status;
  if (refusal !== '') return 'refusal';
  return calls.find((call) => call['status'] === 'incomplete')?.['status'] ?? status;
}

function contentParts(item: Json): Json[] {
  const { content } = item;
  if (typeof content === 'string') return [{ text: content }];
  return asObjects(content);
}

/**
 * The summaries of what it thought; without one the thoughts themselves, which local servers send.
 */
function readReasoning(output: readonly Json[]): string | null {
  const items = output.filter(({ type }) => type === 'reasoning');
  const texts = items.map(
    (item) =>
      joinTexts(asObjects(item['summary']), 'text', '\n\n') ||
      joinTexts(contentParts(item), 'text'),
  );
  return texts.filter((text) => text !== '').join('\n\n') || null;
}

const LAST_EVENTS = ['response.completed', 'response.incomplete', 'response.failed'];

/** An item of the output as its events have it so far. */
interface GrowingItem {
  index: number | undefined;
  item: Json;
  isDone: boolean;
}

/**
 * Whether an event is about an item: the id of the call says it; without one the id of the item,
 * which some servers invent anew for each event; without one its place.
 */
function isSameItem(
  { index, item }: GrowingItem,
  event: Pick<GrowingItem, 'index' | 'item'>,
): boolean {
  for (const key of ['call_id', 'id']) {
    const [own, other] = [asText(item[key]), asText(event.item[key])];
    if (own !== undefined && other !== undefined && (own === other || key === 'call_id'))
      return own === other;
  }
  return index === event.index && item['type'] === event.item['type'];
}

/** Arguments as text; an empty object announces those that come in pieces. */
function argumentsText({ arguments: value }: Json): string {
  const text = asObject(value) === undefined ? value : readCallArguments(value);
  return text === '{}' || typeof text !== 'string' ? '' : text;
}

/** An item as a later event has it, which may lack the arguments that came before. */
function updateItem(before: Json, item: Json): Json {
  const given = argumentsText(before);
  return given !== '' && argumentsText(item) === '' ? { ...item, arguments: given } : item;
}

/**
 * The items of a stream: of each kind those of its events or those of its last one, whichever are
 * more, because some servers leave out items there, and others in between.
 */
function mergeItems(collected: readonly GrowingItem[], output: readonly Json[]): Json[] {
  const own = collected.map(({ index = 0, item }) => ({ index, item }));
  const last = output.map((item, index) => ({ index, item }));
  const ofKind = (type: unknown) => (one: { item: Json }) => one.item['type'] === type;
  const kinds = new Set([...own, ...last].map(({ item }) => item['type']));
  const chosen = [...kinds].flatMap((type) => {
    const [before, after] = [own.filter(ofKind(type)), last.filter(ofKind(type))];
    if (before.length > after.length) return before;
    return after.map(({ index, item }, place) => {
      return { index, item: updateItem(before[place]?.item ?? {}, item) };
    });
  });
  return chosen.toSorted((one, other) => one.index - other.index).map(({ item }) => item);
}

/**
 * The stream of a response: its items one by one, some with arguments in pieces, and at its end the
 * whole of it, which some servers send without some of the items.
 */
function assembleResponse(): Assembler {
  let response: Json = {};
  const items: GrowingItem[] = [];
  let isComplete = false;
  const grow = createSizeLimit();
  const takeItem = (index: number | undefined, item: Json, isDone: boolean) => {
    grow(item);
    const known = items.find((one) => !one.isDone && isSameItem(one, { index, item }));
    const isRepeated = items.some((one) => {
      return one.isDone && one.index === index && boundedJson(one.item) === boundedJson(item);
    });
    if (known !== undefined) Object.assign(known, { item: updateItem(known.item, item), isDone });
    else if (!isRepeated && items.push({ index, item: { ...item }, isDone }) > MAX_PARTS)
      throw new Error(`more than ${MAX_PARTS} items`);
  };
  const takeArguments = (index: number | undefined, event: Json) => {
    grow([event['delta'], event['arguments']]);
    const id = asText(event['item_id']);
    const open = items.filter(({ isDone }) => !isDone);
    const known =
      open.find(({ item }) => id !== undefined && [item['id'], item['call_id']].includes(id)) ??
      open.findLast((one) => one.index === index);
    if (known === undefined) return;
    const whole = asText(event['arguments']);
    known.item['arguments'] = whole ?? argumentsText(known.item) + readTextField(event, 'delta');
  };
  return {
    take(event, name) {
      const type = readTextField(event, 'type') || name;
      const place = event['output_index'];
      const index = typeof place === 'number' ? place : undefined;
      const item = asObject(event['item']);
      const isDone = type === 'response.output_item.done';
      if (item !== undefined && (isDone || item['type'] === 'function_call'))
        takeItem(index, item, isDone);
      if (type.startsWith('response.function_call_arguments.')) takeArguments(index, event);
      const whole = asObject(event['response']);
      if (whole !== undefined) response = whole;
      isComplete = LAST_EVENTS.includes(type);
      return isComplete;
    },
    // Without any item that is done it broke off.
    isComplete: (hasEnded) => isComplete || (hasEnded && items.some(({ isDone }) => isDone)),
    body() {
      const output = mergeItems(items, asObjects(response['output']));
      return output.length === 0 && !isComplete ? response : { ...response, output };
    },
  };
}
