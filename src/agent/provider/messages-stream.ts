import { type Json, asArray, asObject, asText, tryParse } from '../../json.ts';
import type { Assembler } from './dialect.ts';
import { createGrowth, eventObject, UnreadableEvent } from './growth.ts';

/** More blocks than this in one answer are a mistake. */
const MAX_BLOCKS = 1_000;

/**
 * Pieces of a block by the kind of its delta: the field of the delta, and that of the block that it
 * adds to.
 */
const PIECES: Record<string, [from: string, to: string]> = {
  text_delta: ['text', 'text'],
  thinking_delta: ['thinking', 'thinking'],
  signature_delta: ['signature', 'signature'],
};

/** The stream of a message: its head, its blocks piece by piece, why it stopped, and its end. */
export function assembleMessage(): Assembler {
  let message: Json = {};
  const blocks = new Map<number, Json>();
  /** The JSON of what a tool is called with, as far as it has come. */
  const inputs = new Map<Json, string>();
  const growth = createGrowth();
  let isComplete = false;
  const takeUsage = (usage: unknown) => {
    const known = Object.entries(asObject(usage) ?? {}).filter(([, value]) => value !== null);
    if (known.length > 0)
      message['usage'] = { ...asObject(message['usage']), ...Object.fromEntries(known) };
  };
  const takeDelta = (block: Json | undefined, delta: Json) => {
    const type = String(delta['type']);
    if (block === undefined) throw new UnreadableEvent('a piece of a block that has not begun');
    if (type === 'input_json_delta')
      inputs.set(block, (inputs.get(block) ?? '') + (asPiece(delta['partial_json']) ?? ''));
    const [from, to] = Object.hasOwn(PIECES, type) ? (PIECES[type] ?? []) : [];
    if (from !== undefined && to !== undefined)
      block[to] = (asPiece(block[to]) ?? '') + (asPiece(delta[from]) ?? '');
    if (type === 'citations_delta')
      (block['citations'] = asArray(block['citations']) ?? []).push(delta['citation']);
  };
  return {
    take({ name, data }) {
      const event = eventObject(data);
      const type = asText(event['type']) ?? name;
      const index = Number(event['index']);
      if (type === 'error') {
        message['error'] = event['error'] ?? event;
        return true;
      }
      if (type === 'message_start') message = { ...asObject(event['message']) };
      else if (type === 'content_block_start') {
        growth.add(event['content_block']);
        if (blocks.size === MAX_BLOCKS) throw new UnreadableEvent(`more than ${MAX_BLOCKS} blocks`);
        blocks.set(index, { ...asObject(event['content_block']) });
      } else if (type === 'content_block_delta') {
        growth.add(event['delta']);
        takeDelta(blocks.get(index), asObject(event['delta']) ?? {});
      } else if (type === 'message_delta') {
        Object.assign(message, asObject(event['delta']));
        takeUsage(event['usage']);
      }
      isComplete = type === 'message_stop';
      return isComplete;
    },
    isComplete: () => isComplete,
    body() {
      const content = [...blocks]
        .sort(([one], [other]) => one - other)
        .map(([, block]) => {
          const input = inputs.get(block);
          return input === undefined || input === ''
            ? block
            : { ...block, input: asObject(tryParse(input)) ?? input };
        });
      return Object.keys(message).length === 0 ? {} : { ...message, content };
    },
  };
}

function asPiece(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
