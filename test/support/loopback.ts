import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/**
 * Opens a server on a free port of 127.0.0.1, and resolves to the port. After the test it closes,
 * with all its connections.
 */
export async function listenHere(
  t: TestContext,
  server: HttpServer | HttpsServer,
): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}
