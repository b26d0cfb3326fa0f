import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveBench } from './helper.ts';

/**
 * A provider whose model buys a share per order on one day, and sells them on the next. A helper.
 */

export interface Trading {
  symbols: readonly string[];
  /** Per model-day, symbol after symbol. */
  orders: number;
  /** Which answer of each model-day is held back; with either, all days are days of purchases. */
  hold?: 'first' | 'last';
}

/** Asked for its URL; how many answers it holds back; and to give those. */
export interface ProviderWork {
  what: 'url' | 'held' | 'answer';
}

const ORDERS_PER_ANSWER = 100;
const BACKLOG = 4_096;
const { symbols, orders, hold }: Trading = JSON.parse(process.argv[2] ?? '');
const held: (() => void)[] = [];
let begun = 0;

const server = createServer((incoming, outgoing) => void respond(incoming, outgoing));
await once(server.listen({ port: 0, host: '127.0.0.1', backlog: BACKLOG }), 'listening');

serveBench(async ({ what }: ProviderWork) => {
  if (what === 'url') return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  if (what === 'answer') held.splice(0).forEach((answer) => answer());
  return held.length;
});

async function respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { messages } = JSON.parse((await incoming.toArray()).join(''));
  const answers = messages.filter(({ role }: { role: string }) => role === 'assistant').length;
  if (answers === 0) begun += 1;
  const calls = ordersFrom(answers * ORDERS_PER_ANSWER);
  const isHeld = hold === 'first' ? answers === 0 : hold === 'last' && calls.length === 0;
  if (isHeld) await new Promise<void>((resolve) => held.push(resolve));
  const content = calls.length === 0 ? 'I traded as I do every day.' : null;
  const message = { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) };
  const usage = { prompt_tokens: 3_000, completion_tokens: 50 };
  outgoing.setHeader('content-type', 'application/json');
  outgoing.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage }));
}

/** Those of the next answer. Where days are sold, one model trades at a time. */
function ordersFrom(first: number): object[] {
  const name = begun % 2 === 1 || hold !== undefined ? 'buy' : 'sell';
  const count = Math.min(ORDERS_PER_ANSWER, orders - first);
  return Array.from({ length: count }, (_none, index) => {
    const order = { symbol: symbols[(first + index) % symbols.length], amount: 1 };
    const call = { name, arguments: JSON.stringify(order) };
    return { id: `call_${first + index}`, type: 'function', function: call };
  });
}
