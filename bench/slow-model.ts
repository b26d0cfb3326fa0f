import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A slow provider as a program of its own: `node slow-model.ts THINKING-MS`, so that its work delays neither the service nor
 * who measures it. It holds every request until `GET /answer`; from then on a request takes between half of THINKING-MS and
 * one and a half times that. `GET /begun` tells how many model-days have sent their first request. Prints its port.
 */
const [thinkingMs = ''] = process.argv.slice(2);
const STEPS_PER_DAY = 3;

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

/** Looks at prices, buys, and ends the day. */
function answerOf(step: number): object {
  const calls = [
    ['get_price_history', '{"symbol":"AAPL","days":30}'],
    ['buy', '{"symbol":"AAPL","amount":1}'],
  ].map(([name, args], index) => ({ id: `call_${index}`, type: 'function', function: { name, arguments: args } }));
  const message =
    step < STEPS_PER_DAY
      ? { role: 'assistant', content: null, tool_calls: calls }
      : { role: 'assistant', content: 'I bought a little.' };
  return {
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3_000, completion_tokens: 50 },
  };
}
