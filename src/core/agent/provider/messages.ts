import { asArray, asObject, asText, type Json, asObjects, tryParse } from '#json/json.ts';
import type { ChatMessage, ModelAnswer } from '#agent/model.ts';
import { readAnswer, readToolCalls } from './answer.ts';
import {
  type Assembler,
  type Dialect,
  type Question,
  createSizeLimit,
  boundedJson,
  dropRepeated,
  joinTexts,
  MAX_PARTS,
  readTextField,
} from './dialect.ts';

const VERSION = '2023-06-01';
/**
 * The most tokens of an answer, thinking included, where the entry sets none: the field is
 * required.
 */
const MAX_TOKENS = { streamed: 32_000, streamedAtHighEffort: 64_000, whole: 8_000 };
const HIGH_EFFORTS: readonly unknown[] = ['xhigh', 'max'];
const CACHED = { type: 'ephemeral' };

/**
 * Messages: Anthropic's own dialect. Each request has the whole conversation, with every block of
 * an answer as it came.
 */
export const messages: Dialect = {
  path: (base) => base.replace(/(\/v1)?(\/messages)?$/, '/v1/messages'),
  keyHeaders: (key) => ({ 'x-api-key': key }),
  headers: { 'anthropic-version': VERSION },
  body(question) {
    const { conversation, format, parameters, isStreamed, adds } = question;
    const isForced = format && parameters['tool_choice'] === undefined && adds('tool_choice');
    const tools = isForced ? [format] : question.tools;
    const system = conversation
      .filter(({ role }) => role === 'system')
      .map(({ content }) => ({ type: 'text', text: content }));
    const history = wireMessages(conversation);
    const isCached = parameters['cache_control'] === undefined && adds('cache_control');
    return {
      max_tokens: defaultMaxTokens(question),
      ...(parameters['thinking'] === undefined &&
        !isForced && // Anthropic refuses both together
        adds('thinking') && { thinking: { type: 'adaptive', display: 'summarized' } }),
      ...parameters,
      ...(isStreamed && { stream: true }),
      ...(system.length > 0 && { system: isCached ? withMark(system) : system }),
      messages: isCached ? withMarkOnLastUser(history) : history,
      ...((!format || isForced) && {
        tools: tools.map(({ name, description, parameters: schema }) => ({
          name,
          description,
          input_schema: schema,
        })),
      }),
      ...(isForced && { tool_choice: { type: 'tool', name: format.name } }),
    };
  },
  read: readMessage,
  assemble: assembleMessage,
};

function defaultMaxTokens({ parameters, isStreamed }: Question): number {
  const effort = asObject(parameters['output_config'])?.['effort'];
  if (!isStreamed) return MAX_TOKENS.whole;
  return HIGH_EFFORTS.includes(effort) ? MAX_TOKENS.streamedAtHighEffort : MAX_TOKENS.streamed;
}

interface WireMessage extends Json {
  role: 'user' | 'assistant';
  content: Json[];
}

/** Messages in turn: what tools returned on one answer is one message of the user. */
function wireMessages(conversation: readonly ChatMessage[]): WireMessage[] {
  const list: WireMessage[] = [];
  for (const message of conversation) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = list.at(-1);
    if (last?.role === role) last.content.push(...messageBlocks(message));
    else list.push({ role, content: messageBlocks(message) });
  }
  return list;
}

function messageBlocks(message: ChatMessage): Json[] {
  if (message.role === 'tool') {
    const { id, content, isMalformed } = message;
    return [
      { type: 'tool_result', tool_use_id: id, content, ...(isMalformed && { is_error: true }) },
    ];
  }
  if (message.role !== 'assistant') return [{ type: 'text', text: message.content }];
  const { content, toolCalls, carried } = message;
  if (carried?.message['content'] !== undefined) return asObjects(carried.message['content']);
  return [
    ...(content === '' ? [] : [{ type: 'text', text: content }]),
    ...toolCalls.map(({ id, name, arguments: text }) => ({
      type: 'tool_use',
      id,
      name,
      input: asObject(tryParse(text)) ?? {},
    })),
  ];
}

/** A list of blocks of which the last one says: keep in the cache all up to here. */
function withMark(blocks: readonly Json[]): Json[] {
  return [...blocks.slice(0, -1), { ...blocks.at(-1), cache_control: CACHED }];
}

function withMarkOnLastUser(history: readonly WireMessage[]): WireMessage[] {
  const last = history.findLast(({ role }) => role === 'user');
  return history.map((own) => (own === last ? { ...own, content: withMark(own.content) } : own));
}

