import { STATUS_CODES, type ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { ErrorCode } from '../domain.ts';
import type { Table } from '../handlers/handler.ts';

/** Pieces of a long answer are written together up to about this many characters. */
const STREAM_CHUNK_LENGTH = 64 * 1024;
const JSON_TYPE = ['Content-Type', 'application/json'];
/** On every answer, whatever its status: it is data, for whoever asked, and nothing that a page may run, frame or keep. */
const SAFETY_HEADERS = [
  'Cache-Control',
  'no-store',
  'X-Content-Type-Options',
  'nosniff',
  'Content-Security-Policy',
  "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy',
  'no-referrer',
  'Cross-Origin-Resource-Policy',
  'same-origin',
];

/** The one mapping from the service's errors to HTTP. */
export const statusOfError: Record<ErrorCode, number> = {
  bad_request: 400,
  malformed: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  payload_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  expectation_failed: 417,
  unprocessable: 422,
  headers_too_large: 431,
  broken_configuration: 500,
  cannot_start: 500,
  storage_fault: 500,
};

/**
 * Sends an answer with status 200 piece by piece, no faster than the client takes it; a short one at once. What fails
 * before the first piece is full can still become an error answer.
 */
export async function sendPieces(
  response: ServerResponse,
  answer: Iterable<string> | Table,
  headers: readonly string[] = [],
): Promise<void> {
  const { type, body } = 'lines' in answer ? tableParts(answer) : { type: JSON_TYPE, body: answer };
  const pieces = body[Symbol.iterator]();
  let text = fill(pieces);
  if (text.length < STREAM_CHUNK_LENGTH) return sendText(response, 200, { type, text, headers });
  response.writeHead(200, [...type, ...SAFETY_HEADERS, ...headers]);
  for (; text !== '' && !response.closed && response.req.method !== 'HEAD'; text = fill(pieces)) {
    if (!response.write(text)) await drained(response);
    await setImmediate(); // other requests get their turn between pieces
  }
  response.end();
}

function tableParts({ fileName, lines }: Table): { type: readonly string[]; body: Iterable<string> } {
  const disposition = `attachment; filename="${fileName}"`;
  return {
    type: ['Content-Type', 'text/csv; charset=utf-8; header=present', 'Content-Disposition', disposition],
    body: lines,
  };
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
  sendText(response, status, { type: JSON_TYPE, text: json, headers });
}

function sendText(
  response: ServerResponse,
  status: number,
  { type, text, headers }: { type: readonly string[]; text: string; headers: readonly string[] },
): void {
  const length = String(Buffer.byteLength(text));
  response.writeHead(status, [...type, 'Content-Length', length, ...SAFETY_HEADERS, ...headers]);
  response.end(text);
}

/** A whole answer as it goes over the wire, for connections that Node has given up on. It is the last one there. */
export function lastAnswer(status: number, json: string, now: Date): string {
  const headers = [
    ...JSON_TYPE,
    ...SAFETY_HEADERS,
    'Content-Length',
    String(Buffer.byteLength(json)),
    'Date',
    now.toUTCString(),
  ];
  const lines = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1]}\r\n`] : []));
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}Connection: close\r\n\r\n${json}`;
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
