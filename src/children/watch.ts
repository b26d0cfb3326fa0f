import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';
import { type Channel, isMessage } from './channel.ts';
import {
  type LauncherEnd,
  describeBanner,
  describeEnd,
  describeNotStarted,
  describeSaid,
  lackOf,
} from './launcher.ts';
import {
  type Launcher,
  type Started,
  boundOutput,
  endLauncher,
  endProcess,
  readStderr,
} from './process.ts';
import type { Hide } from '../basics/secrets.ts';
import { isShortage } from './shortage.ts';

/**
 * What depends on how a child was started: how it is ended, what is watched, and how its end is
 * reported. A child of this machine is killed and its memory is watched; a launcher ends in its own
 * time, and its errors name it.
 */

/** A banner is quoted with the lines that come within this time after its first. */
const BANNER_MS = 100;
const MAX_BANNER_LINES = 5;
/** How much is kept of a line that does not end, such as a question that waits for an answer. */
const MAX_UNENDED_LENGTH = 1_000;

/** How a started child is watched and ended. */
interface WatchedChild {
  end(signal: NodeJS.Signals): void;
  /**
   * Whether a line before the child's first message comes from a launcher; the model-day then
   * fails, and quotes it.
   */
  isForeign(line: string): boolean;
  /**
   * Why a line that is too long, before the child's first message, fails the model-day; null where
   * only the child writes.
   */
  describeForeignLine(): string | null;
  /** Reports that the machine ended the child. */
  lose(error: string): void;
  /** What a launcher has said so far, to be added to a reason; else empty. */
  said(): string;
  /** The end of what was written to stderr. */
  stderr(): string;
  /** Resolves when the process has exited, or cannot be ended, with its outcome settled. */
  ended: Promise<void>;
}

interface WatchOptions {
  channel: Channel;
  /** What a child of this machine may use in all. */
  memoryMb: number;
  /** Hides the model's key and other secrets, which no error repeats. */
  hide: Hide;
}

/** Watches a child until its end, and settles the outcome if the child has not. */
export function watchChild({ child, launcher }: Started, options: WatchOptions): WatchedChild {
  return launcher === null ? watchProcess(child, options) : watchLauncher(child, launcher, options);
}

function watchProcess(
  child: ChildProcess,
  { channel, memoryMb, hide }: WatchOptions,
): WatchedChild {
  const stderr = readStderr(child, channel.fail, hide);
  const endWatch = watchMemory(child, {
    memoryMb,
    onTooMuch: (error) => channel.fail(error, 'SIGKILL'),
  });
  child.on('error', (error) => {
    if (isShortage(error)) channel.lose(`it could not be started: ${error.message}`);
    else channel.fail(`Cannot start the model process: ${error.message}`);
  });
  const conclude = (code: number | null, killedBy: NodeJS.Signals | null) => {
    const how = killedBy ?? `exit code ${code}`;
    // When memory is short, the kernel kills; any other end of a child that has sent a line is its
    // own fault.
    if (!channel.hasSpoken() || killedBy === 'SIGKILL') channel.lose(`it ended by itself (${how})`);
    else channel.fail(`The model process ended without an outcome (${how})`);
  };
  return {
    end: (signal) => endProcess(child, signal),
    isForeign: () => false,
    describeForeignLine: () => null,
    lose: (error) => channel.lose(error),
    said: () => '',
    stderr,
    ended: endOf(child, channel, conclude).finally(endWatch),
  };
}

function watchLauncher(
  child: ChildProcess,
  { name, times }: Launcher,
  { channel, hide }: WatchOptions,
): WatchedChild {
  const stderr = readStderr(child, channel.fail, hide);
  const unended = readUnended(child, channel, hide);
  const tell = () => ({ name, stderr: stderr(), unended: unended() });
  const said = () => describeSaid(tell());
  const givenUp = Promise.withResolvers<void>();
  boundOutput(child, times);
  child.on('error', (error) => {
    if (isShortage(error)) channel.lose(`it could not be started: ${error.message}`, name);
    else channel.giveUpStarting(describeNotStarted(name, error));
  });
  const foreign: string[] = [];
  const failByBanner = () => channel.fail(describeBanner(name, foreign));
  const conclude = (code: number | null, killedBy: NodeJS.Signals | null) => {
    if (foreign.length > 0) return failByBanner();
    const end: LauncherEnd = { ...tell(), code, killedBy };
    const lack = lackOf(end);
    // Exit code 0 without an outcome is a failure too: srun ends with it after a node has failed.
    if (!channel.hasSpoken() && lack !== null)
      channel.giveUpStarting(`Cannot run the model process: ${lack} (${describeEnd(end)})`);
    else if (!channel.hasSpoken() || killedBy === 'SIGKILL')
      channel.lose(`it ended by itself (${describeEnd(end)})`, name);
    else channel.fail(`The model process ended without an outcome (${describeEnd(end)})`);
  };
  return {
    end: () => endLauncher(child, times, givenUp.resolve),
    isForeign(line) {
      if (isMessage(line)) return foreign.length > 0; // after a banner nothing is heard of the child either
      if (foreign.length === 0) setTimeout(failByBanner, BANNER_MS);
      if (foreign.length < MAX_BANNER_LINES) foreign.push(hide(line));
      return true;
    },
    describeForeignLine: () => describeBanner(name, foreign, unended()),
    lose: (error) => channel.lose(error + said(), name),
    said,
    stderr,
    ended: Promise.race([endOf(child, channel, conclude), givenUp.promise]),
  };
}

