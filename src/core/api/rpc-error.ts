/** Errors of JSON-RPC 2.0, and of the Model Context Protocol. */
const CODES = {
  parse: -32_700,
  request: -32_600,
  method: -32_601,
  params: -32_602,
  internal: -32_603,
  other: -32_000,
  header: -32_020,
  version: -32_022,
};

/** What is wrong. */
export type RpcFault = [kind: keyof typeof CODES, message: string, data?: object];

/** An error as the member of a response beside what else that says. */
export function rpcError(id: string | number | null, ...[kind, message, data]: RpcFault) {
  return { jsonrpc: '2.0', id, error: { code: CODES[kind], message, data } };
}

/** The kinds of requests that are refused before their message is read, by their status. */
export const RPC_KINDS: Readonly<Record<number, RpcFault[0]>> = {
  400: 'parse',
  422: 'request',
  500: 'internal',
};
