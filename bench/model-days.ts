import { setTimeout as sleep } from 'node:timers/promises';
import { addDays } from '../src/calendar.ts';
import { ITSELF, measure } from './figure.ts';
import { startHelper } from './helper.ts';
import { alternate } from './paired.ts';
import { processorMsWithChildren } from './processor-time.ts';
import { type BenchOptions, type Measurement, type Server, getJson, startServer, triggerJob } from './support.ts';

const PARALLEL = 8;
/** A slice is a job over a week, from Monday. */
const DATES = 5;
const MODEL_DAYS = PARALLEL * DATES;
const FIRST_MONDAY = '2018-01-01';
const LAST_DATE = '2024-12-31';
const POLL_MS = 50;
const EMPTY = 'node -e 0';
const AIM = { atLeast: 0.85 };
const BOUNDS = { maxMs: 90_000 };

/** Does the work of one slice. */
interface Side {
  pid: number;
  /** Resolves to the milliseconds that it took. */
  work(): Promise<number>;
  stop(): void | Promise<void>;
}

/**
 * Simulated model-days per second, against as many empty Node processes with the same parallelism and niceness; and how the children
 * alone, without a service, do against these.
 */
export async function* measureModelDays({ self }: BenchOptions): AsyncGenerator<Measurement> {
  const ours = await startService();
  const rival = self ? await startService() : startChildren('./bare-children.ts');
  const common = { what: `model-days, ${PARALLEL} side by side`, peer: self ? ITSELF : EMPTY, aim: AIM, bounds: BOUNDS };
  yield await measure({ ...common, unit: 'per second', take: alternate(byClock(ours), byClock(rival)) });
  const take = alternate(byProcessor(ours), byProcessor(rival));
  yield await measure({ ...common, unit: 'per second of processor time', take });
  await ours.stop();
  if (!self) yield* measureAlone(rival);
  await rival.stop();
}

async function* measureAlone(rival: Side): AsyncGenerator<Measurement> {
  const alone = startChildren('./children-alone.ts');
  const common = { what: 'the same children without a service', peer: EMPTY, bounds: BOUNDS };
  yield await measure({ ...common, unit: 'per second', take: alternate(byClock(alone), byClock(rival)) });
  const take = alternate(byProcessor(alone), byProcessor(rival));
  yield await measure({ ...common, unit: 'per second of processor time', take });
  await alone.stop();
}

function byClock({ work }: Side) {
  return async () => (MODEL_DAYS / (await work())) * 1000;
}

function byProcessor({ pid, work }: Side) {
  return async () => {
    const before = processorMsWithChildren(pid);
    await work();
    return (MODEL_DAYS / (processorMsWithChildren(pid) - before)) * 1000;
  };
}

/** From the start of the first model-day of a job to the end of the job, as the service recorded them. */
async function startService(): Promise<Side> {
  const models = Array.from({ length: PARALLEL }, (_, index) => `model-${index}`);
  const server = await startServer(models, { env: { MAX_PARALLEL_MODELS: String(PARALLEL) } });
  const all = await triggerJob(server, { start_date: FIRST_MONDAY, end_date: LAST_DATE });
  await untilStatus(server, all, (status) => status.status === 'running'); // it has made the prices of all slices
  await fetch(`${server.url}/simulate/cancel/${all}`, { method: 'POST' });
  await untilStatus(server, all, (status) => status.completed_at !== null);
  let monday = addDays(FIRST_MONDAY, 7 * 8);
  const work = async () => {
    const jobId = await triggerJob(server, { start_date: monday, end_date: addDays(monday, DATES - 1) });
    monday = addDays(monday, 7);
    const status = await untilStatus(server, jobId, ({ completed_at: completedAt }) => completedAt !== null);
    if (status.status !== 'completed' || status.details.length !== MODEL_DAYS) throw new Error(`The job is ${status.status}`);
    const first = Math.min(...status.details.map(({ started_at }: any) => Date.parse(started_at)));
    return Date.parse(status.completed_at) - first;
  };
  return { pid: server.process.pid as number, work, stop: server.stop };
}

async function untilStatus(server: Server, jobId: string, isReached: (status: any) => boolean): Promise<any> {
  for (;;) {
    const status = await getJson(`${server.url}/simulate/status/${jobId}`);
    if (isReached(status)) return status;
    await sleep(POLL_MS);
  }
}

/** A helper that starts so many children side by side. */
function startChildren(file: string): Side {
  const { pid, ask, stop } = startHelper(file);
  const work = async () => ((await ask({ children: MODEL_DAYS, parallel: PARALLEL })) as { ms: number }).ms;
  return { pid, work, stop };
}
