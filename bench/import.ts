import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { addDays } from '../src/core/time/calendar.ts';
import { type Builds, measure } from './figure.ts';
import { inTurn, type Slice } from './paired.ts';
import { endedChildrenMs, peakMemoryMb } from './proc.ts';
import { benchFolder, endWithBench, pidOf } from './support.ts';
import { writePrices } from './trading.ts';

/** An import of CSV in the order of its dates, beside .import into a table of the same form. */

const SQLITE_SHELL = '/usr/bin/sqlite3';
const SYMBOLS = Array.from({ length: 1_000 }, (_none, index) => `S${index}`);
const FIRST = '2000-01-01';
/** `IMPORT_ROWS=6000000` for as many as six years of a whole market have. */
const ROWS = Number(process.env['IMPORT_ROWS'] ?? 500_000);
const BOUNDS = { minPairs: 6, maxMs: 100_000 };
/** The peak of a process is looked at this often; it only grows. */
const LOOK_EVERY_MS = 50;
const SHELL_SCRIPT = `
PRAGMA journal_mode = WAL;
CREATE TABLE prices (symbol TEXT, date TEXT, open REAL, high REAL, low REAL, close REAL,
  volume REAL, PRIMARY KEY (symbol, date)) WITHOUT ROWID;
.import --csv --skip 1 ../prices.csv prices`;

export async function* measureImport(builds: Builds): AsyncGenerator<string> {
  const { now, before, isShort } = builds;
  const rows = isShort ? 20 * SYMBOLS.length : ROWS;
  if (before === undefined && !existsSync(SQLITE_SHELL))
    return yield `The import is not measured: there is no ${SQLITE_SHELL}`;
  const folder = benchFolder();
  const dates = Array.from({ length: rows / SYMBOLS.length }, (_none, day) => addDays(FIRST, day));
  writePrices(join(folder, 'prices.csv'), { symbols: SYMBOLS, dates });
  const sliceOf =
    (command: string, args: readonly string[], input = '') =>
    async () => {
      const { ms, processorMs, peakMb } = await costOf([command, ...args], { folder, input });
      return [(rows / ms) * 1000, (rows / processorMs) * 1000, peakMb];
    };
  const importOf = (build: string): Slice =>
    sliceOf(process.execPath, [build, 'import-prices', '../prices.csv']);
  const shell = sliceOf(SQLITE_SHELL, ['prices.db'], SHELL_SCRIPT);
  const what = `import of ${rows.toLocaleString('en-US')} rows of CSV`;
  const figure = { what, peer: '`sqlite3 .import`', aim: { atLeast: 0.9 } };
  const figures = [
    { ...figure, unit: 'rows per second' },
    { ...figure, unit: 'rows per second of processor time' },
    { ...figure, what: `peak memory of the ${what}`, unit: 'MB', aim: { atMost: 200 } },
  ];
  const take = inTurn(importOf(now), before === undefined ? shell : importOf(before));
  yield* measure(builds, figures, { take, bounds: BOUNDS });
}

/** Runs a program to its end, in a folder of its own that is removed afterwards. */
async function costOf(
  [command = '', ...args]: readonly string[],
  { folder, input }: { folder: string; input: string },
): Promise<{ ms: number; processorMs: number; peakMb: number }> {
  const cwd = join(folder, 'own');
  mkdirSync(cwd);
  const startedAt = performance.now();
  const before = endedChildrenMs();
  const child = endWithBench(spawn(command, args, { cwd, stdio: ['pipe', 'ignore', 'inherit'] }));
  let peakMb = 0;
  const look = setInterval(() => {
    if (child.exitCode === null) peakMb = Math.max(peakMb, peakMemoryMb(pidOf(child)) || 0);
  }, LOOK_EVERY_MS);
  child.stdin.on('error', () => {}); // a program that reads nothing may be gone already
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  const ms = performance.now() - startedAt;
  clearInterval(look);
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
  rmSync(cwd, { recursive: true });
  return { ms, processorMs: endedChildrenMs() - before, peakMb };
}
