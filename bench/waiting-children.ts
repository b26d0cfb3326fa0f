import { readdirSync } from 'node:fs';
import { modelDaysOf } from '../test/support/processes.ts';
import { aimsFor } from './aims.ts';
import { type BareServer, sameBytesAs, serveSameBytes } from './bare-server.ts';
import { ITSELF } from './figure.ts';
import { availableMb, memoryBelow, memoryMb, peakMemoryMb } from './memory.ts';
import { mean, median } from './paired.ts';
import { type Phase, followPhases, phases } from './phases.ts';
import { type Samples, describeSamples, noSamples, takeSample, timedRequest } from './samples.ts';
import { DATE, type SlowModel, startProdServer, startSlowModel } from './slow-provider.ts';
import { type BenchOptions, type Measurement, type Server, pidOf, triggerJob } from './support.ts';

/**
 * Children side by side that wait for a slow model: how long status takes meanwhile, and what they
 * cost in memory and descriptors. The built program in PROD, over stored prices of the whole
 * universe.
 */

const AIMS = { spawn: aimsFor(50), wait: aimsFor(20), trade: [], end: [] };
/** How long all children wait before the model answers the first of them: hundreds of requests. */
const WAIT_MS = 20_000;
/**
 * The part of a status before its model-days and entries: to parse all of it would leave garbage in
 * this process, and pauses.
 */
const HEAD_BYTES = 64 * 1024;

export interface Waiting {
  children: number;
  /** Once the model answers, a request takes between half of this and one and a half times this. */
  thinkingMs: number;
  tls: boolean;
  /**
   * Called while the first children spawn, with the process ids of the service, the model and the
   * bare server.
   */
  onStart?: (pids: readonly number[]) => Promise<void>;
}

/** A service whose job runs, with the peer of its status. */
interface Running {
  server: Server;
  model: SlowModel;
  statusUrl: string;
  triggeredAt: number;
  bare: BareServer;
}

export async function* measureWaitingChildren({
  onStart,
  ...waiting
}: Waiting & BenchOptions): AsyncGenerator<Measurement> {
  const { children, thinkingMs, tls, self } = waiting;
  const model = await startSlowModel({ thinkingMs, tls });
  const server = await startProdServer(model, children);
  const availableBefore = availableMb();
  const triggeredAt = performance.now();
  const statusUrl = `${server.url}/simulate/status/${await triggerJob(server, { start_date: DATE, end_date: DATE })}`;
  const bytes = await sameBytesAs(statusUrl);
  const bare = await serveSameBytes(bytes);
  await onStart?.([bare.pid, model.pid, pidOf(server.process)]);
  const { samples, completed, spawnedMs, memory, statusBytes } = await observe(
    { server, model, statusUrl, triggeredAt, bare },
    waiting,
  );
  const peakMb = peakMemoryMb(pidOf(server.process));
  bare.stop();
  await server.stop();
  model.stop();
  const wire = tls ? 'https' : 'http';
  const aims = [{ aim: `${children}`, isMet: completed === children }];
  yield {
    what: `${children} models side by side (${wire}): completed`,
    ours: `${completed}`,
    aims,
  };
  yield {
    what: 'until all of them wait for the model',
    ours: `${(spawnedMs / 1000).toFixed(1)} s`,
  };
  const peer = self ? ITSELF : 'bare node:http, the bytes of a job that begins';
  for (const phase of phases) {
    const sizes = `${kilobytes(statusBytes)} at its end, the peer's ${kilobytes(bytes.body.length)}`;
    const what = `the status (${sizes}) while ${children} children ${phase} (${wire})`;
    yield describeSamples({ what, peer, aims: AIMS[phase] }, samples[phase]);
  }
  yield* describeMemory({ ...memory, availableBefore, wire });
  yield memoryBelow(`the most memory that the parent has had (${wire})`, peakMb);
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1024)} KB`;
}

interface Observed {
  samples: Record<Phase, Samples>;
  completed: number;
  /** From the trigger until all children wait. */
  spawnedMs: number;
  /** When all children wait. */
  memory: Memory;
  /** The length of the last status. */
  statusBytes: number;
}

/** Asks for the status and its peer in turn until the job has ended. */
async function observe(
  { server, model, statusUrl, triggeredAt, bare }: Running,
  { children, self }: Waiting & BenchOptions,
): Promise<Observed> {
  const samples = { spawn: noSamples(), wait: noSamples(), trade: noSamples(), end: noSamples() };
  let [head, statusBytes, spawnedMs] = ['', 0, 0];
  let memory: Memory | undefined;
  const completed = () => Number(/"completed":(\d+)/.exec(head)?.[1]);
  const status = async () => {
    const { ms, body } = await timedRequest(statusUrl);
    [head, statusBytes] = [body.toString('latin1', 0, HEAD_BYTES), body.length];
    return ms;
  };
  const peer = self ? status : async () => (await timedRequest(bare.url)).ms;
  await followPhases({
    ...model,
    children,
    waitMs: WAIT_MS,
    async sample(phase) {
      await takeSample(samples[phase], status, peer);
      return { completed: completed(), hasEnded: !head.includes('"completed_at":null') };
    },
    onAllWait() {
      spawnedMs = performance.now() - triggeredAt;
      memory = readMemory(pidOf(server.process));
    },
  });
  if (memory === undefined) throw new Error('The memory of children that wait was not read');
  return { samples, completed: completed(), spawnedMs, memory, statusBytes };
}

/** In megabytes. */
interface Memory {
  childMb: number;
  parentMb: number;
  allMb: number;
  availableNow: number;
  descriptors: number;
}

function readMemory(pid: number): Memory {
  const shares = modelDaysOf(pid).map((child) => memoryMb(child).share);
  const parent = memoryMb(pid);
  return {
    childMb: median(shares),
    parentMb: parent.resident,
    allMb: mean(shares) * shares.length + parent.share,
    availableNow: availableMb(),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

function* describeMemory(
  memory: Memory & { availableBefore: number; wire: string },
): Generator<Measurement> {
  const { childMb, parentMb, allMb, availableBefore, availableNow, descriptors, wire } = memory;
  yield memoryBelow(`memory of a child that waits (${wire}), its own share, median`, childMb);
  yield memoryBelow(`memory of the parent (${wire}), resident`, parentMb);
  yield memoryBelow(
    `memory of the parent and its children (${wire}), shared pages counted once`,
    allMb,
  );
  yield memoryBelow(
    `available memory of the machine (${wire}), less than before`,
    availableBefore - availableNow,
  );
  yield { what: `descriptors of the parent (${wire})`, ours: `${descriptors}` };
}
