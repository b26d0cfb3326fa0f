import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerOf } from './model-answers.ts';

/**
 * A slow provider as a program of its own: `node slow-model.ts THINKING-MS`, so that its work delays neither the service nor
 * who measures it. It holds every request until `GET /answer`; from then on a request takes between half of THINKING-MS and
 * one and a half times that. `GET /begun` tells how many model-days have sent their first request. Prints its port.
 */
const [thinkingMs = ''] = process.argv.slice(2);

const opened = Promise.withResolvers<void>();
let begun = 0;

const server = createServer((incoming, outgoing) => void respond(incoming, outgoing));
server.listen(0, '127.0.0.1', 4_096, () => console.log((server.address() as AddressInfo).port));

async function respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const body = (await incoming.toArray()).join('');
  outgoing.setHeader('content-type', 'application/json');
  if (incoming.url === '/begun') return void outgoing.end(String(begun));
  if (incoming.url === '/answer') {
    opened.resolve();
    return void outgoing.end();
  }
  const { messages } = JSON.parse(body);
  const step = messages.filter(({ role }: { role: string }) => role === 'assistant').length + 1;
  if (step === 1) begun += 1;
  await opened.promise;
  await sleep(Number(thinkingMs) * (0.5 + Math.random()));
  outgoing.end(JSON.stringify(answerOf(step)));
}
