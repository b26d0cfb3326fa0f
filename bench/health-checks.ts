import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveBench } from './helper.ts';
import type { Pair } from './paired.ts';

/**
 * Asks two servers in turn, again and again, from a message with their URLs to one without; answers
 * that with the longest that each took, in ms. A helper: the bench's own work would be in the
 * figures.
 */

const PAUSE_MS = 1;

export interface Checks {
  urls?: { ours: string; peer: string };
}

let isOver = false;
let checking: Promise<Pair> | undefined;

serveBench(async ({ urls }: Checks) => {
  isOver = urls === undefined;
  if (urls === undefined) return checking;
  checking = longestOf(urls, new Agent({ keepAlive: true, maxSockets: 1 }));
  return {};
});

async function longestOf(urls: { ours: string; peer: string }, agent: Agent): Promise<Pair> {
  const longest = { ours: 0, peer: 0 };
  const sides = ['ours', 'peer'] as const;
  for (const side of sides) await millisecondsOf(urls[side], agent); // connects
  for (let round = 0; round === 0 || !isOver; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed())
      longest[side] = Math.max(longest[side], await millisecondsOf(urls[side], agent));
    await sleep(PAUSE_MS);
  }
  agent.destroy();
  return longest;
}

async function millisecondsOf(url: string, agent: Agent): Promise<number> {
  const startedAt = performance.now();
  const [response] = await once(get(url, { agent }), 'response');
  await once(response.resume(), 'end');
  return performance.now() - startedAt;
}
