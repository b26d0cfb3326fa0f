import { addDays } from '../src/calendar.ts';
import { aimsFor } from './aims.ts';
import { sameBytesAs, serveSameBytes, startSameBytes } from './bare-server.ts';
import { ITSELF } from './figure.ts';
import type { Slice } from './paired.ts';
import { type Samples, describeSamples, noSamples, takeSample, timedRequest } from './samples.ts';
import {
  type BenchOptions,
  type JobStatus,
  type Measurement,
  type Server,
  post,
  startServer,
  triggerJob,
  untilStatus,
} from './support.ts';

const MODELS = 8;
const FIRST_MONDAY = '2015-01-05';
const DATES = 19;
/** No job begins once this many requests of each kind have been sent, or this time has passed. */
const ENOUGH = { requests: 2_000, ms: 100_000 };
const AIMS = aimsFor(5);
/** How a trigger is answered: with a new job, or because another one runs. */
const ACCEPTED = 200;
const REFUSED = 400;

/** What is asked beside a job. */
interface Sides {
  status: Slice;
  trigger: Slice;
}

type Taken = Record<keyof Sides, Samples>;

/** A job that runs, with the request that triggered it. */
interface RunningJob {
  statusUrl: string;
  request: object;
}

/**
 * Measures the 99th percentile of a trigger and of a status while a job keeps the machine busy. The
 * triggers are refused, because a job runs. The peer is a bare node:http server; requests to it
 * alternate with ours beside the same job. It sends the same bytes for the refused trigger. For the
 * status it sends the bytes from when the first job began: ours grows while a job runs, by the
 * times at which its model-days start and end.
 */
export async function* measureLatency({ self }: BenchOptions): AsyncGenerator<Measurement> {
  const server = await startServer(Array.from({ length: MODELS }, (_, index) => `model-${index}`));
  const first = await startJob(server, 0);
  const refused = await sameBytesAs(`${server.url}/simulate/trigger`, post(first.request));
  if (refused.status === ACCEPTED) throw new Error('A job ended before another was triggered');
  const bare = {
    status: await startSameBytes(first.statusUrl),
    trigger: await serveSameBytes(refused),
  };
  const peer: Sides = {
    status: async () => (await timedRequest(bare.status.url)).ms,
    trigger: async () =>
      (await timedRequest(bare.trigger.url, post(first.request), [refused.status])).ms,
  };
  const none = () => ({ status: noSamples(), trigger: noSamples() });
  // The samples of the first job do not count: it makes prices, and programs become faster while
  // they are new.
  await sampleUntilEnd(server, first, { peer: self ? null : peer, taken: none() });
  const taken = none();
  const endAt = performance.now() + ENOUGH.ms;
  for (
    let job = 1;
    taken.status.pairs.length < ENOUGH.requests && performance.now() < endAt;
    job += 1
  )
    await sampleUntilEnd(server, await startJob(server, job), { peer: self ? null : peer, taken });
  bare.status.stop();
  bare.trigger.stop();
  await server.stop();
  const peerOf = (bytes: string) => (self ? ITSELF : `bare node:http, ${bytes}`);
  const status = {
    what: 'the status while a job runs',
    peer: peerOf('the bytes of a job that begins'),
    aims: AIMS,
  };
  yield describeSamples(status, taken.status);
  const trigger = {
    what: 'a trigger that is refused because a job runs',
    peer: peerOf('same bytes'),
    aims: AIMS,
  };
  yield describeSamples(trigger, taken.trigger);
}

async function startJob(server: Server, index: number): Promise<RunningJob> {
  const start = addDays(FIRST_MONDAY, index * 28);
  const request = { start_date: start, end_date: addDays(start, DATES - 1) };
  return {
    statusUrl: `${server.url}/simulate/status/${await triggerJob(server, request)}`,
    request,
  };
}

/** Without a peer the job is asked twice as often. */
async function sampleUntilEnd(
  { url }: Server,
  { statusUrl, request }: RunningJob,
  { peer, taken }: { peer: Sides | null; taken: Taken },
): Promise<void> {
  let isRunning = true;
  let accepted: string | undefined;
  const status = async () => {
    const { ms, body } = await timedRequest(statusUrl);
    isRunning = (JSON.parse(body.toString()) as JobStatus).completed_at === null;
    return ms;
  };
  const trigger = async () => {
    const { ms, status, body } = await timedRequest(`${url}/simulate/trigger`, post(request), [
      ACCEPTED,
      REFUSED,
    ]);
    if (status === ACCEPTED) accepted = (JSON.parse(body.toString()) as { job_id: string }).job_id;
    return ms;
  };
  while (isRunning && accepted === undefined) {
    await takeSample(taken.status, status, peer?.status ?? status);
    if (isRunning) await takeSample(taken.trigger, trigger, peer?.trigger ?? trigger);
  }
  if (accepted === undefined) return;
  taken.trigger.pairs.pop(); // the job had ended, so that this trigger started another
  await fetch(`${url}/simulate/cancel/${accepted}`, { method: 'POST' });
  await untilStatus(`${url}/simulate/status/${accepted}`);
}
