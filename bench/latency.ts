import { setTimeout as sleep } from 'node:timers/promises';
import { addDays } from '../src/calendar.ts';
import { startSameBytes } from './bare-server.ts';
import { ITSELF, describePairs } from './figure.ts';
import { type Pair, inTurn, windowsOf } from './paired.ts';
import { type BenchOptions, type Measurement, type Server, getJson, startServer, triggerJob } from './support.ts';

const MODELS = 8;
const FIRST_MONDAY = '2025-01-06';
const DATES = 19;
const JOBS = 3;
const WINDOW = 100;
const PAUSE_MS = 5;
const AIM = { aboveMs: 5 };

type Ask = () => Promise<unknown>;

/**
 * How long the trigger and the status take at the 99th percentile while a job keeps the machine busy, against a bare node:http server
 * with the same bytes, asked in turn with them beside the same job. Triggers are those refused because a job runs.
 */
export async function* measureLatency({ self }: BenchOptions): AsyncGenerator<Measurement> {
  const server = await startServer(Array.from({ length: MODELS }, (_, index) => `model-${index}`));
  await untilEnd(server, await triggerJob(server, { start_date: FIRST_MONDAY, end_date: FIRST_MONDAY })); // makes the prices
  const samples = { status: [] as Pair[], trigger: [] as Pair[] };
  for (let job = 1; job <= JOBS; job += 1) await sampleBesideJob(server, { job, self, samples });
  await server.stop();
  for (const [what, taken] of Object.entries(samples)) {
    const pairs = windowsOf(taken, WINDOW, 0.99);
    const of = `p99 of ${WINDOW} requests for the ${what} while a job runs`;
    yield describePairs({ what: of, unit: 'ms', peer: self ? ITSELF : 'bare node:http, same bytes', aim: AIM }, pairs);
  }
}

async function sampleBesideJob(
  server: Server,
  { job, self, samples }: { job: number; self: boolean; samples: { status: Pair[]; trigger: Pair[] } },
): Promise<void> {
  const start = addDays(FIRST_MONDAY, job * 28);
  const request = { start_date: start, end_date: addDays(start, DATES - 1) };
  const statusUrl = `${server.url}/simulate/status/${await triggerJob(server, request)}`;
  const bare = await startSameBytes(statusUrl);
  const trigger = () => triggerJob(server, request).catch(() => {}); // refused
  for (let isRunning = true, index = 0; isRunning; index += 1) {
    const status = async () => (isRunning = (await getJson(statusUrl)).completed_at === null);
    const peer = self ? { status, trigger } : { status: () => getJson(bare.url), trigger: () => postJson(bare.url, request) };
    const both = (ours: Ask, other: Ask) => inTurn(() => timed(ours), () => timed(other))(index);
    const taken = { status: await both(status, peer.status), trigger: await both(trigger, peer.trigger) };
    if (isRunning) samples.status.push(taken.status);
    if (isRunning) samples.trigger.push(taken.trigger);
    await sleep(PAUSE_MS);
  }
  bare.stop();
}

async function timed(work: Ask): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function postJson(url: string, body: object): Promise<unknown> {
  return (await fetch(url, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })).json();
}

async function untilEnd(server: Server, jobId: string): Promise<void> {
  while ((await getJson(`${server.url}/simulate/status/${jobId}`)).completed_at === null) await sleep(50);
}
