import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BareServer, serveBare } from './bare-server.ts';
import { mean } from './paired.ts';
import { benchFolder } from './support.ts';

/**
 * The calibration is a fixed piece of work behind a bare node:http server: numbers are sorted,
 * stringified, parsed and hashed, and a file is read. A time in milliseconds means something only
 * beside what this took in the same minutes.
 */

/**
 * What it takes on the machine of docs/benchmarks.md when nothing else runs there. Aims in
 * milliseconds refer to it.
 */
export const QUIET_MS = 20;
const FILE_BYTES = 1024 * 1024;
const ROUNDS = 5;
const NUMBERS = 8_000;
/** A new process is slower: these runs do not count. */
const RUNS_TO_WARM_UP = 10;
const RUNS_BESIDE_LONG_SLICE = 10;

const PROGRAM = `
  const { createHash } = require('node:crypto');
  const { readFileSync } = require('node:fs');
  function handle(request, response) {
    const hash = createHash('sha256').update(readFileSync(process.argv[1]));
    let state = 12345;
    for (let round = 0; round < ${ROUNDS}; round += 1) {
      const numbers = Array.from({ length: ${NUMBERS} }, () => (state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff));
      const text = JSON.stringify(numbers.sort((one, other) => one - other).map((number) => ({ number })));
      hash.update(JSON.stringify(JSON.parse(text)));
    }
    response.end(hash.digest('hex'));
  }`;

/** Started by the first run. */
let server: Promise<BareServer> | undefined;

/**
 * Runs the calibration once; resolves to the milliseconds that it took. The first call starts its
 * server, which ends with the bench.
 */
export async function calibrate(): Promise<number> {
  const { url } = await (server ??= startCalibration());
  const startedAt = performance.now();
  await (await fetch(url)).text();
  return performance.now() - startedAt;
}

async function startCalibration(): Promise<BareServer> {
  const path = join(benchFolder(), 'calibration');
  writeFileSync(path, Buffer.alloc(FILE_BYTES, 'calibration'));
  const bare = await serveBare(PROGRAM, [path]);
  for (let run = 0; run < RUNS_TO_WARM_UP; run += 1) await (await fetch(bare.url)).text();
  return bare;
}

/** The mean of several runs: what a slice of seconds is compared with. */
export async function calibrateOften(): Promise<number> {
  const times: number[] = [];
  while (times.length < RUNS_BESIDE_LONG_SLICE) times.push(await calibrate());
  return mean(times);
}

/** The process of the calibration, which it starts if need be. */
export async function calibrationPid(): Promise<number> {
  return (await (server ??= startCalibration())).pid;
}
