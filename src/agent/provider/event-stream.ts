import { asObject, type Json, tryParse } from '../../basics/json.ts';
import { MAX_LINE_BYTES } from '../../wire/protocol.ts';

/** One event of a stream, as WHATWG's "Server-sent events" define it. */
export interface StreamEvent {
  /** `message` where the server names none. */
  name: string;
  data: string;
}

/**
 * Splits a stream of bytes into events, wherever it is cut: lines end in CR, LF or CRLF, a byte
 * order mark and comments are skipped, and the lines of an event's data are joined. What follows
 * the last blank line is not an event. `maxLength` bounds one event, in UTF-16 units; a longer one
 * throws `TooLarge`.
 */
export function createEventReader(
  onEvent: (event: StreamEvent) => void,
  maxLength: number,
): (chunk: Buffer) => void {
  const decoder = new TextDecoder();
  let line = '';
  let endedInCr = false;
  let name = '';
  let data = '';
  let hasData = false;
  const dispatch = () => {
    if (hasData) onEvent({ name: name || 'message', data });
    name = data = '';
    hasData = false;
  };
  const takeLine = () => {
    if (line === '') return dispatch();
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') name = value;
    if (field !== 'data') return;
    data = hasData ? `${data}\n${value}` : value;
    hasData = true;
  };
  const grow = (text: string) => {
    line += text;
    if (line.length + data.length > maxLength)
      throw new TooLarge(`an event is larger than ${maxLength} bytes`);
  };
  return (chunk) => {
    const text = decoder.decode(chunk, { stream: true });
    if (text === '') return;
    let start = endedInCr && text.startsWith('\n') ? 1 : 0;
    endedInCr = text.endsWith('\r');
    for (const { 0: end, index } of text.matchAll(/\r\n|\n|\r/g)) {
      if (index < start) continue;
      grow(text.slice(start, index));
      takeLine();
      line = '';
      start = index + end.length;
    }
    grow(text.slice(start));
  };
}

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

/** A part of a response as text. Throws `TooLarge`. */
export function normalised(body: unknown): string {
  createGrowth().add(body);
  return JSON.stringify(body);
}

/** A text field of an event, empty where it is missing. Throws `UnreadableEvent` for another value. */
export function textIn(from: Json, field: string): string {
  const value = from[field] ?? '';
  if (typeof value === 'string') return value;
  throw new UnreadableEvent(`${field} is not text: ${normalised(value)}`);
}

/** The JSON object in an event. */
export function eventObject(data: string): Json {
  const parsed = tryParse(data);
  const event = asObject(parsed);
  if (event !== undefined) return event;
  const words = parsed === undefined ? data : normalised(parsed);
  throw new UnreadableEvent(`an event that is not a JSON object: ${words}`);
}
