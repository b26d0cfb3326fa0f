import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { addDays } from '../src/calendar.ts';
import { ITSELF, describePairs } from './figure.ts';
import { memoryBelow, peakMemoryMb } from './memory.ts';
import { BOUNDS, type Bounds, oneSliceOfEach, takePairs } from './paired.ts';
import { endedChildrenMs } from './processor-time.ts';
import {
  type BenchOptions,
  type Measurement,
  PROGRAM,
  benchFolder,
  endWithBench,
  pidOf,
} from './support.ts';
import { endAfter } from './time-limit.ts';

/**
 * An import of CSV in the order of its dates, against the sqlite3 shell's own .import of the same
 * rows into a table of the same form.
 */

const SQLITE_SHELL = '/usr/bin/sqlite3';
const SYMBOLS = 1_000;
const ROWS = 500_000;
const LARGE_ROWS = Number(process.env['LARGE_ROWS'] ?? 6_000_000);
/** The bench ends by itself after this time. */
const LARGE_MAX_MS = 9 * 60_000;
const AIMS = [{ atLeast: 0.8 }];
const MEMORY_AIM_MB = 200;
/** The peak of a process is looked at this often; it only grows. */
const LOOK_EVERY_MS = 50;
const SHELL_SCRIPT = `
PRAGMA journal_mode = WAL;
CREATE TABLE prices (symbol TEXT, date TEXT, open REAL, high REAL, low REAL, close REAL, volume REAL,
  PRIMARY KEY (symbol, date)) WITHOUT ROWID;
.import --csv --skip 1 ../prices.csv prices`;

interface Cost {
  ms: number;
  processorMs: number;
  peakMb: number;
}

export function measureImport(options: BenchOptions): AsyncGenerator<Measurement> {
  return measureImportOf(ROWS, { minPairs: 6, maxMs: 100_000 }, options);
}

/** One pair, or more where that takes less than two minutes. */
export async function* measureLargeImport(options: BenchOptions): AsyncGenerator<Measurement> {
  const limit = endAfter(LARGE_MAX_MS, 'large-import');
  yield* measureImportOf(LARGE_ROWS, { minPairs: 6, maxMs: 120_000 }, options);
  clearTimeout(limit);
}

/** Rows per second by the clock and by processor time, and memory; all from the same runs. */
async function* measureImportOf(
  rows: number,
  bounds: Partial<Bounds>,
  { self }: BenchOptions,
): AsyncGenerator<Measurement> {
  const what = `import of ${rows.toLocaleString('en-US')} rows of CSV`;
  if (!self && !existsSync(SQLITE_SHELL))
    return yield { what, ours: `not measured: there is no ${SQLITE_SHELL}` };
  const folder = benchFolder();
  await writeRows(join(folder, 'prices.csv'), rows);
  const ours = () =>
    costOf(process.execPath, [PROGRAM, 'import-prices', '../prices.csv'], { folder });
  const shell = () => costOf(SQLITE_SHELL, ['prices.db'], { folder, input: SHELL_SCRIPT });
  const costs: { ours: Cost; peer: Cost }[] = [];
  const rate = (ms: number) => (rows / ms) * 1000;
  const pairOf = ({ ours, peer }: { ours: Cost; peer: Cost }, time: 'ms' | 'processorMs') => {
    return { ours: rate(ours[time]), peer: rate(peer[time]) };
  };
  const take = async (index: number) => {
    const pair = await oneSliceOfEach(index, ours, self ? ours : shell);
    costs.push(pair);
    return pairOf(pair, 'ms');
  };
  const byClock = await takePairs(take, { ...BOUNDS, warmUpMs: 0, ...bounds });
  const common = { what, peer: self ? ITSELF : 'sqlite3 .import', aims: AIMS };
  yield describePairs({ ...common, unit: 'rows per second' }, byClock);
  const byProcessor = costs.map((pair) => pairOf(pair, 'processorMs'));
  yield describePairs({ ...common, unit: 'rows per second of processor time' }, byProcessor);
  const peak = (side: 'ours' | 'peer') => Math.max(...costs.map((pair) => pair[side].peakMb));
  yield {
    ...memoryBelow(`peak memory of the ${what}`, peak('ours'), MEMORY_AIM_MB),
    peer: `${peak('peer').toFixed(1)} MB (${common.peer})`,
  };
}

async function writeRows(path: string, rows: number): Promise<void> {
  const file = createWriteStream(path);
  file.write('symbol,date,open,high,low,close,volume\n');
  for (let day = 0; day < rows / SYMBOLS; day += 1) {
    const date = addDays('2000-01-01', day);
    const own = Array.from(
      { length: SYMBOLS },
      (_, symbol) => `S${symbol},${date},101.25,102.5,99.75,100.5,1234567\n`,
    );
    if (!file.write(own.join(''))) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
}

/** Runs a program to its end, in a folder of its own that is removed afterwards. */
async function costOf(
  command: string,
  args: readonly string[],
  { folder, input = '' }: { folder: string; input?: string },
): Promise<Cost> {
  const cwd = join(folder, 'own');
  mkdirSync(cwd);
  const [startedAt, before] = [performance.now(), endedChildrenMs()];
  const child = endWithBench(spawn(command, args, { cwd, stdio: ['pipe', 'ignore', 'inherit'] }));
  child.stdin.on('error', () => {}); // a program that reads nothing may be gone already
  child.stdin.end(input);
  const closed = once(child, 'close').then(([code]) => ({
    code,
    ms: performance.now() - startedAt,
  }));
  const peakMb = await peakUntil(closed, child);
  const { code, ms } = await closed;
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
  rmSync(cwd, { recursive: true });
  return { ms, processorMs: endedChildrenMs() - before, peakMb };
}

async function peakUntil(closed: Promise<unknown>, child: ChildProcess): Promise<number> {
  const pid = pidOf(child);
  const isOver = closed.then(() => true);
  for (let peakMb = 0; ; ) {
    if (child.exitCode === null) peakMb = Math.max(peakMb, peakMemoryMb(pid) || 0); // one that ends has no memory any more
    if (await Promise.race([isOver, sleep(LOOK_EVERY_MS, false)])) return peakMb;
  }
}
