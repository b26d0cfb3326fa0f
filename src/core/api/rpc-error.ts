/** An error of JSON-RPC 2.0, as the member of a response beside what else that says. */
export function rpcError(id: string | number | null, code: number, message: string, data?: object) {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data && { data }) } } as const;
}

/** The codes of requests that are refused before their message is read; others have -32000. */
export const RPC_CODES: Readonly<Record<number, number>> = {
  400: -32_700,
  422: -32_600,
  500: -32_603,
};
