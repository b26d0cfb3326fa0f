import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HUNDRED_THOUSAND, type Size, TEN_MILLION, fillWithModelDays, positionsOf } from './large-database.ts';
import { measureLargeImport } from './large-import.ts';
import { SILENT_CLIENTS, measureSilentClients } from './silent-clients.ts';
import { median } from './paired.ts';
import { type Measurement, type Server, benchFolder } from './support.ts';
import { type Seen, download, startWatched, watch } from './watched.ts';

/**
 * One request at a time, beside 100,000 positions and beside ten million: how long it holds the server's thread in one go, which is what
 * another request waits for it; its first byte; and the most memory that the process had meanwhile.
 */

/** A folder that keeps the databases from one run to the next: the large one takes minutes to make. */
const KEPT = process.env['BENCH_LARGE_FOLDER'];
const ROUNDS = 3;
/** A client leaves after this time, so that the bench ends: what an answer costs at its end, it costs from its beginning. */
const LONGEST_SECONDS = 10;
const HELD_AIM_MS = 50;
const FIRST_BYTE_AIM_MS = 50;
const MEMORY_AIM_MB = 200;
const IDLE_MS = 3_000;
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
  '/performance?model=model-5',
  '/performance?model=model-5&details=true',
  '/performance',
  '/performance?benchmark=universe',
  '/performance?table=trades&format=csv',
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

export async function* measureLarge(): AsyncGenerator<Measurement> {
  for (const size of [HUNDRED_THOUSAND, TEN_MILLION]) {
    const folder = folderWith(size);
    yield* measureRequests(folder, size);
    if (size === TEN_MILLION) for (const clients of SILENT_CLIENTS) yield* measureSilentClients(folder, clients);
  }
  yield* measureLargeImport();
}

function folderWith(size: Size): string {
  const folder = benchFolder();
  const kept = KEPT === undefined ? join(folder, 'data') : join(KEPT, String(positionsOf(size)));
  if (KEPT !== undefined) {
    mkdirSync(kept, { recursive: true });
    symlinkSync(kept, join(folder, 'data'));
  }
  const path = join(kept, 'jobs_dev.db');
  if (!existsSync(path)) fillWithModelDays(path, size);
  return folder;
}

async function* measureRequests(folder: string, size: Size): AsyncGenerator<Measurement> {
  const server = await startWatched(folder);
  const beside = `beside ${positionsOf(size).toLocaleString('en-US')} positions`;
  const idle = await watch(server, () => sleep(IDLE_MS));
  yield figure(`nothing ${beside}`, { held: [idle.held.processorMs], health: [idle.longestHealthMs], peak: idle.peakMb });
  for (const path of PATHS) yield figure(`${path} ${beside}`, await roundsOf(server, path));
  for (const path of FIRST_BYTE_PATHS) yield await firstByte(server, path, beside);
  await server.stop();
}

interface Rounds {
  held: number[];
  health: number[];
  peak: number;
  seen?: Seen;
}

async function roundsOf(server: Server, path: string): Promise<Rounds> {
  const rounds: Rounds = { held: [], health: [], peak: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    const { result: seen, held, longestHealthMs, peakMb } = await watch(server, () => download(server.url + path, LONGEST_SECONDS));
    if (seen.status !== 200) throw new Error(`${path} answered ${seen.status}`);
    rounds.held.push(held.processorMs);
    rounds.health.push(longestHealthMs);
    rounds.peak = Math.max(rounds.peak, peakMb);
    rounds.seen = seen;
  }
  return rounds;
}

function figure(what: string, { held: holds, health, peak, seen }: Rounds): Measurement {
  // Other work on the machine does not lengthen a turn in processor time, so the longest counts.
  const [own, waited] = [Math.max(...holds), median(health)];
  const held = `holds the thread ${own.toFixed(0)} ms at most (processor time), peak memory ${peak.toFixed(0)} MB`;
  const size = seen && `, ${(seen.bytes / 1e6).toFixed(1)} MB in ${seen.seconds.toFixed(1)} s${seen.isWhole ? '' : ' (cut)'}`;
  return {
    what,
    ours: `${held}; longest /health ${waited.toFixed(0)} ms${size ?? ''}`,
    peer: '',
    ratio: '',
    aim: `< ${HELD_AIM_MS} ms and < ${MEMORY_AIM_MB} MB`,
    met: own < HELD_AIM_MS && peak < MEMORY_AIM_MB,
  };
}

/** A client that leaves after the first byte, several times; beside /health, whose response is a few bytes. */
async function firstByte(server: Server, path: string, beside: string): Promise<Measurement> {
  const times = { ours: [] as number[], peer: [] as number[] };
  for (let round = 0; round < 4 * ROUNDS; round += 1) {
    times.peer.push((await download(`${server.url}/health`, 0)).firstByteMs);
    times.ours.push((await download(server.url + path, 0)).firstByteMs);
  }
  const [own, other] = [median(times.ours), median(times.peer)];
  return {
    what: `first byte of ${path} ${beside}`,
    ours: `${own.toFixed(0)} ms`,
    peer: `${other.toFixed(0)} ms (/health)`,
    ratio: (own / other).toFixed(1),
    aim: `< ${FIRST_BYTE_AIM_MS} ms after /health's`,
    met: own - other < FIRST_BYTE_AIM_MS,
  };
}
