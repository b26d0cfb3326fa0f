import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../domain.ts';

export const MAX_BODY_BYTES = 1024 * 1024;
/** What is read and thrown away of a body that was refused, so that its sender gets to read the answer. */
const MAX_DRAINED_BYTES = 16 * 1024 * 1024;

/** Reads a JSON body. Throws a `ServiceError` for another content type, too many bytes, or text that is not JSON. */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const contentType = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (contentType !== 'application/json') {
    throw new ServiceError(
      'unsupported_media_type',
      `Cannot read the body: its Content-Type must be application/json, got ${contentType ?? 'none'}`,
    );
  }
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const bytes = await readBytes(request);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new ServiceError('bad_request', 'Cannot read the body: it is not valid JSON in UTF-8');
  }
}

function readBytes(request: IncomingMessage): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) reject(tooLarge());
    else chunks.push(chunk);
  });
  request.on('end', () => resolve(Buffer.concat(chunks)));
  request.on('error', reject);
  return promise;
}

/** Lets the rest of a refused body run off; a sender that does not stop is cut off. */
export function drain(request: IncomingMessage): void {
  if (request.complete) return;
  let drained = 0;
  request.removeAllListeners('data');
  request.on('data', (chunk: Buffer) => {
    drained += chunk.length;
    if (drained > MAX_DRAINED_BYTES) request.destroy();
  });
  request.resume();
}

function tooLarge(): ServiceError {
  return new ServiceError('payload_too_large', `Cannot read the body: it is larger than ${MAX_BODY_BYTES} bytes`);
}