/**
 * Reads what comes before the child's first line; the function returned gives the beginning of a
 * line that has not ended.
 */
function readUnended({ stdout }: ChildProcess, channel: Channel, hide: Hide): () => string {
  let text = '';
  stdout?.on('data', (chunk: Buffer) => {
    const last = channel.hasSpoken() ? '' : (text + chunk.toString()).split('\n').at(-1);
    text = hide(last ?? '').slice(0, MAX_UNENDED_LENGTH);
  });
  return () => text;
}

/**
 * Resolves when the process has exited and its lines have been handled; `conclude` then settles the
 * outcome if nothing has.
 */
function endOf(
  child: ChildProcess,
  channel: Channel,
  conclude: (code: number | null, killedBy: NodeJS.Signals | null) => void,
): Promise<void> {
  return new Promise((resolve) => {
    child.on('close', async (code, killedBy) => {
      await channel.heard(); // its outcome may wait in line behind a write to the database
      conclude(code, killedBy);
      resolve();
    });
  });
}

/**
 * How often the memory of a child close to its limit is measured: one that fills memory as fast as
 * it can takes about 50 MB in this time.
 */
const LOOK_INTERVAL_MS = 100;
/**
 * A child far from its limit is measured less often: it cannot reach the limit faster than this,
 * twice what was measured.
 */
const FASTEST_MB_PER_MS = 1;
const MAX_LOOK_INTERVAL_MS = 1_000;
/**
 * One measurement takes 0.02 to 0.05 ms. Children that were started together would be measured
 * together for as long as they live, so a tick measures no more than this: no request waits for a
 * thousand measurements, and 2,000 children get one in half a second.
 */
const LOOKS_PER_TICK = 40;
const TICK_MS = 10;

interface Watch {
  memoryMb: number;
  onTooMuch: (error: string) => void;
  /** When to measure next, as `performance.now()`. */
  dueAt: number;
}

const watches = new Map<ChildProcess, Watch>();
let timer: NodeJS.Timeout | undefined;

/**
 * Watches the memory that a child really uses, including buffers and swapped pages, which no flag
 * of Node limits. Calls `onTooMuch` with a reason when it exceeds `memoryMb` megabytes. Watches
 * nothing on a system without /proc. The function returned ends the watch.
 */
function watchMemory(child: ChildProcess, watch: Omit<Watch, 'dueAt'>): () => void {
  watches.set(child, { ...watch, dueAt: performance.now() + LOOK_INTERVAL_MS });
  timer ??= setInterval(look, TICK_MS).unref();
  return () => {
    watches.delete(child);
    if (watches.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function look(): void {
  const now = performance.now();
  for (const [child, watch] of mostDue(watches, now)) {
    const { memoryMb, onTooMuch } = watch;
    const leftMb = memoryMb - (takenKb(child.pid) ?? 0) / 1024;
    watch.dueAt = now + nextLookMs(leftMb);
    if (leftMb >= 0) continue;
    watches.delete(child);
    onTooMuch(
      `The model process used more than ${memoryMb} MB of memory, which is its limit (MODEL_DAY_MEMORY_MB)`,
    );
  }
}

/** The watches that are due, longest overdue first, as many as a tick allows. */
export function mostDue<Child, Of extends { dueAt: number }>(
  all: Iterable<[Child, Of]>,
  now: number,
): [Child, Of][] {
  const due: [Child, Of][] = [];
  for (const one of all) if (one[1].dueAt <= now) due.push(one);
  return due.toSorted(([, one], [, other]) => one.dueAt - other.dueAt).slice(0, LOOKS_PER_TICK);
}

/**
 * When to measure a child again that has so much left: before it could have used that up, and not
 * more often than needed.
 */
export function nextLookMs(leftMb: number): number {
  return Math.min(MAX_LOOK_INTERVAL_MS, Math.max(LOOK_INTERVAL_MS, leftMb / FASTEST_MB_PER_MS));
}

/**
 * Far more than the file has; read again and again, because every reader would otherwise make a
 * buffer of its own.
 */
const text = Buffer.alloc(8_192);

/**
 * Memory in use and swapped out, in kilobytes; undefined without /proc, and for a process that
 * never began or has exited.
 */
function takenKb(pid: number | undefined): number | undefined {
  let file: number | undefined;
  try {
    file = openSync(`/proc/${pid}/status`, 'r');
    const status = text.toString('latin1', 0, readSync(file, text));
    const [resident, swapped] = [/^VmRSS:\s+(\d+) kB$/m, /^VmSwap:\s+(\d+) kB$/m].map(
      (line) => line.exec(status)?.[1],
    );
    return Number(resident ?? 0) + Number(swapped ?? 0);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
