import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { httpLimits } from '../src/core/http/limits.ts';
import { serveBench } from './helper.ts';

/** The least that a server can do for a response: it sends the same bytes. A helper. */

/** Longer bodies are sent as bytes: to encode them again for each response would be work. */
const LONGEST_TEXT = 16 * 1024;

serveBench(async ({ head, text }: { head: string[]; text: string }) => {
  const body = text.length > LONGEST_TEXT ? Buffer.from(text) : text;
  const server = createServer((_request, response) => response.writeHead(200, head).end(body));
  server.maxRequestsPerSocket = httpLimits.maxRequestsPerSocket;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, pid: process.pid };
});
