import { clearIndex, firstIndexed, indexDownFrom, newestRow } from '../src/database/log-words.ts';
import { searchLogs } from '../src/database/records/search.ts';
import { phrasesOf } from '../src/search-text.ts';
import { ITSELF, besideCalibration, measure } from './figure.ts';
import { type Slice, alternate } from './paired.ts';
import { ownProcessorMs } from './processor-time.ts';
import {
  type GrowingLog,
  MODEL_DAYS,
  type Way,
  sizesOf,
  startLog,
  withIndex,
  withoutIndex,
} from './search-logs.ts';
import type { BenchOptions, Measurement } from './support.ts';

/** Model-days that one slice logs. */
const SLICE = 20;
const BOUNDS = { warmUpMs: 0, minPairs: 15, maxPairs: MODEL_DAYS / (4 * SLICE) - 1 };
const LOG = 'log of a model-day of 6 messages';
/** Both in processor time, because one process does both. */
const UNIT = 'ms of processor time';

/**
 * Compares an index of words written with the log with one that is filled in steps: the log of a
 * model-day, searches, sizes.
 */
export async function* measureSearch(options: BenchOptions): AsyncGenerator<Measurement> {
  const bare = startLog(withoutIndex);
  yield await besideCalibration(`${LOG} ${withoutIndex.name}`, async () => msOf(bare), {
    bounds: BOUNDS,
    ...options,
  });
  bare.database.close();
  for (const way of withIndex) yield* compareWay(way, options);
  const log = startLog(withoutIndex);
  log.grow(MODEL_DAYS);
  yield* measureIndexing(log, options);
  for (const words of ['service database', 'never-written', 'amount']) {
    const search = { phrases: phrasesOf(words), filters: {}, limit: 20, before: undefined };
    const slice = async () => {
      const startedAt = performance.now();
      await searchLogs(log.database, search, { signal: new AbortController().signal });
      return performance.now() - startedAt;
    };
    const what = `search of ${MODEL_DAYS.toLocaleString('en-US')} model-days for ${words}`;
    yield await besideCalibration(what, slice, { bounds: { maxMs: 10_000 }, ...options });
  }
  log.database.close();
}

/** The log with an index, against the log without one. */
async function* compareWay(way: Way, { self }: BenchOptions): AsyncGenerator<Measurement> {
  const [ours, peer] = [startLog(way), startLog(self ? way : withoutIndex)];
  const take = alternate(processorMsPerDay(ours), processorMsPerDay(peer));
  yield await measure({
    what: `${LOG} ${way.name}`,
    unit: UNIT,
    peer: self ? ITSELF : withoutIndex.name,
    take,
    bounds: BOUNDS,
  });
  ours.grow(MODEL_DAYS);
  yield {
    what: `sizes ${way.name}, ${MODEL_DAYS.toLocaleString('en-US')} model-days`,
    ours: sizesOf(ours.database),
  };
  ours.database.close();
  peer.database.close();
}

/** What a step adds to the index, per model-day, against the log of one. */
async function* measureIndexing(
  { database }: GrowingLog,
  { self }: BenchOptions,
): AsyncGenerator<Measurement> {
  const newest = newestRow(database);
  const rowsPerDay = newest / MODEL_DAYS;
  let next = newest;
  const step = async () => {
    if (next === 0) database.transaction(() => clearIndex(database));
    if (next === 0) next = newest;
    const before = ownProcessorMs();
    database.transaction(() => indexDownFrom(database, next));
    const ms = ownProcessorMs() - before;
    const first = firstIndexed(database, next) ?? 1;
    const days = (next - first + 1) / rowsPerDay;
    next = first - 1;
    return ms / days;
  };
  const bare = startLog(withoutIndex);
  const take = alternate(step, self ? step : processorMsPerDay(bare));
  const peer = self ? ITSELF : `${LOG} ${withoutIndex.name}`;
  yield await measure({
    what: 'index in steps, per model-day of 6 messages',
    unit: UNIT,
    peer,
    take,
    bounds: BOUNDS,
  });
  bare.database.close();
  while (next > 0) await step();
  yield {
    what: `sizes after all steps, ${MODEL_DAYS.toLocaleString('en-US')} model-days`,
    ours: sizesOf(database),
  };
}

function processorMsPerDay(log: GrowingLog): Slice {
  return async () => {
    const before = ownProcessorMs();
    const logged = log.grow(SLICE);
    return (ownProcessorMs() - before) / logged;
  };
}

/** Milliseconds per model-day by the clock. */
function msOf(log: GrowingLog): number {
  const startedAt = performance.now();
  const logged = log.grow(SLICE);
  return (performance.now() - startedAt) / logged;
}
