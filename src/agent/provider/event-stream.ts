import { createParser } from 'eventsource-parser';
import { HttpFault } from '../../basics/http-client.ts';
import { asObject, type Json, tryParse } from '../../basics/json.ts';
import { MAX_LINE_BYTES } from '../../wire/protocol.ts';

/** One event of a stream, as WHATWG's "Server-sent events" define it. */
export interface StreamEvent {
  /** `message` where the server names none. */
  name: string;
  data: string;
}

/**
 * Splits a stream of bytes into events, wherever it is cut. What follows the last blank line is not
 * an event. `maxLength` bounds what is kept of one that has not ended, in UTF-16 units; a longer
 * one throws an `HttpFault`.
 */
export function createEventReader(
  onEvent: (event: StreamEvent) => void,
  maxLength: number,
): (chunk: Buffer) => void {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true }); // the parser takes it out
  const parser = createParser({
    maxBufferSize: maxLength,
    onEvent: ({ event: name = 'message', data }) => onEvent({ name, data }),
    onError({ type }) {
      if (type === 'max-buffer-size-exceeded')
        throw new HttpFault('too_large', `an event is larger than ${maxLength} bytes`);
    },
  });
  return (chunk) => parser.feed(decoder.decode(chunk, { stream: true }));
}

/**
 * A longer response is a mistake. The answer from a shorter one fits a line of the pipe, although
 * it contains the thoughts twice and re-encodes arguments that came as an object.
 */
export const MAX_RESPONSE_BYTES = MAX_LINE_BYTES / 4;

/**
 * The deepest response nests about eight levels; the parent takes 64, around which a message has
 * some of its own.
 */
const MAX_DEPTH = 56;

/**
 * Bounds what a response adds up to while it arrives, with an `HttpFault`: the text in it, every
 * field, and how deep it nests.
 */
export function createGrowth(): (part: unknown) => void {
  let size = 0;
  return (part) => {
    size += sizeOf(part, MAX_DEPTH);
    const words = `the response is larger than ${MAX_RESPONSE_BYTES} bytes`;
    if (size > MAX_RESPONSE_BYTES) throw new HttpFault('too_large', words);
  };
}

function sizeOf(value: unknown, levels: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  const words = `the response is nested more than ${MAX_DEPTH} levels deep`;
  if (levels === 0) throw new HttpFault('too_large', words);
  return Object.values(value).reduce((size, inner) => size + sizeOf(inner, levels - 1), 1);
}

/** A part of a response as text. Throws an `HttpFault` where that is too large. */
export function normalised(body: unknown): string {
  createGrowth()(body);
  return JSON.stringify(body);
}

/** A text field of an event, empty where it is missing. Throws an `Error` for another value. */
export function textIn(from: Json, field: string): string {
  const value = from[field] ?? '';
  if (typeof value === 'string') return value;
  throw new Error(`${field} is not text: ${normalised(value)}`);
}

/**
 * The JSON object in an event. An error quotes the whole of what is there instead: it may hold a
 * key, which is removed before it is cut.
 */
export function eventObject(data: string): Json {
  const parsed = tryParse(data);
  const event = asObject(parsed);
  if (event !== undefined) return event;
  const words = parsed === undefined ? data : normalised(parsed);
  throw new Error(`an event that is not a JSON object: ${words}`);
}
