import { type Json, asObject, tryParse } from '../../json.ts';
import { MAX_LINE_BYTES } from '../../protocol.ts';

/**
 * A longer response is a mistake. The answer from a shorter one fits a line of the pipe, although
 * it contains the thoughts twice and re-encodes arguments that came as an object.
 */
export const MAX_RESPONSE_BYTES = MAX_LINE_BYTES / 4;

/** Thrown for a response that is larger, or nests deeper, than any answer. */
export class TooLarge extends Error {}

/**
 * Thrown for an event that cannot be part of a response. What it quotes is whole: it may hold a
 * key, which is removed before it is cut.
 */
export class UnreadableEvent extends Error {}

/**
 * The deepest response nests about eight levels; the parent takes 64, around which a message has
 * some of its own.
 */
const MAX_DEPTH = 56;

/**
 * Bounds what a response adds up to while it arrives: the text in it, every field, and how deep it
 * nests.
 */
export function createGrowth(): { add(part: unknown): void } {
  let size = 0;
  return {
    add(part) {
      size += sizeOf(part, MAX_DEPTH);
      if (size > MAX_RESPONSE_BYTES)
        throw new TooLarge(`the response is larger than ${MAX_RESPONSE_BYTES} bytes`);
    },
  };
}

function sizeOf(value: unknown, levels: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  if (levels === 0) throw new TooLarge(`the response is nested more than ${MAX_DEPTH} levels deep`);
  let size = 1;
  for (const inner of Object.values(value)) size += sizeOf(inner, levels - 1);
  return size;
}

/** JSON text in which a key that came with escapes is found too. Throws `TooLarge`. */
export function normalised(body: unknown): string {
  createGrowth().add(body);
  return JSON.stringify(body);
}

/** The JSON object in an event. */
export function eventObject(data: string): Json {
  const parsed = tryParse(data);
  const event = asObject(parsed);
  if (event !== undefined) return event;
  const words = parsed === undefined ? data : normalised(parsed);
  throw new UnreadableEvent(`an event that is not a JSON object: ${words}`);
}
