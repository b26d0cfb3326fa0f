import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BareServer, startSameBytes } from './bare-server.ts';
import { ITSELF, measure } from './figure.ts';
import { type BenchOptions, type Measurement, type Server, PLAIN, benchFolder, startServer } from './support.ts';
import { fillWithTrackRecords, modelNames } from '../test/support/track-records.ts';

/** How long responses take, and what another request waits for them. */

const PAUSE_BETWEEN_CHECKS_MS = 1;
const BOUNDS = { maxMs: 12_000 };

/** Requests a URL and reads the response; resolves to the milliseconds that it took. */
export async function millisecondsOf(url: string): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(url, { headers: PLAIN });
  const text = await response.text();
  if (response.status !== 200 || !text.endsWith('}')) throw new Error(`${url} answered ${response.status}`);
  return performance.now() - startedAt;
}

/**
 * The longest /health while some work runs, against the longest response of a bare node:http server with the same bytes, asked in
 * turn with it beside the same work: on a busy machine that waits too. Each run of the work is a pair.
 */
export async function longestBeside(
  what: string,
  { server, work, bare, ...options }: { server: Server; work: () => Promise<unknown>; bare: BareServer; aboveMs?: number } & BenchOptions,
): Promise<Measurement> {
  const { self, aboveMs } = options;
  const urls = { ours: `${server.url}/health`, peer: self ? `${server.url}/health` : bare.url };
  const take = async () => {
    let isRunning = true;
    const longest = { ours: 0, peer: 0 };
    const working = work().finally(() => (isRunning = false));
    while (isRunning) {
      for (const side of ['ours', 'peer'] as const) longest[side] = Math.max(longest[side], await millisecondsOf(urls[side]));
      await sleep(PAUSE_BETWEEN_CHECKS_MS);
    }
    await working;
    return longest;
  };
  const peer = self ? ITSELF : 'bare node:http, same bytes, asked in turn';
  return measure({ what, unit: 'ms', peer, take, aim: aboveMs === undefined ? undefined : { aboveMs }, bounds: BOUNDS });
}

/** Measures a service whose database has this many models and days, all traded. */
export async function* withTrackRecords(
  size: { models: number; days: number },
  measure: (server: Server, bare: BareServer) => AsyncIterable<Measurement>,
): AsyncGenerator<Measurement> {
  const folder = benchFolder();
  fillWithTrackRecords(join(folder, 'data/jobs_dev.db'), { models: modelNames(size.models), days: size.days });
  const server = await startServer(['model-0'], { folder });
  const bare = await startSameBytes(`${server.url}/health`);
  yield* measure(server, bare);
  bare.stop();
  await server.stop();
}
