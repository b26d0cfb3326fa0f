import { type Socket, connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_COMPRESSOR_BYTES } from '../src/http/compress.ts';
import { httpLimits } from '../src/http/limits.ts';
import { MILLION, POSITIONS_PER_DAY, fillWithModelDays } from './large-database.ts';
import { longestHealth } from './responses.ts';
import { type Measurement, type Server, benchFolder, getJson, median, peakMemoryMb, run, startServer } from './support.ts';

const ROUNDS = 3;
const AIM_MS = 100;
const MEMORY_AIM_MB = 250;
/** How many clients, and the coding that they accept; null for none. */
const SILENT_CLIENTS = [
  [40, null],
  [200, null],
  [200, 'zstd'],
  [200, 'br'],
  [200, 'gzip'],
] as const;
/** What the compressors of all long responses may hold together. */
const COMPRESSORS_MB = (httpLimits.maxLongResponses * MAX_COMPRESSOR_BYTES) / 2 ** 20;
/** How long the clients that read nothing are watched. */
const SILENT_MS = 8_000;
const PATHS = [
  '/performance?table=trades&format=csv',
  '/performance',
  '/performance?benchmark=universe',
  '/performance?format=csv',
  '/reasoning',
  '/reasoning?include_full_conversation=true',
  '/decisions?limit=200',
  '/decisions?symbol=NONE',
  '/search?q=every+day',
  '/results',
  '/results?format=csv',
  '/models',
  '/jobs?limit=200',
];
/** Reads an answer to its end without keeping it, in a process of its own. */
const DOWNLOAD = `require('node:http').get(process.argv[1], (response) => response.resume()
  .on('end', () => process.exit(response.statusCode === 200 && response.complete ? 0 : 1)))`;

/** One request at a time at a million positions, and what /health waits for it at most; then clients that read nothing. */
export async function* measureLarge(): AsyncGenerator<Measurement> {
  const folder = benchFolder();
  fillWithModelDays(join(folder, 'data/jobs_dev.db'), MILLION);
  yield* measureRequests(folder);
  yield* measureSilentClients(folder);
}

async function* measureRequests(folder: string): AsyncGenerator<Measurement> {
  const server = await startServer(['model-0'], { folder });
  for (const path of PATHS) {
    const waits: number[] = [];
    const seconds: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const startedAt = performance.now();
      const download = () => run(process.execPath, ['-e', DOWNLOAD, server.url + path]);
      waits.push((await longestHealth(server, download, waitFor)).longestMs);
      seconds.push((performance.now() - startedAt) / 1000);
    }
    yield {
      what: `longest /health beside ${path} (${median(seconds).toFixed(1)} s) of ${positionsOf()} positions`,
      ours: `${median(waits).toFixed(0)} ms`,
      peer: '',
      ratio: '',
      aim: `< ${AIM_MS} ms`,
      met: median(waits) < AIM_MS,
    };
  }
  await server.stop();
}

function positionsOf(): string {
  return (MILLION.models * MILLION.days * POSITIONS_PER_DAY).toLocaleString('en-US');
}

/** A connection that was cut off has waited too. */
async function waitFor(url: string): Promise<number> {
  const startedAt = performance.now();
  await getJson(url).catch(() => {});
  return performance.now() - startedAt;
}

/** Clients that request all results but read nothing: the memory they hold, and how long others wait meanwhile. */
async function* measureSilentClients(folder: string): AsyncGenerator<Measurement> {
  for (const [count, coding] of SILENT_CLIENTS) {
    const server = await startServer(['model-0'], { folder });
    const sockets: Socket[] = [];
    let triggerMs = 0;
    const work = async () => {
      for (let index = 0; index < count; index += 1) sockets.push(askInSilence(server, coding));
      const startedAt = performance.now();
      await getTrigger(server);
      triggerMs = performance.now() - startedAt;
      await sleep(SILENT_MS);
    };
    const { longestMs: longest } = await longestHealth(server, work, waitFor);
    const peak = peakMemoryMb(server.process.pid as number);
    sockets.forEach((socket) => socket.destroy());
    await server.stop();
    const noPeer = { peer: '', ratio: '' };
    const what = `${count} clients that ask for /results${coding === null ? '' : ` in ${coding}`} and read nothing`;
    const aimMb = MEMORY_AIM_MB + (coding === null ? 0 : COMPRESSORS_MB);
    yield { what: `${what}: peak memory`, ours: `${peak.toFixed(0)} MB`, aim: `< ${aimMb} MB`, met: peak < aimMb, ...noPeer };
    yield { what: `${what}: longest /health`, ours: `${longest.toFixed(0)} ms`, aim: `< ${AIM_MS} ms`, met: longest < AIM_MS, ...noPeer };
    yield { what: `${what}: a trigger`, ours: `${triggerMs.toFixed(0)} ms`, aim: 'none', met: null, ...noPeer };
  }
}

/** A trigger that is refused after all its checks, so that the database stays as it is. */
async function getTrigger({ url }: Server): Promise<void> {
  const body = JSON.stringify({ start_date: '2015-01-03', end_date: '2015-01-04' });
  const response = await fetch(`${url}/simulate/trigger`, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  if (response.status !== 400) throw new Error(`The trigger of a weekend answered ${response.status}`);
}

function askInSilence({ url }: Server, coding: string | null): Socket {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.on('error', () => {});
  const accepts = coding === null ? '' : `Accept-Encoding: ${coding}\r\n`;
  socket.write(`GET /results HTTP/1.1\r\nHost: localhost\r\n${accepts}\r\n`);
  return socket;
}
