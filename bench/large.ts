import { setTimeout as sleep } from 'node:timers/promises';
import { addDays } from '../src/calendar.ts';
import { aimsFor } from './aims.ts';
import type { Seen } from './client.ts';
import { ITSELF, measure } from './figure.ts';
import { HUNDRED_THOUSAND, LARGE, type Size, folderWith, positionsOf } from './large-database.ts';
import { inTurn } from './paired.ts';
import { SILENT_CLIENTS, measureSilentClients } from './silent-clients.ts';
import type { BenchOptions, Measurement } from './support.ts';
import { divideTime, endAfter } from './time-limit.ts';
import { type WatchedServer, startWatched } from './watched.ts';
import { measureWatched } from './watched-figure.ts';

/**
 * Sends one request at a time to a database of 100,000 positions and to one of ten million.
 * Measures how long it holds the server's thread in one go, which is how long another request
 * waits; when its first byte arrives; and the peak memory of the process.
 */

/**
 * A client leaves after this time, so that the bench ends: what an answer costs at its end, it
 * costs from its beginning.
 */
const LONGEST_SECONDS = 10;
const ROUNDS = { minPairs: 6, maxPairs: 12 };
const FIRST_BYTES = { warmUpMs: 0, minPairs: 15, maxPairs: 60 };
const FIRST_BYTE_MS = 50;
const IDLE = { ms: 1_000, rounds: 3 };
/**
 * Small responses are requested again and again for this time, so that each round has as many
 * chances to hold up others.
 */
const SHORTEST_ROUND_MS = 300;
/**
 * Stands for a first date long before all model-days. Each request has a different one, so that
 * none is served from memory.
 */
const FRESH = 'FRESH';
const BEFORE_ALL = '1960-01-01';
const PATHS = [
  '/health',
  '/models',
  '/jobs?limit=200',
  '/simulate/status/bench-0003',
  '/prices/coverage',
  '/results',
  '/results?format=csv',
  '/results?model=model-5',
  '/holdings?model=model-5',
  '/performance?model=model-5&start_date=FRESH',
  '/performance?model=model-5&details=true&start_date=FRESH',
  '/performance?start_date=FRESH',
  '/performance?common=true&start_date=FRESH', // as the overview asks
  '/performance?benchmark=universe&start_date=FRESH',
  '/performance?table=trades&format=csv&start_date=FRESH',
  '/comparison?models=model-1,model-2',
  '/reasoning',
  '/reasoning?include_full_conversation=true',
  '/decisions?limit=200',
  '/decisions?symbol=NONE',
  '/search?q=every+day',
  '/search?q=nothing',
  '/audit',
];
/** Their first record is there at once, so their first byte should be too. */
const FIRST_BYTE_PATHS = ['/results', '/results?format=csv'];
const PARTS = 2 * (PATHS.length + FIRST_BYTE_PATHS.length) + SILENT_CLIENTS.length;
/**
 * All rounds begin within ROUNDS_MS, and the bench ends by itself after MAX_MS. Making the
 * databases does not count.
 */
const ROUNDS_MS = 7 * 60_000;
const MAX_MS = 9 * 60_000;

export async function* measureLarge(options: BenchOptions): AsyncGenerator<Measurement> {
  const small = { size: HUNDRED_THOUSAND, folder: folderWith(HUNDRED_THOUSAND) };
  const large = { size: LARGE, folder: folderWith(LARGE) };
  const limit = endAfter(MAX_MS, 'large');
  const nextShare = divideTime(ROUNDS_MS, PARTS);
  for (const database of [small, large])
    yield* measureRequests(database, { nextShare, ...options });
  for (const clients of SILENT_CLIENTS)
    yield await measureSilentClients(large.folder, clients, { maxMs: nextShare(), ...options });
  clearTimeout(limit);
}

async function* measureRequests(
  { folder, size }: { folder: string; size: Size },
  { nextShare, ...options }: { nextShare: () => number } & BenchOptions,
): AsyncGenerator<Measurement> {
  const watched = await startWatched(folder, options);
  const { server, client } = watched;
  const beside = `beside ${positionsOf(size).toLocaleString('en-US')} positions`;
  const idle = { work: () => sleep(IDLE.ms), bounds: { maxPairs: IDLE.rounds }, ...options };
  yield await measureWatched(`nothing ${beside}`, watched, idle);
  for (const path of PATHS) {
    let asked = 0;
    const request = () =>
      client.download(
        server.url + path.replace(FRESH, addDays(BEFORE_ALL, (asked += 1))),
        LONGEST_SECONDS,
      );
    const work = () => repeatFor(SHORTEST_ROUND_MS, request);
    const bounds = { ...ROUNDS, maxMs: nextShare() };
    yield await measureWatched(`${path} ${beside}`, watched, {
      work,
      bounds,
      describe: describeSeen,
      ...options,
    });
  }
  for (const path of FIRST_BYTE_PATHS)
    yield await measureFirstByte(watched, { path, beside, maxMs: nextShare(), ...options });
  await watched.stop();
}

/** Repeats work for at least this time. Resolves to the last result. */
async function repeatFor<Result>(ms: number, work: () => Promise<Result>): Promise<Result> {
  const endAt = performance.now() + ms;
  for (;;) {
    const result = await work();
    if (performance.now() >= endAt) return result;
  }
}

/** The last of the responses. */
function describeSeen(responses: readonly Seen[]): string {
  const { bytes, seconds, firstByteMs, isWhole } = responses.at(-1) ?? {};
  const size = `${((bytes ?? 0) / 1e6).toFixed(1)} MB in ${seconds?.toFixed(1)} s${isWhole ? '' : ' (cut)'}`;
  return `; ${size}, first byte after ${firstByteMs?.toFixed(0) ?? '-'} ms`;
}

/** A client that leaves after the first byte, against the first byte of a bare server. */
function measureFirstByte(
  { server, bare, client }: WatchedServer,
  { path, beside, maxMs, self }: { path: string; beside: string; maxMs: number } & BenchOptions,
): Promise<Measurement> {
  const firstByteOf = (url: string) => async () =>
    (await client.download(url, 0)).firstByteMs ?? NaN;
  const ours = firstByteOf(server.url + path);
  const peer = self ? ours : firstByteOf(bare.url);
  return measure({
    what: `first byte of ${path} ${beside}`,
    unit: 'ms',
    peer: self ? ITSELF : 'bare node:http, the bytes of /health',
    aims: aimsFor(FIRST_BYTE_MS),
    take: inTurn(ours, peer),
    bounds: { ...FIRST_BYTES, maxMs },
  });
}
