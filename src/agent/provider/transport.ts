import { messageOf } from '../../basics/domain.ts';
import {
  failureOf,
  type HttpFailure,
  httpRequest,
  type HttpResponse,
  type HttpStream,
  httpStream,
} from '../../basics/http-client.ts';
import { type Json, tryParse } from '../../basics/json.ts';
import { secretHider, withoutSecrets } from '../../basics/secrets.ts';
import { type Endpoint, secretsOf } from '../../wire/protocol.ts';
import { quote } from '../../basics/text.ts';
import type { Assembler, Dialect } from './dialect.ts';
import {
  createEventReader,
  createGrowth,
  MAX_RESPONSE_BYTES,
  type StreamEvent,
  TooLarge,
  UnreadableEvent,
} from './event-stream.ts';

/** What a stream may add to what it carries: the frame of each event, comments and pings. */
const MAX_STREAM_BYTES = 32 * MAX_RESPONSE_BYTES;
/** How long after a finish reason a stream may stay open before the answer counts without its end. */
export const FINISH_WAIT_MS = 10_000;

export interface SentRequest {
  dialect: Dialect;
  body: string;
  /** Whether the response is asked for as a stream. */
  isStreamed: boolean;
}

/**
 * Why a request has no response: what HTTP knows of, and a stream that is not a response or broke
 * off.
 */
export interface FailedResponse extends Omit<HttpFailure, 'failure'> {
  failure: HttpFailure['failure'] | 'unreadable' | 'broken_off';
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
): Promise<HttpResponse | FailedResponse> {
  const { baseUrl, apiKey, requestTimeoutMs: timeoutMs } = endpoint;
  const url = new URL(baseUrl);
  url.pathname = dialect.path(url.pathname.replace(/\/+$/, '')); // a query stays: Azure's URLs have one
  const keyHeaders = apiKey === null ? {} : dialect.keyHeaders(apiKey);
  const headers = { 'content-type': 'application/json', ...dialect.headers, ...keyHeaders };
  const request = { method: 'POST', headers, body, timeoutMs } as const;
  const result = isStreamed
    ? await readStream(url.href, request, dialect.assemble())
    : await httpRequest(url.href, { ...request, maxBytes: MAX_RESPONSE_BYTES });
  const shown = withoutSecrets(result, secretHider(secretsOf(endpoint)));
  if (shown.failure === 'unreadable') return { ...shown, message: quote(shown.message) };
  return shown.failure === undefined ? bounded(shown) : shown;
}

/**
 * Sends a request, and makes the whole body of its events. A response without events is read as it
 * is.
 */
async function readStream(
  url: string,
  request: Parameters<typeof httpStream>[1],
  assembler: Assembler,
): Promise<HttpResponse | FailedResponse> {
  const headers = { ...request.headers, accept: 'text/event-stream, application/json' };
  const response = await httpStream(url, { ...request, headers, isTimedBySilence: true });
  if (response.failure !== undefined) return response;
  return readBody(response, assembler);
}

/** Reads a body, as events if it says that it has any. */
export async function readBody(
  { status, headers, body, close }: HttpStream,
  assembler: Assembler,
): Promise<HttpResponse | FailedResponse> {
  const isStream = /^\s*text\/event-stream/i.test(headers['content-type'] ?? '');
  let hasEnded = false;
  try {
    if (!isStream) return { status, headers, text: await readText(body) };
    hasEnded = await takeEvents({ body, close }, assembler);
  } catch (error) {
    if (error instanceof TooLarge)
      return { failure: 'too_large', message: error.message, soFar: assembler.body() };
    if (error instanceof UnreadableEvent)
      return { failure: 'unreadable', message: error.message, soFar: assembler.body() };
    if (!assembler.isComplete()) return { ...failureOf(error), soFar: assembler.body() };
  }
  if (hasEnded || assembler.isComplete())
    return { status, headers, text: JSON.stringify(assembler.body()) };
  return { failure: 'broken_off', message: 'before its end', soFar: assembler.body() };
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of upTo(body, MAX_RESPONSE_BYTES)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/**
 * Reads events up to the last one, or to the end of the body; returns whether the last one came.
 */
async function takeEvents(
  { body, close }: Pick<HttpStream, 'body' | 'close'>,
  assembler: Assembler,
): Promise<boolean> {
  let hasEnded = false;
  let waiting: NodeJS.Timeout | undefined;
  const takeBytes = createEventReader((event) => {
    if (hasEnded) return;
    const end = taken(event, assembler);
    hasEnded = end === true;
    if (end !== 'finished') return;
    clearTimeout(waiting);
    waiting = setTimeout(close, FINISH_WAIT_MS);
  }, MAX_RESPONSE_BYTES);
  try {
    for await (const chunk of upTo(body, MAX_STREAM_BYTES)) {
      takeBytes(chunk);
      if (hasEnded) return true;
    }
    return false;
  } finally {
    clearTimeout(waiting);
  }
}

/** What an assembler throws is about the event, and never about the connection. */
function taken(event: StreamEvent, assembler: Assembler): ReturnType<Assembler['take']> {
  try {
    return assembler.take(event);
  } catch (error) {
    throw error instanceof TooLarge ? error : new UnreadableEvent(messageOf(error));
  }
}

async function* upTo(body: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new TooLarge(`the response is larger than ${maxBytes} bytes`);
    yield chunk;
  }
}

/** The response, unless its JSON is more than any answer. */
function bounded(response: HttpResponse): HttpResponse | FailedResponse {
  try {
    createGrowth().add(tryParse(response.text));
    return response;
  } catch (error) {
    if (error instanceof TooLarge) return { failure: 'too_large', message: error.message };
    throw error;
  }
}