/** Reads the body of a response. Throws an `Error` that says what is missing when it is not one. */
function readMessage(body: Json, step: number): ModelAnswer {
  if (asArray(body['content']) === undefined && body['stop_reason'] == null)
    throw new Error('it has no content');
  const blocks = asObjects(body['content']);
  const ofType = (type: string) => blocks.filter((block) => block['type'] === type);
  const uses = ofType('tool_use');
  const toolCalls = readToolCalls(
    uses.map(({ id, name, input }) => ({ id, name, arguments: input })),
    step,
  );
  uses.forEach((use, index) => {
    use['id'] = toolCalls[index]?.id; // the same unless it was missing or twice the same
    // What was cut off would be refused.
    use['input'] = asObject(tryParse(toolCalls[index]?.arguments ?? '')) ?? {};
  });
  const isPaused = hasStopReason(body, 'pause_turn');
  return readAnswer(body, {
    content: joinTexts(ofType('text'), 'text'),
    toolCalls,
    reasoning: joinTexts(ofType('thinking'), 'thinking', '\n\n') || null,
    carried:
      blocks.length === 0
        ? null
        : { ...(isPaused && { isPaused }), message: { content: blocks }, calls: [] },
    finishReason: body['stop_reason'],
    refusal: readRefusal(body),
  });
}

function hasStopReason(body: Json, reason: string): boolean {
  return asText(body['stop_reason'])?.toLowerCase() === reason;
}

/** Why the model refused, where the provider says it. */
function readRefusal(body: Json): string | null {
  const { category, explanation } = asObject(body['stop_details']) ?? {};
  const words = [category, explanation].flatMap((text) => asText(text) ?? []);
  return hasStopReason(body, 'refusal') && words.length > 0
    ? `The provider says: ${words.join(': ').replace(/\.$/, '')}.`
    : null;
}

/** The kinds of delta that are a piece of a text, which the block has under the same name. */
const PIECE = /^(text|thinking|signature)_delta$/;

/** A block of a stream, with the JSON of what a tool is called with as far as it has come. */
interface GrowingBlock {
  index: number;
  block: Json;
  input: string;
  hasStopped: boolean;
}

/**
 * The stream of a message: its head, its blocks piece by piece, why it stopped, and its end. Two
 * blocks may have one index.
 */
function assembleMessage(): Assembler {
  let message: Json = {};
  let blocks: GrowingBlock[] = [];
  const grow = createSizeLimit();
  let isComplete = false;
  const takeUsage = (usage: unknown) => {
    const known = Object.entries(asObject(usage) ?? {}).filter(([, value]) => value !== null);
    if (known.length > 0)
      message['usage'] = { ...asObject(message['usage']), ...Object.fromEntries(known) };
  };
  const begin = (index: number, block: Json, last: GrowingBlock | undefined) => {
    if (blocks.length === MAX_PARTS) throw new Error(`more than ${MAX_PARTS} blocks`);
    if (last !== undefined && !last.hasStopped && isEmpty(last))
      last.block = block; // begun again
    else blocks.push({ index, block, input: '', hasStopped: false });
  };
  const takeDelta = (growing: GrowingBlock | undefined, delta: Json) => {
    const type = readTextField(delta, 'type');
    if (growing === undefined) throw new Error('a piece of a block that has not begun');
    const { block } = growing;
    if (type === 'input_json_delta') growing.input += readTextField(delta, 'partial_json');
    const [, field] = PIECE.exec(type) ?? [];
    if (field !== undefined)
      block[field] = readTextField(block, field) + readTextField(delta, field);
    if (type === 'citations_delta')
      (block['citations'] = asArray(block['citations']) ?? []).push(delta['citation']);
  };
  return {
    take(event, name) {
      const type = readTextField(event, 'type') || name;
      const index = typeof event['index'] === 'number' ? event['index'] : NaN;
      const known = blocks.findLast((one) => Object.is(one.index, index));
      if (type === 'message_start') {
        message = { ...asObject(event['message']) };
        blocks = []; // it begins anew
      } else if (type === 'content_block_start') {
        grow(event['content_block']);
        begin(index, { ...asObject(event['content_block']) }, known);
      } else if (type === 'content_block_delta') {
        grow(event['delta']);
        takeDelta(known, asObject(event['delta']) ?? {});
      } else if (type === 'content_block_stop' && known !== undefined) known.hasStopped = true;
      else if (type === 'message_delta') {
        Object.assign(message, asObject(event['delta']));
        takeUsage(event['usage']);
      }
      isComplete = type === 'message_stop';
      return isComplete;
    },
    isComplete: (isDone) => isComplete || (isDone && message['stop_reason'] != null),
    body() {
      // Some calls are sent twice, with one id and one input.
      const blockKey = ({ block, input }: GrowingBlock) =>
        block['id'] == null ? null : boundedJson([block['id'], block['input'], input]);
      const content = dropRepeated(blocks, blockKey)
        .toSorted((one, other) => one.index - other.index)
        .map(({ block, input }) =>
          input === '' ? block : { ...block, input: asObject(tryParse(input)) ?? input },
        );
      return Object.keys(message).length === 0 ? {} : { ...message, content };
    },
  };
}

/** Whether a block has begun, and nothing of it has come. */
function isEmpty({ block, input }: GrowingBlock): boolean {
  const given = Object.keys(asObject(block['input']) ?? {});
  return input === '' && given.length === 0 && !block['text'] && !block['thinking'];
}
