import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type Server, peakMemoryMb, startServer } from './support.ts';

/** A server that is watched from outside and inside while something is asked of it. */

/** How long the server's event loop was held in one go, in milliseconds. */
export interface Held {
  /** The most processor time that its thread used in one turn, to about a millisecond. Other work on the machine adds next to nothing. */
  processorMs: number;
  /** The same by the clock: what a request may have waited. */
  clockMs: number;
}

/** Loaded into the server before its program. A message asks for the longest hold since the last message. */
const PROBE = `
  const longest = { processorMs: 0, clockMs: 0 };
  const processorNow = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let [processorAt, clockAt] = [processorNow(), performance.now()];
  const look = () => {
    const [processor, clock] = [processorNow(), performance.now()];
    longest.processorMs = Math.max(longest.processorMs, processor - processorAt);
    longest.clockMs = Math.max(longest.clockMs, clock - clockAt);
    [processorAt, clockAt] = [processor, clock];
  };
  setInterval(look, 1).unref();
  process.on('message', () => {
    look();
    process.send({ ...longest });
    [longest.processorMs, longest.clockMs] = [0, 0];
  });
  process.channel.unref();`;
/** Resets the peak of a process's memory: see proc(5), clear_refs. */
const RESET_PEAK = '5';

/** Asks for /health again and again in a process of its own, until its stdin ends; then prints the longest wait in milliseconds. */
const HEALTH = `
  const { get, Agent } = require('node:http');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let longest = 0;
  let isOver = false;
  process.stdin.on('end', () => (isOver = true)).resume();
  const ask = () => {
    const startedAt = performance.now();
    const next = () => {
      longest = Math.max(longest, performance.now() - startedAt);
      if (isOver) { process.stdout.write(String(longest)); process.exit(); }
      setTimeout(ask, 1);
    };
    get(process.argv[1], { agent }, (response) => response.resume().on('end', next)).on('error', next);
  };
  ask();`;

/** Reads an answer for at most so many seconds without keeping it, or up to its first byte with 0; prints what it saw as JSON. */
const DOWNLOAD = `
  const [url, seconds] = process.argv.slice(1);
  const startedAt = performance.now();
  const since = () => performance.now() - startedAt;
  let [firstByteMs, bytes] = [null, 0];
  const end = (isWhole, status) => {
    process.stdout.write(JSON.stringify({ firstByteMs, bytes, seconds: since() / 1000, isWhole, status }));
    process.exit();
  };
  require('node:http').get(url, (response) => {
    if (seconds !== '0') setTimeout(() => end(false, response.statusCode), seconds * 1000);
    response.on('data', (chunk) => {
      firstByteMs ??= since();
      bytes += chunk.length;
      if (seconds === '0') end(false, response.statusCode);
    });
    response.on('end', () => end(response.complete, response.statusCode)).on('error', () => end(false, response.statusCode));
  });`;

/** What one client saw of an answer. */
export interface Seen {
  firstByteMs: number;
  bytes: number;
  seconds: number;
  /** False where it left after the longest time. */
  isWhole: boolean;
  status: number;
}

/** What the server did meanwhile. */
export interface Watched<Result> {
  result: Result;
  held: Held;
  longestHealthMs: number;
  peakMb: number;
}

export function startWatched(folder: string): Promise<Server> {
  return startServer(['model-0'], { folder, flags: ['--import', `data:text/javascript,${encodeURIComponent(PROBE)}`] });
}

/** Watches a server while the work runs. */
export async function watch<Result>(server: Server, work: () => Promise<Result>): Promise<Watched<Result>> {
  const pid = server.process.pid as number;
  const health = spawn(process.execPath, ['-e', HEALTH, `${server.url}/health`], { stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  health.stdout.on('data', (chunk) => (output += chunk));
  await held(server);
  writeFileSync(`/proc/${pid}/clear_refs`, RESET_PEAK);
  const result = await work();
  const own = await held(server);
  health.stdin.end();
  await once(health, 'close');
  return { result, held: own, longestHealthMs: Number(output), peakMb: peakMemoryMb(pid) };
}

async function held({ process: child }: Server): Promise<Held> {
  const answer = once(child, 'message');
  child.send('look');
  return (await answer)[0] as Held;
}

/** Downloads an answer in a process of its own; with 0 seconds only up to its first byte. */
export async function download(url: string, longestSeconds: number): Promise<Seen> {
  const client = spawn(process.execPath, ['-e', DOWNLOAD, url, String(longestSeconds)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  client.stdout.on('data', (chunk) => (output += chunk));
  await once(client, 'close');
  return JSON.parse(output) as Seen;
}
