import { messageOf } from '../../basics/domain.ts';
import {
  failureOf,
  HttpFault,
  type HttpFailure,
  httpRequest,
  type HttpResponse,
  type HttpStream,
  httpStream,
  textOf,
  upTo,
} from '../../basics/http-client.ts';
import { type Json, tryParse } from '../../basics/json.ts';
import { secretHider, withoutSecrets } from '../../basics/secrets.ts';
import { type Endpoint, secretsOf } from '../../wire/protocol.ts';
import { quote } from '../../basics/text.ts';
import { errorOf } from './answer.ts';
import {
  type Assembler,
  type Dialect,
  createEventReader,
  createGrowth,
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
  /** Whether the response is asked for as a stream. */
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

/** Why a request has no response. */
export interface FailedResponse extends HttpFailure {
  /** What had arrived of the body. */
  soFar?: Json;
}

/**
 * Sends one request. A stream resolves as the whole response that it makes up. If the response
 * repeats a secret, it is removed before any part of the response is cut or kept.
 */
export async function sendRequest(
  endpoint: Endpoint,
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
  const shown = withoutSecrets(result, secretHider(secretsOf(endpoint)));
  if (shown.failure === 'unreadable') return { ...shown, message: quote(shown.message) };
  return shown.failure === undefined ? readOnce(shown) : shown;
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
export const MAY_STREAM = /^\s*(?:text\/event-stream|application\/json)\b/i;

/**
 * Reads a body, as events if it has any: under the two types of content that have either, its first
 * character decides.
 */
export async function readBody(
  { status, headers, body, close }: HttpStream,
  assembler: Assembler,
): Promise<ReadResponse | FailedResponse> {
  let end: End = false;
  try {
    const peeked = await peek(body);
    const isStream = MAY_STREAM.test(headers['content-type'] ?? '') && peeked.isStream;
    if (!isStream) return { status, headers, text: await textOf(peeked.body, MAX_RESPONSE_BYTES) };
    end = await takeEvents({ ...peeked, close }, assembler);
    if (end !== true && typeof end !== 'object' && !assembler.isComplete(end === 'done'))
      throw new HttpFault('broken_off', 'before its end');
  } catch (error) {
    const failed = failureOf(error);
    const isAboutEvents = failed.failure === 'too_large' || failed.failure === 'unreadable';
    if (isAboutEvents || !assembler.isComplete(false))
      return { ...failed, soFar: assembler.body() };
  }
  const whole = { ...assembler.body(), ...(typeof end === 'object' && end) };
  return { status, headers, text: '', body: whole };
}

/** Whether a body is neither JSON nor a page, and the body with what was read to find out. */
async function peek(body: AsyncIterable<Buffer>) {
  const chunks = upTo(body, MAX_STREAM_BYTES);
  const read: Buffer[] = [];
  let first = '';
  while (first === '') {
    const { value, done } = await chunks.next();
    if (done) break;
    read.push(value);
    first = withoutMark(value.toString()).trimStart().slice(0, 1);
  }
  async function* whole() {
    try {
      yield* read;
      yield* chunks;
    } finally {
      await chunks.return(null); // also of a body that is left in what was read
    }
  }
  return { isStream: !['{', '[', '<'].includes(first), body: whole() };
}

/** A text without the mark of its coding. */
function withoutMark(text: string): string {
  return text.replace(/^\ufeff/, '');
}

/** What an event says of the end of its stream: that it is the last one, or an error. */
type End = ReturnType<Assembler['take']> | 'done' | { error: unknown };

/** Reads events up to the last one, or to the end of the body; returns what ended them. */
async function takeEvents(
  { body, close }: Pick<HttpStream, 'body' | 'close'>,
  assembler: Assembler,
): Promise<End> {
  let last: End = false;
  let waiting: NodeJS.Timeout | undefined;
  const isOver = () => last !== false && last !== 'finished';
  const takeBytes = createEventReader((event) => {
    if (isOver()) return;
    last = taken(event, assembler);
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
function taken({ name, data }: StreamEvent, assembler: Assembler): End {
  if (data.trim() === '[DONE]') return 'done';
  try {
    const event = eventObject(data);
    const error = errorOf(event, name);
    return error === undefined ? assembler.take(event, name) : { error };
  } catch (error) {
    throw error instanceof HttpFault ? error : new HttpFault('unreadable', messageOf(error));
  }
}

/** What some servers send behind a whole response, as if it were a stream. */
const DONE = /\s*data:\s*\[DONE\]\s*$/;

/** The response with its JSON, unless that is more than any answer. */
function readOnce(response: ReadResponse): ReadResponse | FailedResponse {
  const text = withoutMark(response.text);
  const body = response.body ?? tryParse(text) ?? tryParse(text.replace(DONE, ''));
  try {
    createGrowth()(body);
    return { ...response, body };
  } catch (error) {
    return failureOf(error);
  }
}
