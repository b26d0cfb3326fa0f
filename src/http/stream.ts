import type { ServerResponse } from 'node:http';
import type { Moment } from '../database/moment.ts';
import type { LateBody, ResponseBody, Table } from '../api/handler.ts';
import { nextTurn, SLICE_MS } from '../basics/turns.ts';
import {
  codingFor,
  codingHeaders,
  cutOff,
  JSON_TYPE,
  openOutlet,
  type Outlet,
  SAFETY_HEADERS,
  sendJson,
  sendText,
} from './response.ts';
import { HttpError } from './errors.ts';
import type { HttpLimits } from './limits.ts';

/**
 * Pieces of a long response are joined up to about this many characters, which is the most that one
 * slow client holds.
 */
export const STREAM_CHUNK_LENGTH = 64 * 1024;

/**
 * A response that is shorter than a chunk and takes at most this many slices needs no place among
 * the long ones.
 */
const FREE_SLICES = 10;
/** When a client may try again after finding no place. */
const RETRY_AFTER_SECONDS = 10;

type StreamLimits = Pick<HttpLimits, 'maxLongResponses' | 'heartbeatMs'>;

/** The long responses of one server. */
export interface LongResponses {
  readonly limits: StreamLimits;
  /**
   * Holds a place while the work runs. Rejects with a 503 when there is none, without starting the
   * work.
   */
  during<Result>(work: () => Promise<Result>): Promise<Result>;
}

export function createLongResponses(limits: StreamLimits): LongResponses {
  let count = 0;
  return {
    limits,
    async during(work) {
      if (count >= limits.maxLongResponses)
        throw new HttpError(
          503,
          `Cannot send another long response: ${count} are being sent; try again later`,
          {
            headers: ['Retry-After', String(RETRY_AFTER_SECONDS)],
          },
        );
      count += 1;
      try {
        return await work();
      } finally {
        count -= 1;
      }
    },
  };
}

interface SendOptions {
  long: LongResponses;
  headers: readonly string[];
  /** What the response is made of; absent for one that reads nothing. */
  reading?: Reading;
}

/** A moment of the database, and how long it may wait for a client. */
export interface Reading extends Pick<HttpLimits, 'maxAheadBytes' | 'maxHeldMs'> {
  moment: Moment;
}

/**
 * Sends a response with status 200. A short text is handed to Node at once; otherwise the promise
 * resolves when all is.
 */
export function sendBody(
  response: ServerResponse,
  body: ResponseBody,
  options: SendOptions,
): Promise<void> | undefined {
  if (typeof body === 'string') options.reading?.moment.close();
  if (typeof body === 'string' && body.length <= STREAM_CHUNK_LENGTH)
    return void sendJson(response, 200, body, options.headers);
  if (typeof body === 'string') return sendPieces(response, chunksOf(body), options);
  return 'stop' in body ? sendLate(response, body, options) : sendPieces(response, body, options);
}

/** A long text in pieces. A character that takes two UTF-16 units is not cut. */
function* chunksOf(text: string): Generator<string> {
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = start + STREAM_CHUNK_LENGTH;
    if (/[\ud800-\udbff]/.test(text.charAt(end - 1))) end += 1;
    yield text.slice(start, end);
  }
}

/**
 * Sends a response piece by piece, made in slices and no faster than the client reads it; a short
 * one in one go. One that holds a state of the database is made ahead of its client, and cut off if
 * that client is too slow all the same. An error before the first chunk is full can still become an
 * error response. When the client leaves, making it stops.
 */
export async function sendPieces(
  response: ServerResponse,
  body: Iterable<string> | Table,
  { long, headers, reading }: SendOptions,
): Promise<void> {
  const { type, lines } =
    'lines' in body
      ? { type: tableType(body.fileName), lines: body.lines }
      : { type: JSON_TYPE, lines: body };
  const pieces = lines[Symbol.iterator]();
  try {
    const first = await begin(pieces);
    if (first.isLast) return sendText(response, 200, { type, text: first.text, headers });
    const head = [...type, ...SAFETY_HEADERS, ...headers];
    await long.during(() => sendChunks(response, { pieces, first, head, reading }, long.limits));
  } finally {
    pieces.return?.();
  }
}

