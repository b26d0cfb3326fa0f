import { errorMessage } from '#domain/service-error.ts';
import {
  toHttpFailure,
  HttpFault,
  type HttpFailure,
  httpRequest,
  type HttpResponse,
  type HttpStream,
  httpStream,
  bodyText,
  limitBytes,
} from '#network/http-client.ts';
import { type Json, tryParse } from '#json/json.ts';
import { secretHider, redactSecrets } from '#text/secrets.ts';
import { type ProviderEndpoint, modelSecrets } from '#wire/protocol.ts';
import { quote } from '#text/text.ts';
import { findError } from './answer.ts';
import {
  type Assembler,
  type Dialect,
  createEventReader,
  createSizeLimit,
  eventObject,
  MAX_RESPONSE_BYTES,
  type StreamEvent,
} from './dialect.ts';

/** What a stream may add to what it carries: the frame of each event, comments and pings. */
const MAX_STREAM_BYTES = 32 * MAX_RESPONSE_BYTES;
/**
 * How long after a finish reason a stream may stay open before the answer counts without its end.
 */
export const FINISH_WAIT_MS = 10_000;

interface SentRequest {
  dialect: Dialect;
  body: string;
  isStreamed: boolean;
}

/**
 * A response whose JSON was read once: from the text of a whole one, or from the events of a
 * stream.
 */
export interface ReadResponse extends HttpResponse {
  /** Undefined where it is not JSON. */
  body?: unknown;
}

export interface FailedResponse extends HttpFailure {
  /** What had arrived of the body. */
  partialBody?: Json;
}

/**
 * Sends one request. A stream resolves as the whole response that it makes up. If the response
 * repeats a secret, it is removed before any part of the response is cut or kept.
 */
export async function sendModelRequest(
  endpoint: ProviderEndpoint,
  { dialect, body, isStreamed }: SentRequest,
): Promise<ReadResponse | FailedResponse> {
  const { baseUrl, apiKey, idempotencyKey, requestTimeoutMs: timeoutMs } = endpoint;
  const url = new URL(baseUrl);
  url.pathname = dialect.path(url.pathname.replace(/\/+$/, '')); // a query stays: Azure's URLs have one
  const bearer = { authorization: `Bearer ${apiKey}` };
  const headers = {
    'content-type': 'application/json',
    ...dialect.headers,
    ...(apiKey !== null && (dialect.keyHeaders?.(apiKey) ?? bearer)),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  };
  const request = { method: 'POST', headers, body, timeoutMs } as const;
  const result = isStreamed
    ? await readStream(url.href, request, dialect.assemble())
    : await httpRequest(url.href, { ...request, maxBytes: MAX_RESPONSE_BYTES });
  const shown = redactSecrets(result, secretHider(modelSecrets(endpoint)));
  if (shown.failure === 'unreadable') return { ...shown, message: quote(shown.message) };
  return shown.failure === undefined ? parseBody(shown) : shown;
}

/**
 * Sends a request, and makes the whole body of its events. A response without events is read as it
 * is.
 */
async function readStream(
  url: string,
  request: Parameters<typeof httpStream>[1],
  assembler: Assembler,
): Promise<ReadResponse | FailedResponse> {
  const headers = { ...request.headers, accept: 'text/event-stream, application/json' };
  const response = await httpStream(url, { ...request, headers });
  if (response.failure !== undefined) return response;
  return readBody(response, assembler);
}

/** Types of content under which servers send whole responses as well as streams. */
export const STREAM_TYPES = /^\s*(?:text\/event-stream|application\/json)\b/i;
/** How a stream of events begins, and what its first event carries. */
const STREAM_PREFIXES = ['data:', 'event:', 'id:', 'retry:', ':'];
const FIRST_DATA = /^data: ?(.*)$/m;
/** So much of a body is enough to know it for a stream. */
const PEEK_LENGTH = Math.max(...STREAM_PREFIXES.map(({ length }) => length));

export const NO_CONTENT = 204;

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Whether a body begins as a stream of events does, as far as it goes. */
export function isStreamLike(text: string): boolean {
  return STREAM_PREFIXES.some((start) => text.startsWith(start) || start.startsWith(text));
}

/**
 * Reads a body, as events if it has any: under the two types of content that have either, its
 * beginning decides. An error in a stream is its first event.
 */
