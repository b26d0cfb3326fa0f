/** Messages of the Model Context Protocol to a service. */

export const MODERN = '2026-07-28';
const NAME = 'io.modelcontextprotocol';
/** What each request of the later revisions says of itself. */
export const META = { [`${NAME}/protocolVersion`]: MODERN, [`${NAME}/clientCapabilities`]: {} };

export interface McpAnswer {
  status: number;
  headers: Headers;
  text: string;
  body: any; // any: the tests check its fields
}

/** Sends a body to `/mcp`, as it is where it is a text. */
export async function mcp(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<McpAnswer> {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const { status, headers: own } = response;
  return { status, headers: own, text, body: text === '' ? undefined : JSON.parse(text) };
}

/** A request of the revisions with a handshake. */
export function request(method: string, params?: object, id: string | number = 1) {
  return { jsonrpc: '2.0', id, method, ...(params && { params }) };
}

/** The form of a text that is not ASCII in a header. */
export const encoded = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;

/** A request of the later revisions, and its headers. */
export function modern(method: string, params: { name?: string; [more: string]: unknown } = {}) {
  const { name } = params;
  const headers: Record<string, string> = {
    'mcp-protocol-version': MODERN,
    'mcp-method': method,
    ...(name !== undefined && { 'mcp-name': /^[!-~]+$/.test(name) ? name : encoded(name) }),
  };
  return { body: request(method, { ...params, _meta: META }), headers };
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Calls a tool; returns its result. */
export async function callTool(url: string, name: string, args: object, token?: string) {
  const sent = request('tools/call', { name, arguments: args });
  const { body } = await mcp(url, sent, token === undefined ? {} : bearer(token));
  return body.result ?? body.error;
}
