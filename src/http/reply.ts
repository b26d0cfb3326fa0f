import { STATUS_CODES, type ServerResponse } from 'node:http';
import { codingFor, codingHeaders, encodeWhole } from './compress.ts';

export const JSON_TYPE = ['Content-Type', 'application/json'];
/**
 * On every response of the API, whatever its status: data for its client, which no page may run,
 * frame or cache, and whose bytes depend on the codings that the client accepts.
 */
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
  'Vary',
  'Accept-Encoding',
];

export function sendJson(
  response: ServerResponse,
  status: number,
  json: string,
  headers: readonly string[] = [],
): void {
  sendText(response, status, { type: JSON_TYPE, text: json, headers });
}

/** Sends a whole response, compressed if the client accepts that and the text is not small. */
export function sendText(
  response: ServerResponse,
  status: number,
  {
    type,
    text,
    headers,
  }: { type: readonly string[]; text: string | Uint8Array; headers: readonly string[] },
): void {
  const { body, coding } = encodeWhole(text, codingFor(response));
  const sizes = ['Content-Length', String(Buffer.byteLength(body)), ...codingHeaders(coding)];
  response.writeHead(status, [...type, ...sizes, ...SAFETY_HEADERS, ...headers]);
  response.end(body);
}

/** The last response on a connection that Node no longer serves, as it goes over the wire. */
export function rawResponse(status: number, json: string, now: Date): string {
  const length = String(Buffer.byteLength(json));
  const headers = [
    ...JSON_TYPE,
    ...SAFETY_HEADERS,
    'Content-Length',
    length,
    'Date',
    now.toUTCString(),
  ];
  const lines = headers.flatMap((name, index) =>
    index % 2 === 0 ? [`${name}: ${headers[index + 1]}\r\n`] : [],
  );
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}Connection: close\r\n\r\n${json}`;
}
