import { secretHider } from '#text/secrets.ts';
import { count } from '#text/sentences.ts';
import { type ProcessOutcome, type MessageHandler, openChannel, type Channel } from './channel.ts';
import { scheduleSliced } from './turns.ts';
import { type PastMessage, modelSecrets, type StartMessage } from '#wire/protocol.ts';
import type { Network } from './confinement.ts';
import {
  describeForeignLine,
  describeExit,
  describeStderr,
  launcherErrorOutcome,
  outcomeWithoutStart,
} from './launcher.ts';
import {
  isShortage,
  type ChildRights,
  type StartedChild,
  boundOutput,
  endLauncher,
  endProcess,
  readStderr,
} from './process.ts';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';
import { jitter } from '#time/event-loop.ts';

/**
 * What depends on how a child was started: how it is ended, what is watched, and how its end is
 * reported. A child of this machine is killed and its memory is watched; a launcher ends in its own
 * time, and its errors name it.
 */

interface WatchOptions {
  channel: Channel;
  /** The end of what was written to stderr so far. */
  stderr: () => string;
  /** What a child of this machine may use in all. */
  memoryMb: number;
  /** How long a child of this machine may do nothing before its first message. */
  quietMs: number;
}

/** Watches a child until its end, and settles the outcome if the child has not. */
function watchChild({ child, launcher }: StartedChild, options: WatchOptions) {
  const { channel, stderr } = options;
  const givenUp = Promise.withResolvers<void>();
  child.on('error', (error) => {
    const isOfLauncher = launcher !== null && !isShortage(error);
    channel.end(
      isOfLauncher ? launcherErrorOutcome(launcher.name, error) : startErrorOutcome(error),
    );
  });
  const endWatch = launcher === null ? watchStatus(child, options) : boundOutput(child, launcher);
  const closed = new Promise<void>((resolve) => {
    child.on('close', async (code, killedBy) => {
      await channel.linesHandled(); // its outcome may wait in line behind a write to the database
      const end = { ...launcher, stderr: stderr(), code, killedBy };
      // Exit code 0 without an outcome is a failure too: srun ends with it after a node has failed.
      if (launcher !== null && !channel.hasSentMessage()) channel.end(outcomeWithoutStart(end));
      // When memory is short, the kernel kills; any other end of a child that has sent a message is
      // its own fault.
      else if (!channel.hasSentMessage() || killedBy === 'SIGKILL')
        channel.lose(`it ended by itself (${describeExit(end)})`);
      else channel.fail(`The model process ended without an outcome (${describeExit(end)})`);
      endWatch();
      resolve();
    });
  });
  return {
    end: (signal: NodeJS.Signals) =>
      launcher === null
        ? endProcess(child, signal)
        : endLauncher(child, launcher.times, givenUp.resolve),
    /** What a launcher has said so far, to be added to a reason; else empty. */
    launcherWords: () =>
      launcher === null ? '' : describeStderr({ ...launcher, stderr: stderr() }),
    /** Resolves when the process has exited, or cannot be ended, with its outcome settled. */
    ended: Promise.race([closed, givenUp.promise]),
  };
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

/** The lines of a status that change when the process does anything. */
const SIGNS_OF_LIFE = /^(?:State|(?:non)?voluntary_ctxt_switches):.*$/gm;
/** On a processor, or waiting for one or for the disk. */
const AT_WORK = /^State:\s+[RD]/m;

/**
 * Watches the memory that a child really uses, including buffers and swapped pages, which no flag
 * of Node limits: too much fails the model-day. And loses one that does nothing at all before its
 * first message: Node waits for ever for a thread that the system did not give it. A slow child is
 * not quiet, nor does the time count in which this process was too busy to look. Watches nothing on
 * a system without /proc. The function returned ends the watch.
 */
function watchStatus(
  { pid }: ChildProcess,
  { channel, memoryMb, quietMs }: WatchOptions,
): () => void {
  let timer: NodeJS.Timeout;
  let signs: string | undefined;
  let quietForMs = 0;
  const lookAfter = (ms: number) => {
    timer = setTimeout(look, ms, ms).unref();
  };
  const look = (ms: number) => {
    const status = readProcessStatus(pid);
    const leftMb = memoryMb - parseMemoryKb(status) / 1024;
    if (leftMb < 0)
      return channel.fail(
        `The model process used more than ${memoryMb} MB of memory, which is its limit (MODEL_DAY_MEMORY_MB)`,
        'SIGKILL',
      );
    const before = signs;
    signs = status.match(SIGNS_OF_LIFE)?.join();
    const isQuiet = signs !== undefined && signs === before && !AT_WORK.test(status);
    quietForMs = isQuiet ? quietForMs + ms : 0;
    if (quietForMs >= quietMs && channel.isSilent())
      return channel.lose(`it did nothing for ${count(quietMs / 1000, 'second')}`);
    // Children that were started together are not looked at together: each look takes some 0.03 ms,
    // and a thousand of them would hold up requests.
    lookAfter(jitter(nextLookMs(leftMb)));
  };
  lookAfter(LOOK_INTERVAL_MS);
  return () => clearTimeout(timer);
}

/**
 * When to look at a child again that has so much memory left: before it could have used that up,
 * and not more often than needed.
 */
export function nextLookMs(leftMb: number): number {
  return Math.min(MAX_LOOK_INTERVAL_MS, Math.max(LOOK_INTERVAL_MS, leftMb / FASTEST_MB_PER_MS));
}

function parseMemoryKb(status: string): number {
  const sizes = status.matchAll(/^Vm(?:RSS|Swap):\s+(\d+) kB$/gm);
  return sizes.reduce((sum, [, size]) => sum + Number(size), 0);
}

/**
 * Far more than the file has; read again and again, because every reader would otherwise make a
 * buffer of its own.
 */
const statusBuffer = Buffer.alloc(8_192);

/** Empty without /proc, and for a process that never began or has exited. */
function readProcessStatus(pid: number | undefined): string {
  let file: number | undefined;
  try {
    file = openSync(`/proc/${pid}/status`, 'r');
    return statusBuffer.toString('latin1', 0, readSync(file, statusBuffer));
  } catch {
    return '';
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** A child that starts is never at rest for long, however slow its machine is. */
const QUIET_MS = 5_000;

interface LaunchOptions {
  /** The child's program as JavaScript text. */
  program: string;
  startChild: (program: string, rights: ChildRights) => StartedChild;
  timeoutMs: number;
  /** What earlier processes of this model-day have left of that time. Default: all of it. */
  leftMs?: number;
  /** What the process may use in all, in megabytes; half of it is for its JavaScript heap. */
  memoryMb: number;
  /** How long it may do nothing at all before its first message. */
  quietMs?: number;
  /** The conversation of an earlier process of this model-day. */
  past?: readonly PastMessage['message'][];
  /**
   * Aborted on shutdown or cancellation; the child is then stopped and the outcome is a failure.
   */
  signal: AbortSignal;
  /**
   * Receives every message but the outcome; what it returns is sent back. When it throws, the child
   * is stopped.
   */
  onMessage: MessageHandler;
  /** Receives the end of what the child wrote to stderr, if it wrote anything. */
  onStderr?: (tail: string) => void;
}

/**
 * Runs one model-day in a separate child process. Once the process has exited, resolves to exactly
 * one outcome: the first reason wins. Rejects only with what `onMessage` threw.
 */
export function launch(
  start: Omit<StartMessage, 'pastMessages'>,
  options: LaunchOptions,
): Promise<ProcessOutcome> {
  const { program, startChild, timeoutMs, leftMs = timeoutMs, signal, onMessage } = options;
  const { memoryMb, quietMs = QUIET_MS, past = [] } = options;
  // The start of a process blocks for some milliseconds; requests come between any two. The child
  // is listened to in the same turn: a start error is an event of the next, or is thrown.
  return scheduleSliced(async () => {
    // A job may be stopped while its children wait for their turn.
    if (signal.aborted) return { status: 'failed', error: String(signal.reason) };
    let started: StartedChild;
    try {
      started = startChild(program, { network: chooseNetwork(start.model), heapMb: memoryMb / 2 });
    } catch (error) {
      if (!(error instanceof Error && 'syscall' in error)) throw error;
      return startErrorOutcome(error);
    }
    const { child, launcher } = started;
    const hide = secretHider(modelSecrets(start.model)); // the model's key, which no error repeats
    const channel = openChannel(child, {
      onMessage,
      ...(launcher && {
        describeForeignLine: (line) => describeForeignLine(launcher.name, hide(line)),
      }),
      onSettled: (how) => watched.end(how),
    });
    const stderr = readStderr(child, channel.fail, hide);
    const watched = watchChild(started, { channel, stderr, memoryMb, quietMs });
    const tooLong = () =>
      `The model-day took longer than ${count(timeoutMs / 1000, 'second')}${watched.launcherWords()}`;
    const timer = setTimeout(() => channel.fail(tooLong()), leftMs);
    const abort = () => channel.fail(String(signal.reason));
    signal.addEventListener('abort', abort, { once: true });
    channel.send({ ...start, pastMessages: past.length });
    for (const message of past) channel.send({ type: 'past_message', message });
    await watched.ended;
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    if (stderr() !== '') options.onStderr?.(stderr());
    return channel.outcome;
  });
}

function startErrorOutcome(error: Error): ProcessOutcome {
  return isShortage(error)
    ? { status: 'lost', hasSentMessage: false, error: `it could not be started: ${error.message}` }
    : { status: 'failed', error: `Cannot start the model process: ${error.message}` };
}

function chooseNetwork(model: StartMessage['model']): Network {
  if (model.kind !== 'provider') return 'none';
  return new URL(model.baseUrl).protocol === 'https:' ? 'https' : 'http';
}
