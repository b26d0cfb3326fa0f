import { join } from 'node:path';
import { fillWithTrackRecords, modelNames } from '../test/support/track-records.ts';
import { aimsFor } from './aims.ts';
import { type BareServer, startSameBytes } from './bare-server.ts';
import { ITSELF, measure } from './figure.ts';
import { startHelper } from './helper.ts';
import type { Pair } from './paired.ts';
import { timedRequest } from './samples.ts';
import {
  type BenchOptions,
  type Measurement,
  type Server,
  benchFolder,
  startServer,
} from './support.ts';

/** How long responses take, and how long other requests wait meanwhile. */

const BOUNDS = { maxMs: 12_000 };
export const LONGEST_HEALTH_MS = 50;
/** The peer of a /health beside other work: on a busy machine the peer waits too. */
export const BARE_HEALTH = 'bare node:http, same bytes, asked in turn';

/** Requests a URL and reads the response, in JSON; resolves to the milliseconds that it took. */
export async function millisecondsOf(url: string): Promise<number> {
  const { ms, body } = await timedRequest(url);
  if (body.at(-1) !== '}'.charCodeAt(0)) throw new Error(`The response to ${url} is not whole`);
  return ms;
}

/** Asks a service and its peer for /health while work runs. */
export interface HealthChecks {
  /** Resolves to what the work resolved to, and to the longest /health of each in milliseconds. */
  beside<Result>(work: () => Promise<Result>): Promise<{ result: Result; longest: Pair }>;
  stop(): void;
}

export function startHealthChecks({
  server,
  bare,
  self,
}: { server: Server; bare: BareServer } & BenchOptions): HealthChecks {
  const { ask, stop } = startHelper('./health-checks.ts');
  const ours = `${server.url}/health`;
  return {
    async beside(work) {
      await ask({ urls: { ours, peer: self ? ours : bare.url } });
      const result = await work();
      return { result, longest: (await ask({})) as Pair };
    },
    stop,
  };
}

/**
 * The longest /health while some work runs, against the longest response of a bare node:http server
 * beside the same work.
 */
export async function longestBeside(
  what: string,
  {
    work,
    ...options
  }: { server: Server; bare: BareServer; work: () => Promise<unknown> } & BenchOptions,
): Promise<Measurement> {
  const checks = startHealthChecks(options);
  const take = async () => (await checks.beside(work)).longest;
  const aims = aimsFor(LONGEST_HEALTH_MS);
  const figure = {
    what,
    unit: 'ms',
    peer: options.self ? ITSELF : BARE_HEALTH,
    aims,
    isLongest: true,
  };
  const measurement = await measure({ ...figure, take, bounds: BOUNDS });
  checks.stop();
  return measurement;
}

/** Measures a service whose database has this many models and days, all traded. */
export async function* withTrackRecords(
  size: { models: number; days: number },
  measure: (server: Server, bare: BareServer) => AsyncIterable<Measurement>,
): AsyncGenerator<Measurement> {
  const folder = benchFolder();
  fillWithTrackRecords(join(folder, 'data/jobs_dev.db'), {
    models: modelNames(size.models),
    days: size.days,
  });
  const server = await startServer(['model-0'], { folder });
  const bare = await startSameBytes(`${server.url}/health`);
  yield* measure(server, bare);
  bare.stop();
  await server.stop();
}
