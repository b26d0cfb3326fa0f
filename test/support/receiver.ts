import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { TestContext } from 'node:test';
import { listenHere } from './loopback.ts';

/** A request that was received whole. */
export interface Received {
  headers: IncomingHttpHeaders;
  /** The bytes as text. */
  text: string;
  body: any; // any: the tests check its fields
}

/** What becomes of a request; it counts as received before that. */
export type Reaction = (response: ServerResponse, received: Received) => void;

export const takes: Reaction = (response) => void response.writeHead(204).end();
export const hangs: Reaction = () => {};
export const refuses =
  (status: number, headers = {}): Reaction =>
  (response) =>
    void response.writeHead(status, headers).end();

/** What chat services have in the path of a webhook: it must never be shown. */
export const HIDDEN_PATH = '/services/T0/B0/hidden-in-the-path';

/** A receiver of announcements on loopback. How it reacts can be changed at any time. */
export async function startReceiver(t: TestContext, react: Reaction = takes) {
  const received: Received[] = [];
  const server: Server = createServer(async (request, response) => {
    const text = Buffer.concat(await Array.fromAsync(request)).toString();
    const one = { headers: request.headers, text, body: JSON.parse(text) };
    received.push(one);
    receiver.react(response, one);
  });
  const port = await listenHere(t, server);
  const receiver = { server, port, received, react, url: `http://127.0.0.1:${port}${HIDDEN_PATH}` };
  return receiver;
}
