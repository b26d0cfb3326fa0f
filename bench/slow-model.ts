import { readFileSync } from 'node:fs';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerOf } from './model-answers.ts';

/**
 * A slow provider as a program of its own: `node slow-model.ts THINKING-MS [FOLDER]`, so that its
 * work delays neither the service nor who measures it; over TLS with the key and certificate in the
 * folder. It holds every request until `GET /answer`; from then on a request takes between half of
 * THINKING-MS and one and a half times that. `GET /begun` tells how many model-days have sent their
 * first request. Prints two ports: the provider's, and that of these two, which is never TLS.
 */
const [thinkingMs = '', folder] = process.argv.slice(2);
/** As many connections may wait to be accepted. */
const BACKLOG = 4_096;

const opened = Promise.withResolvers<void>();
let begun = 0;

const provider = startListening(
  folder === undefined ? createServer(handle) : createTlsServer(readPair(folder), handle),
);
const control = startListening(createServer(obey));
console.log((await Promise.all([provider, control])).join(' '));

function handle(incoming: IncomingMessage, outgoing: ServerResponse): void {
  void respond(incoming, outgoing);
}

async function respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { messages } = JSON.parse((await incoming.toArray()).join('')) as {
    messages: { role: string }[];
  };
  const step = messages.filter(({ role }) => role === 'assistant').length + 1;
  if (step === 1) begun += 1;
  await opened.promise;
  await sleep(Number(thinkingMs) * (0.5 + Math.random()));
  outgoing.setHeader('content-type', 'application/json');
  outgoing.end(JSON.stringify(answerOf(step)));
}

function obey({ url }: IncomingMessage, outgoing: ServerResponse): void {
  if (url === '/answer') opened.resolve();
  outgoing.end(String(begun));
}

function startListening(server: Server): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  server.listen(0, '127.0.0.1', BACKLOG, () => resolve((server.address() as AddressInfo).port));
  return promise;
}

function readPair(from: string): { key: Buffer; cert: Buffer } {
  return {
    key: readFileSync(join(from, 'key.pem')),
    cert: readFileSync(join(from, 'certificate.pem')),
  };
}
