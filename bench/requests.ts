import { cpSync } from 'node:fs';
import { type SameBytes, sameBytesAs, serveSameBytes } from './bare-server.ts';
import type { Aim } from './aims.ts';
import { ITSELF, describeStarts } from './figure.ts';
import { type Loader, startLoader } from './load.ts';
import { type Pair, mean, oneSliceOfEach, ratiosOfStarts, twoSlicesOfEach } from './paired.ts';
import { processorMs } from './processor-time.ts';
import {
  type BenchOptions,
  type Measurement,
  benchFolder,
  pidOf,
  startServer,
  triggerJob,
  untilStatus,
} from './support.ts';

const LOAD = { connections: 16, ms: 50 };
const HEALTH_AIMS = [{ atLeast: 0.9 }];
const STATUS_AIMS = [{ atLeast: 0.5 }];
const FORTY_MODEL_DAYS = { start_date: '2025-09-15', end_date: '2025-09-26' };
const FOUR_MODELS = ['model-0', 'model-1', 'model-2', 'model-3'];
/**
 * Pairs per start of both programs. Each process has a speed of its own for as long as it lives, so
 * starts count, not pairs.
 */
const PAIRS = 16;
const WARM_UP_MS = 2_000;
/** Starts end when the median ratios are known to this share, or after the time. */
const STARTS = { min: 8, max: 40, precision: 0.02, maxMs: 75_000 };

/** What is requested, and the bytes of the response. */
interface Requested {
  path: string;
  bytes: SameBytes;
}

/** A server under load, and the process that serves. */
interface Target {
  url: string;
  pid: number;
  stop(): void | Promise<void>;
}

/**
 * What a slice gave: requests per second by the clock, and per second of the server's processor
 * time.
 */
interface Speed {
  byClock: number;
  byProcessor: number;
}

/** Starts a program anew. */
type Start = () => Promise<Target>;

/**
 * Requests per second of /health and of a finished job's status, against a bare node:http server
 * that sends the same bytes.
 */
export async function* measureRequests({ self }: BenchOptions): AsyncGenerator<Measurement> {
  const loader = startLoader();
  const { folder, health, status } = await runJob();
  yield* compare('/health', {
    loader,
    ...startsOf(health, { folder, self }),
    aims: HEALTH_AIMS,
    self,
  });
  yield* compare('/simulate/status of 40 model-days', {
    loader,
    ...startsOf(status, { folder, self }),
    aims: STATUS_AIMS,
    self,
  });
  loader.stop();
}

/** A folder with a finished job, on which every server starts. */
async function runJob(): Promise<{ folder: string; health: Requested; status: Requested }> {
  const { url, folder, stop } = await startServer(FOUR_MODELS);
  const path = `/simulate/status/${await triggerJob({ url }, FORTY_MODEL_DAYS)}`;
  await untilStatus(url + path);
  const requested = async (path: string) => ({ path, bytes: await sameBytesAs(url + path) });
  const responses = { health: await requested('/health'), status: await requested(path) };
  await stop();
  return { folder, ...responses };
}

/** The peer is a bare server, or the same build on a copy of the folder. */
function startsOf(
  { path, bytes }: Requested,
  { folder, self }: { folder: string } & BenchOptions,
): { ours: Start; peer: Start } {
  const startOn = (folder: string) => async () => {
    const { url, process, stop } = await startServer(FOUR_MODELS, { folder });
    return { url: url + path, pid: pidOf(process), stop };
  };
  if (!self) return { ours: startOn(folder), peer: () => serveSameBytes(bytes) };
  const copy = benchFolder();
  cpSync(folder, copy, { recursive: true });
  return { ours: startOn(folder), peer: startOn(copy) };
}

/**
 * By the clock, and by the processor time of the server, which a load generator on the same
 * processors does not dilute.
 */
async function* compare(
  what: string,
  {
    loader,
    ours,
    peer,
    aims,
    self,
  }: { loader: Loader; ours: Start; peer: Start; aims: readonly Aim[] } & BenchOptions,
): AsyncGenerator<Measurement> {
  const starts: Record<keyof Speed, Pair[]>[] = [];
  const of = (speed: keyof Speed) => starts.map((pairs) => pairs[speed]);
  const isPrecise = (speed: keyof Speed) => {
    const { low, median, high } = ratiosOfStarts(of(speed));
    return high - low <= 2 * STARTS.precision * median;
  };
  const isEnough = () =>
    starts.length >= STARTS.min && isPrecise('byClock') && isPrecise('byProcessor');
  const endAt = performance.now() + STARTS.maxMs;
  while (starts.length < STARTS.max && performance.now() < endAt && !isEnough()) {
    const sides = await oneSliceOfEach(starts.length, ours, peer);
    starts.push(
      await pairsOfStart(
        () => speedOf(sides.ours, loader),
        () => speedOf(sides.peer, loader),
      ),
    );
    await sides.ours.stop();
    await sides.peer.stop();
  }
  const common = { what, peer: self ? ITSELF : 'bare node:http, same bytes', aims };
  yield describeStarts({ ...common, unit: 'requests per second' }, of('byClock'));
  yield describeStarts(
    { ...common, unit: 'requests per second of processor time' },
    of('byProcessor'),
  );
}

async function pairsOfStart(
  ours: () => Promise<Speed>,
  peer: () => Promise<Speed>,
): Promise<Record<keyof Speed, Pair[]>> {
  const pairs = { byClock: [] as Pair[], byProcessor: [] as Pair[] };
  const warmAt = performance.now() + WARM_UP_MS;
  while (performance.now() < warmAt) await twoSlicesOfEach(0, ours, peer);
  for (let index = 0; index < PAIRS; index += 1) {
    const slices = await twoSlicesOfEach(index, ours, peer);
    for (const speed of ['byClock', 'byProcessor'] as const) {
      const of = (side: keyof Pair) => mean(slices[side].map((slice) => slice[speed]));
      pairs[speed].push({ ours: of('ours'), peer: of('peer') });
    }
  }
  return pairs;
}

async function speedOf({ url, pid }: Target, { load }: Loader): Promise<Speed> {
  const before = processorMs(pid);
  const { perSecond, requests } = await load(url, LOAD);
  return { byClock: perSecond, byProcessor: (requests / (processorMs(pid) - before)) * 1000 };
}
