import * as v from 'valibot';
import { asObject } from '#json/json.ts';
import { namedRecord } from '#api/schemas.ts';

/** The two generations of the protocol: with a handshake, and with its revision in each request. */

const id = v.union([v.string(), v.pipe(v.number(), v.integer())]);
export const message = v.object({
  jsonrpc: v.literal('2.0'),
  /** A notification has none. */
  id: v.optional(id),
  method: v.string(),
  params: v.optional(namedRecord('McpParams', v.unknown())),
});
export type Message = v.InferOutput<typeof message>;

/** Those with a handshake, the newest first. */
export const OLDER = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;
export const MODERN = '2026-07-28';
/** Before the names of what requests and results say of the protocol. */
export const MODERN_NAME = 'io.modelcontextprotocol';

export const INVALID_PARAMS = -32_602;
const INVALID_REQUEST = -32_600;
const HEADER_MISMATCH = -32_020;
const UNSUPPORTED_VERSION = -32_022;

export const HEADERS = v.object({
  'MCP-Protocol-Version': v.optional(v.string()),
  'Mcp-Method': v.optional(v.string()),
  'Mcp-Name': v.optional(v.string()),
});
type Headers = v.InferOutput<typeof HEADERS>;

const versionIn = ({ params }: Message) =>
  asObject(params?.['_meta'])?.[`${MODERN_NAME}/protocolVersion`];

/** Whether a request names its revision itself, or a header one that is later than the handshakes. */
export function isModern(
  message: Message,
  { 'MCP-Protocol-Version': version = '' }: Headers,
): boolean {
  const isLater = /^\d{4}-\d\d-\d\d$/.test(version) && version > OLDER[0];
  return versionIn(message) !== undefined || isLater;
}

interface Refusal {
  code: number;
  message: string;
  data?: object;
}

/** Why the headers and the revision of a message do not fit it; null where they do. */
export function checkHeaders(message: Message, headers: Headers): Refusal | null {
  const { 'MCP-Protocol-Version': version } = headers;
  if (!isModern(message, headers))
    return version === undefined || OLDER.some((own) => own === version)
      ? null
      : {
          code: INVALID_REQUEST,
          message: `MCP-Protocol-Version: ${version.slice(0, 100)} is unknown; known are ${OLDER.join(', ')}`,
        };
  if (message.id === undefined) return null;
  const { method, params } = message;
  const requested = versionIn(message);
  const capabilities = asObject(params?.['_meta'])?.[`${MODERN_NAME}/clientCapabilities`];
  if (typeof requested !== 'string' || asObject(capabilities) === undefined)
    return {
      code: INVALID_PARAMS,
      message: `params._meta needs ${MODERN_NAME}/protocolVersion and ${MODERN_NAME}/clientCapabilities`,
    };
  const expected: Headers = {
    'MCP-Protocol-Version': requested,
    'Mcp-Method': method,
    ...(method === 'tools/call' && { 'Mcp-Name': String(params?.['name']) }),
  };
  for (const [name, value] of Object.entries(expected)) {
    const given = headers[name as keyof Headers];
    if (given === undefined || decodeHeader(given) !== value)
      return { code: HEADER_MISMATCH, message: `The header ${name} must be that of the body` };
  }
  if (requested === MODERN) return null;
  const data = { supported: [MODERN, ...OLDER], requested };
  return { code: UNSUPPORTED_VERSION, message: 'Unsupported protocol version', data };
}

/** Text that is not plain stands in headers as `=?base64?...?=`. */
function decodeHeader(text: string): string {
  const [, encoded] = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(text) ?? [];
  return encoded === undefined ? text : Buffer.from(encoded, 'base64').toString();
}
