import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ITSELF, measure } from './figure.ts';
import { type Slice, alternate } from './paired.ts';
import { endedChildrenMs, processorMs } from './processor-time.ts';
import { timedRequest } from './samples.ts';
import {
  type BenchOptions,
  type Measurement,
  PROGRAM,
  benchFolder,
  end,
  endWithBench,
  listeningUrl,
  pidOf,
} from './support.ts';

const AIMS = [{ below: 2 }];
/**
 * Starts of one slice of processor time, which the system counts in steps of 10 ms where a process
 * has ended.
 */
const STARTS = 5;

/**
 * From the start of the process to its first healthy response on an existing database, against the
 * whole life of a bare `node -e 0`: by the clock, and in processor time.
 */
export async function* measureStartup({ self }: BenchOptions): AsyncGenerator<Measurement> {
  const cwd = benchFolder();
  const ours = () => start(cwd);
  await ours(); // makes the database
  const peer = self ? ITSELF : 'node -e 0';
  const byClock = async () => (await ours()).ms;
  const common = { what: 'start to first healthy response', peer, aims: AIMS };
  yield await measure({ ...common, unit: 'ms', take: alternate(byClock, self ? byClock : bareMs) });
  const byProcessor = severalTimes(async () => (await ours()).processorMs);
  const take = alternate(byProcessor, self ? byProcessor : severalTimes(bareProcessorMs));
  yield await measure({ ...common, unit: 'ms of processor time', take });
}

/** Its log says when it listens: to ask again and again would take a processor from it. */
async function start(cwd: string): Promise<{ ms: number; processorMs: number }> {
  const startedAt = performance.now();
  const child = endWithBench(
    spawn(process.execPath, [PROGRAM], {
      cwd,
      env: { API_PORT: '0' },
      stdio: ['ignore', 'ignore', 'pipe'],
    }),
  );
  await timedRequest(`${await listeningUrl(child)}/health`);
  const taken = { ms: performance.now() - startedAt, processorMs: processorMs(pidOf(child)) };
  await end(child);
  return taken;
}

async function bareMs(): Promise<number> {
  const startedAt = performance.now();
  await once(spawn(process.execPath, ['-e', '0'], { env: {}, stdio: 'ignore' }), 'close');
  return performance.now() - startedAt;
}

async function bareProcessorMs(): Promise<number> {
  const before = endedChildrenMs();
  await bareMs();
  return endedChildrenMs() - before;
}

/** The mean of several starts. */
function severalTimes(work: Slice): Slice {
  return async () => {
    let sum = 0;
    for (let index = 0; index < STARTS; index += 1) sum += await work();
    return sum / STARTS;
  };
}
