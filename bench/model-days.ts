import { addDays } from '../src/calendar.ts';
import { childrenOf } from '../test/support/processes.ts';
import { until } from '../test/support/until.ts';
import { ITSELF, measure } from './figure.ts';
import { startHelper } from './helper.ts';
import { alternate } from './paired.ts';
import { processorMsWithChildren } from './processor-time.ts';
import {
  type BenchOptions,
  type Measurement,
  pidOf,
  startServer,
  triggerJob,
  untilStatus,
} from './support.ts';

const PARALLEL = 8;
/** A slice is a job over a week, from Monday. */
const DATES = 5;
const MODEL_DAYS = PARALLEL * DATES;
const FIRST_MONDAY = '2018-01-01';
const LAST_DATE = '2024-12-31';
const EMPTY = 'node -e 0';
const AIMS = [{ atLeast: 0.85 }];
const BOUNDS = { maxMs: 90_000 };

/** Does the work of one slice. */
interface Side {
  pid: number;
  /** Resolves to the milliseconds that it took. */
  work(): Promise<number>;
  stop(): void | Promise<void>;
}

/**
 * Measures simulated model-days per second against the same number of empty Node processes, with
 * the same parallelism and niceness. Then measures the children of model-days without a service
 * against such processes.
 */
export async function* measureModelDays({ self }: BenchOptions): AsyncGenerator<Measurement> {
  const ours = await startService();
  const rival = self ? await startService() : startChildren('./bare-children.ts');
  const common = { peer: self ? ITSELF : EMPTY, aims: AIMS, bounds: BOUNDS };
  const byClockOfJob = {
    ...common,
    what: `model-days, ${PARALLEL} side by side, from the first to the end of the job`,
  };
  yield await measure({
    ...byClockOfJob,
    unit: 'per second',
    take: alternate(byClock(ours), byClock(rival)),
  });
  const take = alternate(byProcessor(ours), byProcessor(rival));
  yield await measure({
    ...common,
    what: `model-days, ${PARALLEL} side by side, the whole job`,
    unit: 'per second of processor time',
    take,
  });
  await ours.stop();
  if (!self) yield* measureAlone(rival);
  await rival.stop();
}

async function* measureAlone(rival: Side): AsyncGenerator<Measurement> {
  const alone = startChildren('./children-alone.ts');
  const common = { what: 'the same children without a service', peer: EMPTY, bounds: BOUNDS };
  yield await measure({
    ...common,
    unit: 'per second',
    take: alternate(byClock(alone), byClock(rival)),
  });
  const take = alternate(byProcessor(alone), byProcessor(rival));
  yield await measure({ ...common, unit: 'per second of processor time', take });
  await alone.stop();
}

function byClock({ work }: Side) {
  return async () => (MODEL_DAYS / (await work())) * 1000;
}

function byProcessor({ pid, work }: Side) {
  return async () => {
    const others = new Set(childrenOf(pid));
    const before = processorMsWithChildren(pid);
    await work();
    await until('all children have ended, so that their time counts', () =>
      childrenOf(pid).every((child) => others.has(child)),
    );
    return (MODEL_DAYS / (processorMsWithChildren(pid) - before)) * 1000;
  };
}

/**
 * A service whose slices are jobs, timed from the start of the first model-day to the end of the
 * job, as the service recorded them.
 */
async function startService(): Promise<Side> {
  const models = Array.from({ length: PARALLEL }, (_, index) => `model-${index}`);
  const server = await startServer(models, { env: { MAX_PARALLEL_MODELS: String(PARALLEL) } });
  const statusUrl = (jobId: string) => `${server.url}/simulate/status/${jobId}`;
  const all = await triggerJob(server, { start_date: FIRST_MONDAY, end_date: LAST_DATE });
  await untilStatus(statusUrl(all), ({ status }) => status === 'running'); // it has made the prices of all slices
  await fetch(`${server.url}/simulate/cancel/${all}`, { method: 'POST' });
  await untilStatus(statusUrl(all));
  let monday = addDays(FIRST_MONDAY, 7 * 8);
  const work = async () => {
    const jobId = await triggerJob(server, {
      start_date: monday,
      end_date: addDays(monday, DATES - 1),
    });
    monday = addDays(monday, 7);
    const { status, details, completed_at: completedAt } = await untilStatus(statusUrl(jobId));
    if (status !== 'completed' || details.length !== MODEL_DAYS)
      throw new Error(`The job is ${status}`);
    const starts = details.map(({ started_at: startedAt }) => Date.parse(startedAt ?? ''));
    return Date.parse(completedAt ?? '') - Math.min(...starts);
  };
  return { pid: pidOf(server.process), work, stop: server.stop };
}

/** A helper that starts as many children as a slice has model-days, with the same parallelism. */
function startChildren(file: string): Side {
  const { pid, ask, stop } = startHelper(file);
  const work = async () =>
    ((await ask({ children: MODEL_DAYS, parallel: PARALLEL })) as { ms: number }).ms;
  return { pid, work, stop };
}
