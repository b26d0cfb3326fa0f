import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { weekdays } from '../src/calendar.ts';
import { nasdaq100 } from '../src/universe.ts';
import { median } from './paired.ts';
import {
  type Measurement,
  PROGRAM,
  type Server,
  benchFolder,
  memoryMb,
  peakMemoryMb,
  run,
  startServer,
  triggerJob,
} from './support.ts';

/** How many children; `CHILDREN=200 npm run bench -- thousand` for a smaller machine. */
const CHILDREN = Number(process.env['CHILDREN'] ?? 1_000);
const DATE = '2025-09-16';
/** A request is answered after a time between half of this and one and a half times this. */
const THINKING_MS = 20_000;
/** What each child takes at its most, and what the machine must keep besides; measured at the bottom of this bench. */
const NEEDED_MB_PER_CHILD = 14;
const KEPT_FREE_MB = 2_000;
const LOOK_MS = 10;
/** The part of a status before its model-days and entries: to parse all of it would leave garbage in this process, and pauses. */
const HEAD_BYTES = 64 * 1024;
/** The bench ends by itself after this time, whatever still runs. */
const MAX_MS = 9 * 60_000;
const AIM_MS = { spawning: 50, waiting: 20 };

type Phase = 'spawning' | 'waiting' | 'ending';
/** Milliseconds of a request to the service, and of one to the peer right before. */
type Times = Record<Phase, { ours: number; peer: number }[]>;

interface Program {
  url: string;
  process: ChildProcess;
}

/**
 * A thousand children side by side that wait for a slow model, each for half a minute and more: how long status takes
 * meanwhile, and what they cost in memory and descriptors. The built program in PROD, over stored prices of the whole universe.
 */
export async function* measureThousand(): AsyncIterable<Measurement> {
  const neededMb = CHILDREN * NEEDED_MB_PER_CHILD + KEPT_FREE_MB;
  if (availableMb() < neededMb) {
    const how = `it needs ${neededMb} MB of available memory; there are ${availableMb().toFixed(0)}`;
    yield { what: `${CHILDREN} children side by side`, ours: `not measured: ${how}`, peer: '', ratio: '', aim: 'none', met: null };
    return;
  }
  const model = await startSlowModel();
  const server = await startProdServer(model);
  const stopAll = () => [model.process, server.process].forEach((child) => child.kill('SIGKILL'));
  process.once('exit', stopAll);
  const watch = setInterval(() => {
    if (availableMb() > KEPT_FREE_MB / 2) return;
    console.log('Memory is short: the bench ends');
    process.exit(1);
  }, 500).unref();
  const limit = setTimeout(() => process.exit(1), MAX_MS).unref();
  yield* await measure(server, model);
  await server.stop();
  model.process.kill();
  clearInterval(watch);
  clearTimeout(limit);
  process.off('exit', stopAll);
}

async function measure(server: Server, model: Program): Promise<Measurement[]> {
  const availableBefore = availableMb();
  const startedAt = performance.now();
  const jobId = await triggerJob(server, { start_date: DATE, end_date: DATE });
  const statusUrl = `${server.url}/simulate/status/${jobId}`;
  const peer = await startPeer(server, await (await fetch(statusUrl)).text());
  if (process.env['PRECEDENCE']) await takePrecedence(process, peer.process, model.process, server.process);
  const times: Times = { spawning: [], waiting: [], ending: [] };
  const memory: Measurement[] = [];
  let spawnedMs = 0;
  let length = 0;
  let completed = 0;
  for (let phase: Phase | null = 'spawning'; phase !== null;) {
    const peerMs = await timeOf(peer.url, () => {});
    let head = '';
    const ours = await timeOf(statusUrl, (body) => {
      length = body.byteLength;
      head = Buffer.from(body).toString('latin1', 0, HEAD_BYTES);
    });
    times[phase].push({ ours, peer: peerMs });
    completed = Number(/"completed":(\d+)/.exec(head)?.[1]);
    if (phase === 'spawning' && times.spawning.length % 10 === 0 && (await begunAt(model)) === CHILDREN) {
      spawnedMs = performance.now() - startedAt;
      memory.push(...describeMemory(server, availableBefore));
      await fetch(`${model.url}/answer`);
      phase = 'waiting';
    } else if (phase === 'waiting' && completed > 0) phase = 'ending';
    else if (!head.includes('"completed_at":null')) phase = null;
    await sleep(LOOK_MS);
  }
  peer.process.kill();
  return [
    line(`${CHILDREN} models side by side: completed`, `${completed}`, `${CHILDREN}`, completed === CHILDREN),
    line('until all of them wait for the model', `${(spawnedMs / 1000).toFixed(1)} s`),
    ...latencies(times, length),
    ...memory,
    line('the most memory that the parent has had', `${peakMemoryMb(server.process.pid as number).toFixed(0)} MB`),
  ];
}

