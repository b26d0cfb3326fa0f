import { setTimeout as sleep } from 'node:timers/promises';
import { weekdays } from '../src/core/time/calendar.ts';
import { type Aim, type Builds, rowOf } from './figure.ts';
import { inTurn, type Pair, quantile } from './paired.ts';
import { BARE_SERVER, serveSameBytes } from './peers.ts';
import { availableMb, peakMemoryMb } from './proc.ts';
import { ask, startServer, triggerJob } from './support.ts';
import { prepareTrading } from './trading.ts';

const CHILDREN = Number(process.env['CHILDREN'] ?? 1_000);
const MB_PER_CHILD = 14;
const KEPT_FREE_MB = 2_000;
const WAIT_MS = 20_000;
const LONGEST_START_MS = 300_000;
/** A window of this many requests to each side is a pair: their 99th percentiles. */
const WINDOW = 100;
const PAUSE_MS = 5;
const DATES = weekdays('2025-08-01', '2025-09-16');
const SYMBOLS = Array.from({ length: 100 }, (_none, index) => `S${index}`);

/**
 * The status while a thousand models start, and while all wait for their provider, beside a bare
 * server that sends the same bytes. Beside the build before, each build has half of the models.
 */
export async function* measureWaiting(builds: Builds): AsyncGenerator<string> {
  const children = builds.isShort ? 20 : CHILDREN;
  if (availableMb() < children * MB_PER_CHILD + KEPT_FREE_MB)
    return yield `Waiting models are not measured: ${availableMb().toFixed(0)} MB are too little`;
  const count = builds.before === undefined ? children : children / 2;
  const ours = await startJob(builds.now, count);
  const before = builds.before === undefined ? undefined : await startJob(builds.before, count);
  const peer = before ?? (await serveSameBytes(ours.url));
  const status = (url: string) => async () => [(await sleep(PAUSE_MS).then(() => ask(url))).ms];
  const take = inTurn(status(ours.url), status(peer.url));
  const windowsUntil = async (isOver: () => Promise<boolean>) => {
    const windows: Pair[] = [];
    do {
      const pairs: Pair[] = [];
      while (pairs.length < WINDOW) pairs.push(...(await take(pairs.length)));
      const p99 = (side: keyof Pair) =>
        quantile(
          pairs.map((pair) => pair[side]),
          0.99,
        );
      windows.push({ ours: p99('ours'), peer: p99('peer') });
    } while (!(await isOver()));
    return windows;
  };
  const row = (phase: string, aim: Aim, windows: readonly Pair[]) => {
    const what = `status while ${count} models ${phase}, p99 of ${WINDOW}`;
    return rowOf({ what, unit: 'ms', peer: BARE_SERVER, aim }, windows, builds);
  };
  const startBy = performance.now() + LONGEST_START_MS;
  const starting = await windowsUntil(async () => {
    if (performance.now() > startBy) throw new Error('The models do not start');
    return (await ours.held()) === count && [count, undefined].includes(await before?.held());
  });
  yield row('start', { above: 50 }, starting);
  const waitUntil = performance.now() + (builds.isShort ? 0 : WAIT_MS);
  const waiting = await windowsUntil(async () => performance.now() > waitUntil);
  yield row('wait', { above: 20 }, waiting);
  const mbOf = (pid?: number) => (pid === undefined ? NaN : peakMemoryMb(pid));
  const figure = { what: `peak memory with ${count} models`, unit: 'MB', aim: { atMost: 200 } };
  yield rowOf(figure, [{ ours: mbOf(ours.pid), peer: mbOf(before?.pid) }], builds);
  await ours.stop();
  await peer.stop();
}

/** A job whose models ask a provider that holds back every answer; its status is at `url`. */
async function startJob(build: string, count: number) {
  const trading = { symbols: SYMBOLS, orders: 1, hold: 'first', dates: DATES } as const;
  const { options, provider } = await prepareTrading(build, trading);
  const models = Array.from({ length: count }, (_none, index) => `model-${index}`);
  const env = { ...options.env, MAX_PARALLEL_MODELS: String(count) };
  const server = await startServer(build, { ...options, models, env });
  const date = DATES.at(-1);
  const url = await triggerJob(server, { start_date: date, end_date: date });
  const stop = async () => {
    await server.stop();
    provider.stop();
  };
  const held = () => provider.ask({ what: 'held' }) as Promise<number>;
  return { url, pid: server.pid, held, stop };
}
