import type { IncomingMessage } from 'node:http';
import type { Exchange } from './exchange.ts';
import { HttpError } from './http-error.ts';
import { checkBounds } from './json-bounds.ts';
import type { HttpLimits } from './limits.ts';

/** How much of a header's value an error repeats. */
const MAX_SHOWN_LENGTH = 100;

/**
 * Reads a JSON body. Throws an `HttpError` for another content type, for more bytes, fields, items
 * or levels than any valid request has, or for text that is not JSON.
 */
export async function readJsonBody(
  { request, response, expects }: Exchange,
  { maxBodyBytes }: HttpLimits,
): Promise<unknown> {
  checkContentType(request);
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) throw tooLarge(maxBodyBytes);
  if (expects === 'continue') response.writeContinue();
  const bytes = await readBytes(request, maxBodyBytes);
  checkBounds(bytes);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new HttpError(400, 'Cannot read the body: it is not valid JSON in UTF-8');
  }
}

/**
 * A page of another origin can send a form or plain text without a preflight request, but not JSON.
 */
function checkContentType({ headers }: IncomingMessage): void {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw new HttpError(
      415,
      `Cannot read the body: its Content-Type must be application/json, got ${type?.slice(0, MAX_SHOWN_LENGTH) ?? 'none'}`,
    );
  }
  const coding = headers['content-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'identity')
    throw new HttpError(
      415,
      `Cannot read the body: it must not be compressed, got Content-Encoding ${coding.slice(0, MAX_SHOWN_LENGTH)}`,
    );
}

function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) reject(tooLarge(maxBytes));
    else chunks.push(chunk);
  });
  request.on('end', () => resolve(Buffer.concat(chunks)));
  request.on('error', reject);
  return promise;
}

/** Discards the rest of a refused body; a client that sends far more is cut off. */
export function drain(request: IncomingMessage, { maxDrainedBytes }: HttpLimits): void {
  if (request.complete) return;
  let drained = 0;
  request.removeAllListeners('data');
  request.on('data', (chunk: Buffer) => {
    drained += chunk.length;
    if (drained > maxDrainedBytes) request.destroy();
  });
  request.on('error', () => {}); // the client has left, which also ends the request
  request.resume();
}

function tooLarge(maxBytes: number): HttpError {
  return new HttpError(413, `Cannot read the body: it is larger than ${maxBytes} bytes`);
}
