import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ModelRequest } from '../../test/support/model-server.ts';
import { isHeld, trade } from './jobs.ts';

/**
 * A provider as a program of its own, for a machine where the test's servers cannot be reached. It
 * does not answer in the middle of the held date until it gets SIGUSR2. Prints its port.
 */

const released = new Promise((resolve) => process.once('SIGUSR2', resolve));

const server = createServer(async (incoming, outgoing) => {
  const body = JSON.parse((await incoming.toArray()).join(''));
  const request: ModelRequest = { method: 'POST', path: '', headers: {}, body };
  if (isHeld(request)) await released;
  outgoing.setHeader('content-type', 'application/json');
  outgoing.end(JSON.stringify(trade(request).body));
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
