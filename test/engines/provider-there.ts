import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ModelRequest, whereIs } from '../support/model-server.ts';
import { trade } from './jobs.ts';

/**
 * A provider as a program of its own, for a machine where the test's servers cannot be reached: `node provider-there.ts DATE`.
 * It never answers the second request of that date. Prints its port.
 */

const [, , heldDate] = process.argv;

const server = createServer(async (incoming, outgoing) => {
  const body = JSON.parse((await incoming.toArray()).join(''));
  const request: ModelRequest = { method: 'POST', path: '', headers: {}, body };
  const { date, step } = whereIs(request);
  if (date === heldDate && step === 2) return;
  outgoing.setHeader('content-type', 'application/json');
  outgoing.end(JSON.stringify(trade(request).body));
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
