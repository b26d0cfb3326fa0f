import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { addDays, weekdays } from '../src/core/time/calendar.ts';
import { multiplyModels } from '../test/support/multiply.ts';
import { until } from '../test/support/until.ts';
import { type Builds, rowOf } from './figure.ts';
import { median } from './paired.ts';
import { processorMs } from './proc.ts';
import { askJson, benchFolder, startServer, triggerJob, untilCompleted } from './support.ts';
import { prepareTrading, PROD } from './trading.ts';
import { measureWatched, peakMemoryOf, startWatched, type Watched } from './watched.ts';

/** One request at a time to ten million positions: how long do others wait, when does it begin? */

const POSITIONS = Number(process.env['BENCH_POSITIONS'] ?? 10_000_000);
const SHORT = { days: 4, models: 5 };
const ORDERS_PER_DAY = 20;
const DATES_PER_JOB = 20;
const DATES = weekdays('2015-01-05', '2024-12-31');
const SYMBOLS = 'AAPL,AMZN,AVGO,COST,GOOGL,META,MSFT,NVDA,TSLA'.split(',');
/** A folder that keeps the databases from one run to the next: they take minutes to make. */
const KEPT = process.env['BENCH_FOLDER'];
/**
 * A client leaves after this time: what an answer costs at its end, it costs from its beginning.
 */
const LONGEST_MS = 10_000;
/** Small responses are asked for again for this time: others have as many chances to be held up. */
const SHORTEST_ROUND_MS = 300;
const BOUNDS = { minPairs: 6, maxPairs: 6, maxMs: 20_000 };
/** A service that indexes works all the time; the probe alone takes a few hundredths of a core. */
const IDLE = { ms: 200, windowMs: 2_000, longestMs: 600_000 };
/** FRESH is another date before all model-days each time, so that none is served from memory. */
const PATHS = [
  '/health',
  '/models',
  '/jobs?limit=200',
  '/simulate/status/JOB',
  '/prices/coverage',
  '/results',
  '/results?format=csv',
  '/results?model=model-0',
  '/holdings?model=model-0',
  '/performance?model=model-0&start_date=FRESH',
  '/performance?model=model-0&details=true&start_date=FRESH',
  '/performance?start_date=FRESH',
  '/performance?common=true&start_date=FRESH', // as the overview asks
  '/performance?benchmark=universe&start_date=FRESH',
  '/performance?table=trades&format=csv&start_date=FRESH',
  '/comparison?models=model-0,model-0-1',
  '/reasoning',
  '/reasoning?include_full_conversation=true',
  '/decisions?limit=200',
  '/decisions?symbol=NONE',
  '/audit',
];

interface Size {
  days: number;
  models: number;
}

export async function* measureLarge(builds: Builds): AsyncGenerator<string> {
  const days = POSITIONS < 1_000_000 ? 250 : 2_500;
  const models = Math.ceil(POSITIONS / (days * ORDERS_PER_DAY));
  const size = builds.isShort ? SHORT : { days, models };
  const ours = await open(builds.now, size);
  const before = builds.before === undefined ? undefined : await open(builds.before, size);
  const count = (size.days * size.models * ORDERS_PER_DAY).toLocaleString('en-US');
  const sizes = { ours: ours.megabytes, peer: before?.megabytes ?? NaN };
  yield rowOf({ what: `database of ${count} positions`, unit: 'MB' }, [sizes], builds);
  const sides = { ours: ours.watched, before: before?.watched };
  const [roundMs, longestMs] = builds.isShort
    ? [0, SHORTEST_ROUND_MS]
    : [SHORTEST_ROUND_MS, LONGEST_MS];
  let asked = 0;
  for (const path of PATHS) {
    const work = async (watched: Watched) => {
      const job = (watched === ours.watched ? ours : before)?.job ?? '';
      const endAt = performance.now() + roundMs;
      const seen: number[][] = [];
      while (seen.length === 0 || performance.now() < endAt) {
        const fresh = path.replace('FRESH', addDays('1960-01-01', (asked += 1)));
        seen.push(await download(watched.server.url + fresh.replace('JOB', job), longestMs));
      }
      return [0, 1].map((figure) => median(seen.map((own) => own[figure] ?? NaN)));
    };
    const what = `\`${path.replace(/[?&]start_date=FRESH/, '')}\``;
    const units = ['ms to the first byte', 'MB per second'];
    yield* measureWatched(builds, sides, { what, work, units, bounds: BOUNDS });
  }
  yield peakMemoryOf(builds, sides);
  await ours.watched.stop();
  await before?.watched.stop();
}

/** Reads a response for some time; milliseconds to its first byte, and megabytes per second. */
async function download(url: string, longestMs: number): Promise<number[]> {
  const startedAt = performance.now();
  const since = () => performance.now() - startedAt;
  let first = NaN;
  let bytes = 0;
  try {
    const headers = { 'accept-encoding': 'identity' };
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(longestMs) });
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    for await (const chunk of response.body ?? []) {
      if (bytes === 0) first = since();
      bytes += chunk.length;
    }
  } catch (error) {
    if ((error as Error).name !== 'TimeoutError') throw error;
  }
  return [first, bytes / 1000 / since()];
}

/** Starts a build on such a database of its own; some index what they find in a new one first. */
async function open(build: string, size: Size) {
  const name = createHash('sha256').update(readFileSync(build)).digest('hex').slice(0, 12);
  const kept = join(KEPT ?? benchFolder(), `${name}-${size.days}x${size.models}`);
  const folder = benchFolder();
  mkdirSync(kept, { recursive: true });
  symlinkSync(kept, join(folder, 'data'));
  const path = join(kept, 'jobs.db');
  if (!existsSync(path)) renameSync(await make(build, size), path);
  const watched = await startWatched(build, { folder, env: PROD });
  const isIdle = async () => {
    const before = processorMs(watched.server.pid);
    await sleep(IDLE.windowMs);
    return processorMs(watched.server.pid) - before < IDLE.ms;
  };
  await until('the service to be idle', isIdle, IDLE.longestMs);
  const { jobs } = await askJson<{ jobs: { job_id: string }[] }>(`${watched.server.url}/jobs`);
  return { watched, megabytes: statSync(path).size / 1e6, job: jobs[0]?.job_id ?? '' };
}

/** A database of any build: it trades for one model, and SQL makes copies of that model. */
async function make(build: string, { days, models }: Size): Promise<string> {
  const dates = DATES.slice(0, days);
  const trading = { symbols: SYMBOLS, orders: ORDERS_PER_DAY, dates };
  const { options, provider } = await prepareTrading(build, trading);
  const server = await startServer(build, options);
  for (let first = 0; first < days; first += DATES_PER_JOB) {
    const own = dates.slice(first, first + DATES_PER_JOB);
    const job = { start_date: own[0], end_date: own.at(-1) };
    await untilCompleted(await triggerJob(server, job));
  }
  await server.stop();
  provider.stop();
  const path = join(options.folder, 'data/jobs.db');
  multiplyModels(path, models);
  return path;
}
