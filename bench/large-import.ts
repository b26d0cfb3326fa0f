import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { addDays } from '../src/calendar.ts';
import { type Measurement, PROGRAM, benchFolder, peakMemoryMb } from './support.ts';

/** An import of six million rows in the order of their dates, against the sqlite3 shell's own .import, one after the other. */

const SQLITE_SHELL = '/usr/bin/sqlite3';
const SYMBOLS = 1_000;
const DAYS = 6_000;
const ROWS = SYMBOLS * DAYS;
const RATE_AIM = 0.8;
const MEMORY_AIM_MB = 200;
const LOOK_EVERY_MS = 50;
const MS_PER_TICK = 10;
const SHELL_SCRIPT = `
PRAGMA journal_mode = WAL;
CREATE TABLE prices (symbol TEXT, date TEXT, open REAL, high REAL, low REAL, close REAL, volume REAL,
  PRIMARY KEY (symbol, date)) WITHOUT ROWID;
.import --csv --skip 1 prices.csv prices`;

export async function* measureLargeImport(): AsyncGenerator<Measurement> {
  if (!existsSync(SQLITE_SHELL)) return;
  const folder = benchFolder();
  await writeRows(join(folder, 'prices.csv'));
  mkdirSync(join(folder, 'ours'));
  const ours = await costOf(process.execPath, [PROGRAM, 'import-prices', '../prices.csv'], { cwd: join(folder, 'ours') });
  const shell = await costOf(SQLITE_SHELL, ['shell.db'], { cwd: folder, input: SHELL_SCRIPT });
  const ratio = shell.seconds / ours.seconds;
  const rate = ({ seconds, processorSeconds }: Cost) => `${(ROWS / seconds).toFixed(0)} (${processorSeconds.toFixed(0)}`;
  yield {
    what: `import of ${ROWS.toLocaleString('en-US')} rows of CSV, rows per second`,
    ours: `${rate(ours)} s of processor time, peak memory ${ours.peakMb.toFixed(0)} MB)`,
    peer: `${rate(shell)} s of processor time; sqlite3 .import)`,
    ratio: `${ratio.toFixed(2)}; by processor time ${(shell.processorSeconds / ours.processorSeconds).toFixed(2)}`,
    aim: `>= ${RATE_AIM} and < ${MEMORY_AIM_MB} MB`,
    met: ratio >= RATE_AIM && ours.peakMb < MEMORY_AIM_MB,
  };
}

async function writeRows(path: string): Promise<void> {
  const file = createWriteStream(path);
  file.write('symbol,date,open,high,low,close,volume\n');
  for (let day = 0; day < DAYS; day += 1) {
    const date = addDays('2000-01-01', day);
    const rows = Array.from({ length: SYMBOLS }, (_, symbol) => `S${symbol},${date},101.25,102.5,99.75,100.5,1234567\n`);
    if (!file.write(rows.join(''))) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
}

interface Cost {
  seconds: number;
  processorSeconds: number;
  peakMb: number;
}

async function costOf(command: string, args: string[], { cwd, input = '' }: { cwd: string; input?: string }): Promise<Cost> {
  const [startedAt, before] = [performance.now(), childrenMs()];
  const child = spawn(command, args, { cwd, stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.end(input);
  let isRunning = true;
  const closed = once(child, 'close').finally(() => (isRunning = false));
  let peakMb = 0;
  while (isRunning) {
    peakMb = Math.max(peakMb, peakOf(child.pid as number));
    await sleep(LOOK_EVERY_MS);
  }
  const [code] = await closed;
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
  return { seconds: (performance.now() - startedAt) / 1000, processorSeconds: (childrenMs() - before) / 1000, peakMb };
}

/** 0 once it has ended. */
function peakOf(pid: number): number {
  try {
    return peakMemoryMb(pid) || 0;
  } catch {
    return 0;
  }
}

/** The processor time of all children that have ended, in milliseconds. */
function childrenMs(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const [user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ').slice(13, 15).map(Number);
  return ((user ?? 0) + (system ?? 0)) * MS_PER_TICK;
}