interface Chunk {
  text: string;
  isLast: boolean;
  /** When the slice in which it was made ends. */
  sliceEnd: number;
}

/** All of a short response, or the beginning of one that turns out to be long. */
async function begin(pieces: Iterator<string>): Promise<Chunk> {
  let chunk: Chunk = { text: '', isLast: false, sliceEnd: 0 };
  for (
    let slice = 0;
    slice < FREE_SLICES && !chunk.isLast && chunk.text.length < STREAM_CHUNK_LENGTH;
    slice += 1
  ) {
    await nextTurn({ isFirst: slice === 0 });
    chunk = fill(pieces, chunk.text, performance.now() + SLICE_MS);
  }
  return chunk;
}

/** Adds pieces until the chunk is full or the slice of time is over; at least one. */
function fill(pieces: Iterator<string>, before: string, sliceEnd: number): Chunk {
  let text = before;
  do {
    const piece = pieces.next();
    if (piece.done === true) return { text, isLast: true, sliceEnd };
    text += piece.value;
  } while (text.length < STREAM_CHUNK_LENGTH && performance.now() < sliceEnd);
  return { text, isLast: false, sliceEnd };
}

async function sendChunks(
  response: ServerResponse,
  {
    pieces,
    first,
    head,
    reading,
  }: { pieces: Iterator<string>; first: Chunk; head: string[]; reading: Reading | undefined },
  { heartbeatMs }: StreamLimits,
): Promise<void> {
  const mayGoOn = paceOf(response, reading);
  let outlet: Outlet | undefined;
  let { text, isLast, sliceEnd } = first;
  let beatAt = performance.now();
  while (!response.closed) {
    const isDue = performance.now() - beatAt >= heartbeatMs;
    if (text.length >= STREAM_CHUNK_LENGTH || isLast || (isDue && text !== '')) {
      outlet ??= openLong(response, head);
      if (response.req.method === 'HEAD') isLast = true;
      if (isLast) {
        reading?.moment.close();
        return outlet.end(text);
      }
      if (!outlet.sink.write(text)) await mayGoOn(outlet);
      text = '';
    }
    if (isDue) {
      outlet?.flush();
      beatAt = performance.now();
    }
    // What is left of a slice makes more chunks: a response of a few milliseconds waits for few
    // turns, however long it is.
    if (performance.now() >= sliceEnd) {
      await nextTurn();
      sliceEnd = performance.now() + SLICE_MS;
    }
    ({ text, isLast } = fill(pieces, text, sliceEnd));
  }
}

/**
 * Returns a function that resolves when more of a response may be made: when its client has read
 * what was written or, while the response holds a state of the database, when not too much is
 * written ahead. Cuts the response off after waiting too long with that state held.
 */
function paceOf(
  response: ServerResponse,
  reading: Reading | undefined,
): (outlet: Outlet) => Promise<void> {
  const drained = watchClient(response);
  let leftMs = reading?.maxHeldMs ?? Infinity;
  return async (outlet) => {
    if (!reading?.moment.isHeld()) return drained(outlet);
    const { sink } = outlet;
    const waiting = response.writableLength + (sink === response ? 0 : sink.writableLength);
    if (waiting < reading.maxAheadBytes) return;
    const beganAt = performance.now();
    const timer = setTimeout(() => response.destroy(), leftMs);
    await drained(outlet);
    clearTimeout(timer);
    leftMs = Math.max(0, leftMs - (performance.now() - beganAt));
  };
}

/**
 * Begins a long response, in the coding that its client prefers. A response to HEAD has no body, so
 * nothing to compress.
 */
