import { readFileSync } from 'node:fs';
import { messageOf, ServiceError } from '../basics/domain.ts';
import { type EventLoop, eventLoop } from '../basics/event-loop.ts';
import { type Outcome, type PastMessage, secretsOf, type Start } from '../wire/protocol.ts';
import { secretHider } from '../basics/secrets.ts';
import { count } from '../basics/sentences.ts';
import { type CannotStart, type Lost, type MessageHandler, openChannel } from './channel.ts';
import type { Network } from './confinement.ts';
import { inTurn, starting } from './pacing.ts';
import type { Rights, Started } from './process.ts';
import { isShortage } from './shortage.ts';
import { watchChild } from './watch.ts';

interface LaunchOptions {
  /** The child's program as JavaScript text. */
  program: string;
  startChild: (program: string, rights: Rights) => Started;
  timeoutMs: number;
  /** How long the child may take to its first line. */
  firstLineLimitMs: number;
  /** What the process may use in all, in megabytes; half of it is for its JavaScript heap. */
  memoryMb: number;
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
  /** Receives the time that the child took to its first line, in milliseconds. */
  onStart?: (ms: number) => void;
  /** Receives the end of what the child wrote to stderr, if it wrote anything. */
  onStderr?: (tail: string) => void;
}

/**
 * Runs one model-day in a separate child process. Once the process has exited, resolves to exactly
 * one outcome: the first reason wins. Rejects only with what `onMessage` threw.
 */
export async function launch(
  start: Omit<Start, 'pastMessages'>,
  options: LaunchOptions,
): Promise<Outcome | Lost | CannotStart> {
  const started = await inTurn(() => startUnlessStopped(start, options), { isUrgent: true });
  if ('status' in started) return started;
  const { timeoutMs, signal, onMessage, memoryMb, past = [] } = options;
  const { child, launcher } = started;
  const hasStarted = launcher === null ? starting() : () => {};
  const startedAt = performance.now();
  const channel = openChannel(child, {
    onMessage,
    onFirstLine() {
      hasStarted();
      endSilence();
      options.onStart?.(performance.now() - startedAt);
    },
    isForeign: (line) => watched.isForeign(line),
    describeForeignLine: () => watched.describeForeignLine(),
    onSettled: (how) => watched.end(how),
  });
  const watched = watchChild(started, {
    channel,
    memoryMb,
    hide: secretHider(secretsOf(start.model)),
  });
  const silentSeconds = () => Math.round(performance.now() - startedAt) / 1000;
  const endSilence = watchSilence(child.pid, {
    firstLineLimitMs: options.firstLineLimitMs,
    onSilent: () => watched.lose(`it sent nothing for ${count(silentSeconds(), 'second')}`),
  });
  const timer = setTimeout(
    () =>
      channel.fail(
        `The model-day took longer than ${count(timeoutMs / 1000, 'second')}${watched.said()}`,
      ),
    timeoutMs,
  );
  const abort = () => channel.fail(String(signal.reason));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  channel.send({ ...start, pastMessages: past.length });
  for (const message of past) channel.send({ type: 'past_message', message });
  await watched.ended;
  hasStarted();
  endSilence();
  clearTimeout(timer);
  signal.removeEventListener('abort', abort);
  if (watched.stderr() !== '') options.onStderr?.(watched.stderr());
  return channel.outcome;
}

/** A job may be stopped while its children wait for their turn to start. */
function startUnlessStopped(
  start: Pick<Start, 'model'>,
  options: LaunchOptions,
): Started | Lost | CannotStart | Outcome {
  const { signal } = options;
  return signal.aborted
    ? { status: 'failed', error: String(signal.reason) }
    : startOrLose(start, options);
}

/** Some start errors are thrown, others are events. */
function startOrLose(
  { model }: Pick<Start, 'model'>,
  { program, startChild, memoryMb }: LaunchOptions,
): Started | Lost | CannotStart {
  try {
    return startChild(program, { network: networkOf(model), heapMb: memoryMb / 2 });
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'cannot_start')
      return { status: 'cannot_start', error: error.message };
    if (!isShortage(error)) throw error;
    return {
      status: 'lost',
      hasSpoken: false,
      error: `it could not be started: ${messageOf(error)}`,
    };
  }
}

function networkOf(model: Start['model']): Network {
  if (model.kind !== 'provider') return 'none';
  return new URL(model.baseUrl).protocol === 'https:' ? 'https' : 'http';
}

/** A child's time limit is counted in this many parts. */
const PARTS = 10;
/** A part in which the child was running counts only this much: it is slow, not stuck. */
const SHARE_AT_WORK = 0.1;

/**
 * Calls `onSilent` when a child's time limit is used up; the function it returns ends the watch.
 * Only time in which the child could have sent a line counts in full: not the time in which this
 * process was too busy to read (each part counts once, however late it ends), and only a tenth of
 * the time in which the child was running.
 */
export function watchSilence(
  pid: number | undefined,
  {
    firstLineLimitMs,
    onSilent,
    loop = eventLoop,
  }: { firstLineLimitMs: number; onSilent: () => void; loop?: Pick<EventLoop, 'after' | 'round'> },
): () => void {
  const isAtWork = workOf(pid);
  let left = PARTS;
  let isOver = false;
  const watch = async () => {
    left -= isAtWork() ? SHARE_AT_WORK : 1;
    if (left > 0) stop = loop.after(firstLineLimitMs / PARTS, watch);
    else {
      await loop.round(); // first read what the child has already written
      if (!isOver) onSilent();
    }
  };
  let stop = loop.after(firstLineLimitMs / PARTS, watch);
  return () => {
    isOver = true;
    stop();
  };
}

/**
 * Whether a process is on a processor, waits for one or for the disk, or has been on one since the
 * last call. Always false on systems other than Linux, which do not show it.
 */
function workOf(pid: number | undefined): () => boolean {
  let last = '';
  return () => {
    const [, state, user = '', system = ''] =
      /.*\) (\S)(?: \S+){10} (\d+) (\d+)/s.exec(statOf(pid)) ?? [];
    const spent = `${user} ${system}`;
    const hasMoved = state !== undefined && spent !== last;
    last = spent;
    return hasMoved || state === 'R' || state === 'D';
  };
}

function statOf(pid: number | undefined): string {
  try {
    return pid === undefined ? '' : readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
}
