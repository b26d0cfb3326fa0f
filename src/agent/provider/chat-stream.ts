import { asArray, asObject, asText, type Json, objectsIn } from '../../basics/json.ts';
import { MAX_TOOL_CALLS } from '../../wire/protocol.ts';
import { createGrowth, normalised } from './event-stream.ts';
import type { Assembler } from './dialect.ts';

/** Fields of the response itself; what comes last counts. */
const OF_RESPONSE = ['id', 'model', 'system_fingerprint', 'service_tier', 'provider', 'usage'];
/** Fields of a message whose text comes in pieces. */
const TEXTS = ['content', 'reasoning_content', 'reasoning', 'refusal'];
/** Fields of a message that are lists whose items come in pieces. */
const LISTS = ['reasoning_details', 'thinking_blocks'];
/** More of them in one answer are a mistake. */
const MAX_ITEMS = 1_000;
/** Fields of such an item whose text comes in pieces; others are whole. */
const TEXTS_OF_ITEM = ['text', 'summary', 'thinking', 'data'];

/**
 * The stream of a chat completion: a piece of the message in each event, tokens in the last one,
 * then `[DONE]`. Without that it ends with a finish reason and tokens; some gateways send both with
 * every piece, so an event with a piece is not the end.
 */
export function assembleCompletion(): Assembler {
  const response: Json = {};
  const message: Json = { role: 'assistant' };
  const calls = createCalls();
  const grow = createGrowth();
  let finishReason: unknown = null;
  const takeDelta = (delta: Json) => {
    for (const field of TEXTS) message[field] = joined(message[field], delta[field]);
    for (const field of LISTS)
      if (delta[field] != null)
        message[field] = withPieces(objectsIn(message[field]), objectsIn(delta[field]));
    if (asObject(delta['function_call']))
      calls.take({ index: 0, function: delta['function_call'] });
    for (const call of objectsIn(delta['tool_calls'])) calls.take(call);
  };
  return {
    take(chunk) {
      for (const field of OF_RESPONSE) if (chunk[field] != null) response[field] = chunk[field];
      const choice = asObject(asArray(chunk['choices'])?.[0]);
      const delta = asObject(choice?.['delta']) ?? asObject(choice?.['message']); // some send the last piece whole
      grow(delta);
      if (delta !== undefined) takeDelta(delta);
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
      return { ...response, choices: [{ index: 0, message: whole, finish_reason: finishReason }] };
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
function joined(before: unknown, piece: unknown): unknown {
  if (piece == null || piece === '') return before ?? piece;
  const list = asArray(before);
  const next = asArray(piece);
  if (list === undefined && next === undefined) {
    const odd = [before ?? '', piece].find((part) => typeof part !== 'string');
    if (odd === undefined) return `${before ?? ''}${piece}`;
    throw new Error(`a piece that is not text: ${normalised(odd)}`);
  }
  const parts = list ?? (asText(before) === undefined ? [] : [before]);
  for (const part of next ?? [piece]) parts.push(part);
  return parts;
}

/**
 * A list with pieces of its items: those with an `index` belong together, others continue the last
 * one of their type.
 */
function withPieces(list: Json[], pieces: readonly Json[]): Json[] {
  for (const piece of pieces) {
    const { index, type } = piece;
    const last = list.at(-1);
    const isSigned = last?.['signature'] != null && last['signature'] !== '';
    const goesOn = last?.['type'] === type && !isSigned ? last : undefined;
    const item =
      index === undefined
        ? goesOn
        : list.find((one) => one['index'] === index && one['type'] === type);
    if (item !== undefined) merge(item, piece);
    else if (list.push({ ...piece }) > MAX_ITEMS)
      throw new Error(`more than ${MAX_ITEMS} pieces of thoughts`);
  }
  return list;
}

function merge(item: Json, piece: Json): void {
  for (const [field, value] of Object.entries(piece))
    if (value != null)
      item[field] = TEXTS_OF_ITEM.includes(field) ? joined(item[field], value) : value;
}

interface Call extends Json {
  function: Json;
}

/** Tool calls whose arguments come in pieces, each with the call's `index`. */
function createCalls() {
  const calls: Call[] = [];
  const byIndex = new Map<unknown, Call>();
  const begin = (index: unknown): Call => {
    if (calls.length === MAX_TOOL_CALLS) throw new Error(`more than ${MAX_TOOL_CALLS} tool calls`);
    const call: Call = { type: 'function', function: {} };
    calls.push(call);
    byIndex.set(index, call);
    return call;
  };
  return {
    take(piece: Json): void {
      const named = asObject(piece['function']) ?? {};
      const { index, extra_content: extra } = piece;
      const [id, name, text] = [asText(piece['id']), asText(named['name']), named['arguments']];
      const known = index === undefined ? calls.at(-1) : byIndex.get(index);
      // Gemini gives parallel calls one index, and others none; each has a name, and an id if any
      // has.
      const hasOtherId = known?.['id'] !== undefined && id !== undefined && id !== known['id'];
      const isNext =
        name !== undefined &&
        (hasOtherId || (index === undefined && known?.function['name'] !== undefined));
      const call = known === undefined || isNext ? begin(index) : known;
      if (id !== undefined) call['id'] ??= id;
      if (name !== undefined) call.function['name'] ??= name;
      if (extra != null) call['extra_content'] = extra;
      if (text != null)
        call.function['arguments'] =
          typeof text === 'string' ? joined(call.function['arguments'], text) : text;
    },
    list: () => calls,
  };
}
