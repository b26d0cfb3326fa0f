import { type IncomingMessage, get } from 'node:http';
import type { Seen } from './client.ts';
import { serveLines } from './helper.ts';

/** Downloads a response per line of stdin, each on a connection of its own. A helper. */

interface Asked {
  url: string;
  longestSeconds?: number;
}

await serveLines(download);

function download({ url, longestSeconds = Infinity }: Asked): Promise<Seen> {
  const { promise, resolve, reject } = Promise.withResolvers<Seen>();
  const startedAt = performance.now();
  const since = () => performance.now() - startedAt;
  let response: IncomingMessage | undefined;
  let firstByteMs: number | null = null;
  let bytes = 0;
  const leave = () => {
    clearTimeout(timer);
    const isWhole = response?.complete ?? false;
    resolve({
      status: response?.statusCode ?? null,
      firstByteMs,
      bytes,
      seconds: since() / 1000,
      isWhole,
    });
    outgoing.destroy();
  };
  const outgoing = get(url, { agent: false }, (incoming) => {
    response = incoming.on('end', leave).on('error', leave);
    incoming.on('data', (chunk: Buffer) => {
      firstByteMs ??= since();
      bytes += chunk.length;
      if (longestSeconds === 0) leave();
    });
  });
  outgoing.on('error', reject);
  const timer =
    longestSeconds > 0 && longestSeconds < Infinity
      ? setTimeout(leave, longestSeconds * 1000)
      : undefined;
  return promise;
}
