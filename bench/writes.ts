import { until } from '../test/support/until.ts';
import type { Builds } from './figure.ts';
import { askJson, triggerJob, untilCompleted } from './support.ts';
import { type Ready, prepareTrading } from './trading.ts';
import { type Watched, measureWatched, peakMemoryOf, startWatched } from './watched.ts';

const DATE = '2025-09-16';
const JOB = { start_date: DATE, end_date: DATE };
const ROUNDS = 10;
const BOUNDS = { minPairs: 6, maxPairs: ROUNDS - 1, maxMs: 120_000 };
/** Each commit is that of another model, which has traded nothing before. */
const WRITERS = Array.from({ length: ROUNDS }, (_none, index) => `writer-${index}`);

/** The commit of a model-day that bought a thousand symbols, in PROD: it waits for the disk. */
export async function* measureWrites(builds: Builds): AsyncGenerator<string> {
  const count = builds.isShort ? 50 : 1_000;
  const ours = await startSide(builds.now, count);
  const before = builds.before === undefined ? undefined : await startSide(builds.before, count);
  const sideOf = (watched: Watched) => (watched === before?.watched ? before : ours);
  const sides = { ours: ours.watched, before: before?.watched };
  yield* measureWatched(builds, sides, {
    what: `commit of ${count.toLocaleString('en-US')} symbols`,
    async prepare(watched) {
      const side = sideOf(watched);
      const models = [side.writers.next().value];
      side.statusUrl = await triggerJob(watched.server, { ...JOB, models });
      const isHeld = async () => (await side.provider.ask({ what: 'held' })) === 1;
      await until('the answer that ends the model-day', isHeld);
    },
    async work(watched) {
      const { provider, statusUrl } = sideOf(watched);
      await provider.ask({ what: 'answer' });
      await untilCompleted(statusUrl);
      return [];
    },
    bounds: BOUNDS,
  });
  yield peakMemoryOf(builds, sides);
  for (const { watched, provider } of before === undefined ? [ours] : [ours, before]) {
    const url = `${watched.server.url}/results?model=${WRITERS[0]}`;
    const { results } = await askJson<{ results: unknown[] }>(url);
    if (results.length !== count) throw new Error(`${results.length} of ${count} orders are there`);
    await watched.stop();
    provider.stop();
  }
}

/** A service, and the provider of its models, which holds the answer that ends a model-day. */
interface Side extends Pick<Ready, 'provider'> {
  watched: Watched;
  writers: Iterator<string>;
  statusUrl: string;
}

async function startSide(build: string, count: number): Promise<Side> {
  const symbols = Array.from({ length: count }, (_none, index) => `S${index}`);
  const trading = { symbols, orders: count, hold: 'last', dates: [DATE] } as const;
  const { options, provider } = await prepareTrading(build, trading);
  const watched = await startWatched(build, { ...options, models: WRITERS });
  return { watched, provider, writers: WRITERS.values(), statusUrl: '' };
}
