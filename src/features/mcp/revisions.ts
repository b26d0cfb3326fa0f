import * as v from 'valibot';
import { namedRecord } from '#api/schemas.ts';
import { asObject } from '#json/json.ts';

/** The messages of JSON-RPC, and the two generations of the protocol: with a handshake, and without. */

export const message = v.object({
  jsonrpc: v.literal('2.0'),
  /** A notification has none. */
  id: v.optional(v.union([v.string(), v.pipe(v.number(), v.safeInteger())])),
  method: v.string(),
  params: v.optional(namedRecord('McpParams', v.unknown()), {}),
});
export type RpcMessage = v.InferOutput<typeof message>;

export const HEADERS = v.object({
  'MCP-Protocol-Version': v.optional(v.string()),
  'Mcp-Method': v.optional(v.string()),
  'Mcp-Name': v.optional(v.string()),
});
export type Headers = v.InferOutput<typeof HEADERS>;

/** Of those with a handshake. */
const NEWEST = '2025-11-25';
const OLDER: unknown[] = [NEWEST, '2025-06-18', '2025-03-26'];
/** In which each request names its revision. */
const MODERN = '2026-07-28';
export const SUPPORTED = [MODERN, ...OLDER];

/** Codes of errors. */
export const INVALID_REQUEST = -32_600;
export const METHOD_NOT_FOUND = -32_601;
export const INVALID_PARAMS = -32_602;
const HEADER_MISMATCH = -32_020;
const UNSUPPORTED_VERSION = -32_022;

/** Before the names of what requests and results say of the protocol. */
export const PREFIX = 'io.modelcontextprotocol/';
const VERSION = `${PREFIX}protocolVersion`;
const CAPABILITIES = `${PREFIX}clientCapabilities`;

const metaOf = ({ params }: RpcMessage) => asObject(params['_meta']) ?? {};

/** The revision that a handshake agrees on. */
export function agreedVersion(asked: unknown): unknown {
  return OLDER.includes(asked) ? asked : NEWEST;
}

/** Whether a request names its revision, or a header names one later than the handshakes. */
export function isModern(
  sent: RpcMessage,
  { 'MCP-Protocol-Version': version = '' }: Headers,
): boolean {
  return VERSION in metaOf(sent) || (/^\d{4}-\d\d-\d\d$/.test(version) && version > NEWEST);
}

type Refusal = [code: number, message: string, data?: object];

/** What is wrong with the revision of a message, or with headers that repeat it; null if nothing is. */
export function findMismatch(sent: RpcMessage, headers: Headers): Refusal | null {
  const { id, method, params } = sent;
  if (!isModern(sent, headers))
    return OLDER.includes(headers['MCP-Protocol-Version'] ?? NEWEST)
      ? null
      : [INVALID_REQUEST, `MCP-Protocol-Version: expected one of ${SUPPORTED.join(', ')}`];
  const { [VERSION]: requested, [CAPABILITIES]: capabilities } = metaOf(sent);
  if (typeof requested !== 'string' || asObject(capabilities) === undefined)
    return id === undefined
      ? null
      : [INVALID_PARAMS, `params._meta needs ${VERSION} and ${CAPABILITIES}`];
  const expected = {
    'MCP-Protocol-Version': requested,
    'Mcp-Method': method,
    ...(method === 'tools/call' && { 'Mcp-Name': params['name'] }),
  };
  for (const [name, own] of Object.entries(expected))
    if (decodeHeader(headers[name as keyof Headers]) !== own)
      return [HEADER_MISMATCH, `The header ${name} must be that of the body`];
  const data = { supported: SUPPORTED, requested };
  return requested === MODERN ? null : [UNSUPPORTED_VERSION, 'This revision is unknown', data];
}

/** A header has text that is not plain as `=?base64?...?=`. */
function decodeHeader(text: string | undefined): string | undefined {
  const [, encoded] = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(text ?? '') ?? [];
  return encoded === undefined ? text : Buffer.from(encoded, 'base64').toString();
}
