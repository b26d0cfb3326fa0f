import { setTimeout as sleep } from 'node:timers/promises';
import { type Measurement, median } from './support.ts';

/** How long responses take, and what another request waits for them. */

const ROUNDS = 9;

export function limit(what: string, milliseconds: number, aim: number): Measurement {
  const ours = `${milliseconds.toFixed(0)} ms`;
  return { what, ours, peer: '', ratio: '', aim: `< ${aim} ms`, met: milliseconds < aim };
}

/** The median after one round that does not count. */
export async function rounds(measure: () => Promise<number>): Promise<number> {
  await measure();
  const times: number[] = [];
  while (times.length < ROUNDS) times.push(await measure());
  return median(times);
}

export async function millisecondsOf(url: string): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(url);
  const text = await response.text();
  if (response.status !== 200 || !text.endsWith('}')) throw new Error(`${url} answered ${response.status}`);
  return performance.now() - startedAt;
}

/** The median, over some rounds, of the longest /health while the work runs. */
export async function waitsBeside(url: string, work: () => Promise<number>): Promise<number> {
  return rounds(async () => {
    let isRunning = true;
    let longest = 0;
    const working = work().finally(() => (isRunning = false));
    while (isRunning) {
      longest = Math.max(longest, await millisecondsOf(`${url}/health`));
      await sleep(1);
    }
    await working;
    return longest;
  });
}
