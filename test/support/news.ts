import { type IncomingHttpHeaders, type ServerResponse, createServer } from 'node:http';
import type { TestContext } from 'node:test';
import { listenHere } from './loopback.ts';

/** A search as it came in. */
export interface ReceivedSearch {
  method: string | undefined;
  path: string | undefined;
  headers: IncomingHttpHeaders;
  body: any;
}

export interface NewsServer {
  url: string;
  received: ReceivedSearch[];
  /** Resolves when the first search has come in. */
  asked: Promise<void>;
  /** Whether a connection has closed. */
  hasLeft(): boolean;
}

/** A server on loopback that replaces Jina's search; the test supplies its responses. */
export async function startNewsServer(
  t: TestContext,
  respond: (response: ServerResponse, search: ReceivedSearch) => void,
): Promise<NewsServer> {
  const received: ReceivedSearch[] = [];
  const asked = Promise.withResolvers<void>();
  let hasLeft = false;
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { method, url: path, headers } = request;
    const search = { method, path, headers, body: JSON.parse(text) };
    received.push(search);
    asked.resolve();
    respond(response, search);
  });
  server.on('connection', (socket) => socket.once('close', () => (hasLeft = true)));
  const url = `http://127.0.0.1:${await listenHere(t, server)}`;
  return { url, received, asked: asked.promise, hasLeft: () => hasLeft };
}

/** Jina's answer that holds these results. */
export function sendResults(response: ServerResponse, data: unknown): void {
  sendJson(response, 200, { code: 200, status: 20_000, data, meta: { usage: { tokens: 10_000 } } });
}

/** Jina's answer when it has none. */
export function sendError(
  response: ServerResponse,
  code: number,
  error: { name: string; message: string },
): void {
  const readableMessage = `${error.name}: ${error.message}`;
  sendJson(response, code, { data: null, code, status: code * 100 + 3, ...error, readableMessage });
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
