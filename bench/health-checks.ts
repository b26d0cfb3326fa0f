import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveLines } from './helper.ts';
import type { Pair } from './paired.ts';

/**
 * Asks two servers in turn, again and again, from one line of stdin to the next, and answers with
 * the longest that each took in milliseconds. A helper: in the process of the bench, the bench's
 * own work would be in the figures.
 */

const PAUSE_MS = 1;

/** The line that begins has the URLs, the line that ends has none. */
interface Asked {
  urls?: { ours: string; peer: string };
}

let isOver = false;
let checking: Promise<Pair> | undefined;

await serveLines(async ({ urls }: Asked) => {
  if (urls === undefined) {
    isOver = true;
    return (await checking) ?? {};
  }
  isOver = false;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 }); // one connection to each
  for (const url of [urls.ours, urls.peer]) await millisecondsOf(url, agent); // connects
  checking = longestOf(urls, agent).finally(() => agent.destroy());
  return {};
});

async function longestOf(urls: { ours: string; peer: string }, agent: Agent): Promise<Pair> {
  const longest = { ours: 0, peer: 0 };
  const sides = ['ours', 'peer'] as const;
  for (let round = 0; round === 0 || !isOver; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed())
      longest[side] = Math.max(longest[side], await millisecondsOf(urls[side], agent));
    await sleep(PAUSE_MS);
  }
  return longest;
}

function millisecondsOf(url: string, agent: Agent): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const startedAt = performance.now();
  const outgoing = get(url, { agent }, (response) => {
    if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}`));
    response.on('error', reject).on('end', () => resolve(performance.now() - startedAt));
    response.resume();
  });
  outgoing.on('error', reject);
  return promise;
}