function openLong(response: ServerResponse, head: readonly string[]): Outlet {
  const { coding } = codingFor(response);
  response.writeHead(200, [...head, ...codingHeaders(coding)]);
  return openOutlet(response, response.req.method === 'HEAD' ? null : coding);
}

/**
 * Sends a response that is made elsewhere. At the first heartbeat its status becomes 200: leading
 * white space, which JSON allows, shows the client and any proxy that the response is being made.
 * An earlier error can still become an error response; a later one cuts the connection. When the
 * response is over, or the client has left, `stop` is called.
 */
export async function sendLate(
  response: ServerResponse,
  body: LateBody,
  { long, headers }: SendOptions,
): Promise<void> {
  response.once('close', body.stop);
  const drained = watchClient(response);
  const head = [...SAFETY_HEADERS, ...headers];
  try {
    const { first, outlet } = await firstOf(body, response, {
      head: [...JSON_TYPE, ...head],
      heartbeatMs: long.limits.heartbeatMs,
    });
    const fileName = body.fileName();
    const type = fileName === null ? JSON_TYPE : tableType(fileName);
    if (outlet === undefined && body.isOver() && first.length <= STREAM_CHUNK_LENGTH)
      return sendText(response, 200, { type, text: first, headers });
    await long.during(() =>
      sendRest(outlet ?? openLong(response, [...type, ...head]), first, {
        response,
        chunks: body.chunks,
        drained,
      }),
    );
  } catch (error) {
    if (response.closed) return;
    response.off('close', body.stop);
    body.stop();
    throw error;
  }
}

interface Rest {
  response: ServerResponse;
  chunks: LateBody['chunks'];
  drained: (outlet: Outlet) => Promise<void>;
}

async function sendRest(
  outlet: Outlet,
  first: string | Uint8Array,
  { response, chunks, drained }: Rest,
): Promise<void> {
  if (response.req.method === 'HEAD') return outlet.end('');
  let chunk: string | Uint8Array = first;
  for (;;) {
    const next = await chunks.next();
    if (next.done === true) return outlet.end(chunk);
    if (!outlet.sink.write(chunk)) await drained(outlet);
    if (response.closed) return;
    chunk = next.value;
  }
}

/** The first chunk; with an outlet if the response has begun before it. */
async function firstOf(
  { chunks, isTable }: LateBody,
  response: ServerResponse,
  { head, heartbeatMs }: { head: readonly string[]; heartbeatMs: number },
): Promise<{ first: string | Uint8Array; outlet: Outlet | undefined }> {
  let outlet: Outlet | undefined;
  const beat = setInterval(() => {
    if (response.closed || isTable) return;
    outlet ??= openLong(response, head);
    if (response.writableNeedDrain || response.req.method === 'HEAD') return;
    outlet.sink.write(' ');
    outlet.flush();
  }, heartbeatMs);
  try {
    const { value = '' } = await chunks.next();
    return { first: value, outlet };
  } finally {
    clearInterval(beat);
  }
}

/**
 * Cuts off a response that is stalled: its client does not read what was written. One that is still
 * being made, or whose last piece is still in its compressor, is not stalled. Returns a function
 * that resolves when the client has read what was written to the outlet, or has left.
 */
function watchClient(response: ServerResponse): (outlet: Outlet) => Promise<void> {
  let isAwaited = false;
  response.on('timeout', () => {
    if (isAwaited || response.writableNeedDrain || response.writableEnded) cutOff(response);
  });
  return async ({ sink }) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    isAwaited = true;
    sink.once('drain', resolve);
    response.once('close', resolve);
    await promise;
    sink.off('drain', resolve);
    response.off('close', resolve);
    isAwaited = false;
  };
}

function tableType(fileName: string): string[] {
  const disposition = `attachment; filename="${fileName}"`;
  return [
    'Content-Type',
    'text/csv; charset=utf-8; header=present',
    'Content-Disposition',
    disposition,
  ];
}
