import type { ServerResponse } from 'node:http';
import { ServiceError } from '../domain.ts';
import type { LateAnswer, Table } from '../handlers/handler.ts';
import { SLICE_MS, nextTurn } from '../turns.ts';
import type { HttpLimits } from './limits.ts';
import { JSON_TYPE, SAFETY_HEADERS, sendText } from './reply.ts';

/** Pieces of a long answer are written together up to about this many characters; what one client holds up is that much. */
export const STREAM_CHUNK_LENGTH = 64 * 1024;

/** An answer that is shorter than a chunk and made in so many slices needs no place among the long ones. */
const FREE_SLICES = 10;

type StreamLimits = Pick<HttpLimits, 'maxLongAnswers' | 'heartbeatMs'>;

/** The long answers of one server. */
export interface LongAnswers {
  readonly limits: StreamLimits;
  /** Has a place as long as the work takes. Rejects with a `ServiceError` (`busy`) when there is none, and does no work. */
  during<Result>(work: () => Promise<Result>): Promise<Result>;
}

export function createLongAnswers(limits: StreamLimits): LongAnswers {
  let count = 0;
  return {
    limits,
    async during(work) {
      if (count >= limits.maxLongAnswers)
        throw new ServiceError('busy', `Cannot send another long answer: ${count} are being sent; ask again later`);
      count += 1;
      try {
        return await work();
      } finally {
        count -= 1;
      }
    },
  };
}

/**
 * Sends an answer with status 200 piece by piece, made no faster than the client takes it and in slices; a short one at
 * once. What fails before the first chunk is full can still become an error answer. When the client leaves, nothing more
 * is made.
 */
export async function sendPieces(
  response: ServerResponse,
  answer: Iterable<string> | Table,
  { long, headers }: { long: LongAnswers; headers: readonly string[] },
): Promise<void> {
  const { type, body } = 'lines' in answer ? tableParts(answer) : { type: JSON_TYPE, body: answer };
  const pieces = body[Symbol.iterator]();
  try {
    const first = await begin(pieces);
    if (first.isLast) return sendText(response, 200, { type, text: first.text, headers });
    const head = [...type, ...SAFETY_HEADERS, ...headers];
    await long.during(() => sendChunks(response, { pieces, first, head }, long.limits));
  } finally {
    pieces.return?.();
  }
}

interface Chunk {
  text: string;
  isLast: boolean;
}

/** All of a short answer, or what there is of a long one when it turns out to be that. */
async function begin(pieces: Iterator<string>): Promise<Chunk> {
  let chunk: Chunk = { text: '', isLast: false };
  for (let slice = 0; slice < FREE_SLICES && !chunk.isLast && chunk.text.length < STREAM_CHUNK_LENGTH; slice += 1) {
    await nextTurn({ isFirst: slice === 0 });
    chunk = fill(pieces, chunk.text);
  }
  return chunk;
}

/** Adds pieces up to about the chunk's length, or as many as a slice of time allows; at least one. */
function fill(pieces: Iterator<string>, before: string): Chunk {
  const end = performance.now() + SLICE_MS;
  let text = before;
  do {
    const piece = pieces.next();
    if (piece.done === true) return { text, isLast: true };
    text += piece.value;
  } while (text.length < STREAM_CHUNK_LENGTH && performance.now() < end);
  return { text, isLast: false };
}

async function sendChunks(
  response: ServerResponse,
  { pieces, first, head }: { pieces: Iterator<string>; first: Chunk; head: readonly string[] },
  { heartbeatMs }: StreamLimits,
): Promise<void> {
  const client = watchClient(response);
  let { text, isLast } = first;
  let writtenAt = performance.now();
  while (!response.closed) {
    const isDue = text !== '' && performance.now() - writtenAt >= heartbeatMs;
    if (text.length >= STREAM_CHUNK_LENGTH || isLast || isDue) {
      if (!response.headersSent) response.writeHead(200, head as string[]);
      if (response.req.method === 'HEAD' || isLast) {
        client.done();
        return void response.end(text);
      }
      if (!response.write(text)) await client.drained();
      text = '';
      writtenAt = performance.now();
    }
    await nextTurn();
    ({ text, isLast } = fill(pieces, text));
  }
}

/**
 * Sends an answer that takes its time to make. Its status is 200 as soon as the first heartbeat is due: white space that
 * may stand before JSON, so that the client and whatever is in between see that it is being made. What fails earlier can
 * still become an error answer; what fails later cuts the connection. When the client leaves, `stop` is called.
 */
export async function sendLate(
  response: ServerResponse,
  { text, stop }: LateAnswer,
  { long, headers }: { long: LongAnswers; headers: readonly string[] },
): Promise<void> {
  text.catch(() => {}); // it may fail before anybody waits for it
  response.once('close', stop);
  try {
    const json = await long.during(() => beatUntil(text, response, { headers, heartbeatMs: long.limits.heartbeatMs }));
    if (response.headersSent) response.end(json);
    else sendText(response, 200, { type: JSON_TYPE, text: json, headers });
  } catch (error) {
    if (response.closed) return;
    response.off('close', stop);
    stop();
    throw error;
  } finally {
    response.off('close', stop);
  }
}

async function beatUntil(
  text: Promise<string>,
  response: ServerResponse,
  { headers, heartbeatMs }: { headers: readonly string[]; heartbeatMs: number },
): Promise<string> {
  const client = watchClient(response);
  const beat = setInterval(() => {
    if (!response.headersSent) response.writeHead(200, [...JSON_TYPE, ...SAFETY_HEADERS, ...headers]);
    if (!response.writableNeedDrain && response.req.method !== 'HEAD') response.write(' ');
  }, heartbeatMs);
  return text.finally(() => {
    clearInterval(beat);
    client.done();
  });
}

/** The connection while a long answer is made for it. */
interface Client {
  /** Resolves when it has taken what was written, or is gone. */
  drained(): Promise<void>;
  done(): void;
}

/** A connection counts as stalled while its client does not take what is there, not while the answer is being made. */
function watchClient(response: ServerResponse): Client {
  let isAwaited = false;
  const onTimeout = () => {
    if (isAwaited || response.writableNeedDrain) response.destroy();
  };
  response.on('timeout', onTimeout);
  return {
    async drained() {
      const { promise, resolve } = Promise.withResolvers<void>();
      isAwaited = true;
      response.once('drain', resolve).once('close', resolve);
      await promise;
      response.off('drain', resolve).off('close', resolve);
      isAwaited = false;
    },
    done: () => void response.off('timeout', onTimeout),
  };
}

function tableParts({ fileName, lines }: Table): { type: readonly string[]; body: Iterable<string> } {
  const disposition = `attachment; filename="${fileName}"`;
  return {
    type: ['Content-Type', 'text/csv; charset=utf-8; header=present', 'Content-Disposition', disposition],
    body: lines,
  };
}
