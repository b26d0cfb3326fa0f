import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Measurement, benchFolder, median, startServer } from './support.ts';
import { fillWithTrackRecords } from './track-records.ts';

const MODELS = 20;
const DAYS = 500;
const ROUNDS = 9;
const AIM_MS = 300;
const BESIDE_AIM_MS = 100;

/** GET /performance for all models, against its limit, and what another request waits for it at most. */
export async function measurePerformance(): Promise<Measurement[]> {
  const folder = benchFolder();
  fillWithTrackRecords(join(folder, 'data/jobs_dev.db'), { models: MODELS, days: DAYS });
  const server = await startServer(['model-0'], { folder });
  const ask = (query: string) => millisecondsOf(`${server.url}/performance${query}`);
  const all = await rounds(() => ask(''));
  const universe = await rounds(() => ask('?benchmark=universe'));
  const waits = await waitsBeside(server.url, () => ask(''));
  await server.stop();
  const size = `${MODELS} models × ${DAYS} days`;
  return [
    limit(`/performance of ${size}`, all, AIM_MS),
    limit(`/performance of ${size} against the universe of 101 symbols`, universe, AIM_MS),
    limit('longest /health beside one of them', waits, BESIDE_AIM_MS),
  ];
}

function limit(what: string, milliseconds: number, aim: number): Measurement {
  const ours = `${milliseconds.toFixed(0)} ms`;
  return { what, ours, peer: '', ratio: '', aim: `< ${aim} ms`, met: milliseconds < aim };
}

/** The median after one round that does not count. */
async function rounds(measure: () => Promise<number>): Promise<number> {
  await measure();
  const times: number[] = [];
  while (times.length < ROUNDS) times.push(await measure());
  return median(times);
}

async function millisecondsOf(url: string): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(url);
  const text = await response.text();
  if (response.status !== 200 || !text.endsWith('}')) throw new Error(`${url} answered ${response.status}`);
  return performance.now() - startedAt;
}

/** The median, over some rounds, of the longest /health while the work runs. */
async function waitsBeside(url: string, work: () => Promise<number>): Promise<number> {
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
