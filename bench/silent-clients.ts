import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { MAX_COMPRESSOR_BYTES } from '../src/http/compress.ts';
import { httpLimits } from '../src/http/limits.ts';
import { type BenchOptions, type Measurement, endWithBench } from './support.ts';
import { startWatched } from './watched.ts';
import { measureWatched } from './watched-figure.ts';

/**
 * How many clients ask for all results and read nothing, and the coding that they accept; null for
 * none.
 */
export const SILENT_CLIENTS = [
  [40, null],
  [200, null],
  [200, 'zstd'],
  [200, 'br'],
  [200, 'gzip'],
] as const;
const MEMORY_AIM_MB = 250;
/** What the compressors of all long responses may hold together. */
const COMPRESSORS_MB = (httpLimits.maxLongResponses * MAX_COMPRESSOR_BYTES) / 2 ** 20;
/** How long they are watched. */
const SILENT_MS = 5_000;

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

/**
 * The memory that these clients hold, and how long others wait meanwhile; no round begins after the
 * time.
 */
export async function measureSilentClients(
  folder: string,
  [count, coding]: readonly [number, string | null],
  { maxMs, ...options }: { maxMs: number } & BenchOptions,
): Promise<Measurement> {
  const watched = await startWatched(folder, options);
  const measurement = await measureWatched(
    `${count} clients that ask for /results${coding === null ? '' : ` in ${coding}`} and read nothing`,
    watched,
    {
      work: () => beSilent(watched.server.url, count, coding ?? ''),
      bounds: { maxMs },
      memoryAimMb: MEMORY_AIM_MB + (coding === null ? 0 : COMPRESSORS_MB),
      ...options,
    },
  );
  await watched.stop();
  return measurement;
}

async function beSilent(url: string, count: number, coding: string): Promise<void> {
  const args = ['-e', CLIENTS, new URL(url).port, String(count), coding, String(SILENT_MS)];
  await once(endWithBench(spawn(process.execPath, args, { stdio: 'ignore' })), 'close');
}
