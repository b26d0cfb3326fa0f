import { setTimeout as sleep } from 'node:timers/promises';
import { startSameBytes } from './bare-server.ts';
import { type Aim, ITSELF, measure } from './figure.ts';
import { type Loader, startLoader } from './load.ts';
import { type Slice, alternate } from './paired.ts';
import { processorMs } from './processor-time.ts';
import { type BenchOptions, type Measurement, type Server, getJson, startServer, triggerJob } from './support.ts';

const LOAD = { connections: 16, ms: 50 };
const HEALTH_AIM = { atLeast: 0.9 };
const STATUS_AIM = { atLeast: 0.5 };
const FORTY_MODEL_DAYS = { start_date: '2025-09-15', end_date: '2025-09-26' };
const FOUR_MODELS = ['model-0', 'model-1', 'model-2', 'model-3'];

/** A URL to load, and the process that serves it. */
interface Target {
  url: string;
  pid: number;
}

/** Requests per second of /health and of a finished job's status, against a bare node:http server that sends the same bytes. */
export async function* measureRequests({ self }: BenchOptions): AsyncGenerator<Measurement> {
  const loader = startLoader();
  const server = await startServer(FOUR_MODELS);
  const twin = self ? await startServer(FOUR_MODELS) : undefined;
  yield* compare('/health', { loader, aim: HEALTH_AIM, ours: health(server), twin: twin && health(twin) });
  const statuses = { ours: await status(server), twin: twin && (await status(twin)) };
  yield* compare('/simulate/status of 40 model-days', { loader, aim: STATUS_AIM, ...statuses });
  await server.stop();
  await twin?.stop();
  loader.stop();
}

function health({ url, process }: Server): Target {
  return { url: `${url}/health`, pid: process.pid as number };
}

async function status(server: Server): Promise<Target> {
  const jobId = await triggerJob(server, FORTY_MODEL_DAYS);
  const url = `${server.url}/simulate/status/${jobId}`;
  while ((await getJson(url)).completed_at === null) await sleep(100);
  return { url, pid: server.process.pid as number };
}

/** By the clock, and by the processor time of the server, which a load generator on the same processors does not dilute. */
async function* compare(
  what: string,
  { loader, ours, twin, aim }: { loader: Loader; ours: Target; twin: Target | undefined; aim: Aim },
): AsyncGenerator<Measurement> {
  const bare = twin === undefined ? await startSameBytes(ours.url) : undefined;
  const rival = (twin ?? bare) as Target;
  const common = { what, peer: twin === undefined ? 'bare node:http, same bytes' : ITSELF, aim };
  const byClock = (target: Target) => perSecond(loader, target);
  const byProcessor = (target: Target) => perProcessorSecond(loader, target);
  yield await measure({ ...common, unit: 'requests per second', take: alternate(byClock(ours), byClock(rival)) });
  const take = alternate(byProcessor(ours), byProcessor(rival));
  yield await measure({ ...common, unit: 'requests per second of processor time', take });
  bare?.stop();
}

function perSecond({ load }: Loader, { url }: Target): Slice {
  return async () => (await load(url, LOAD)).perSecond;
}

function perProcessorSecond({ load }: Loader, { url, pid }: Target): Slice {
  return async () => {
    const before = processorMs(pid);
    const { requests } = await load(url, LOAD);
    return (requests / (processorMs(pid) - before)) * 1000;
  };
}
