import type { IncomingHttpHeaders } from 'node:http';
import { type Json, asObject, asText, tryParse } from '#json/json.ts';
import { type Addition, type ToolDescription, MAX_LINE_BYTES } from '#wire/protocol.ts';
import type { ChatMessage, ModelAnswer } from '#agent/model.ts';
import { createParser } from 'eventsource-parser';
import { HttpFault } from '#network/http-client.ts';

/** What one request says, whatever form it takes on the wire. */
export interface Question {
  conversation: readonly ChatMessage[];
  tools: readonly ToolDescription[];
  /** What the answer is to be, instead of calls of tools; null where it is free. */
  format?: ToolDescription | null;
  /** What the entry sets: fields of the body, in the dialect's own names. */
  parameters: Json;
  isStreamed: boolean;
  /** Names what shares a prompt at the provider; null where the provider has no such field. */
  cacheKey: string | null;
  /** Whether the service may add this by itself: not where the provider has refused it. */
  adds: (addition: Addition) => boolean;
}

/** One way to ask a model over HTTP. From the body that it reads on, there is one way for all. */
export interface Dialect {
  /** The path of a request, given that of the base URL, which has no slash at its end. */
  path(base: string): string;
  /** The headers that carry the key; a bearer token where the dialect has none of its own. */
  keyHeaders?(key: string): Record<string, string>;
  headers?: Record<string, string>;
  body(question: Question): Json;
  /** Reads the body of a response. Throws an `Error` that says what is missing. */
  read(body: Json, step: number, headers?: IncomingHttpHeaders, text?: string): ModelAnswer;
  assemble(): Assembler;
}

/** Makes of a stream the body that a whole response would have had. */
export interface Assembler {
  /**
   * Takes one event in, by the name that its stream gives it; returns whether it ends the stream,
   * or that it finishes the answer although more may follow. Throws an `Error` for one that cannot
   * be part of a response.
   */
  take(event: Json, name: string): boolean | 'finished';
  /** Whether the answer is complete although no event ended it; `isDone` after a `[DONE]`. */
  isComplete(isDone: boolean): boolean;
  body(): Json;
}

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
export function createSizeLimit(): (part: unknown) => void {
  let size = 0;
  return (part) => {
    size += measureSize(part, MAX_DEPTH);
    const words = `the response is larger than ${MAX_RESPONSE_BYTES} bytes`;
    if (size > MAX_RESPONSE_BYTES) throw new HttpFault('too_large', words);
  };
}

function measureSize(value: unknown, levels: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  const words = `the response is nested more than ${MAX_DEPTH} levels deep`;
  if (levels === 0) throw new HttpFault('too_large', words);
  return Object.values(value).reduce((size, inner) => size + measureSize(inner, levels - 1), 1);
}

/** A part of a response as text. Throws an `HttpFault` where that is too large. */
export function boundedJson(body: unknown): string {
  createSizeLimit()(body);
  return JSON.stringify(body);
}

/** Parts of a response without what was sent twice, with one key; null is the key of none. */
export function dropRepeated<Part>(
  parts: readonly Part[],
  keyOf: (part: Part) => string | null,
): Part[] {
  const seen = new Set<string | null>();
  return parts.filter((part) => {
    const key = keyOf(part);
    const isNew = key === null || !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

/** More parts of one answer are a mistake. */
export const MAX_PARTS = 1_000;

/** The texts that parts of a response have in a field. */
export function joinTexts(parts: readonly Json[], field: string, between = ''): string {
  return parts.flatMap((part) => asText(part[field]) ?? []).join(between);
}

/** A text field of an event, empty where it is missing. Throws an `Error` for another value. */
export function readTextField(from: Json, field: string): string {
  const value = from[field] ?? '';
  if (typeof value === 'string') return value;
  throw new Error(`${field} is not text: ${boundedJson(value)}`);
}

/**
 * The JSON object in an event. An error quotes the whole of what is there instead: it may hold a
 * key, which is removed before it is cut.
 */
export function eventObject(data: string): Json {
  const parsed = tryParse(data);
  const event = asObject(parsed);
  if (event !== undefined) return event;
  const words = parsed === undefined ? data : boundedJson(parsed);
  throw new Error(`an event that is not a JSON object: ${words}`);
}
