import { type Builds, measure } from './figure.ts';
import { startHelper } from './helper.ts';
import { type Pair, type Slice, type Take, inTurn, median } from './paired.ts';
import { BARE_SERVER, type Target, serveSameBytes } from './peers.ts';
import { processorMs } from './proc.ts';
import { startServer, triggerJob, untilCompleted } from './support.ts';

const SLICE_MS = 50;
const MODELS = ['model-0', 'model-1', 'model-2', 'model-3'];
const FORTY_MODEL_DAYS = { start_date: '2025-09-15', end_date: '2025-09-26' };
/** Slices to each in a start, and before them as many to warm up. */
const SLICES = 32;
const SLICES_IF_SHORT = 2;
/** Both programs start afresh for a pair: a process has a speed of its own as long as it lives. */
const BOUNDS = { minPairs: 8, maxPairs: 40, precision: 0.02, maxMs: 75_000 };

/** /health, a finished job's status and a day's results, beside a bare server that sends the same bytes. */
export async function* measureRequests(builds: Builds): AsyncGenerator<string> {
  const ours = await install(builds.now);
  const before = builds.before === undefined ? undefined : await install(builds.before);
  for (const [what, page, atLeast] of [
    ['`/health`', 'health', 0.9],
    ['status of 40 model-days', 'status', 0.5],
    ['`/results` of one model-day', 'results', 0.3],
  ] as const) {
    const figure = { what, peer: BARE_SERVER, aim: { atLeast } };
    const figures = [
      { ...figure, unit: 'requests per second' },
      { ...figure, unit: 'requests per second of processor time' },
    ];
    const rival = before?.[page] ?? (({ url }: Target) => serveSameBytes(url));
    const slices = builds.isShort ? SLICES_IF_SHORT : SLICES;
    const take = takeStart(ours[page], rival, slices);
    yield* measure(builds, figures, { take, bounds: BOUNDS });
  }
}

type Start = () => Promise<Target>;

/** Makes a folder with a finished job, on which each start of a build is. */
async function install(build: string): Promise<{ health: Start; status: Start; results: Start }> {
  const { url, folder, stop } = await startServer(build, { models: MODELS });
  const statusUrl = await triggerJob({ url }, FORTY_MODEL_DAYS);
  await untilCompleted(statusUrl);
  await stop();
  const startAt = (path: string) => async () => {
    const server = await startServer(build, { models: MODELS, folder });
    return { ...server, url: server.url + path };
  };
  return {
    health: startAt('/health'),
    status: startAt(new URL(statusUrl).pathname),
    results: startAt(`/results?model=${MODELS[0]}&date=${FORTY_MODEL_DAYS.end_date}`),
  };
}

/** A pair is a start of each, with the medians of their slices. */
function takeStart(
  start: Start,
  startRival: (ours: Target) => Promise<Target>,
  slices: number,
): Take {
  return async () => {
    const ours = await start();
    const rival = await startRival(ours);
    const loader = startHelper<object>('./loader.ts');
    const speedOf =
      ({ url, pid }: Target): Slice =>
      async () => {
        const before = processorMs(pid);
        const { requests, ms } = await loader.ask({ url, ms: SLICE_MS });
        return [requests / ms, requests / (processorMs(pid) - before)].map((per) => per * 1000);
      };
    const take = inTurn(speedOf(ours), speedOf(rival));
    const taken: Pair[][] = [];
    for (let index = 0; index < 2 * slices; index += 1) taken.push(await take(index));
    loader.stop();
    await ours.stop();
    await rival.stop();
    const middle = (figure: number, side: keyof Pair) =>
      median(taken.slice(slices).map((pairs) => pairs[figure]?.[side] ?? NaN));
    return [0, 1].map((figure) => ({ ours: middle(figure, 'ours'), peer: middle(figure, 'peer') }));
  };
}