export async function readBody(
  { status, headers, body, close }: HttpStream,
  assembler: Assembler,
): Promise<ReadResponse | FailedResponse> {
  let end: StreamEnd = false;
  try {
    const peeked = await peek(body);
    const isStream = STREAM_TYPES.test(headers['content-type'] ?? '') && peeked.isStream;
    if (!isStream || !isSuccess(status) || status === NO_CONTENT) {
      const text = await bodyText(peeked.body, MAX_RESPONSE_BYTES);
      return { status, headers, text: isStream ? (FIRST_DATA.exec(text)?.[1] ?? text) : text };
    }
    end = await takeEvents({ ...peeked, close }, assembler);
    if (end !== true && typeof end !== 'object' && !assembler.isComplete(end === 'done'))
      throw new HttpFault('broken_off', 'before its end');
  } catch (error) {
    const failed = toHttpFailure(error);
    const isAboutEvents = failed.failure === 'too_large' || failed.failure === 'unreadable';
    if (isAboutEvents || !assembler.isComplete(false))
      return { ...failed, partialBody: assembler.body() };
  }
  const whole = { ...assembler.body(), ...(typeof end === 'object' && end) };
  return { status, headers, text: '', body: whole };
}

/** Whether a body begins as a stream, and the body with what was read to find out. */
async function peek(body: AsyncIterable<Buffer>) {
  const chunks = limitBytes(body, MAX_STREAM_BYTES);
  const decoder = new TextDecoder(); // it takes out the mark of the coding
  const read: Buffer[] = [];
  let head = '';
  while (head.length < PEEK_LENGTH && !head.includes('\n')) {
    const { value, done } = await chunks.next();
    if (done) break;
    read.push(value);
    head = (head + decoder.decode(value, { stream: true })).trimStart();
  }
  async function* whole() {
    try {
      yield* read;
      yield* chunks;
    } finally {
      await chunks.return(null); // also of a body that is left in what was read
    }
  }
  return { isStream: isStreamLike(head), body: whole() };
}

/** What an event says of the end of its stream: that it is the last one, or an error. */
type StreamEnd = ReturnType<Assembler['take']> | 'done' | { error: unknown };

/** Reads events up to the last one, or to the end of the body; returns what ended them. */
async function takeEvents(
  { body, close }: Pick<HttpStream, 'body' | 'close'>,
  assembler: Assembler,
): Promise<StreamEnd> {
  let last: StreamEnd = false;
  let waiting: NodeJS.Timeout | undefined;
  const isOver = () => last !== false && last !== 'finished';
  const takeBytes = createEventReader((event) => {
    if (isOver()) return;
    last = takeEvent(event, assembler);
    if (last !== 'finished') return;
    clearTimeout(waiting);
    waiting = setTimeout(close, FINISH_WAIT_MS);
  }, MAX_RESPONSE_BYTES);
  try {
    for await (const chunk of body) {
      takeBytes(chunk);
      if (isOver()) break;
    }
    return last;
  } finally {
    clearTimeout(waiting);
  }
}

/** What goes wrong here is about the event, and never about the connection. */
function takeEvent({ name, data }: StreamEvent, assembler: Assembler): StreamEnd {
  if (data.trim() === '[DONE]') return 'done';
  try {
    const event = eventObject(data);
    const error = findError(event, name);
    return error === undefined ? assembler.take(event, name) : { error };
  } catch (error) {
    throw error instanceof HttpFault ? error : new HttpFault('unreadable', errorMessage(error));
  }
}

/** The response with its JSON, unless that is more than any answer. */
function parseBody(response: ReadResponse): ReadResponse | FailedResponse {
  const text = response.text.replace(/^\ufeff/, ''); // a mark of its coding
  const body = response.body ?? tryParse(text) ?? tryParse(withoutDone(text));
  try {
    createSizeLimit()(body);
    return { ...response, text, body };
  } catch (error) {
    return toHttpFailure(error);
  }
}

/** A text without the end of a stream, which some servers send behind a whole response. */
function withoutDone(text: string): string {
  const from = text.lastIndexOf('data:');
  const isDone = from > 0 && text.slice(from).replace(/\s/g, '') === 'data:[DONE]';
  return isDone ? text.slice(0, from) : '';
}
