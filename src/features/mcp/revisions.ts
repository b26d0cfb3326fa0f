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

/** Those with a handshake, the newest first. */
export const OLDER = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;
/** In which each request names its revision. */
export const MODERN = '2026-07-28';
export const SUPPORTED = [MODERN, ...OLDER];
/** Before the names of what requests and results say of the protocol. */
export const PREFIX = 'io.modelcontextprotocol/';

/** Codes of errors. */
export const INVALID_REQUEST = -32_600;
export const METHOD_NOT_FOUND = -32_601;
export const INVALID_PARAMS = -32_602;
const HEADER_MISMATCH = -32_020;
const UNSUPPORTED_VERSION = -32_022;

const metaOf = ({ params }: RpcMessage) => asObject(params['_meta']) ?? {};

/** Whether a request names its revision, or a header names one later than the handshakes. */
export function isModern(
  sent: RpcMessage,
  { 'MCP-Protocol-Version': version = '' }: Headers,
): boolean {
  const isLater = /^\d{4}-\d\d-\d\d$/.test(version) && version > OLDER[0];
  return isLater || `${PREFIX}protocolVersion` in metaOf(sent);
}

type Refusal = [code: number, message: string, data?: object];

/** What is wrong with the revision of a message, or with headers that repeat it; null if nothing is. */
export function findMismatch(sent: RpcMessage, headers: Headers): Refusal | null {
  const { 'MCP-Protocol-Version': version = OLDER[0] } = headers;
  if (!isModern(sent, headers))
    return OLDER.some((own) => own === version)
      ? null
      : [INVALID_REQUEST, `MCP-Protocol-Version: expected one of ${SUPPORTED.join(', ')}`];
  const { id, method, params } = sent;
  const meta = metaOf(sent);
  const requested = meta[`${PREFIX}protocolVersion`];
  const needed = ['protocolVersion', 'clientCapabilities'].map((name) => PREFIX + name);
  if (typeof requested !== 'string' || asObject(meta[needed[1] ?? '']) === undefined)
    return id === undefined ? null : [INVALID_PARAMS, `params._meta needs ${needed.join(' and ')}`];
  const expected = {
    'MCP-Protocol-Version': requested,
    'Mcp-Method': method,
    ...(method === 'tools/call' && { 'Mcp-Name': params['name'] }),
  };
  const different = Object.entries(expected).find(
    ([name, own]) => decodeHeader(headers[name as keyof Headers]) !== own,
  );
  if (different !== undefined)
    return [HEADER_MISMATCH, `The header ${different[0]} must be that of the body`];
  const data = { supported: SUPPORTED, requested };
  return requested === MODERN ? null : [UNSUPPORTED_VERSION, 'This revision is unknown', data];
}

/** A header has text that is not plain as `=?base64?...?=`. */
function decodeHeader(text: string | undefined): string | undefined {
  const [, encoded] = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(text ?? '') ?? [];
  return encoded === undefined ? text : Buffer.from(encoded, 'base64').toString();
}
