import * as v from 'valibot';
import { rpcError, type RpcFault } from '#api/rpc-error.ts';
import { namedRecord } from '#api/schemas.ts';
import { HttpError } from '#http/errors.ts';
import { asObject } from '#json/json.ts';

/** The messages of JSON-RPC, and the two generations of the protocol: with a handshake, and without. */

export const message = v.object({
  jsonrpc: v.literal('2.0'),
  /** A notification has none. */
  id: v.optional(v.union([v.string(), v.pipe(v.number(), v.safeInteger())])),
  method: v.string(),
  params: v.optional(namedRecord('McpParams', v.unknown()), {}),
});
type RpcMessage = v.InferOutput<typeof message>;

export const HEADERS = v.object({
  'MCP-Protocol-Version': v.optional(v.string()),
  'Mcp-Method': v.optional(v.string()),
  'Mcp-Name': v.optional(v.string()),
});
export type Headers = v.InferOutput<typeof HEADERS>;

/** Those with a handshake, the newest first. */
export const OLDER = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;
/** In which each request names its revision. */
const MODERN = '2026-07-28';
export const SUPPORTED = [MODERN, ...OLDER];

/** Before the names of what requests and results say of the protocol. */
export const PREFIX = 'io.modelcontextprotocol/';
const VERSION = `${PREFIX}protocolVersion`;
const CAPABILITIES = `${PREFIX}clientCapabilities`;

const metaOf = ({ params }: RpcMessage) => asObject(params['_meta']) ?? {};

/** Whether a request names its revision, or a header names one later than the handshakes. */
export function isModern(
  sent: RpcMessage,
  { 'MCP-Protocol-Version': version = '' }: Headers,
): boolean {
  return VERSION in metaOf(sent) || (/^\d{4}-\d\d-\d\d$/.test(version) && version > OLDER[0]);
}

/** What a message is refused with. */
export function refusal(status: number, id: RpcMessage['id'], ...fault: RpcFault): HttpError {
  return new HttpError(status, fault[1], { json: JSON.stringify(rpcError(id ?? null, ...fault)) });
}

/** Throws an `HttpError` for an unknown revision, and for headers that are not those of the message. */
export function checkRevision(sent: RpcMessage, headers: Headers): void {
  const { id, method, params } = sent;
  const refuse = (...fault: RpcFault) => {
    throw refusal(400, id, ...fault);
  };
  if (!isModern(sent, headers)) {
    const { 'MCP-Protocol-Version': version = OLDER[0] } = headers;
    if (OLDER.some((own) => own === version)) return;
    return refuse('request', `MCP-Protocol-Version: expected one of ${SUPPORTED.join(', ')}`);
  }
  const { [VERSION]: requested, [CAPABILITIES]: capabilities } = metaOf(sent);
  if (typeof requested !== 'string' || asObject(capabilities) === undefined) {
    if (id === undefined) return;
    return refuse('params', `params._meta needs ${VERSION} and ${CAPABILITIES}`);
  }
  const expected = {
    'MCP-Protocol-Version': requested,
    'Mcp-Method': method,
    ...(method === 'tools/call' && { 'Mcp-Name': params['name'] }),
  };
  for (const [name, own] of Object.entries(expected))
    if (decodeHeader(headers[name as keyof Headers]) !== own)
      refuse('header', `The header ${name} must be that of the body`);
  if (requested !== MODERN)
    refuse('version', 'This revision is unknown', { supported: SUPPORTED, requested });
}

/** A header has text that is not plain as `=?base64?...?=`. */
function decodeHeader(text: string | undefined): string | undefined {
  const [, encoded] = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(text ?? '') ?? [];
  return encoded === undefined ? text : Buffer.from(encoded, 'base64').toString();
}
