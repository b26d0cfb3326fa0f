import type { ChildProcess } from 'node:child_process';
import { setImmediate } from 'node:timers/promises';
import { codeOf, messageOf } from '../domain.ts';
import type { Outcome, PastMessage, Start } from '../protocol.ts';
import { type Channel, type Lost, type MessageHandler, openChannel } from './channel.ts';
import type { Network } from './confinement.ts';
import { watchSilence } from './first-line.ts';
import { watchMemory } from './memory.ts';
import { type StartChild, endProcess, readStderr } from './process.ts';

/** Errors of a start for which the machine lacks processes, memory or open files. */
const SHORTAGES: ReadonlySet<string> = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE']);

export interface LaunchOptions {
  /** The child's program as JavaScript text. */
  program: string;
  startChild: StartChild;
  timeoutMs: number;
  /** How long the child may take to its first line. */
  patienceMs: number;
  /** What the process may use in all, in megabytes; half of it is for its JavaScript heap. */
  memoryMb: number;
  /** The conversation of an earlier process of this model-day. */
  past?: readonly PastMessage['message'][];
  /** Aborted on shutdown or cancellation; the child is then stopped and the outcome is a failure. */
  signal: AbortSignal;
  /** Receives every message but the outcome; what it returns is sent back. When it throws, the child is stopped. */
  onMessage: MessageHandler;
  /** Receives the time that the child took to its first line, in milliseconds. */
  onStart?: (ms: number) => void;
  /** Receives the end of what the child wrote to stderr, if it wrote anything. */
  onStderr?: (tail: string) => void;
}

/**
 * Runs one model-day in a separate child process. Once the process has exited, resolves to exactly one outcome: the first
 * reason wins. Rejects only with what `onMessage` threw.
 */
export async function launch(start: Omit<Start, 'pastMessages'>, options: LaunchOptions): Promise<Outcome | Lost> {
  await turnToSpawn();
  const child = startOrLose(start, options);
  if ('status' in child) return child;
  const { timeoutMs, signal, onMessage, past = [] } = options;
  const startedAt = performance.now();
  const channel = openChannel(child, {
    onMessage,
    onFirstLine() {
      endSilence();
      options.onStart?.(performance.now() - startedAt);
    },
    onSettled: (how) => endProcess(child, how),
  });
  const stderr = readStderr(child, channel.fail);
  const endSilence = watchSilence(child.pid, {
    patienceMs: options.patienceMs,
    onSilent: () => channel.lose(`it sent nothing for ${Math.round(performance.now() - startedAt) / 1000} seconds`),
  });
  const endMemory = watchMemory(child, {
    memoryMb: options.memoryMb,
    onTooMuch: (error) => channel.fail(error, 'SIGKILL'),
  });
  const timer = setTimeout(
    () => channel.fail(`The model-day took longer than ${timeoutMs / 1000} seconds`),
    timeoutMs,
  );
  const abort = () => channel.fail(String(signal.reason));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  channel.send({ ...start, pastMessages: past.length });
  for (const message of past) channel.send({ type: 'past_message', message });
  await endOf(child, channel);
  endSilence();
  endMemory();
  clearTimeout(timer);
  signal.removeEventListener('abort', abort);
  if (stderr() !== '') options.onStderr?.(stderr());
  return channel.outcome;
}

/** Some start errors are thrown, others are events. */
function startOrLose({ model }: Pick<Start, 'model'>, { program, startChild, memoryMb }: LaunchOptions): ChildProcess | Lost {
  try {
    return startChild(program, { network: networkOf(model), heapMb: memoryMb / 2 });
  } catch (error) {
    if (!isShortage(error)) throw error;
    return { status: 'lost', hasSpoken: false, error: `it could not be started, ${messageOf(error)}` };
  }
}

function networkOf(model: Start['model']): Network {
  if (model.kind !== 'chat_completions') return 'none';
  return new URL(model.baseUrl).protocol === 'https:' ? 'https' : 'http';
}

function isShortage(error: unknown): boolean {
  return SHORTAGES.has(String(codeOf(error)));
}

/** Resolves when the process has exited, with its outcome settled. */
function endOf(child: ChildProcess, channel: Channel): Promise<void> {
  child.on('error', (error) => {
    if (isShortage(error)) channel.lose(`it could not be started, ${error.message}`);
    else channel.fail(`Cannot start the model process: ${error.message}`);
  });
  return new Promise((resolve) => {
    child.on('close', async (code, killedBy) => {
      await channel.heard(); // its outcome may wait in line behind a write to the database
      const how = killedBy ?? `exit code ${code}`;
      // When memory is short, the kernel kills; any other end of a child that has sent a line is its own fault.
      if (!channel.hasSpoken() || killedBy === 'SIGKILL') channel.lose(`it ended by itself, ${how}`);
      else channel.fail(`The model process ended without an outcome (${how})`);
      resolve();
    });
  });
}

let lastTurn: Promise<void> = Promise.resolve();

/**
 * Starting a process blocks for milliseconds; starts happen one per turn of the event loop, so that requests are answered
 * between them.
 */
function turnToSpawn(): Promise<void> {
  return (lastTurn = lastTurn.then(() => setImmediate()));
}