/** Milliseconds from a request to the last byte of its response. */
async function timeOf(url: string, take: (body: ArrayBuffer) => void): Promise<number> {
  const startedAt = performance.now();
  const body = await (await fetch(url, { headers: { 'accept-encoding': 'identity' } })).arrayBuffer(); // as the peer sends it
  const ms = performance.now() - startedAt;
  take(body);
  return ms;
}

async function begunAt({ url }: Program): Promise<number> {
  return Number(await (await fetch(`${url}/begun`)).text());
}

/** Requests alternate between the peer and the service, so that other load on the machine affects both. */
function latencies(times: Times, length: number): Measurement[] {
  return (['spawning', 'waiting', 'ending'] as const).map((phase) => {
    const [ours, peer] = [times[phase].map((time) => time.ours), times[phase].map((time) => time.peer)];
    const p99 = quantile(ours, 0.99);
    return {
      what: `p99 of status (${Math.round(length / 1024)} KB) while ${CHILDREN} children are ${phase}, ${ours.length} requests`,
      ours: describeTimes(ours),
      peer: `${describeTimes(peer)} (bare node:http, same bytes)`,
      ratio: (p99 / quantile(peer, 0.99)).toFixed(2),
      aim: phase === 'ending' ? 'none' : `< ${AIM_MS[phase]} ms`,
      met: phase === 'ending' ? null : p99 < AIM_MS[phase],
    };
  });
}

function describeTimes(times: readonly number[]): string {
  const [p99, middle, longest] = [0.99, 0.5, 1].map((share) => quantile(times, share).toFixed(1));
  return `${p99} ms (median ${middle}, longest ${longest})`;
}

/** The smallest value that at least this share of the values does not exceed. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}

function describeMemory(server: Server, availableBefore: number): Measurement[] {
  const pid = server.process.pid as number;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  const shares = children.map((child) => memoryMb(child).share);
  const total = shares.reduce((sum, share) => sum + share, memoryMb(pid).share);
  return [
    line('memory of a child that waits, its own share, median', `${median(shares).toFixed(1)} MB`),
    line('memory of the parent, resident', `${memoryMb(pid).resident.toFixed(0)} MB`),
    line('memory of all processes, shared pages counted once', `${total.toFixed(0)} MB`),
    line('available memory of the machine less than before', `${(availableBefore - availableMb()).toFixed(0)} MB`),
    line('descriptors of the parent', `${readdirSync(`/proc/${pid}/fd`).length}`),
  ];
}

function startSlowModel(): Promise<Program> {
  return startProgram([new URL('./slow-model.ts', import.meta.url).pathname, String(THINKING_MS)]);
}

/** The least that a server can do: a bare node:http that sends the same bytes again and again, which it reads from a file. */
function startPeer({ folder }: Server, body: string): Promise<Program> {
  const path = join(folder, 'peer.json');
  writeFileSync(path, body);
  const program = `const body = require('node:fs').readFileSync(process.argv[1]);
    const server = require('node:http').createServer((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
      response.end(body);
    }).listen(0, '127.0.0.1', () => console.log(server.address().port));`;
  return startProgram(['-e', program, path]);
}

/** A program that prints its port. */
async function startProgram(args: readonly string[]): Promise<Program> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise((resolve) => child.stdout.once('data', (chunk) => resolve(String(chunk).trim())));
  return { url: `http://127.0.0.1:${port}`, process: child };
}

async function startProdServer({ url }: Program): Promise<Server> {
  const folder = benchFolder();
  const rows = nasdaq100.flatMap((symbol, index) =>
    weekdays('2025-08-01', DATE).map((date, day) => {
      const open = 50 + index + day;
      return [symbol, date, open, open + 2, open - 1, open + 1, 1_000_000].join(',');
    }),
  );
  writeFileSync(join(folder, 'prices.csv'), ['symbol,date,open,high,low,close,volume', ...rows].join('\n'));
  await run(process.execPath, [PROGRAM, 'import-prices', 'prices.csv'], { cwd: folder });
  const models = Array.from({ length: CHILDREN }, (_, index) => `model-${index}`);
  return startServer(models, {
    folder,
    entry: { openai_base_url: `${url}/v1` },
    env: { DEPLOYMENT_MODE: 'PROD', AUTO_DOWNLOAD_PRICE_DATA: 'false', MAX_PARALLEL_MODELS: String(CHILDREN) },
  });
}

/**
 * Puts the service, the provider and the bench before all other programs on the machine, their children not included, if the
 * system allows it: what else runs there is then not in the figures.
 */
async function takePrecedence(...programs: { pid?: number | undefined }[]): Promise<void> {
  try {
    for (const { pid } of programs) await run('chrt', ['--all-tasks', '--reset-on-fork', '--rr', '--pid', '1', String(pid)]);
  } catch {
    console.log('Cannot take precedence over other programs: their load is in the figures');
  }
}

function availableMb(): number {
  return Number(/MemAvailable:\s+(\d+)/.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) / 1024;
}

function line(what: string, ours: string, aim = 'none', met: boolean | null = null): Measurement {
  return { what, ours, peer: '', ratio: '', aim, met };
}
