import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Measurement, type Server, benchFolder, median, startServer } from './support.ts';
import { fillWithTrackRecords, modelNames } from '../test/support/track-records.ts';

/** How long responses take, and what another request waits for them. */

const ROUNDS = 9;
const PAUSE_BETWEEN_CHECKS_MS = 1;

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

/** The longest /health while the work runs, in milliseconds, and the result of the work. */
export async function longestHealth<Result>(
  { url }: Server,
  work: () => Promise<Result>,
  ask = millisecondsOf,
): Promise<{ longestMs: number; result: Result }> {
  let isRunning = true;
  let longestMs = 0;
  const working = work().finally(() => (isRunning = false));
  while (isRunning) {
    longestMs = Math.max(longestMs, await ask(`${url}/health`));
    await sleep(PAUSE_BETWEEN_CHECKS_MS);
  }
  return { longestMs, result: await working };
}

/** Measures a service whose database has this many models and days, all traded. */
export async function withTrackRecords<Result>(
  size: { models: number; days: number },
  measure: (server: Server) => Promise<Result>,
): Promise<Result> {
  const folder = benchFolder();
  fillWithTrackRecords(join(folder, 'data/jobs_dev.db'), { models: modelNames(size.models), days: size.days });
  const server = await startServer(['model-0'], { folder });
  try {
    return await measure(server);
  } finally {
    await server.stop();
  }
}
