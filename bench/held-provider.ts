import { on, once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A provider on loopback that answers nothing by itself: the bench takes each request, and answers
 * it when it wants to. It is in the process of the bench, which does nothing else meanwhile.
 */

/** A request that does not come within this time never will: the bench fails. */
const LONGEST_WAIT_MS = 60_000;

export interface HeldRequest {
  path: string;
  /** The body, as text; '' without one. */
  text: string;
  /** Answers with 200 and JSON. */
  answer(body: object): void;
}

export interface HeldProvider {
  url: string;
  /** Takes the next request. Rejects if none arrives in time, or if it is for another path. */
  next(path?: string): Promise<HeldRequest>;
  stop(): void;
}

export async function startHeldProvider(): Promise<HeldProvider> {
  const server = createServer();
  const requests = on(server, 'request') as AsyncIterableIterator<
    [IncomingMessage, ServerResponse]
  >;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async next(expected = '/') {
      const [incoming, outgoing] = await withinTime(
        requests.next().then(({ value }) => value),
        expected,
      );
      const path = incoming.url ?? '';
      if (!path.startsWith(expected))
        throw new Error(`The service asks for ${path} before it asks for ${expected}`);
      const text = Buffer.concat(await incoming.toArray()).toString();
      return {
        path,
        text,
        answer: (body) =>
          void outgoing.setHeader('content-type', 'application/json').end(JSON.stringify(body)),
      };
    },
    stop: () => server.close().closeAllConnections(),
  };
}

async function withinTime<Result>(result: Promise<Result>, path: string): Promise<Result> {
  const ended = new AbortController();
  const limit = sleep(LONGEST_WAIT_MS, undefined, { ref: false, signal: ended.signal }).then(() => {
    throw new Error(
      `The service has not asked for ${path} within ${LONGEST_WAIT_MS / 1000} seconds`,
    );
  });
  try {
    return await Promise.race([result, limit]);
  } finally {
    limit.catch(() => {});
    ended.abort();
  }
}
