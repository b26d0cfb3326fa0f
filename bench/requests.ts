import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Measurement, type Server, getJson, inTurn, load, startServer, triggerJob } from './support.ts';

const ROUNDS = 5;
const CONNECTIONS = 16;
const SECONDS = 2;
const HEALTH_AIM = 0.8;
const STATUS_AIM = 0.5;
const P99_AIM_MS = 20;
const FORTY_MODEL_DAYS = { start_date: '2025-09-15', end_date: '2025-09-26' };
const FOUR_MODELS = ['model-0', 'model-1', 'model-2', 'model-3'];

/** Requests per second of /health and of a finished job's status, against a bare node:http server that sends the same bytes. */
export async function measureRequests(): Promise<Measurement[]> {
  const server = await startServer(FOUR_MODELS);
  const jobId = await triggerJob(server, FORTY_MODEL_DAYS);
  const statusUrl = `${server.url}/simulate/status/${jobId}`;
  while ((await getJson(statusUrl)).completed_at === null) await sleep(100);
  const measurements = [
    await compare('/health', `${server.url}/health`, HEALTH_AIM),
    await compare('/simulate/status of 40 model-days', statusUrl, STATUS_AIM),
  ];
  await server.stop();
  return measurements;
}

async function compare(what: string, url: string, aim: number): Promise<Measurement> {
  const peer = await startBareServer(await (await fetch(url)).text());
  const ask = async (target: string) => (await load(target, { connections: CONNECTIONS, seconds: SECONDS })).perSecond;
  const {
    ours,
    peer: bare,
    ratio,
  } = await inTurn(
    ROUNDS,
    () => ask(url),
    () => ask(peer.url),
  );
  peer.stop();
  return {
    what: `requests per second of ${what}`,
    ours: ours.toFixed(0),
    peer: `${bare.toFixed(0)} (bare node:http)`,
    ratio: ratio.toFixed(2),
    aim: `>= ${aim}`,
    met: ratio >= aim,
  };
}

/** The least that a server can do: a bare node:http that sends the same bytes again and again. */
export async function startBareServer(body: string): Promise<{ url: string; stop: () => void }> {
  const program = `const body = ${JSON.stringify(body)};
    const server = require('node:http').createServer((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
      response.end(body);
    }).listen(0, '127.0.0.1', () => console.log(server.address().port));`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise((resolve) => child.stdout.once('data', (chunk) => resolve(String(chunk).trim())));
  return { url: `http://127.0.0.1:${port}/`, stop: () => void child.kill() };
}

/** How long the trigger and the status take at the 99th percentile while a job keeps the machine busy. */
export async function measureLatency(): Promise<Measurement[]> {
  const server = await startServer(Array.from({ length: 8 }, (_, index) => `model-${index}`));
  const { trigger, status } = await measureWhileRunning(server);
  await server.stop();
  return [describe('trigger', trigger), describe('status', status)];
}

function describe(what: string, times: number[]): Measurement {
  times.sort((one, other) => one - other);
  const p99 = times[Math.floor(times.length * 0.99)] as number;
  return {
    what: `p99 of ${what} while a job runs (${times.length} requests)`,
    ours: `${p99.toFixed(1)} ms`,
    peer: '',
    ratio: '',
    aim: `< ${P99_AIM_MS} ms`,
    met: p99 < P99_AIM_MS,
  };
}

/** Status is requested every few milliseconds; triggers are those that start the jobs and those refused meanwhile. */
async function measureWhileRunning(server: Server): Promise<{ trigger: number[]; status: number[] }> {
  const times = { trigger: [] as number[], status: [] as number[] };
  const timed = async <Result>(kind: 'trigger' | 'status', work: () => Promise<Result>) => {
    const startedAt = performance.now();
    const result = await work();
    times[kind].push(performance.now() - startedAt);
    return result;
  };
  await triggerJob(server, { start_date: '2025-01-01', end_date: '2025-01-01' }).then((jobId) =>
    untilEnd(server, jobId),
  );
  for (let month = 2; month <= 4; month += 1) {
    const request = { start_date: `2025-0${month}-03`, end_date: `2025-0${month}-21` };
    const jobId = await timed('trigger', () => triggerJob(server, request));
    for (let isRunning = true; isRunning;) {
      isRunning =
        (await timed('status', () => getJson(`${server.url}/simulate/status/${jobId}`))).completed_at === null;
      if (isRunning) await timed('trigger', () => triggerJob(server, request).catch(() => null));
      await sleep(5);
    }
  }
  return times;
}

async function untilEnd(server: Server, jobId: string): Promise<void> {
  while ((await getJson(`${server.url}/simulate/status/${jobId}`)).completed_at === null) await sleep(50);
}
