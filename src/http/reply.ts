import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { ErrorCode } from '../domain.ts';
import type { Answer } from '../handlers/handler.ts';

/** Pieces of a long answer are written together up to about this many characters. */
const STREAM_CHUNK_LENGTH = 64 * 1024;
const SAFETY_HEADERS = ['Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff'];

/** The one mapping from the service's errors to HTTP. */
export const statusOfError: Record<ErrorCode, number> = {
  bad_request: 400,
  not_found: 404,
  method_not_allowed: 405,
  payload_too_large: 413,
  unsupported_media_type: 415,
  unprocessable: 422,
  broken_configuration: 500,
  cannot_start: 500,
  storage_fault: 500,
};

/**
 * Sends an answer with status 200. A long one is sent piece by piece, no faster than the client takes it; what fails
 * before the first piece is full can still become an error answer.
 */
export async function sendAnswer(response: ServerResponse, answer: Answer): Promise<void> {
  if (typeof answer === 'string') return sendJson(response, 200, answer);
  const pieces = answer[Symbol.iterator]();
  let text = fill(pieces);
  if (text.length < STREAM_CHUNK_LENGTH) return sendJson(response, 200, text);
  response.writeHead(200, ['Content-Type', 'application/json', ...SAFETY_HEADERS]);
  for (; text !== '' && !response.closed && response.req.method !== 'HEAD'; text = fill(pieces)) {
    if (!response.write(text)) await drained(response);
    await setImmediate(); // other requests get their turn between pieces
  }
  response.end();
}

/** The next pieces up to about the chunk length; fewer only at the end. */
function fill(pieces: Iterator<string>): string {
  let text = '';
  while (text.length < STREAM_CHUNK_LENGTH) {
    const piece = pieces.next();
    if (piece.done === true) break;
    text += piece.value;
  }
  return text;
}

export function sendJson(
  response: ServerResponse,
  status: number,
  json: string,
  headers: readonly string[] = [],
): void {
  const length = String(Buffer.byteLength(json));
  response.writeHead(status, [
    'Content-Type',
    'application/json',
    'Content-Length',
    length,
    ...SAFETY_HEADERS,
    ...headers,
  ]);
  response.end(json);
}

/** Resolves when the client has taken what was written, or is gone. */
function drained(response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once('drain', resolve);
  response.once('close', resolve);
  return promise.finally(() => {
    response.off('drain', resolve);
    response.off('close', resolve);
  });
}
