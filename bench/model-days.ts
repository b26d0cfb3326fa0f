import { addDays } from '../src/core/time/calendar.ts';
import { childrenOf } from '../test/support/processes.ts';
import { until } from '../test/support/until.ts';
import { type Builds, measure } from './figure.ts';
import { inTurn, type Slice } from './paired.ts';
import { runEmpty } from './peers.ts';
import { endedChildrenMs, processorMsWithChildren } from './proc.ts';
import { startServer, triggerJob, untilCompleted } from './support.ts';

const PARALLEL = 8;
/** A slice is a job over a week, from Monday; of a short form only over that. */
const DATES = 5;
const FIRST_MONDAY = '2018-01-01';

/** Model-days of simulated models, beside as many empty processes, as parallel and as nice. */
export async function* measureModelDays(builds: Builds): AsyncGenerator<string> {
  const dates = builds.isShort ? 1 : DATES;
  const ours = await startService(builds.now, dates);
  const before = builds.before === undefined ? undefined : await startService(builds.before, dates);
  const what = `model-days, ${PARALLEL} side by side`;
  const figure = { what, peer: '`node -e 0`', aim: { atLeast: 0.85 } };
  const figures = [
    { ...figure, unit: 'per second' },
    { ...figure, unit: 'per second of processor time' },
  ];
  const take = inTurn(ours.slice, before?.slice ?? (() => emptyProcesses(PARALLEL * dates)));
  yield* measure(builds, figures, { take, bounds: { maxMs: 90_000 } });
  await ours.stop();
  await before?.stop();
}

/** A service whose slices are jobs, from the first model-day to the end of the job as it says. */
async function startService(
  build: string,
  dates: number,
): Promise<{ slice: Slice; stop(): Promise<void> }> {
  const models = Array.from({ length: PARALLEL }, (_none, index) => `model-${index}`);
  const env = { MAX_PARALLEL_MODELS: String(PARALLEL) };
  const server = await startServer(build, { models, env });
  let monday = FIRST_MONDAY;
  const slice = async () => {
    const others = new Set(childrenOf(server.pid));
    const before = processorMsWithChildren(server.pid);
    const week = { start_date: monday, end_date: addDays(monday, dates - 1) };
    const { details, completed_at: at } = await untilCompleted(await triggerJob(server, week));
    monday = addDays(monday, 7);
    const startedAt = Math.min(...details.map((day) => Date.parse(day.started_at ?? '')));
    const haveEnded = () => childrenOf(server.pid).every((child) => others.has(child));
    await until('all children have ended, so that their time counts', haveEnded);
    const processorMs = processorMsWithChildren(server.pid) - before;
    return perSecond(PARALLEL * dates, Date.parse(at ?? '') - startedAt, processorMs);
  };
  return { slice, stop: server.stop };
}

async function emptyProcesses(count: number): Promise<number[]> {
  const startedAt = performance.now();
  const before = endedChildrenMs();
  const own = process.cpuUsage();
  let left = count;
  const work = async () => {
    while (left-- > 0) await runEmpty({ isChild: true });
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  const { user, system } = process.cpuUsage(own);
  const processorMs = endedChildrenMs() - before + (user + system) / 1000;
  return perSecond(count, performance.now() - startedAt, processorMs);
}

function perSecond(modelDays: number, ms: number, processorMs: number): number[] {
  return [(modelDays / ms) * 1000, (modelDays / processorMs) * 1000];
}
