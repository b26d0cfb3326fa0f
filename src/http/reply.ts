import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { ErrorCode } from '../domain.ts';

export const JSON_TYPE = ['Content-Type', 'application/json'];
/** On every answer, whatever its status: it is data, for whoever asked, and nothing that a page may run, frame or keep. */
export const SAFETY_HEADERS = [
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
  busy: 503,
};

export function sendJson(
  response: ServerResponse,
  status: number,
  json: string,
  headers: readonly string[] = [],
): void {
  sendText(response, status, { type: JSON_TYPE, text: json, headers });
}

/** Sends a whole answer. */
export function sendText(
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
