import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  createServer,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { TestContext } from 'node:test';
import { listenHere } from './loopback.ts';

/** The certificate of `tls` servers, for NODE_EXTRA_CA_CERTS. */
export const TEST_CERTIFICATE = new URL('../fixtures/tls/certificate.pem', import.meta.url)
  .pathname;
const TEST_KEY = new URL('../fixtures/tls/key.pem', import.meta.url).pathname;

// Tests stay on loopback, whatever proxies the machine uses. Children inherit what is left here.
for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']) {
  delete process.env[name];
  delete process.env[name.toLowerCase()];
}

/** A request as it came over the wire. */
export interface ModelRequest {
  method: string;
  /** Path and query. */
  path: string;
  headers: IncomingHttpHeaders;
  /** The parsed body: `model`, `messages`, `tools` and any other fields. */
  body: any;
}

/** What a provider does with one request. */
export type Reply =
  | { status?: number; headers?: Record<string, string>; body: unknown }
  /** Half of a response, then the connection is cut; with `Content-Length` or without. */
  | { cut: 'sized' | 'chunked' }
  | StreamedReply
  /** No answer, ever. */
  | 'never';

/**
 * Pieces as they come, no faster than the client reads them; then the end, a cut connection, or
 * silence.
 */
export interface StreamedReply {
  headers?: Record<string, string>;
  pieces: Iterable<string | Buffer> | AsyncIterable<string | Buffer>;
  then?: 'end' | 'cut' | 'silence';
}

/**
 * Replies in turn, the last one again and again; or whatever a function makes of the request,
 * `count` from 1.
 */
export type Behaviour =
  | readonly Reply[]
  | ((request: ModelRequest, count: number) => Reply | Promise<Reply>);

export interface ModelServer {
  /** With the path that providers have: `http://127.0.0.1:PORT/v1`. */
  baseUrl: string;
  port: number;
  requests: ModelRequest[];
  /** Resolves when this many requests have come. */
  untilAsked(count: number): Promise<void>;
}

/**
 * A provider on loopback that speaks Chat Completions and behaves as configured; closed after the
 * test.
 */
export async function startModelServer(
  t: TestContext,
  behaviour: Behaviour,
  { tls = false } = {},
): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const waiting = new Set<() => void>();
  const listener = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const request = await readRequest(incoming);
    const count = requests.push(request);
    waiting.forEach((look) => look());
    const reply =
      typeof behaviour === 'function'
        ? await behaviour(request, count)
        : (behaviour[Math.min(count, behaviour.length) - 1] as Reply);
    if (typeof reply === 'object' && 'pieces' in reply) await sendPieces(outgoing, reply);
    else send(outgoing, reply);
  };
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse) =>
    void listener(incoming, outgoing);
  const server = tls
    ? createTlsServer({ key: readFileSync(TEST_KEY), cert: readFileSync(TEST_CERTIFICATE) }, handle)
    : createServer(handle);
  const port = await listenHere(t, server);
  const untilAsked = (count: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => requests.length >= count && resolve();
    waiting.add(look);
    look();
    return promise.finally(() => waiting.delete(look));
  };
  return { baseUrl: `http${tls ? 's' : ''}://127.0.0.1:${port}/v1`, port, requests, untilAsked };
}

async function readRequest(incoming: IncomingMessage): Promise<ModelRequest> {
  const text = (await incoming.toArray()).join('');
  const { method = '', url: path = '', headers } = incoming;
  return { method, path, headers, body: text === '' ? undefined : JSON.parse(text) };
}

/** Sends a stream of events, until the client leaves. */
async function sendPieces(
  outgoing: ServerResponse,
  { headers, pieces, then = 'end' }: StreamedReply,
): Promise<void> {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
  const gone = once(outgoing, 'close');
  for await (const piece of pieces) {
    if (outgoing.destroyed) return;
    if (!outgoing.write(piece)) await Promise.race([once(outgoing, 'drain'), gone]);
  }
  if (then === 'end') outgoing.end();
  if (then === 'cut') outgoing.write(': cut\n', () => outgoing.destroy());
}

function send(outgoing: ServerResponse, reply: Exclude<Reply, StreamedReply>): void {
  if (reply === 'never') return;
  if ('cut' in reply) {
    if (reply.cut === 'sized') outgoing.setHeader('content-length', 1000);
    outgoing.setHeader('content-type', 'application/json');
    outgoing.write('{"choices": [{"mess', () => outgoing.destroy());
    return;
  }
  const { status = 200, headers = {}, body } = reply;
  const isText = typeof body === 'string';
  outgoing.writeHead(status, {
    'content-type': isText ? 'text/html' : 'application/json',
    ...headers,
  });
  outgoing.end(isText || Buffer.isBuffer(body) ? body : JSON.stringify(body));
}

/** The usage of every answer made here, in the form `{ prompt_tokens, ... }`. */
export const usage = {
  prompt_tokens: 1_000,
  completion_tokens: 100,
  total_tokens: 1_100,
  prompt_tokens_details: { cached_tokens: 400 },
  completion_tokens_details: { reasoning_tokens: 60 },
};

/** An answer with a message of any shape. */
export function answers(message: object, finishReason = 'stop'): { body: object } {
  const choices = [
    { index: 0, message: { role: 'assistant', ...message }, finish_reason: finishReason },
  ];
  return { body: { id: 'chatcmpl-1', object: 'chat.completion', model: 'test', choices, usage } };
}

/** An answer without a tool call: the end of the day. */
export function says(content: string): { body: object } {
  return answers({ content });
}

/** An answer that calls tools, arguments as JSON text. */
export function calls(...toolCalls: [name: string, args: unknown][]): { body: object } {
  const list = toolCalls.map(([name, args], index) => ({
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return answers({ content: null, tool_calls: list }, 'tool_calls');
}

/** An error in OpenAI's shape. */
export function fails(
  status: number,
  message: string,
  headers: Record<string, string> = {},
): Reply {
  return { status, headers, body: { error: { message, type: 'error', code: null } } };
}

/** The date in the model's prompt, and how many answers it has given on it. */
export function whereIs({ body }: ModelRequest): { date: string; step: number } {
  const date = /Today's date: (\S+)/.exec(body.messages[1].content)?.[1] ?? '';
  return {
    date,
    step: body.messages.filter(({ role }: { role: string }) => role === 'assistant').length + 1,
  };
}
