import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { MAX_COMPRESSOR_BYTES } from '../src/http/compress.ts';
import { httpLimits } from '../src/http/limits.ts';
import type { Measurement, Server } from './support.ts';
import { startWatched, watch } from './watched.ts';

/** How many clients ask for all results and read nothing, and the coding that they accept; null for none. */
export const SILENT_CLIENTS = [
  [40, null],
  [200, null],
  [200, 'zstd'],
  [200, 'br'],
  [200, 'gzip'],
] as const;
const HELD_AIM_MS = 50;
const MEMORY_AIM_MB = 250;
/** What the compressors of all long responses may hold together. */
const COMPRESSORS_MB = (httpLimits.maxLongResponses * MAX_COMPRESSOR_BYTES) / 2 ** 20;
/** How long they are watched. */
const SILENT_MS = 8_000;

/** In a process of its own, whose work delays no measurement. */
const CLIENTS = `
  const { connect } = require('node:net');
  const [port, count, coding, milliseconds] = process.argv.slice(1);
  const accepts = coding === '' ? '' : 'Accept-Encoding: ' + coding + '\\r\\n';
  for (let index = 0; index < count; index += 1) {
    const socket = connect(port, '127.0.0.1').pause().on('error', () => {});
    socket.write('GET /results HTTP/1.1\\r\\nHost: localhost\\r\\n' + accepts + '\\r\\n');
  }
  setTimeout(() => process.exit(), milliseconds);`;

/** The memory that these clients hold, and how long others wait meanwhile. */
export async function* measureSilentClients(
  folder: string,
  [count, coding]: readonly [number, string | null],
): AsyncGenerator<Measurement> {
  const server = await startWatched(folder);
  const { held, longestHealthMs, peakMb } = await watch(server, () => beSilent(server, count, coding));
  await server.stop();
  const own = `hold the thread ${held.processorMs.toFixed(0)} ms at most, peak memory ${peakMb.toFixed(0)} MB`;
  const aimMb = MEMORY_AIM_MB + (coding === null ? 0 : COMPRESSORS_MB);
  yield {
    what: `${count} clients that ask for /results${coding === null ? '' : ` in ${coding}`} and read nothing`,
    ours: `${own}; longest /health ${longestHealthMs.toFixed(0)} ms`,
    peer: '',
    ratio: '',
    aim: `< ${HELD_AIM_MS} ms and < ${aimMb} MB`,
    met: held.processorMs < HELD_AIM_MS && peakMb < aimMb,
  };
}

async function beSilent({ url }: Server, count: number, coding: string | null): Promise<void> {
  const args = ['-e', CLIENTS, new URL(url).port, String(count), coding ?? '', String(SILENT_MS)];
  await once(spawn(process.execPath, args, { stdio: 'ignore' }), 'close');
}
